"""Nodes of a mechanism with rows in which joints are locked (limits/): their velocity, their accelerations, and momenta
that belong to these.

The rows are eliminated on the tree with its locked joints, A M_locked⁻¹ Aᵀ. What holds a locked joint includes then
what the rows do to it, and rows that only locked joints could change are redundant.
"""

from ..joints import cone
from ..layout import BALL
from ..machine.jit import kernel, part
from ..machine.memory import link
from ..maths.mat3 import mat_vec
from ..maths.vec3 import NONE, dot
from ..momentum import drop_momenta
from .dynamics import row_bias
from .closed import row, set_rhs
from .elimination import down, solve_node, up
from .filling import add_impulses, rate_of, rows_at_node
from .projection import factor_node

STILL = (0.0, 0.0, 0.0)
MOBILE = 1e-10  # of how far a joint gives way by itself, below which rows do not let it


@kernel
def any_locked(tree, w):
    """Whether a joint is locked at a limit, or by dry friction (limits/)."""
    for i in range(tree.n if tree.locks else 0):
        if link(w, i).free == 0.0:
            return True
    return False


@part
def factor_rows(tree, state, c):
    """Factor the mass matrix with the rows of the node. It is not the one that ``factored`` is about."""
    rows_at_node(tree, state.w, c)
    factor_node(tree, state.w, c)
    state.factored[0] = 0.0


@part
def velocity_with_rows(tree, state, c, beside, given, out):
    """Velocity of the node that opens no loop, by the momenta that it has. If ``beside``, the joints move by the given
    rates besides, whose momenta have been taken away and whose twists the links have: what opens by them, the velocity
    closes."""
    factor_rows(tree, state, c)
    set_rhs(c, 0.0)
    if beside:
        for r in range(c.places.rows):
            R = row(c, r)
            if R.active != 0.0:
                R.rhs = rate_of(tree, state.w, c, r, given)
    drop_momenta(tree, state.w)
    solve_node(tree, state.w, c, out)


@part
def accelerations_with_rows(tree, state, c, out):
    """Accelerations at which the velocity keeps opening no loop, for the right-hand sides that joints and links have.
    Needs factor_rows(), the velocity, and link_forces() without accelerations and gravity."""
    for r in range(c.places.rows):
        R = row(c, r)
        R.rhs = row_bias(tree, state.w, c, r, state.v, STILL) if R.active != 0.0 else 0.0
    solve_node(tree, state.w, c, out)


@part
def give_reactions(tree, w, c):
    """Give the links and joints the impulses of the rows that the last velocity needed."""
    add_impulses(tree, w, c)


@part
def gives_way(tree, state, c, i):
    """Whether joint i, which is not locked, can move towards its limit, locked joints being held."""
    w = state.w
    factor_rows(tree, state, c)
    set_rhs(c, 0.0)
    for j in range(tree.n):
        L = link(w, j)
        L.wrench, L.tau6 = NONE, NONE
    L, ball = link(w, i), tree.kind[i] == BALL
    if ball:
        axis = cone.axis_in_world(L)
        L.tau3 = axis
    else:
        L.tau = 1.0
    up(tree, w, c)
    down(tree, w, c, None, None)
    if ball:
        return dot(axis, L.x3) > MOBILE * dot(axis, mat_vec(L.inverse3, axis))
    return L.x * L.pivot > MOBILE


@kernel
def note_reactions(tree, state):
    """Add up the impulses that have held locked joints in their places, after the motion has been found: as
    step.note_impulses, with the last correction."""
    w = state.w
    for i in range(tree.n):
        L = link(w, i)
        if L.free == 0.0:
            (m, f), (turn, move), k = L.row, link(w, tree.parent[i]).answer, 2 * tree.nv + tree.iv[i]
            impulse = dot(m, turn) + dot(f, move) - L.hold
            if tree.kind[i] == BALL:
                cone.add_impulse(L, state.impulse, k, impulse)
            else:
                state.impulse[k] += impulse
