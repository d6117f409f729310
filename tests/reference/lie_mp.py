"""SO(3) and SE(3) to 50 digits with mpmath, from definitions: power series of matrices and their inverses.

Arguments may be floats, which are taken as exact numbers; results are mpmath numbers and matrices. Rotation
angles go up to pi. Nothing here uses the closed forms it is there to check.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mpmath import mp, mpf

DIGITS = 50
Vector = Sequence[Any]


def hat(w: Vector) -> Any:
    """Matrix (3, 3) of the cross product with w (3,)."""
    return mp.matrix([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def ad(x: Vector) -> Any:
    """Matrix (6, 6) of the Lie bracket with the twist x (6,)."""
    A = mp.zeros(6)
    A[:3, :3] = A[3:, 3:] = hat(x[:3])
    A[3:, :3] = hat(x[3:])
    return A


def _series(A: Any, shift: int) -> Any:
    """Sum of A^j / (j + shift)! over j, to the working precision."""
    term = mp.eye(A.rows) / mp.factorial(shift)
    total, j = term.copy(), 0
    while mp.mnorm(term, 1) > mp.eps**2:
        j += 1
        term = term * A / (j + shift)
        total += term
    return total


def exp3(w: Vector) -> Any:
    """Rotation matrix (3, 3) of the rotation vector w (3,), rad."""
    with mp.workdps(DIGITS):
        return _series(hat([mpf(c) for c in w]), 0)


def exp(x: Vector) -> Any:
    """Pose (4, 4) reached by the twist x (6,) in unit time."""
    with mp.workdps(DIGITS):
        x = [mpf(c) for c in x]
        X = mp.zeros(4)
        X[:3, :3] = hat(x[:3])
        X[:3, 3] = mp.matrix(x[3:])
        return _series(X, 0)


def log3(R: Any) -> list[Any]:
    """Rotation vector (3,), rad, of the rotation matrix R (3, 3)."""
    with mp.workdps(2 * DIGITS):
        skew = [(R[2, 1] - R[1, 2]) / 2, (R[0, 2] - R[2, 0]) / 2, (R[1, 0] - R[0, 1]) / 2]
        sine = mp.norm(skew)
        if sine > mpf(10) ** (-DIGITS // 2):
            angle = mp.atan2(sine, (R[0, 0] + R[1, 1] + R[2, 2] - 1) / 2)
            return [c * angle / sine for c in skew]
        if R[0, 0] + R[1, 1] + R[2, 2] > 0:
            return skew
        k = max(range(3), key=lambda i: R[i, i])  # a half turn: R = 2 a a' - 1
        column = [R[i, k] + (i == k) for i in range(3)]
        return [mp.pi * c / mp.norm(column) for c in column]


def log(T: Any) -> list[Any]:
    """Twist (6,) whose exponential is the pose T (4, 4)."""
    with mp.workdps(DIGITS):
        w = log3(T[:3, :3])
        return w + list(dlog3(w) * T[:3, 3])


def dlog3(w: Vector) -> Any:
    """Right-trivialised derivative (3, 3) of log on SO(3): the inverse of that of exp."""
    with mp.workdps(DIGITS):
        return mp.inverse(_series(hat([mpf(c) for c in w]), 1))


def dlog(x: Vector) -> Any:
    """Right-trivialised derivative (6, 6) of log on SE(3): the inverse of that of exp."""
    with mp.workdps(DIGITS):
        return mp.inverse(_series(ad([mpf(c) for c in x]), 1))


def dlog_transpose_jacobian(x: Vector, y: Vector) -> Any:
    """N (6, 6) = d/dx of dlog_x' y at the twist x (6,) for a fixed covector y (6,), good to 30 digits."""
    with mp.workdps(DIGITS):
        x, covector, step = [mpf(c) for c in x], mp.matrix([mpf(c) for c in y]), mpf(10) ** -17
        N = mp.zeros(6)
        for j in range(6):
            ahead, behind = list(x), list(x)
            ahead[j] += step
            behind[j] -= step
            N[:, j] = (dlog(ahead).T - dlog(behind).T) * covector / (2 * step)
        return N


def beta_gamma_kappa(theta: Any) -> tuple[Any, Any, Any]:
    """beta = (1 - (t/2) cot(t/2))/t^2, gamma = beta'/t and kappa = gamma'/t at the angle t = theta, rad."""
    with mp.workdps(5 * DIGITS):  # kappa cancels eight powers of theta
        t = mpf(theta)
        if t < mpf(10) ** -DIGITS / 2:
            return mpf(1) / 12, mpf(1) / 360, mpf(1) / 3780
        cot = mp.cot(t / 2)
        csc2 = 1 + cot**2
        b0 = 1 - t / 2 * cot  # and its derivatives with respect to t
        b1 = -cot / 2 + t / 4 * csc2
        b2 = csc2 / 2 - t / 4 * csc2 * cot
        beta = b0 / t**2
        beta1 = b1 / t**2 - 2 * b0 / t**3
        beta2 = b2 / t**2 - 4 * b1 / t**3 + 6 * b0 / t**4
        return beta, beta1 / t, (beta2 / t - beta1 / t**2) / t
