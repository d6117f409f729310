"""Forward dynamics on the manifold: M a − Aᵀ f = τ − bias, A a = −Ȧ v, with the reactions f as multipliers, N m and N.

Ȧ v of a row is its second derivative along the motion that the velocities alone give: the links have the accelerations
that rnea.link_forces leaves for a = 0.
"""

from collections import namedtuple

from ..aba import load, singular_joint
from ..elements import set_time
from ..layout import Held
from ..machine.jit import entry, kernel
from ..machine.memory import copy, link, system_as_views
from ..machine.simd import after, numbers
from ..maths import so3
from ..maths.spatial import read3
from ..maths.vec3 import add, cross, dot, sub
from ..node import enter_node, set_wrenches
from .closed import NODE, closed_as_views
from .elimination import solve_node
from .filling import rows_at_node
from .projection import factor_node
from .rows import COUPLE, DOT, POS, POWERS

# A state and what acts there: joint forces tau (nv,), wrench (n, 6) on links, and the elements at time t
Loaded = namedtuple("Loaded", "q v tau wrench t")


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
def bend(rows, r, x):
    """Σ k (k − 1) c_k x^(k−2) of a COUPLE row."""
    total = 0.0
    for k in range(POWERS - 1, 1, -1):
        total = total * x + k * (k - 1) * rows.coefficients[POWERS * r + k]
    return total


@kernel
def row_bias(tree, w, c, r, v, gravity):
    """Ȧ v of row r. Needs rows_at_node() and link_forces() for a = 0."""
    rows = c.rows
    a, b, k = rows.a[r], rows.b[r], rows.scale[r]
    La, Lb = link(w, a), link(w, b)
    if rows.kind[r] == COUPLE:
        if b == tree.n:
            return 0.0
        rate = v[tree.iv[b]]
        return -k * bend(rows, r, Lb.angle - rows.reference[2 * r + 1]) * rate * rate
    if rows.kind[r] == DOT:
        ua, ub = so3.rotate(La.rotation, read3(rows.ea, 3 * r)), so3.rotate(Lb.rotation, read3(rows.eb, 3 * r))
        (a1, a2), (b1, b2) = turning(La, ua), turning(Lb, ub)
        return k * (dot(a2, ub) + 2.0 * dot(a1, b1) + dot(ua, b2))
    ra, rb = so3.rotate(La.rotation, read3(rows.sa, 3 * r)), so3.rotate(Lb.rotation, read3(rows.sb, 3 * r))
    d = add(read3(c.x, c.places.node + NODE * r + 6), sub(ra, rb))
    (a1, a2), (b1, b2) = moving(La, ra, gravity), moving(Lb, rb, gravity)
    d1, d2 = sub(a1, b1), sub(a2, b2)
    if rows.kind[r] == POS:
        u = so3.rotate(Lb.rotation, read3(rows.eb, 3 * r))
        u1, u2 = turning(Lb, u)
        return k * (dot(u2, d) + 2.0 * dot(u1, d1) + dot(u, d2))
    return k / rows.length[r] * (dot(d1, d1) + dot(d, d2))


@kernel
def acceleration(system, w, v, held, c, out):
    """As aba.acceleration, on the manifold; the reactions are in the answer of the rows. Needs enter_node(),
    rows_at_node() and factor_node()."""
    tree, places, x = system.tree, c.places, c.x
    load(system, w, v, held, out)
    for r in range(places.rows):
        x[places.rhs + r] = row_bias(tree, w, c, r, v, system.gravity) * x[places.active + r]
    solve_node(tree, w, c, out)


@entry
def forward_dynamics(system, w, given, closed, a, f):
    """Accelerations a (nv,) and reactions f (m,) at a loaded state. Gives the first singular joint or −1,
    the number of redundant rows, and whether the elimination failed."""
    system, w, c = system_as_views(system), numbers(w), closed_as_views(closed)
    tree = system.tree
    set_wrenches(tree, w, given.wrench)
    set_time(system.elements, tree, w, given.t)
    enter_node(system, w, given.q)
    rows_at_node(tree, w, c)
    redundant, lost = factor_node(tree, w, c)
    singular = singular_joint(tree, w)
    acceleration(system, w, given.v, Held(True, given.tau), c, a)
    copy(after(c.x, c.places.answer), f, c.places.rows)
    return singular, redundant, lost
