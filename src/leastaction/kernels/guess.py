"""The guess with which the search for a root starts: the paper's IG1–IG3, or past increments extrapolated."""

from .aba import acceleration
from .joints import dispatch as joint
from .layout import PAST
from .machine.jit import kernel, part
from .machine.memory import lanes_of, link
from .machine.simd import after, below, numbers
from .node import factor_at_node

CURRENT, EULER, EXTRAPOLATED = 0, 1, PAST  # degrees of the polynomial through past configurations
DYNAMICS = -1


@part
def guess(dynamics, system, state, held, h, stage):
    """Set state.motion to a guess of the increment of every joint, in the layout of v.

    The history holds the last PAST increments, latest first; the velocity at t_k is used when there is none yet.
    Unless ``dynamics`` is None, the guess takes forward dynamics.
    """
    nv, out = system.tree.nv, state.motion
    if dynamics is not None:  # IG3: semi-implicit Euler
        rates = state.f
        for j in range(nv):
            rates[j] = state.history[j] / h if state.known[0] > 0.0 else state.v[j]
        if state.factored[0] == 0.0:
            factor_at_node(system.tree, state)
        acceleration(system, state.w, rates, held, out)
        for j in range(nv):
            out[j] = h * (rates[j] + h * out[j])
        return
    extrapolate(state.weights, stage * (PAST + 1), state.v, state.history, nv, out)
    if system.tree.locks:
        prescribe(system.tree, state.w, state.v, h, out)


@kernel
def prescribe(tree, w, v, h, out):
    """Let locked joints move at their rates: they do not, unless they are driven (limits/recovery.py)."""
    for i in range(tree.n):
        joint.guess_locked(tree.kind[i], link(w, i), v, h, out, tree.iv[i])


@part
def learn(state, h, stages, weights, kind, new):
    """Set the weights of the guesses of a step by the increments in the history, ``new`` of which are new. There is
    nothing to do once it is full."""
    if new > 0 and below(PAST - 0.5, state.known[0]):
        return
    state.known[0] = min(state.known[0] + new, float(PAST))
    lanes, own, known = lanes_of(state.w), numbers(state.weights), numbers(state.known)
    for lane in range(lanes):
        for s in range(len(stages)):
            row = terms(kind, weights, s, min(int(known[lane]) + s, PAST), stages[s] * h)
            for j in range(PAST + 1):
                own[((PAST + 1) * s + j) * lanes + lane] = row[j]


@kernel
def terms(kind, weights, stage, known, h):
    """Weights of the velocity and of the last increments in the guess; the history has ``known`` increments."""
    degree = min(kind, known)
    if degree == 0:
        return h if kind != CURRENT else 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    # The polynomial of this degree; for equal steps 1; 2, −1; 3, −3, 1; 4, −6, 4, −1; …
    return (0.0, weights[stage, degree, 0], weights[stage, degree, 1], weights[stage, degree, 2],
            weights[stage, degree, 3], weights[stage, degree, 4])


@kernel
def extrapolate(weights, k, v, history, nv, out):
    """The guess by the weights from number k on, of one simulation or of four."""
    z, a, b, c, d, e = weights[k], weights[k + 1], weights[k + 2], weights[k + 3], weights[k + 4], weights[k + 5]
    last, second, third = history, after(history, nv), after(history, 2 * nv)
    fourth, fifth = after(history, 3 * nv), after(history, 4 * nv)
    for j in range(nv):
        out[j] = z * v[j] + ((a * last[j] + b * second[j] + c * third[j]) + (d * fourth[j] + e * fifth[j]))


@kernel
def remember(history, epsilon, nv):
    """Put the increment of the last step at the front of the history."""
    for j in range(PAST * nv - 1, nv - 1, -1):
        history[j] = history[j - nv]
    for j in range(nv):
        history[j] = epsilon[j]
