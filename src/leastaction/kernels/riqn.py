"""RIQN, the recursive impulse-based quasi-Newton method (paper, Algorithm 3).

The mass matrix at t_k is factored once a step; an iteration is then one DRNEA and two cheap sweeps. The residual
wrenches go straight into the first sweep, which also gives the norm √(fᵀM⁻¹f) in which convergence is judged.
"""

from math import isfinite, sqrt

from .aba import solve_down, solve_up
from .drnea import drnea, gather_residual
from .jit import kernel
from .joints import improve_motion
from .kinematics import inertia_times
from .layout import MASS, MU, A, D, add33, get3, get33, put3, slot
from .vec3 import add, add_scaled, cross

# What became of a step. Negative: no root was found, and the state is the one before the step.
CONVERGED, FLOOR = 0, 1
EXHAUSTED, ROTATION, NOT_FINITE, BAD_CONTROL = -1, -2, -3, -4

SCALED, ABSOLUTE = 0, 1  # stopping rules: √(fᵀM⁻¹f) relative to the motion, or the paper's ‖f‖

LEAST_COSINE = 0.05  # cos(θ/2) of a link's rotation in one step, below which its log counts as ambiguous (174°)
FLOOR_LIMIT = 1e-10  # a residual that no longer shrinks is taken for round-off only below this, relative to the motion


@kernel
def absolute_residual(tree, w, f):
    """‖f‖ as in the paper. Needs drnea(), and solve_up() not yet done."""
    gather_residual(tree, w, f)
    square = 0.0
    for value in f:
        square += value * value
    return sqrt(square)


@kernel
def polish(tree, w, h):
    """One more update of the converged motion, and of the link momenta with it to first order (δμ = G/h ζ).

    It costs a fraction of an evaluation and takes one more contraction off the error that the step leaves in the
    momentum. Needs solve_up().
    """
    solve_down(tree, w)
    improve_motion(tree, w, h)
    for i in range(len(tree.parent)):
        o = slot(i)
        turn, move = get33(w, o + A)
        m, f = inertia_times(w, o, w[o + MASS], turn, move)
        add33(w, o + MU, m, f)
        d = get3(w, o + D)
        put3(w, o + D, add_scaled(d, h, add(move, cross(turn, d))))


@kernel
def riqn(tree, w, h, momentum_square, rule, tol, max_iterations, scratch):
    """Find the motion of the step, starting from the one set. Needs factor(). Gives (evaluations, residual, status).

    ``momentum_square`` sets the scale of the relative residual, together with the kinetic energy of the motion itself.
    """
    best, residual, stalled = 1e300, 1e300, 0
    for iteration in range(1, max_iterations + 1):
        twice_energy, least = drnea(tree, w, h)  # Alg. 3, line 3
        if not least > LEAST_COSINE:
            return iteration, residual, ROTATION if isfinite(least) else NOT_FINITE
        absolute = absolute_residual(tree, w, scratch) if rule == ABSOLUTE else 0.0
        norm = sqrt(solve_up(tree, w))  # Alg. 3, line 5, first sweep
        scale = sqrt(momentum_square + twice_energy)
        relative = norm / scale if scale > 0.0 else norm
        residual = absolute if rule == ABSOLUTE else relative
        if not isfinite(norm):
            return iteration, residual, NOT_FINITE
        if residual <= tol:  # Alg. 3, line 4
            polish(tree, w, h)
            return iteration, residual, CONVERGED
        stalled = stalled + 1 if relative > 0.5 * best else 0
        if stalled > 1 and relative < FLOOR_LIMIT:
            return iteration, residual, FLOOR
        best = min(best, relative)
        solve_down(tree, w)  # Alg. 3, line 5, second sweep
        improve_motion(tree, w, h)  # Alg. 3, line 6
    return max_iterations, residual, EXHAUSTED
