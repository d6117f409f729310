"""A step with rows for which the plain search found no root: as rescue.py, which explains the attempts."""

from collections import namedtuple
from math import inf, isfinite, sqrt

from ..drnea import drnea, kick
from ..elements.damping import damp
from ..joints import deflections, get_motion, get_solution, improve_motion, restore_motion, save_motion, set_motion
from ..layout import Made
from ..machine.jit import kernel, part
from ..machine.memory import clear, copy
from ..machine.simd import after, integers, numbers
from ..methods import method
from ..momentum import drop_momenta
from ..node import force_scale
from ..record import KNOWN
from ..rescue import SHORTEST, least_cosine, polish, too_long
from ..root import FLOOR_LIMIT, LEAST_COSINE, RESOLVED
from ..search import leave as leave_node
from ..settings import (
    BACKTRACKED, CONTINUED, CONVERGED, EXHAUSTED, FLOOR, LOWERED, STRUGGLED, SUBSTEPPED, UNRESOLVED,
)
from ..step import after_stage, come
from .elimination import down, up
from .filling import rows_after, rows_at_node
from .projection import factor_node, project, twice_kinetic
from .rows import seen
from .search import factor_step
from .step import leave, look, settle, undo

# As step.Constrained; parts: into how many equal parts the step is divided, a power of two
RescuedConstrained = namedtuple("RescuedConstrained", "stages settings parts rows ops targets places desk events")
# What the rows of a model are to the functions below: views of the fields of a method
Closed = namedtuple("Closed", "rows ops targets places x")


@kernel
def closed(method):
    return Closed(seen(method.rows), integers(method.ops), integers(method.targets), method.places,
                  numbers(method.desk))


@kernel
def merit(tree, state, h, scale, settings, c):
    """Relative size of the correction that the present motion asks for, by the mass matrix and the rows of the node:
    M x − Aᵀ λ = −f, A x = −g/h. Infinite where a log is not unique, or the node is singular."""
    w, v = state.w, state.f
    twice_energy, least = drnea(tree, w, h, settings.retraction, True)
    if not least > LEAST_COSINE:
        return inf
    rows_after(tree, w, c.rows, c.targets, c.places, c.x, False)
    for r in range(c.places.rows):
        c.x[c.places.rhs + r] /= h
    _, lost = factor_node(tree, w, c.rows, c.ops, c.targets, c.places, c.x)
    if lost:
        return inf
    up(tree, w, c.ops, c.places, c.x)
    down(tree, w, c.ops, c.places, c.x, None, None)
    get_solution(tree, w, w, v)
    square, size = twice_kinetic(tree, w, v), scale + 2.0 * twice_energy
    value = sqrt(square / size if size > 0.0 else square)
    return value if isfinite(value) else inf


@kernel
def damped_newton(tree, state, h, scale, settings, c):
    """As rescue.damped_newton."""
    w, evaluations, status, stalled = state.w, 1, STRUGGLED, 0
    residual = merit(tree, state, h, scale, settings, c)
    while evaluations < 4 * settings.max_iterations:
        if residual == inf:
            return evaluations, residual, EXHAUSTED
        trouble = factor_step(tree, w, c.rows, c.ops, c.targets, c.places, c.x, h, settings.retraction, True)
        up(tree, w, c.ops, c.places, c.x)
        down(tree, w, c.ops, c.places, c.x, None, True)
        if residual <= settings.tol or stalled > 1:
            copy(after(c.x, c.places.answer), after(c.x, c.places.total), c.places.rows)
            polish(tree, w, h)
            done = status if residual <= settings.tol else FLOOR
            return evaluations, residual, done if trouble == 0 else trouble
        save_motion(tree, w)
        fraction, trial = 1.0, inf
        while fraction > SHORTEST:
            improve_motion(tree, w, fraction)
            trial = merit(tree, state, h, scale, settings, c)
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
def continuation(tree, state, h, scale, settings, c):
    """As rescue.continuation."""
    w, guess, v, found = state.w, state.motion, state.straight, state.found
    part, reached, growth = h / 64.0, 0.0, 2.0
    evaluations = 0
    for j in range(tree.nv):
        guess[j] = part * v[j]
    while True:
        set_motion(tree, w, guess)
        spent, residual, status = damped_newton(tree, state, part, scale, settings, c)
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
def velocity(tree, state, c):
    """Set state.straight to the velocity of the momenta of the node, with the first kick, that opens no loop."""
    w = state.w
    factor_node(tree, w, c.rows, c.ops, c.targets, c.places, c.x)
    clear(after(c.x, c.places.rhs), c.places.rows)
    drop_momenta(tree, w)
    up(tree, w, c.ops, c.places, c.x)
    down(tree, w, c.ops, c.places, c.x, None, None)
    get_solution(tree, w, w, state.straight)


@kernel
def rescue(tree, state, h, scale, settings, c):
    """As rescue.rescue."""
    w, guess, v = state.w, state.motion, state.straight
    velocity(tree, state, c)
    evaluations = 0
    for attempt in range(2):
        for j in range(tree.nv):  # straight on, then where it was
            guess[j] = h * v[j] if attempt == 0 else 0.0
        set_motion(tree, w, guess)
        spent, residual, status = damped_newton(tree, state, h, scale, settings, c)
        evaluations += spent
        if status >= 0:
            return evaluations, residual, status if status == BACKTRACKED else LOWERED
    spent, residual, status = continuation(tree, state, h, scale, settings, c)
    return evaluations + spent, residual, status


@kernel
def rescued_step(system, state, held, h, settings, c):
    """As rescue.rescued_step."""
    tree, w = system.tree, state.w
    rows_at_node(tree, w, c.rows, c.places, c.x)
    kick(system, w, held, 0.5 * h)
    damp(system.elements, tree, state, 0.5 * h, False)
    evaluations, residual, status = rescue(tree, state, h, state.scale[0], settings, c)
    least = least_cosine(tree, w)
    if status >= 0 and settings.max_substeps > 1 and least < RESOLVED:
        status = UNRESOLVED
    made = Made(float(evaluations), residual, float(status), -1, least, 0.0)
    if status < 0:
        return made
    leave_node(tree, state, h, None, None)
    return come(system, state, held, h, made)


@part
def begin(method, system, state, h):
    """Know the energy of the node, with which that after the step is compared."""
    state.scale[0] = force_scale(system.tree, state.w, system.gravity, h)
    springs = deflections(system.tree, state.w, state.q, system.rest)
    c = closed(method)
    project(system.tree, state, c.rows, c.ops, c.targets, c.places, c.x)
    state.twice[0], state.energy[0] = look(method, system, state, springs, True)
    state.extremes[KNOWN] = 1.0


@part
def advance(method, system, state, held, k, h):
    """Step k in equal parts."""
    made = Made(0.0, 0.0, float(SUBSTEPPED if method.parts > 1 else CONVERGED), -1, 1.0, 0.0)
    for s in range(method.parts * len(method.stages)):
        part = method.stages[s % len(method.stages)] * h / method.parts
        made = after_stage(made, rescued_step(system, state, held, part, method.settings, closed(method)))
        if made.status < 0.0:
            return made
    return settle(method, system, state, k, made)


method(RescuedConstrained, begin, advance, look, too_long, undo, leave)
