"""What limits ask of a node: its velocity and its accelerations, for the joints that are locked now. With the rows of
closed loops and couplings, where there are any: ``c`` is None where not, and Numba compiles one of the two branches.
"""

from numba.extending import overload

from ..constraints.held import (
    accelerations_with_rows, factor_rows, give_reactions, velocity_with_rows,
)
from ..constraints.closed import closed_as_views
from ..joints import get_solution
from ..machine.jit import INNER, kernel, part
from ..machine.simd import COMPILED
from ..momentum import velocity_of
from ..node import factor_at_node
from ..sweep import down, up
from .table import tolerance

ALONG = 1e3  # tolerances: 1e-11 rad or m


def rows_of(base):
    """The rows that a method keeps, or None."""
    return closed_as_views(base.closed) if "closed" in base._fields else None


if COMPILED:
    @overload(rows_of, jit_options=INNER)
    def _rows_of(base):
        return (lambda base: closed_as_views(base.closed)) if "closed" in base.fields else (lambda base: None)


@kernel
def reach(c, limit):
    """How near to a limit a joint counts as touching it, rad or m. Where rows take a joint along, it is as near to its
    limit as those that they hang on are to theirs, times some ratio."""
    if c is None:
        return 4.0 * tolerance(limit)
    return ALONG * tolerance(limit)


@part
def factor(c, tree, state):
    """Factor the mass matrix of the node with its locks, unless it is."""
    if c is None:
        if state.factored[0] == 0.0:
            factor_at_node(tree, state)
    else:
        factor_rows(tree, state, c)


@part
def velocity(c, tree, state, out):
    """Velocity by the momenta of the node, with its locks."""
    if c is None:
        factor(c, tree, state)
        velocity_of(tree, state.w, out)
    else:
        velocity_with_rows(tree, state, c, False, out, out)


@part
def velocity_beside(c, tree, state, given, out):
    """The same, joints moving by the given rates besides: see constraints/held.py."""
    if c is None:
        velocity(c, tree, state, out)
    else:
        velocity_with_rows(tree, state, c, True, given, out)


@part
def solve_accelerations(c, tree, state, out):
    """Accelerations for the right-hand sides that joints and links have. Needs factor()."""
    if c is None:
        up(tree, state.w, state.w, None)
        down(tree, state.w, state.w, None, None, None)
        get_solution(tree, state.w, state.w, out)
    else:
        accelerations_with_rows(tree, state, c, out)


@kernel
def put_reactions(c, tree, w):
    """Give the momenta what the rows had to do for the last velocity."""
    if c is not None:
        give_reactions(tree, w, c)
