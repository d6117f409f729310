"""Where the root find starts: the paper's IG1–IG3, and extrapolation of past increments, which costs nothing."""

from .aba import acceleration
from .machine.jit import kernel, part

PAST = 5  # increments that are remembered; with a sixth the guess amplifies more round-off than it foresees motion
CURRENT, EULER, EXTRAPOLATED = 0, 1, PAST  # degrees of the polynomial through past configurations
DYNAMICS = -1


@part
def guess(system, state, tau, h, method, stage, known):
    """Set state.motion to a guess of the increment of every joint, in the layout of v.

    The history holds the last PAST increments, latest first, of which ``known`` are there; the velocity at t_k is used
    when there is none yet. ``dynamics`` of the method is None unless the guess takes forward dynamics, which few runs
    want and which takes a while to compile.
    """
    (_, weights, dynamics, settings), nv = method, system.tree.nv
    history, v, rates, out = state.history, state.v, state.f, state.motion
    if dynamics is not None:  # IG3: semi-implicit Euler
        for j in range(nv):
            rates[j] = history[j] / h if known > 0 else v[j]
        acceleration(system, state.w, rates, tau, out)
        for j in range(nv):
            out[j] = h * (rates[j] + h * out[j])
        return
    extrapolate(terms(settings.guess, weights, stage, known, h), v, history, nv, out)


@kernel
def terms(kind, weights, stage, known, h):
    """Weights of the velocity and of the last increments in the guess, ``known`` of the latter being there."""
    degree = min(kind, known)
    if degree == 0:
        return h if kind != CURRENT else 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    # The polynomial of this degree; for equal steps 1; 2, −1; 3, −3, 1; 4, −6, 4, −1; …
    return (0.0, weights[stage, degree, 0], weights[stage, degree, 1], weights[stage, degree, 2],
            weights[stage, degree, 3], weights[stage, degree, 4])


@kernel
def extrapolate(weights, v, past, nv, out):
    """The guess by such weights, of one simulation or of four."""
    z, a, b, c, d, e = weights
    for j in range(nv):
        out[j] = z * v[j] + ((a * past[j] + b * past[nv + j] + c * past[2 * nv + j])
                             + (d * past[3 * nv + j] + e * past[4 * nv + j]))


@kernel
def remember(history, epsilon, nv):
    """Put the increment of the step just made in front."""
    for j in range(PAST * nv - 1, nv - 1, -1):
        history[j] = history[j - nv]
    for j in range(nv):
        history[j] = epsilon[j]
