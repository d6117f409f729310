"""The variational step in position–momentum form: the paper's equation (3), with forces (17), by its Algorithm 3.

Given (q0, p0), find q1 with p0 + f⁻ = −D₁L_d(q0, q1); then p1 = D₂L_d(q0, q1) + f⁺. Gravity, external wrenches,
elements and joint forces act as half an impulse at either end of the step (kick); together the two halves
are the paper's full impulse at t_k. Orders above two compose such steps. Of one simulation, or of four in lanes.
"""

from collections import namedtuple

from .drnea import kick
from .elements import servo
from .elements.damping import damp
from .guess import guess, learn, remember
from .joints import dispatch as joint, set_motion
from .lanes import find_in_lanes
from .layout import DOF, SERVO, Made
from .machine.jit import formula, kernel, part
from .machine.memory import link
from .machine.simd import after, below, choose, less, number
from .methods import method
from .mobility import look_ahead
from .momentum import generalized_momentum
from .node import enter_node, energies, factor_at_node, force_scale, restore_node
from .record import ACTUATORS, CONTROL, DAMPING, LOOK
from .search import call
from .settings import RIQN, STRUGGLED, UNRESOLVED
from .sweep import factor_mass

# Change of the energy in a single step, relative to twice the kinetic energy, that shows the step to be too long:
TROUBLED_JUMP = 0.025  # when the search was in trouble
SMOOTH_JUMP = 0.05  # when it was not
NOTICEABLE = 0.995  # cos(θ/2) of 0.2 rad: only a step that turns a link further can be too long

# stages: fractions of a step, just one for order two; weights: of the guesses (guess.py); dynamics: True if the guess
# takes forward dynamics, which few runs want and which takes a while to compile, else None; settings: see settings.py;
# search: the address of one of search.py, or None in lanes
Variational = namedtuple("Variational", "stages weights dynamics settings search")


@part
def step(method, system, state, held, h, stage):
    """One step from a node to the next. Without a root q stays where it was, and the momenta have had the first
    kick."""
    tree, w = system.tree, state.w
    kick(system, w, held, 0.5 * h)  # p0 + f⁻
    damp(system.elements, tree, state, None, 0.5 * h, False)
    guess(method.dynamics, system, state, held, h, stage)
    set_motion(tree, w, state.motion)
    made = find(method.search, method.settings, tree, state, h)  # q1, and p1 = D₂L_d(q0, q1)
    if below(made.status, -0.5):
        return made
    if tree.locks:
        note_impulses(tree, state)
    if held.acts or method.settings.damped:
        note_work(tree, state, held, h, less(-0.5, made.status))
    return finish_step(system, state, held, h, made, None)


@kernel
def note_work(tree, state, held, h, good):
    """Add what damping takes, c Δ²/h, and what servos and the held joint forces give, −u Δ and −tau Δ, to the ledger: Δ
    being the joint's increment in the step that has been found, unless it was not (``good`` is 0)."""
    taken, given, driven = number(state.w, 0.0), number(state.w, 0.0), number(state.w, 0.0)
    for i in range(tree.n):
        if tree.passive[i] & SERVO:
            delta = state.motion[tree.iv[i]]
            driven += servo.impulse(link(state.w, i), h, delta) / h * delta
        k, c = tree.iv[i], link(state.w, i).damping / h
        for j in range(k, k + DOF[tree.kind[i]]):
            taken += c * state.motion[j] * state.motion[j]
            if held.acts:
                given += held.tau[j] * state.motion[j]
    state.ledger[DAMPING] += choose(good, taken, 0.0)
    state.ledger[CONTROL] -= choose(good, given, 0.0)
    state.ledger[ACTUATORS] -= choose(good, driven, 0.0)


@kernel
def note_impulses(tree, state):
    """Add up the impulses that have held locked joints in their places, after the motion has been found."""
    in_step = after(state.impulse, 2 * tree.nv)
    for i in range(tree.n):
        joint.note_impulse(tree.kind[i], tree, state.w, i, link(state.w, i), in_step, tree.iv[i])


@part
def finish_step(system, state, held, h, made, c):
    """Finish a step at the next node, after its configuration and momenta have been found; with the rows c, or None."""
    remember(state.history, state.motion, system.tree.nv)
    springs = enter_node(system, state.w, state.q)
    state.factored[0] = 0.0
    damp(system.elements, system.tree, state, c, 0.5 * h, True)
    kick(system, state.w, held, 0.5 * h)  # p1 + f⁺
    return Made(made.evaluations, made.residual, made.status, made.blamed, made.least, springs)


@part
def find(search, settings, tree, state, h):
    """Find the motion of the step (root.py), and advance q and the momenta by it (search.carry_over)."""
    if search is None:
        return find_in_lanes(tree, state, h, settings)
    if settings.method == RIQN and settings.implicit:
        factor_mass(tree, state.w, h)
        state.factored[0] = 0.0
    elif settings.method == RIQN and state.factored[0] == 0.0:
        factor_at_node(tree, state)
    evaluations, residual, status, blamed, least = call(search, tree, state, h, state.scale[0], settings)
    return Made(float(evaluations), residual, float(status), blamed, least, 0.0)


@formula
def after_stage(made, new):
    """What became of a composed step after one more of its stages; one that fails ends it."""
    failed, before = less(new.status, -0.5), less(made.status, -0.5)
    return Made(
        made.evaluations + new.evaluations,
        choose(before, made.residual, choose(failed, new.residual, max(made.residual, new.residual))),
        choose(before, made.status, choose(failed, new.status, max(made.status, new.status))),
        new.blamed, new.least, new.springs)


@kernel
def nothing_yet(w):
    """What has become of a step before its first stage."""
    no = number(w, 0.0)
    return Made(no, no, no, -1, number(w, 1.0), no)


@part
def begin(method, system, state, h):
    """Before the first of several steps."""
    state.scale[0] = force_scale(system.tree, state.w, system.gravity, h)
    learn(state, h, method.stages, method.weights, method.settings.guess, 0)


@part
def advance(method, system, state, held, k, h):
    """All stages of step k."""
    if method.settings.damped and k % LOOK == 0 and len(method.stages) == 1:
        look_ahead(system.tree, state.w, h)
        state.factored[0] = number(state.w, 0.0)
    made = nothing_yet(state.w)
    for s in range(len(method.stages)):
        made = after_stage(made, step(method, system, state, held, method.stages[s] * h, s))
        if below(made.status, -0.5):
            return made
    learn(state, h, method.stages, method.weights, method.settings.guess, len(method.stages))
    return made


@kernel
def look(method, system, state, springs, whole):
    """Twice the kinetic energy, and the energy, of the node; ``whole``: set its velocity, too."""
    return energies(system, state, springs, whole)


@kernel
def may_divide(settings):
    """Whether a step may be divided when its energy shows that it is too long; not with damping, which takes energy."""
    return not settings.damped and settings.max_substeps > 1


@formula
def jumped(change, before, after, status):
    """1 if the energy changed so much in a step that it was too long, given twice the kinetic energies; else 0. Of one
    simulation, or of four."""
    return less(choose(status - STRUGGLED, SMOOTH_JUMP, TROUBLED_JUMP) * max(before, after), abs(change))


@kernel
def trouble(method, state, made, twice, energy, looked_before):
    """UNRESOLVED if the energy jumped in a step that turned a link by more than 0.2 rad, else 0. If the node before
    was not looked at (``looked_before`` is 0), any step that turned a link so far is suspect: the rescue makes it again
    and compares."""
    if not may_divide(method.settings):
        return number(state.w, 0.0)
    suspect = max(1.0 - looked_before, jumped(energy - state.energy[0], state.twice[0], twice, made.status))
    return choose(suspect * less(made.least, NOTICEABLE) * (1.0 - state.forced[0]), UNRESOLVED, 0.0)


@kernel
def undo(method, system, state):
    """Come back to the node before the step that failed."""
    restore_node(system, state)


@kernel
def after_look(method, system, state, kept):
    """After a node has been looked at: its generalized momentum, if it is kept."""
    if kept:
        generalized_momentum(system.tree, state.w, state.v, state.p)


method(Variational, begin, advance, look, trouble, undo, after_look)
