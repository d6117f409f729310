"""What elements ask of a node: where points of links are, how far joints have moved, and when it is; and what they do
to it: push there."""

from collections import namedtuple

from ..machine import columns
from ..machine.jit import kernel
from ..machine.memory import link
from ..machine.simd import choose, less, number, numbers
from ..maths import so3
from ..maths.spatial import shift_wrench
from ..maths.vec3 import add, cross, dot, neg, scale, sub

# A line between two links, number ``on`` and ``other``: the arms from their origins to its ends, m, and the unit vector
# from the first end to the other, all in world axes
Line = namedtuple("Line", "on other arm other_arm way")


@kernel
def vector(w, column, k):
    """Vector k of a column (m, 3)."""
    x, y, z = columns.vector(numbers(column), k)
    return number(w, x), number(w, y), number(w, z)


@kernel
def direction(w, on, column, k):
    """Vector k of a column (m, 3), given in the frame of link number ``on``, in world axes."""
    return so3.rotate(link(w, on).rotation, vector(w, column, k))


@kernel
def point(w, on, column, k):
    """Point k of a column (m, 3), given in the frame of link number ``on``: the way to it from the link's origin, and
    its place, in world axes, m."""
    arm = direction(w, on, column, k)
    return arm, add(link(w, on).origin, arm)


@kernel
def push(tree, w, on, arm, impulse):
    """Add an impulse (3,) in world axes, N s, at the end of an arm from the origin of link number ``on``. The ground
    takes none: its momentum would count in the total."""
    if on < tree.n:
        L = link(w, on)
        m, f = L.momentum
        L.momentum = add(m, cross(arm, impulse)), add(f, impulse)


@kernel
def turn(tree, w, on, impulse):
    """Add an angular impulse (3,) in world axes, N m s, to link number ``on``."""
    if on < tree.n:
        L = link(w, on)
        m, f = L.momentum
        L.momentum = add(m, impulse), f


@kernel
def pull(tree, w, line, impulse):
    """Pull the ends of a line together, by an impulse along it."""
    push(tree, w, line.on, line.arm, scale(impulse, line.way))
    push(tree, w, line.other, line.other_arm, neg(scale(impulse, line.way)))


@kernel
def coordinate(w, i):
    """How far the SCREW joint of link i has moved, rad or m."""
    return link(w, i).angle


@kernel
def push_joint(tree, w, i, impulse):
    """Add an impulse along the coordinate of the SCREW joint of link i, N m s or N s: to the link, and the opposite to
    its parent. So it changes no other joint's momentum, nor that of a mechanism which floats."""
    L = link(w, i)
    turn, move = L.axis
    k = impulse / (dot(turn, turn) + dot(move, move))
    (m, f), (own_m, own_f) = L.momentum, (scale(k, turn), scale(k, move))
    L.momentum = add(m, own_m), add(f, own_f)
    if tree.parent[i] < tree.n:
        P = link(w, tree.parent[i])
        (m, f), (own_m, own_f) = P.momentum, shift_wrench(own_m, own_f, L.arm)
        P.momentum = sub(m, own_m), sub(f, own_f)


@kernel
def separation(line, twist, other_twist):
    """Rate at which the ends of a line part, given the twists of their links, m/s."""
    (a, u), (b, v) = twist, other_twist
    return dot(line.way, sub(add(v, cross(b, line.other_arm)), add(u, cross(a, line.arm))))


@kernel
def span(tree, w):
    """The time for which an impulse is asked, s: when it begins and how long it is, negative in a step back. Zero if
    the force of an instant is asked; h is 1 s then."""
    L = link(w, tree.n)
    return L.time, L.span


@kernel
def within(tree, w, h, begin, end):
    """For how long of a time h, which is that of an impulse or 1 s, something acts from ``begin`` to ``end``, s, and
    the middle of that, s."""
    t, length = span(tree, w)
    first, last = max(min(t, t + length), number(w, begin)), min(max(t, t + length), number(w, end))
    lasts = max(last - first, number(w, 0.0)) * choose(less(length, 0.0), -1.0, 1.0)
    now = h * less(t, end) * (1.0 - less(t, begin))
    return choose(length, lasts, now), choose(length, 0.5 * (first + last), t)
