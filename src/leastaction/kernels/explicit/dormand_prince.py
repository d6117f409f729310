"""DOP853 of Dormand and Prince, Hairer, Nørsett and Wanner: order 8, steps by a tolerance, dense output of order 7.

For y = (ε, v) and ẏ = f(y) as in common.py, with ε about the configuration at the start of each internal step:

    k_s = f(y₀ + H Σ a_sr k_r)  (s = 0 … 11),   y₁ = y₀ + H Σ b_s k_s,   k₁₂ = f(y₁), the first of the next step
    e5, e3 = H Σ e_s k_s: estimates of the error, of orders 5 and 3, each number in units of tol (1 + |y|), then
    error = |e5|² / √(|e5|² + 0.01 |e3|²) / √(2 nv); a step is taken if error ≤ 1, and H ← 0.9 H / error^(1/8)
    y(x H) = y₀ + x (F₀ + (1−x) (F₁ + x (F₂ + (1−x) (F₃ + x (F₄ + (1−x) (F₅ + x F₆))))))

The nodes of the run lie anywhere within the internal steps, of which there may be many between two nodes, or one for
many nodes: there the polynomial gives the state, for three more evaluations once a step. The internal steps
do not depend on the nodes then. But where forces are given they are held from node to node, and steps end at nodes.

Of a model with closed loops, f keeps them closed, and y₁ is projected (constraints/closing.py) before the next step
begins there; so is the state that the polynomial gives at a node, from which no step begins.

What must outlast a call of the loop is in the method's memory, so a run may be cut and resumed anywhere.
"""

from collections import namedtuple
from math import inf, sqrt

from ..constraints.closed import closed_as_views
from ..constraints.closing import stay_closed
from ..constraints.dynamics import acceleration
from ..elements import set_time
from ..joints import dispatch as joint
from ..joints import move_by
from ..layout import SERVO, Made
from ..machine.columns import matrix_row
from ..machine.jit import kernel, part
from ..machine.memory import clear, copy, link
from ..machine.simd import after, numbers
from ..settings import NOT_FINITE, SINGULAR, TOO_MANY, TOO_SHORT
from .common import Stage, accelerate, combine, explicit_method, increment_rate, keep_velocity, rates
from .common import undo as undo_step
from .dormand_prince_error import error_of, mean_square, set_scale, worst
from .dormand_prince_memory import (
    BEGUN, CLOCK, COUNT, NEXT, ROWS, SPAN, START, memory_as_views, scratch_as_views,
)
from .dormand_prince_table import DENSE, END, STAGES

# tol: error allowed in a step; table: of coefficients; memory, scratch: see dormand_prince_memory.py; closed: see
# constraints/closed.py, or None
DormandPrince8 = namedtuple("DormandPrince8", "tol table memory scratch closed")
# What a step works on: the state, the memory, the scratch memory, the rows or None; h: distance of nodes
Work = namedtuple("Work", "state m d c h")

MOST = 10_000  # internal steps from one node to the next
LONGEST = 1000.0  # internal step, in distances of nodes
SHORTEST = 1e-14  # likewise
TURN = 3.0  # rad that a ball or free joint may turn in a step, as far as its start tells; ε is singular at 2π
SAFETY, LEAST, GREATEST = 0.9, 1.0 / 3.0, 6.0  # factors of the step size; the book's
POWER = -1.0 / 8.0
BEGINNING = 1e-6  # s, of a first step from a state without any motion


@kernel
def fraction(table, s):
    """Where stage s is in the step, in parts of it: c_s = Σ a_sr."""
    total, row = 0.0, matrix_row(table, s, STAGES)
    for r in range(s):
        total += row[r]
    return total


@kernel
def evaluate(system, held, work, t, s):
    """k_s = f(y₀ + y) at the time t. Gives whether the elimination of rows failed."""
    nv, (state, m, d, c, _) = system.tree.nv, work
    rate, change = matrix_row(d.k, s, 2 * nv), after(d.y, nv)
    for j in range(nv):
        d.v[j] = m.v0[j] + change[j]
    return rates(system, state, held, Stage(t, m.q0, d.y, d.v, d.q, rate, after(rate, nv)), c)


@kernel
def longest_span(tree, v, h):
    """The longest step that may be tried from the velocity v."""
    fastest = 0.0
    for i in range(tree.n):
        fastest = max(fastest, joint.spin(tree.kind[i], v, tree.iv[i]))
    span = LONGEST * abs(h)
    return min(span, TURN / fastest) if fastest * span > TURN else span


@kernel
def is_forced(tree, w, held):
    """Whether forces are given, which may change at the next node."""
    if held.acts:
        return True
    for i in range(tree.n):
        if tree.passive[i] & SERVO:  # and so may what a servo is commanded
            return True
        (a, b, c), (x, y, z) = link(w, i).push
        if a != 0.0 or b != 0.0 or c != 0.0 or x != 0.0 or y != 0.0 or z != 0.0:
            return True
    return False


@kernel
def restart(method, system, held, work, t):
    """Begin at the node, at the time t. Gives the number of evaluations."""
    state, m, d, c, h = work
    tree, nv, width = system.tree, system.tree.nv, 2 * system.tree.nv
    copy(state.q, m.q1, tree.nq)
    copy(state.v, m.v1, nv)
    accelerate(system, state.w, held, Stage(t, m.q1, d.y, m.v1, m.q1, d.k, m.a1), c)
    m.clock[BEGUN], m.clock[START], m.clock[COUNT], m.clock[SPAN] = 1.0, 0.0, 0.0, 0.0
    if m.clock[NEXT] != 0.0:
        return 1.0
    # The book's guess of a first step, from f(y₀) and f(y₀ + h₀ f(y₀))
    begin_step(method, tree, m, d)
    speed, rate, of_v, tried = 0.0, mean_square(d.k, d.scale, width), after(d.scale, nv), matrix_row(d.k, 1, width)
    for j in range(nv):
        speed += (m.v0[j] / of_v[j]) ** 2 / width
    first = 0.01 * sqrt(speed / rate) if speed > 1e-10 and rate > 1e-10 else BEGINNING
    first = min(first, longest_span(tree, m.v0, h))
    direction = 1.0 if h > 0.0 else -1.0
    for j in range(width):
        d.y[j] = direction * first * d.k[j]
    evaluate(system, held, work, t + direction * first, 1)
    for j in range(width):
        d.high[j] = (tried[j] - d.k[j]) / first
    steepest = max(sqrt(rate), sqrt(mean_square(d.high, d.scale, width)))
    second = (0.01 / steepest) ** -POWER if steepest > 1e-15 else max(BEGINNING, 1e-3 * first)
    m.clock[NEXT] = direction * min(100.0 * first, second)
    return 2.0


@kernel
def begin_step(method, tree, m, d):
    """The end of the last internal step is the start of the next."""
    nv = tree.nv
    copy(m.q1, m.q0, tree.nq)
    copy(m.v1, m.v0, nv)
    copy(m.v1, d.k, nv)  # ε̇ = v where ε = 0
    copy(m.a1, after(d.k, nv), nv)
    set_scale(tree, m.q0, m.v0, method.tol, d.scale)


@part
def try_steps(method, system, held, work, t, span):
    """Make an internal step of this length from the time t on, or one as much shorter as it takes. Gives what became of
    it."""
    tree, width, table, (_, m, d, _, h) = system.tree, 2 * system.tree.nv, numbers(method.table), work
    begin_step(method, tree, m, d)
    evaluations, most = 0.0, GREATEST
    while True:
        for s in range(1, END):
            combine(matrix_row(table, s, STAGES), s, d.k, width, span, d.y)
            if evaluate(system, held, work, t + fraction(table, s) * span, s):
                return Made(evaluations + s, 0.0, float(SINGULAR), 0, 0.0, 0.0)
        combine(matrix_row(table, END, STAGES), END, d.k, width, span, d.y)
        evaluations += END - 1.0
        error = error_of(table, tree, m, d, method.tol, span)
        factor = SAFETY * error**POWER if error > 0.0 else GREATEST
        if error <= 1.0:
            break
        most = 1.0  # a step that follows a rejected one is not longer
        span *= max(factor, LEAST) if error < inf else 0.1
        if abs(span) < SHORTEST * abs(h):
            return Made(evaluations, error, float(TOO_SHORT if error < inf else NOT_FINITE), worst(tree, d), 0.0, 0.0)
    m.clock[SPAN], m.clock[NEXT] = span, span * min(max(factor, LEAST), most)
    return finish(system, held, work, t + span, Made(evaluations + 1.0, error, 0.0, -1, 0.0, 0.0))


@kernel
def accelerate_end(system, w, held, at, c):
    """Set v̇ at the end of a step. With rows it has been projected, and the matrix of that is the one to use."""
    if c is None:
        accelerate(system, w, held, at, c)
    else:
        acceleration(system, w, at.v, held, c, at.a)


@part
def finish(system, held, work, t, step):
    """Set the end of the step that is in scratch, at the time t, and the rates there. Gives what became of it."""
    tree, nv, (state, m, d, c, _) = system.tree, system.tree.nv, work
    rate, change = matrix_row(d.k, END, 2 * nv), after(d.y, nv)
    copy(m.q0, state.q, tree.nq)
    move_by(tree, state.q, d.y)
    for j in range(nv):
        state.v[j] = m.v0[j] + change[j]
    set_time(system.elements, tree, state.w, t)
    step = stay_closed(system, state, d.low, False, step, c)
    copy(state.q, m.q1, tree.nq)
    copy(state.v, m.v1, nv)
    increment_rate(tree, d.y, m.v1, rate)
    accelerate_end(system, state.w, held, Stage(t, m.q0, d.y, m.v1, m.q1, rate, m.a1), c)
    copy(m.a1, after(rate, nv), nv)
    return step


@part
def join(method, system, held, work, t):
    """Make the polynomial between the ends of the step that is in scratch, from the time t on; three evaluations."""
    width, table, (_, m, d, _, _) = 2 * system.tree.nv, numbers(method.table), work
    span = m.clock[SPAN]
    end, F1, F2 = matrix_row(d.k, END, width), matrix_row(m.F, 1, width), matrix_row(m.F, 2, width)
    for j in range(width):
        m.F[j] = d.y[j]
        F1[j] = span * d.k[j] - d.y[j]
        F2[j] = 2.0 * d.y[j] - span * (end[j] + d.k[j])
    for s in range(END + 1, STAGES):
        combine(matrix_row(table, s, STAGES), s, d.k, width, span, d.y)
        evaluate(system, held, work, t + fraction(table, s) * span, s)
    for row in range(3, ROWS):
        combine(matrix_row(table, DENSE + row - 3, STAGES), STAGES, d.k, width, span, matrix_row(m.F, row, width))


@part
def interpolate(tree, m, d, x, q, v):
    """The state at the fraction x of the internal step."""
    nv, width, change = tree.nv, 2 * tree.nv, after(d.y, tree.nv)
    for j in range(width):
        y = 0.0
        for row in range(ROWS - 1, -1, -1):
            y = (y + matrix_row(m.F, row, width)[j]) * (x if row % 2 == 0 else 1.0 - x)
        d.y[j] = y
    copy(m.q0, q, tree.nq)
    move_by(tree, q, d.y)
    for j in range(nv):
        v[j] = m.v0[j] + change[j]


@part
def dormand_prince_8(method, system, state, held, k, h):
    """From the node to the next, by as many internal steps as it takes."""
    tree, m, d = system.tree, memory_as_views(method, system.tree), scratch_as_views(method, system.tree)
    clock, direction, forced = m.clock, 1.0 if h > 0.0 else -1.0, is_forced(system.tree, state.w, held)
    work = Work(state, m, d, closed_as_views(method.closed), h)
    keep_velocity(tree, state)
    evaluations, error = 0.0, 0.0
    if forced or clock[BEGUN] == 0.0:
        evaluations = restart(method, system, held, work, k * h)
    for _ in range(MOST):
        ahead = (clock[COUNT] + 1.0) * h - clock[START]  # of the next node, from the start of the internal step
        if direction * (clock[SPAN] - ahead) >= 0.0:
            interpolate(tree, m, d, ahead / clock[SPAN], state.q, state.v)
            clock[COUNT] += 1.0
            return stay_closed(system, state, d.low, False, Made(evaluations, error, 0.0, 0, 0.0, 0.0), work.c)
        clock[START] += clock[SPAN] - clock[COUNT] * h
        clock[COUNT] = 0.0
        rest = h - clock[START]
        wanted = direction * min(abs(clock[NEXT]), longest_span(tree, m.v1, h))
        span = wanted
        if forced and 2.0 * abs(span) > abs(rest):
            span = rest if abs(span) >= abs(rest) else 0.5 * rest
        t = k * h + clock[START]
        step = try_steps(method, system, held, work, t, span)
        evaluations, error = evaluations + step.evaluations, max(error, method.tol * step.residual)
        if step.status < 0.0:
            return Made(evaluations, error, float(step.status), step.blamed, 0.0, 0.0)
        if forced:
            if clock[SPAN] == span != wanted:  # shortened only to end at the node
                clock[NEXT] = direction * max(abs(wanted), abs(clock[NEXT]))
            if clock[SPAN] == rest:
                copy(m.q1, state.q, tree.nq)
                copy(m.v1, state.v, tree.nv)
                clock[BEGUN] = 0.0
                return Made(evaluations, error, 0.0, 0, 0.0, 0.0)
        elif direction * (clock[SPAN] - rest) >= 0.0:
            join(method, system, held, work, t)
            evaluations += 3.0
    return Made(evaluations, error, float(TOO_MANY), worst(tree, d), 0.0, 0.0)


@part
def undo(method, system, state):
    """Come back to the node before the step, and forget what lies behind."""
    undo_step(method, system, state)
    clear(numbers(method.memory), CLOCK)


explicit_method(DormandPrince8, dormand_prince_8, undo)
