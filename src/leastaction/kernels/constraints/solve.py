"""Linear systems with the rows of a model, each in one call from Python; all take a fresh workspace w."""

from ..drnea import drnea
from ..joints import get_solution, motion_between, put_rhs
from ..kinematics import place
from ..machine.jit import entry, kernel
from ..machine.memory import copy, link, look, look_at
from ..machine.simd import after, integers, numbers
from ..maths.vec3 import NONE
from ..node import arrive
from ..sweep import begin_inertias, begin_stiffnesses
from .elimination import down, factor, up
from .filling import begin_mass, rows_after, rows_at_node


@kernel
def substitute(tree, w, ops, places, x, b, d, newton):
    """b (nv,) and d (m,) ← solution and multipliers, with the factors that are in w and x."""
    for i in range(tree.n + 1):
        link(w, i).wrench = NONE
    put_rhs(tree, w, b)
    copy(d, after(x, places.rhs), places.rows)
    up(tree, w, ops, places, x)
    down(tree, w, ops, places, x, None, newton)
    get_solution(tree, w, w, b)
    copy(after(x, places.answer), d, places.rows)


@entry
def solve_mass(tree, w, q, rows, ops, targets, places, desk, b, d):
    """b, d ← x, λ with M x − Aᵀ λ = b and A x = −d at q. Gives the number of redundant rows, and whether an early block
    was singular."""
    tree, w, ops, targets, x = look(tree), numbers(w), integers(ops), integers(targets), numbers(desk)
    place(tree, w, q)
    rows_at_node(tree, w, rows, places, x)
    begin_inertias(tree, w)
    begin_mass(rows, targets, places, x)
    _, redundant, lost = factor(tree, w, ops, places, x, 0.0, None)
    substitute(tree, w, ops, places, x, b, d, None)
    return redundant, lost


@entry
def solve_jacobian(system, w, q, q_next, h, retraction, rows, ops, targets, places, desk, b, d):
    """b, d ← x, λ with J x − A(q)ᵀ λ = b and A(q_next) x = −d, J being the Jacobian of a step from q to q_next. Gives
    the sign of the determinant, and whether an early block was singular."""
    system, w, ops, targets, x = look_at(system), numbers(w), integers(ops), integers(targets), numbers(desk)
    tree = system.tree
    arrive(system, w, q)
    rows_at_node(tree, w, rows, places, x)
    motion_between(tree, w, q, q_next)
    drnea(tree, w, h, retraction, True)
    rows_after(tree, w, rows, targets, places, x, True)
    begin_stiffnesses(tree, w, h, retraction, True)
    det, _, lost = factor(tree, w, ops, places, x, h, True)
    substitute(tree, w, ops, places, x, b, d, True)
    return det, lost
