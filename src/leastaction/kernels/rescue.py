"""A step for which the plain search found no root: damped Newton from safer guesses, continuation in the step size, and
at last the step in parts. It is compiled when it is first needed.

One text serves models without rows, where the argument c is None, and with closed loops, where it is their record
(constraints/closed.py).
"""

from collections import namedtuple
from math import inf, isfinite, sqrt

from .constraints import rescue as with_rows
from .constraints import step as closed_step
from .constraints.closed import closed_as_views, told_of
from .constraints.filling import rows_at_node
from .constraints.held import note_reactions
from .constraints.projection import FOUND
from .constraints.search import keep_multipliers
from .drnea import drnea, kick, put_residual
from .elements.damping import damp
from .joints import deflections, get_motion, improve_motion, restore_motion, save_motion, set_motion
from .layout import Made
from .machine.jit import kernel, part
from .machine.memory import link, team, teams
from .methods import method
from .momentum import velocity_of
from .node import energies, factor_at_node, force_scale
from .record import KNOWN
from .root import FLOOR_LIMIT, LEAST_COSINE, RESOLVED, polished
from .search import carry_over
from .settings import (
    BACKTRACKED, CONTINUED, CONVERGED, EXHAUSTED, FLOOR, LOWERED, SINGULAR, STRUGGLED, SUBSTEPPED, UNRESOLVED,
    WRONG_ROOT,
)
from .step import (
    NOTICEABLE, after_look, after_stage, finish_step, jumped, look, may_divide, note_impulses, note_work, undo,
)
from .sweep import down, factor_jacobian, factor_mass, up

# stages, settings: as of step.Variational; parts: into how many equal parts the step is divided, a power of two
Rescued = namedtuple("Rescued", "stages settings parts")
# closed, events: as of constraints/step.Constrained
RescuedConstrained = namedtuple("RescuedConstrained", "stages settings parts closed events")
SHORTEST = 2.0**-12  # fraction of a Newton step below which a line search gives up


@kernel
def own_square(tree, state, h, c):
    """fᵀM⁻¹f of the present motion; of one with rows, that of the correction it asks for."""
    if c is None:
        factor_mass(tree, state.w, 0.0)
        return up(tree, state.w, state.w, None)
    return with_rows.square(tree, state, h, c)


@kernel
def merit(tree, state, h, settings, c):
    """Relative residual √(fᵀM⁻¹f) at the present motion, infinite where a log is not unique. Leaves the mass matrix
    factored."""
    twice_energy, least = drnea(tree, state.w, h, settings.retraction, True)
    if not least > LEAST_COSINE:
        return inf
    square, size = own_square(tree, state, h, c), state.scale[0] + 2.0 * twice_energy
    value = sqrt(square / size if size > 0.0 else square)
    return value if isfinite(value) else inf


@kernel
def polish(tree, w, h):
    """What search.find_and_carry_over does with the converged motion."""
    improve_motion(tree, w, 1.0)
    for k in teams(tree):  # every link by itself, or four at a time
        L = team(w, k)
        m, f, d = polished(L, h, 1.0, None)
        put_residual(L, m, f)
        L.d = d


@kernel
def correct(tree, w, h, retraction, c):
    """Find Newton's correction of the present motion. Gives a status: 0, WRONG_ROOT or SINGULAR."""
    if c is not None:
        return with_rows.correct(tree, w, h, retraction, c)
    right = factor_jacobian(tree, w, h, retraction, True) > 0.0
    up(tree, w, w, None)
    down(tree, w, w, None, True, None)
    return 0 if right else WRONG_ROOT


@kernel
def finish(tree, w, h, converged, c):
    """Let a motion that has converged, or has come to the floor of round-off, be that of the step."""
    if c is not None:  # its multipliers are those of the corrected motion
        keep_multipliers(c)
        polish(tree, w, h)
    elif converged:
        polish(tree, w, h)


@kernel
def damped_newton(tree, state, h, settings, c):
    """Full Newton steps, shortened until the residual falls. Gives (evaluations, residual, status)."""
    w, evaluations, status, stalled = state.w, 1, STRUGGLED, 0
    residual = merit(tree, state, h, settings, c)
    while evaluations < 4 * settings.max_iterations:
        if residual == inf:
            return evaluations, residual, EXHAUSTED
        trouble = correct(tree, w, h, settings.retraction, c)
        if residual <= settings.tol or stalled > 1:
            finish(tree, w, h, residual <= settings.tol, c)
            done = status if residual <= settings.tol else FLOOR
            return evaluations, residual, done if trouble == 0 else trouble
        save_motion(tree, w)
        fraction, trial = 1.0, inf
        while fraction > SHORTEST:
            improve_motion(tree, w, fraction)
            trial = merit(tree, state, h, settings, c)
            evaluations += 1
            if trial < (1.0 - 0.1 * fraction) * residual or (residual < FLOOR_LIMIT and trial < FLOOR_LIMIT):
                break
            restore_motion(tree, w)
            fraction *= 0.5
            status = BACKTRACKED
        if fraction <= SHORTEST:
            return evaluations, residual, EXHAUSTED
        stalled = stalled + 1 if trial > 0.9 * residual and trial < FLOOR_LIMIT else 0
        residual = trial
    return evaluations, residual, EXHAUSTED


@kernel
def continuation(tree, state, h, settings, c):
    """Follow the root from a step so short that it is nearly straight, by state.straight, to the full one."""
    w, guess, v, found = state.w, state.motion, state.straight, state.found
    part, reached, growth = h / 64.0, 0.0, 2.0
    evaluations = 0
    for j in range(tree.nv):
        guess[j] = part * v[j]
    while True:
        set_motion(tree, w, guess)
        spent, residual, status = damped_newton(tree, state, part, settings, c)
        evaluations += spent
        if status >= 0:
            if part == h:
                return evaluations, residual, CONTINUED
            reached = part
            get_motion(tree, w, found)
        elif reached == 0.0 or growth < 1.02:
            return evaluations, residual, EXHAUSTED
        else:
            growth = sqrt(growth)
        part = reached * growth if abs(reached * growth) < abs(h) else h
        for j in range(tree.nv):
            guess[j] = found[j] * (part / reached)


@kernel
def set_straight(tree, state, c):
    """Set state.straight to the velocity of the node, with the first kick."""
    if c is None:
        velocity_of(tree, state.w, state.straight)
    else:
        with_rows.velocity(tree, state.w, state.straight, c)


@kernel
def rescue(tree, state, h, settings, c):
    """Find the motion of the step from safer and safer guesses. Gives (evaluations, residual, status)."""
    w, guess, v = state.w, state.motion, state.straight
    set_straight(tree, state, c)
    evaluations = 0
    for attempt in range(2):
        for j in range(tree.nv):  # straight on, then where it was
            guess[j] = h * v[j] if attempt == 0 else 0.0
        set_motion(tree, w, guess)
        spent, residual, status = damped_newton(tree, state, h, settings, c)
        evaluations += spent
        if status >= 0:
            return evaluations, residual, status if status == BACKTRACKED else LOWERED
    spent, residual, status = continuation(tree, state, h, settings, c)
    return evaluations + spent, residual, status


@kernel
def least_cosine(tree, w):
    """The least cos(θ/2) of a link in the last (sub-)step: of that which turned furthest."""
    least = 1.0
    for i in range(tree.n):
        least = min(least, link(w, i).dR[0])
    return least


@kernel
def note_holding(tree, state, c):
    """As step.note_impulses."""
    if c is None:
        note_impulses(tree, state)
    else:
        note_reactions(tree, state)


@kernel
def rescued_step(system, state, held, h, settings, c):
    """As step.step, by all means but dividing it."""
    tree, w = system.tree, state.w
    if c is not None:
        rows_at_node(tree, w, c)
    kick(system, w, held, 0.5 * h)
    damp(system.elements, tree, state, c, 0.5 * h, False)
    evaluations, residual, status = rescue(tree, state, h, settings, c)
    least = least_cosine(tree, w)
    if status >= 0 and settings.max_substeps > 1 and least < RESOLVED:
        status = UNRESOLVED
    made = Made(float(evaluations), residual, float(status), -1, least, 0.0)
    if status < 0:
        return made
    if c is not None:
        told_of(c)[FOUND] += 1.0
    if tree.locks:
        note_holding(tree, state, c)
    carry_over(tree, state, h, None, None)
    if held.acts or settings.damped:
        note_work(tree, state, held, h, 1.0)
    made = finish_step(system, state, held, h, made, c)
    if c is None:
        factor_at_node(tree, state)
    return made


@kernel
def begin_with(method, system, state, h, c):
    """Know the energy of the node, with which that after the step is compared."""
    state.scale[0] = force_scale(system.tree, state.w, system.gravity, h)
    springs = deflections(system.tree, state.w, state.q, system.rest)
    if c is None:
        state.twice[0], state.energy[0] = energies(system, state, springs, True)
    else:
        state.twice[0], state.energy[0] = closed_step.look(method, system, state, springs, True)
        closed_step.after_look(method, system, state, False)
    state.extremes[KNOWN] = 1.0


@kernel
def in_parts(method, system, state, held, h, c):
    """Make a step in equal parts."""
    made = Made(0.0, 0.0, float(SUBSTEPPED if method.parts > 1 else CONVERGED), -1, 1.0, 0.0)
    for s in range(method.parts * len(method.stages)):
        part = method.stages[s % len(method.stages)] * h / method.parts
        made = after_stage(made, rescued_step(system, state, held, part, method.settings, c))
        if made.status < 0.0:
            return made
        if c is None:
            velocity_of(system.tree, state.w, state.v)
    return made


@part
def begin(method, system, state, h):
    begin_with(method, system, state, h, None)


@part
def advance(method, system, state, held, k, h):
    return in_parts(method, system, state, held, h, None)


@part
def begin_closed(method, system, state, h):
    begin_with(method, system, state, h, closed_as_views(method.closed))


@part
def advance_closed(method, system, state, held, k, h):
    made = in_parts(method, system, state, held, h, closed_as_views(method.closed))
    if made.status >= 0.0:
        closed_step.note_rank(method.events, closed_as_views(method.closed), k)
    return made


@kernel
def trouble(method, state, made, twice, energy, looked_before):
    """As step.trouble; in the last resort the step is taken as it is."""
    settings = method.settings
    if not may_divide(settings) or 2 * method.parts > settings.max_substeps or made.least >= NOTICEABLE:
        return 0.0
    unlike = jumped(energy - state.energy[0], state.twice[0], twice, float(STRUGGLED))
    return float(UNRESOLVED) if unlike * (1.0 - state.forced[0]) > 0.0 else 0.0


@kernel
def trouble_closed(method, state, made, twice, energy, looked_before):
    """The same, unless the loops are in trouble themselves."""
    if closed_step.failed(method):
        return float(SINGULAR)
    return trouble(method, state, made, twice, energy, looked_before)


method(Rescued, begin, advance, look, trouble, undo, after_look)
method(RescuedConstrained, begin_closed, advance_closed, closed_step.look, trouble_closed, closed_step.undo,
       closed_step.after_look)
