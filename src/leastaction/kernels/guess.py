"""Where the root find starts: the paper's IG1–IG3, and extrapolation of past increments, which costs nothing."""

from .aba import acceleration
from .jit import kernel, part
from .layout import clear

# The first five are degrees of the polynomial through past configurations
CURRENT, EULER, QUADRATIC, CUBIC, QUARTIC, DYNAMICS = 0, 1, 2, 3, 4, 5


@part
def guess(kind, tree, w, history, weights, known, v, tau, gravity, h, rates, out):
    """Set ``out`` to a guess of the increment of every joint, in the layout of v. ``rates`` is scratch of the same
    size.

    ``history`` holds the last four increments, latest first, of which ``known`` are there; ``v`` is the velocity at
    t_k, used when there is no history yet.
    """
    nv = len(out)
    if kind == CURRENT:  # IG1
        clear(out)
        return
    if kind == DYNAMICS:  # IG3: semi-implicit Euler
        for j in range(nv):
            rates[j] = history[0, j] / h if known > 0 else v[j]
        acceleration(tree, w, rates, tau, gravity, out)
        for j in range(nv):
            out[j] = h * (rates[j] + h * out[j])
        return
    degree = min(kind, known)
    for j in range(nv):
        # weights[d, m]: of increment m in the polynomial of degree d; for equal steps 1; 2, −1; 3, −3, 1; 4, −6, 4, −1
        if degree == 0:
            out[j] = h * v[j]
        else:
            total = 0.0
            for m in range(degree):
                total += weights[degree, m] * history[m, j]
            out[j] = total


@kernel
def remember(history, epsilon):
    """Put the increment of the step just made in front."""
    for j in range(len(epsilon)):
        history[3, j] = history[2, j]
        history[2, j] = history[1, j]
        history[1, j] = history[0, j]
        history[0, j] = epsilon[j]
