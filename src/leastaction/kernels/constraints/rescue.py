"""What the rescue (rescue.py) asks of a model with rows: the size of a correction, Newton's correction, a velocity."""

from math import inf

from ..machine.jit import kernel
from . import projection
from .closed import row
from .elimination import down, solve_node, up
from .filling import rows_after
from .projection import factor_node, twice_kinetic
from .search import factor_step


@kernel
def square(tree, state, h, c):
    """xᵀ M x of the correction x that the present motion asks for, by the mass matrix and the rows of the node:
    M x − Aᵀ λ = −f, A x = −g/h. Infinite where the node is singular. Needs drnea()."""
    w = state.w
    rows_after(tree, w, c, False, True)
    for r in range(c.places.rows):
        row(c, r).rhs /= h
    _, lost = factor_node(tree, w, c)
    if lost:
        return inf
    solve_node(tree, w, c, state.f)
    return twice_kinetic(tree, w, state.f)


@kernel
def correct(tree, w, h, retraction, c):
    """As rescue.correct."""
    rows_after(tree, w, c, True, True)
    trouble = factor_step(tree, w, c, h, retraction, True, True)
    up(tree, w, c)
    down(tree, w, c, None, True)
    return trouble


@kernel
def velocity(tree, w, v, c):
    """Set v to the velocity of the momenta of the node, with the first kick, that opens no loop."""
    factor_node(tree, w, c)
    projection.velocity(tree, w, c, v)
