"""Linear systems with the rows of a model, each in one call from Python; all take a fresh workspace w."""

from ..drnea import drnea
from ..joints import get_solution, motion_between, put_rhs
from ..kinematics import place
from ..machine.jit import entry, kernel
from ..machine.memory import link, tree_as_views, system_as_views
from ..machine.simd import numbers
from ..maths.vec3 import NONE
from ..node import enter_node
from ..sweep import begin_stiffnesses
from .closed import closed_as_views, give_answers, row
from .elimination import down, factor, up
from .filling import rows_after, rows_at_node
from .projection import factor_node


@kernel
def substitute(tree, w, c, b, d, newton):
    """b (nv,) and d (m,) ← solution and multipliers, with the factors that are in w and c.x."""
    for i in range(tree.n + 1):
        link(w, i).wrench = NONE
    put_rhs(tree, w, b)
    for r in range(c.places.rows):
        row(c, r).rhs = d[r]
    up(tree, w, c)
    down(tree, w, c, None, newton)
    get_solution(tree, w, w, b)
    give_answers(c, d)


@entry
def solve_mass(tree, w, q, closed, b, d):
    """b, d ← x, λ with M x − Aᵀ λ = b and A x = −d at q. Gives the number of redundant rows, and whether an early block
    was singular."""
    tree, w, c = tree_as_views(tree), numbers(w), closed_as_views(closed)
    place(tree, w, q)
    rows_at_node(tree, w, c)
    redundant, lost = factor_node(tree, w, c)
    substitute(tree, w, c, b, d, None)
    return redundant, lost


@entry
def solve_jacobian(system, w, way, closed, b, d):
    """b, d ← x, λ with J x − A(q)ᵀ λ = b and A(q_next) x = −d, J being the Jacobian of the step ``way`` from q to
    q_next. Gives the sign of the determinant, and whether an early block was singular."""
    system, w, c = system_as_views(system), numbers(w), closed_as_views(closed)
    tree, q, h, retraction = system.tree, way.q, way.h, way.retraction
    enter_node(system, w, q)
    rows_at_node(tree, w, c)
    motion_between(tree, w, q, way.q_next)
    drnea(tree, w, h, retraction, True)
    rows_after(tree, w, c, True, False)
    begin_stiffnesses(tree, w, h, retraction, True)
    det, _, lost = factor(tree, w, c, h, True)
    substitute(tree, w, c, b, d, True)
    return det, lost
