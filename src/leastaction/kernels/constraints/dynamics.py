"""Forward dynamics on the manifold: M a − Aᵀ f = τ − bias, A a = −Ȧ v, with the reactions f as multipliers, N m and N.

Ȧ v of a row is its second derivative along the motion that the velocities alone give: the links have the accelerations
that rnea.link_forces leaves for a = 0.
"""

from collections import namedtuple

from ..aba import coast, load, singular_joint
from ..elements import set_time
from ..layout import Held
from ..machine.jit import entry, kernel
from ..machine.memory import link, system_as_views
from ..machine.simd import numbers
from ..node import enter_node, set_wrenches
from .closed import closed_as_views, give_answers, row
from .elimination import solve_node
from .filling import rows_at_node
from .kinds.dispatch import bias, on_joints
from .projection import factor_node

# A state and what acts there: joint forces tau (nv,), wrench (n, 6) on links, and the elements at time t
Loaded = namedtuple("Loaded", "q v tau wrench t")


@kernel
def row_bias(tree, w, c, r, v, gravity):
    """Ȧ v of row r. Needs rows_at_node() and aba.coast(), or link_forces() for a = 0."""
    rows, b = c.rows, c.rows.b[r]
    rate = v[tree.iv[b]] if on_joints(rows.kind[r]) and b < tree.n else 0.0
    return bias(rows.kind[r], rows, r, link(w, rows.a[r]), link(w, b), row(c, r).gap, rate, gravity)


@kernel
def acceleration(system, w, v, held, c, out):
    """As aba.acceleration, on the manifold; the reactions are in the answer of the rows. Needs enter_node(),
    rows_at_node() and factor_node()."""
    tree = system.tree
    coast(system, w, v, out)
    for r in range(c.places.rows):  # before load() overwrites the accelerations
        R = row(c, r)
        R.rhs = row_bias(tree, w, c, r, v, system.gravity) if R.active != 0.0 else 0.0
    load(system, w, v, held, out)
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
    give_answers(c, f)
    return singular, redundant, lost
