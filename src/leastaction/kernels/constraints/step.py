"""The step with closed loops and couplings, as a method of the loop (methods.py).

As step.py, with multipliers (search.py), and with the momentum projected at the end of every whole step
(projection.py). Orders above two compose unprojected steps: the projection changes no position.
"""

from collections import namedtuple

from ..drnea import kick
from ..elements.damping import damp
from ..guess import guess, learn
from ..joints import set_motion
from ..layout import Made
from ..machine.jit import entry, kernel, part
from ..machine.memory import look_at, see
from ..methods import method
from ..mobility import look_ahead
from ..momentum import generalized_momentum
from ..node import arrive, force_scale, potential_energy, restore_node
from ..record import KNOWN as LOOKED_AT, LOOK
from ..rnea import total_momentum
from ..settings import SINGULAR
from ..step import NOTICEABLE, after_stage, come, jumped, may_divide, nothing_yet
from .closed import seen
from .filling import rows_at_node
from .projection import CHANGED, FAILED, KNOWN, REDUNDANT, TWICE, project, told_of
from .search import find_and_leave

# stages, weights, settings: as of step.Variational; closed: see closed.py; events: steps at which the number of
# redundant rows changed, and the new number: first how many there were, then those that there was room for
Constrained = namedtuple("Constrained", "stages weights settings closed events")
EVENTS = 64  # of which are kept


@part
def step(method, system, state, held, h, stage):
    """One step from a node to the next, as step.step."""
    tree, w, c = system.tree, state.w, seen(method.closed)
    told = told_of(c)
    if told[KNOWN] == 0.0:
        rows_at_node(tree, w, c)
    told[KNOWN] = 0.0
    kick(system, w, held, 0.5 * h)
    damp(system.elements, tree, state, 0.5 * h, False)
    guess(None, system, state, held, h, stage)
    set_motion(tree, w, state.motion)
    evaluations, residual, status, blamed, least = find_and_leave(tree, state, h, state.scale[0], method.settings, c)
    made = Made(float(evaluations), residual, float(status), blamed, least, 0.0)
    if status < 0:
        return made
    return come(system, state, held, h, made)


@part
def settle(method, system, state, k, made):
    """Project the node after step k."""
    c = seen(method.closed)
    project(system.tree, state, c)
    told = told_of(c)
    if told[CHANGED] != 0.0:
        note(method.events, k, int(told[REDUNDANT]))
    status = float(SINGULAR) if told[FAILED] != 0.0 else made.status
    return Made(made.evaluations, made.residual, status, made.blamed, made.least, made.springs)


@kernel
def note(events, k, redundant):
    """Note that after step k there is another number of redundant rows."""
    at = 1 + 2 * events[0]
    if events[0] < EVENTS:
        events[at], events[at + 1] = k, redundant
    events[0] += 1


@part
def begin(method, system, state, h):
    """As step.begin. What is known of the node may have been of another."""
    told_of(seen(method.closed))[KNOWN] = 0.0
    state.scale[0] = force_scale(system.tree, state.w, system.gravity, h)
    learn(state, h, method.stages, method.weights, method.settings.guess, 0)


@part
def advance(method, system, state, held, k, h):
    """All stages of step k, and the projection."""
    if method.settings.damped and k % LOOK == 0 and len(method.stages) == 1:
        look_ahead(system.tree, state.w, h)
        state.factored[0] = 0.0
    made = nothing_yet(state.w)
    for s in range(len(method.stages)):
        made = after_stage(made, step(method, system, state, held, method.stages[s] * h, s))
        if made.status < -0.5:
            return made
    learn(state, h, method.stages, method.weights, method.settings.guess, len(method.stages))
    return settle(method, system, state, k, made)


@part
def look(method, system, state, springs, whole):
    """Twice the kinetic energy, and the energy, of the node, which is projected."""
    twice = told_of(seen(method.closed))[TWICE]
    return twice, 0.5 * twice + potential_energy(system, state.w, springs)


@kernel
def too_long(method, state, made, twice, energy, known):
    """As step.too_long."""
    if not may_divide(method.settings):
        return 0.0
    if known == 1.0 and jumped(energy - state.energy[0], state.twice[0], twice, made.status) == 0.0:
        return 0.0
    return 1.0 - state.forced[0] if made.least < NOTICEABLE else 0.0


@part
def undo(method, system, state):
    """Come back to the node before the step that failed. Its momenta are on the manifold."""
    told_of(seen(method.closed))[KNOWN] = 0.0
    restore_node(system, state)


@kernel
def leave(method, system, state):
    """After a node has been looked at."""


method(Constrained, begin, advance, look, too_long, undo, leave)


@entry
def set_up(closed, system, room):
    """Project the node that node.prepare() set up, and begin the extremes there again. Gives the number of redundant
    rows, or −1 if the elimination failed."""
    system = look_at(system)
    state, c = see(system.tree, room, 1), seen(closed)
    springs = arrive(system, state.w, state.q)
    project(system.tree, state, c)
    told = told_of(c)
    generalized_momentum(system.tree, state.w, state.v, state.p)
    twice = told[TWICE]
    energy = 0.5 * twice + potential_energy(system, state.w, springs)
    angular, linear = total_momentum(system.tree, state.w)
    momentum = angular + linear
    state.twice[0], state.energy[0] = twice, energy
    extremes = state.extremes
    extremes[0] = extremes[1] = energy
    for j in range(6):
        state.total[j] = extremes[3 + j] = extremes[9 + j] = momentum[j]
    extremes[2], extremes[LOOKED_AT] = 0.5 * twice, 1.0
    return -1 if told[FAILED] != 0.0 else int(told[REDUNDANT])
