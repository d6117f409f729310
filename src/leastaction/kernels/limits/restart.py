"""Coming back to a node inside a step, and steps of another length from there."""

from .. import methods
from ..joints import dispatch as joint
from ..layout import LEDGER, Made
from ..machine.jit import kernel, part
from ..machine.memory import copy
from ..node import enter_node
from ..record import KNOWN
from ..settings import CROWDED
from .reactions import keep_momenta, put_momenta
from .table import RECOVERING


@kernel
def keep_node(tree, state, node):
    """Keep a node, whose velocity is known."""
    copy(state.q, node.q, tree.nq)
    copy(state.low, node.low, tree.nq)
    copy(state.v, node.v, tree.nv)
    copy(state.ledger, node.ledger, LEDGER)
    keep_momenta(tree, state.w, node.momenta)


@part
def back(system, state, node):
    """Come back to a node that was kept; no step before it is remembered then, nor what happened since."""
    tree = system.tree
    copy(node.q, state.q, tree.nq)
    copy(node.low, state.low, tree.nq)
    copy(node.v, state.v, tree.nv)
    copy(node.ledger, state.ledger, LEDGER)
    put_momenta(tree, state.w, node.momenta)
    enter_node(system, state.w, state.q)
    state.factored[0], state.known[0] = 0.0, 0.0
    for j in range(2 * tree.nv, 3 * tree.nv):
        state.impulse[j] = 0.0


@part
def begin_part(method, system, state, h):
    """Before a step of another length; what is known of the node before the whole step stays."""
    twice, energy, known = state.twice[0], state.energy[0], state.extremes[KNOWN]
    state.known[0] = 0.0
    methods.begin(method.base, system, state, h)
    state.twice[0], state.energy[0], state.extremes[KNOWN] = twice, energy, known


@part
def advance(method, system, state, held, scratch, k, h):
    """A step of the base method, after which joints on their way back to a limit still have their rates."""
    tree = system.tree
    for r in range(method.count):
        scratch.speed[r] = state.v[tree.iv[method.rows.link[r]]]
    made = methods.advance(method.base, system, state, held, k, h)
    for r in range(method.count):
        i = method.rows.link[r]
        at = tree.iv[i]
        if abs(state.locks[at]) == RECOVERING:
            joint.keep_prescribed(tree.kind[i], state.v, at, scratch.speed[r])
    return made


@kernel
def crowded(made):
    """What became of a step in which more happened at limits, or by dry friction, than could be followed."""
    return Made(made.evaluations, made.residual, float(CROWDED), 0, made.least, made.springs)
