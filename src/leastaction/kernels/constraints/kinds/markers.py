"""What kinds of row between two links are made of: markers r = R s and directions u = R e, and how these move."""

from ...machine.columns import vector
from ...machine.jit import formula, kernel
from ...maths import so3
from ...maths.vec3 import add, cross, sub


@formula
def direction(R, column, r):
    """The direction that row r has in this column, in world axes."""
    return so3.rotate(R, vector(column, r))


@formula
def way_between(rows, r, Ra, Rb, gap):
    """The marker on link a from the origin of a, and the way d from marker b to marker a."""
    ra, rb = direction(Ra, rows.sa, r), direction(Rb, rows.sb, r)
    return ra, add(gap, sub(ra, rb))


@kernel
def turning(L, u):
    """First and second derivative of a vector u that is fixed to a link."""
    (turn, _), (alpha, _) = L.twist, L.answer
    rate = cross(turn, u)
    return rate, add(cross(alpha, u), cross(turn, rate))


@kernel
def moving(L, s, gravity):
    """Velocity and acceleration of the point of a link that is s from its origin."""
    (turn, move), (alpha, acc) = L.twist, L.answer
    speed = add(move, cross(turn, s))
    return speed, add(add(add(acc, gravity), cross(alpha, s)), cross(turn, speed))  # −g is in the accelerations


@kernel
def parting(rows, r, La, Lb, gap, gravity):
    """The way d between the markers, and its first and second derivative."""
    ra, rb = direction(La.rotation, rows.sa, r), direction(Lb.rotation, rows.sb, r)
    (a1, a2), (b1, b2) = moving(La, ra, gravity), moving(Lb, rb, gravity)
    return add(gap, sub(ra, rb)), sub(a1, b1), sub(a2, b2)


@formula
def width(column, r):
    """|x| + |y| + |z| of a vector."""
    x, y, z = vector(column, r)
    return abs(x) + abs(y) + abs(z)
