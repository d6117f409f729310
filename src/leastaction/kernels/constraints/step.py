"""The step with closed loops and couplings, as a method of the loop (methods.py).

As step.py, with multipliers (search.py), and with the momentum of every node that is looked at projected
(projection.py). Steps follow each other unprojected, as the stages of a composition do: no position depends on it.
"""

from collections import namedtuple

from ..drnea import kick
from ..elements.damping import damp
from ..guess import guess, learn
from ..joints import set_motion
from ..layout import Made
from ..machine.jit import entry, kernel, part
from ..machine.memory import system_as_views, state_as_views
from ..methods import method
from ..mobility import look_ahead
from ..momentum import generalized_momentum
from ..node import enter_node, force_scale, potential_energy, restore_node
from ..record import LOOK, begin_extremes
from ..rnea import total_momentum
from ..settings import SINGULAR, UNRESOLVED
from ..step import NOTICEABLE, after_stage, finish_step, jumped, may_divide, note_work, nothing_yet
from .closed import closed_as_views, told_of
from .filling import rows_at_node
from .held import note_reactions
from .projection import FAILED, FOUND, KNOWN, REDUNDANT, STEPPED, TWICE, project, put_aside, put_back
from .search import find_and_carry_over

# stages, weights, settings: as of step.Variational; closed: see closed.py; events: steps at which the number of
# redundant rows changed, and the new number: first how many there were, then those that there was room for, and last
# the number in the last step
Constrained = namedtuple("Constrained", "stages weights settings closed events")
EVENTS = 64  # of which are kept
LATEST = 1 + 2 * EVENTS  # where the number in the last step is


@part
def step(method, system, state, held, h, stage):
    """One step from a node to the next, as step.step."""
    tree, w, c = system.tree, state.w, closed_as_views(method.closed)
    told = told_of(c)
    if told[KNOWN] == 0.0:
        rows_at_node(tree, w, c)
    told[KNOWN] = 0.0
    kick(system, w, held, 0.5 * h)
    damp(system.elements, tree, state, c, 0.5 * h, False)
    guess(None, system, state, held, h, stage)
    set_motion(tree, w, state.motion)
    evaluations, residual, status, blamed, least = find_and_carry_over(
        tree, state, h, state.scale[0], method.settings, c)
    made = Made(float(evaluations), residual, float(status), blamed, least, 0.0)
    if status < 0:
        return made
    told[FOUND] += 1.0
    if tree.locks:
        note_reactions(tree, state)
    if held.acts or method.settings.damped:
        note_work(tree, state, held, h, 1.0)
    return finish_step(system, state, held, h, made, c)


@kernel
def note_rank(events, c, k):
    """Note it if in step k there is another number of redundant rows than before."""
    redundant = int(told_of(c)[STEPPED])
    if redundant == events[LATEST]:
        return
    at = 1 + 2 * events[0]
    if events[0] < EVENTS:
        events[at], events[at + 1] = k, redundant
    events[0] += 1
    events[LATEST] = redundant


@part
def begin(method, system, state, h):
    """As step.begin. What is known of the node may have been of another."""
    told_of(closed_as_views(method.closed))[KNOWN] = 0.0
    state.scale[0] = force_scale(system.tree, state.w, system.gravity, h)
    learn(state, h, method.stages, method.weights, method.settings.guess, 0)


@part
def advance(method, system, state, held, k, h):
    """All stages of step k."""
    if method.settings.damped and k % LOOK == 0 and len(method.stages) == 1:
        look_ahead(system.tree, state.w, h)
        state.factored[0] = 0.0
    made = nothing_yet(state.w)
    for s in range(len(method.stages)):
        made = after_stage(made, step(method, system, state, held, method.stages[s] * h, s))
        if made.status < -0.5:
            return made
    learn(state, h, method.stages, method.weights, method.settings.guess, len(method.stages))
    note_rank(method.events, closed_as_views(method.closed), k)
    return made


@part
def look(method, system, state, springs, whole):
    """Twice the kinetic energy, and the energy, of the node, which is projected until after_look()."""
    c = closed_as_views(method.closed)
    put_aside(system.tree, state.w, c)
    project(system.tree, state, c)
    twice = told_of(c)[TWICE]
    return twice, 0.5 * twice + potential_energy(system, state.w, springs)


@kernel
def failed(method):
    """Whether the last node that was looked at could not be projected."""
    return told_of(closed_as_views(method.closed))[FAILED] != 0.0


@kernel
def trouble(method, state, made, twice, energy, known):
    """As step.trouble; SINGULAR if the node cannot be projected."""
    if failed(method):
        return float(SINGULAR)
    if not may_divide(method.settings):
        return 0.0
    if known == 1.0 and jumped(energy - state.energy[0], state.twice[0], twice, made.status) == 0.0:
        return 0.0
    return float(UNRESOLVED) if made.least < NOTICEABLE and state.forced[0] == 0.0 else 0.0


@part
def undo(method, system, state):
    """Come back to the node before the step that failed; its velocity and generalized momentum are projected."""
    restore_node(system, state)
    look(method, system, state, 0.0, True)
    after_look(method, system, state, True)
    told_of(closed_as_views(method.closed))[KNOWN] = 0.0


@part
def after_look(method, system, state, kept):
    """As step.after_look; then the node has the momenta of the step again."""
    if kept:
        generalized_momentum(system.tree, state.w, state.v, state.p)
    put_back(system.tree, state.w, closed_as_views(method.closed))


method(Constrained, begin, advance, look, trouble, undo, after_look)


@entry
def set_up(closed, system, room, carried):
    """Project the node that node.prepare() set up, and begin the extremes there again; if its momenta are ``carried``
    from a step, they stay as they are. Gives the number of redundant rows, or −1 if the elimination failed."""
    system = system_as_views(system)
    state, c = state_as_views(system.tree, room, 1), closed_as_views(closed)
    springs = enter_node(system, state.w, state.q)
    put_aside(system.tree, state.w, c)
    project(system.tree, state, c)
    told = told_of(c)
    told[STEPPED] = told[REDUNDANT]
    generalized_momentum(system.tree, state.w, state.v, state.p)
    twice = told[TWICE]
    energy = 0.5 * twice + potential_energy(system, state.w, springs)
    angular, linear = total_momentum(system.tree, state.w)
    begin_extremes(state, twice, energy, angular + linear)
    if carried:
        put_back(system.tree, state.w, c)
    return -1 if told[FAILED] != 0.0 else int(told[REDUNDANT])
