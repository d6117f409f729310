"""A step for which the plain search found no root: damped Newton from safer guesses, continuation in the step size, and
at last the step in parts. It is compiled when it is first needed.
"""

from math import inf, isfinite, sqrt

from .drnea import drnea, kick, put_residual
from .joints import deflections, get_motion, improve_motion, restore_motion, save_motion, set_motion
from .machine.jit import entry, kernel
from .machine.memory import link, look_at, see, team, teams
from .momentum import generalized_momentum, velocity_of
from .record import follow, note_energy, record
from .rnea import total_momentum
from .root import FLOOR_LIMIT, LEAST_COSINE, RESOLVED, polished
from .search import leave
from .settings import (
    BACKTRACKED, CONTINUED, CONVERGED, EXHAUSTED, FLOOR, LOWERED, STRUGGLED, SUBSTEPPED, UNRESOLVED, WRONG_ROOT,
)
from .sweep import down, factor_jacobian, factor_mass, up
from .variational import (
    NOTICEABLE, come, force_scale, jumped, may_divide, potential_energy, restore_node, save_node, set_wrenches,
)

SHORTEST = 2.0**-12  # fraction of a Newton step below which a line search gives up


@kernel
def merit(tree, w, h, scale, settings):
    """Relative residual √(fᵀM⁻¹f) at the present motion, infinite where a log is not unique. Leaves the mass matrix
    factored."""
    twice_energy, least = drnea(tree, w, h, settings.retraction, True)
    if not least > LEAST_COSINE:
        return inf
    factor_mass(tree, w, 0.0)
    square = up(tree, w, w, None)
    size = scale + 2.0 * twice_energy
    value = sqrt(square / size if size > 0.0 else square)
    return value if isfinite(value) else inf


@kernel
def polish(tree, w, h):
    """What search.find_and_leave does with the converged motion."""
    improve_motion(tree, w, 1.0)
    for k in teams(tree):  # every link by itself, or four at a time
        L = team(w, k)
        m, f, d = polished(L, h, 1.0, None)
        put_residual(L, m, f)
        L.d = d


@kernel
def damped_newton(tree, w, h, scale, settings):
    """Full Newton steps, shortened until the residual falls. Gives (evaluations, residual, status)."""
    evaluations, status = 1, STRUGGLED
    residual = merit(tree, w, h, scale, settings)
    stalled = 0
    while evaluations < 4 * settings.max_iterations:
        if residual == inf:
            return evaluations, residual, EXHAUSTED
        right = factor_jacobian(tree, w, h, settings.retraction, True) > 0.0
        up(tree, w, w, None)
        down(tree, w, w, None, True, None)
        if residual <= settings.tol:
            polish(tree, w, h)
            return evaluations, residual, status if right else WRONG_ROOT
        if stalled > 1:
            return evaluations, residual, FLOOR if right else WRONG_ROOT
        save_motion(tree, w)
        fraction, trial = 1.0, inf
        while fraction > SHORTEST:
            improve_motion(tree, w, fraction)
            trial = merit(tree, w, h, scale, settings)
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
def continuation(tree, state, h, scale, settings):
    """Follow the root from a step so short that it is nearly straight, by state.straight, to the full one."""
    w, guess, v, found = state.w, state.motion, state.straight, state.found
    part, reached, growth = h / 64.0, 0.0, 2.0
    evaluations = 0
    for j in range(tree.nv):
        guess[j] = part * v[j]
    while True:
        set_motion(tree, w, guess)
        spent, residual, status = damped_newton(tree, w, part, scale, settings)
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
def rescue(tree, state, h, scale, settings):
    """Find the motion of the step from safer and safer guesses. Gives (evaluations, residual, status)."""
    w, guess, v = state.w, state.motion, state.straight
    velocity_of(tree, w, v)  # with the first kick
    evaluations = 0
    for attempt in range(2):
        for j in range(tree.nv):  # straight on, then where it was
            guess[j] = h * v[j] if attempt == 0 else 0.0
        set_motion(tree, w, guess)
        spent, residual, status = damped_newton(tree, w, h, scale, settings)
        evaluations += spent
        if status >= 0:
            return evaluations, residual, status if status == BACKTRACKED else LOWERED
    spent, residual, status = continuation(tree, state, h, scale, settings)
    return evaluations + spent, residual, status


@kernel
def least_cosine(tree, w):
    """The least cos(θ/2) of a link in the last (sub-)step: of that which turned furthest."""
    least = 1.0
    for i in range(tree.n):
        least = min(least, link(w, i).dR[0])
    return least


@kernel
def rescued_step(system, state, tau, h, scale, settings):
    """As variational.step, by all means but dividing it."""
    tree, w = system.tree, state.w
    kick(system, w, tau, 0.5 * h)
    evaluations, residual, status = rescue(tree, state, h, scale, settings)
    if status >= 0 and settings.max_substeps > 1 and least_cosine(tree, w) < RESOLVED:
        status = UNRESOLVED
    if status < 0:
        return evaluations, residual, status, 0.0
    leave(tree, state, h, None, None)
    springs = come(system, state, tau, h)
    factor_mass(tree, w, 0.0)
    return evaluations, residual, status, springs


@entry
def run_rescued(system, state, tau, wrench, h, stages, settings, parts, first, keep, out):
    """Make step ``first`` of a run, as variational.run, in ``parts`` equal parts (a power of two), or in twice as many,
    and so on.

    Gives the number of steps made, 1 or 0.
    """
    system, state = look_at(system), see(state)
    tree, w = system.tree, state.w
    if len(wrench) > 0:
        set_wrenches(tree, w, wrench[0])
    before = velocity_of(tree, w, state.v)
    start = 0.5 * before + potential_energy(system, w, deflections(tree, w, state.q, system.rest))
    scale = force_scale(tree, w, system.gravity, h)
    save_node(tree, state)
    spent = 0
    while parts <= settings.max_substeps:
        worst, status, springs = 0.0, SUBSTEPPED if parts > 1 else CONVERGED, 0.0
        for s in range(parts * len(stages)):
            part = stages[s % len(stages)] * h / parts
            evaluations, residual, result, springs = rescued_step(
                system, state, tau, part, scale, settings)
            spent += evaluations
            worst = max(worst, residual)
            if result < 0:
                status = result
                break
            status = max(status, result)
            velocity_of(tree, w, state.v)
        twice = velocity_of(tree, w, state.v)
        energy = 0.5 * twice + potential_energy(system, w, springs)
        too_long = (len(tau) == 0 and may_divide(settings) and least_cosine(tree, w) < NOTICEABLE
                    and jumped(energy - start, before, twice, STRUGGLED) != 0.0)
        if status >= 0 and isfinite(energy) and not (too_long and 2 * parts <= settings.max_substeps):
            out.iterations[0], out.residual[0], out.status[0], out.substeps[0] = spent, worst, status, parts
            angular, linear = total_momentum(tree, w)
            follow(0.5 * twice, energy, angular + linear, out.extremes)
            note_energy(out.looks, first, 0, energy)
            if keep:
                generalized_momentum(tree, w, state.p)
                record(tree, out, 0, state, energy, angular + linear)
            return 1
        restore_node(system, state)
        parts *= 2
    generalized_momentum(tree, w, state.p)
    out.iterations[0] = spent
    return 0
