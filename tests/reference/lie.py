"""SO(3) and SE(3) in plain NumPy, analytic in every argument so that a complex step passes through.

Twists are (omega, v), poses 4x4 matrices, quaternions (w, x, y, z). Every scalar function is a power series
in the *square* of the angle, which is analytic at zero; nothing takes an absolute value or a conjugate.
"""

from __future__ import annotations

from math import factorial

import numpy as np
from mpmath import pi, zeta
from numpy.typing import NDArray

Array = NDArray

# (1 - (t/2) cot(t/2)) / t^2 = sum_k 2 zeta(2k) (2 pi)^-2k t^(2k-2): 40 terms reach round-off up to |t| = pi.
_BETA = [float(2 * zeta(2 * k) / (2 * pi) ** (2 * k)) for k in range(1, 41)]
_GAMMA = [2 * k * c for k, c in enumerate(_BETA)][1:]
_KAPPA = [2 * k * c for k, c in enumerate(_GAMMA)][1:]


def _horner(coefficients: list[float], u: complex) -> complex:
    total: complex = 0.0
    for c in reversed(coefficients):
        total = total * u + c
    return total


def beta_gamma_kappa(w: Array) -> tuple[complex, complex, complex]:
    """Scalars beta, gamma = beta'/theta, kappa = gamma'/theta of the rotation vector w, (3,), |w| <= pi."""
    u = w @ w
    return _horner(_BETA, u), _horner(_GAMMA, u), _horner(_KAPPA, u)


def _stumpff(u: complex, m: int) -> complex:
    """Stumpff's c_m(u) = sum_k (-u)^k / (2k + m)!: cos, sinc, (1 - cos)/t^2, (t - sin)/t^3 at u = t^2."""
    return _horner([(-1) ** k / factorial(2 * k + m) for k in range(26)], u)


def hat(w: Array) -> Array:
    """Matrix (3, 3) of the cross product with w (3,)."""
    x, y, z = w
    return np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]])


def quat_mul(a: Array, b: Array) -> Array:
    """Product (4,) of two quaternions (4,)."""
    scalar = a[0] * b[0] - a[1:] @ b[1:]
    return np.concatenate([[scalar], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def quat_inv(a: Array) -> Array:
    """Inverse (4,) of a unit quaternion (4,)."""
    return a * np.array([1.0, -1.0, -1.0, -1.0])


def quat_exp(w: Array) -> Array:
    """Unit quaternion (4,) of the rotation vector w (3,), rad."""
    u = w @ w / 4
    return np.concatenate([[_stumpff(u, 0)], _stumpff(u, 1) * w / 2])


def quat_log(r: Array) -> Array:
    """Rotation vector (3,), rad, at most pi long, of the unit quaternion r (4,)."""
    r = -r if r[0].real < 0 else r
    tan = r[1:] / (1 + r[0])  # of a quarter of the angle, along the axis: finite up to a half turn
    u = tan @ tan
    if abs(u) < 1e-2:
        return 4 * tan * _horner([(-1) ** k / (2 * k + 1) for k in range(10)], u)
    return 4 * tan * np.arctan(np.sqrt(u)) / np.sqrt(u)


def rotation(r: Array) -> Array:
    """Rotation matrix (3, 3) of the unit quaternion r (4,)."""
    K = hat(r[1:])
    return np.eye(3) + 2 * r[0] * K + 2 * K @ K


def quat_of(R: Array) -> Array:
    """Unit quaternion (4,) of the rotation matrix R (3, 3), from the largest entry of 4 r r'."""
    outer = np.empty((4, 4), dtype=R.dtype)
    trace = np.trace(R)
    outer[0, 0] = 1 + trace
    outer[0, 1:] = outer[1:, 0] = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    outer[1:, 1:] = R + R.T + (1 - trace) * np.eye(3)
    k = int(np.argmax(np.diag(outer).real))
    return outer[k] / (2 * np.sqrt(outer[k, k]))


def pose(R: Array, p: Array) -> Array:
    """Pose (4, 4) with rotation R (3, 3) and origin p (3,), m."""
    T = np.eye(4, dtype=np.result_type(R, p, float))
    T[:3, :3], T[:3, 3] = R, p
    return T


def inverse(T: Array) -> Array:
    """Inverse (4, 4) of a pose (4, 4)."""
    return pose(T[:3, :3].T, -T[:3, :3].T @ T[:3, 3])


def exp(x: Array) -> Array:
    """Pose (4, 4) reached by the twist x (6,) in unit time."""
    w, v = x[:3], x[3:]
    W, u = hat(w), w @ w
    return pose(rotation(quat_exp(w)), v + _stumpff(u, 2) * W @ v + _stumpff(u, 3) * W @ W @ v)


def log(T: Array) -> Array:
    """Twist (6,), rotation at most pi, whose exponential is the pose T (4, 4)."""
    w = quat_log(quat_of(T[:3, :3]))
    return np.concatenate([w, dlog3(w) @ T[:3, 3]])


def Ad(T: Array) -> Array:
    """Matrix (6, 6) that takes a twist from the frame T (4, 4) to the frame T is given in."""
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [hat(p) @ R, R]])


def ad(x: Array) -> Array:
    """Matrix (6, 6) of the Lie bracket with the twist x (6,)."""
    return np.block([[hat(x[:3]), np.zeros((3, 3))], [hat(x[3:]), hat(x[:3])]])


def dlog3(w: Array) -> Array:
    """Right-trivialised derivative (3, 3) of log on SO(3) at the rotation vector w (3,)."""
    W = hat(w)
    return np.eye(3) - W / 2 + beta_gamma_kappa(w)[0] * W @ W


def dlog(x: Array) -> Array:
    """Right-trivialised derivative (6, 6) of log on SE(3) at the twist x (6,).

    The paper's series in Bernoulli numbers summed exactly: ad_x has the double eigenvalues 0 and +-i theta,
    so a polynomial of degree 4 that matches value and slope there is the whole series.
    """
    A, u = ad(x), x[:3] @ x[:3]
    beta, gamma, _ = beta_gamma_kappa(x[:3])
    A2 = A @ A
    return np.eye(6) - A / 2 + (beta - gamma * u / 2) * A2 - gamma / 2 * A2 @ A2


def dlog_derivative(x: Array, dx: Array) -> Array:
    """Derivative (6, 6) of the matrix dlog(x) at the twist x (6,) in the direction dx (6,)."""
    A, dA, u = ad(x), ad(dx), x[:3] @ x[:3]
    beta, gamma, kappa = beta_gamma_kappa(x[:3])
    A2, dA2 = A @ A, dA @ A + A @ dA
    slope = kappa / 2 * (x[:3] @ dx[:3])
    return (-dA / 2 + (beta - gamma * u / 2) * dA2 - gamma / 2 * (dA2 @ A2 + A2 @ dA2)
            - slope * (u * A2 + A2 @ A2))


def unhat6(X: Array) -> Array:
    """Twist (6,) of a matrix (4, 4) in the Lie algebra of SE(3)."""
    return np.array([X[2, 1], X[0, 2], X[1, 0], *X[:3, 3]])


def cay_inverse(T: Array) -> Array:
    """Twist (6,) whose Cayley transform is the pose T (4, 4), by matrices: X = 2 (T - 1)(T + 1)^-1."""
    return unhat6(2 * (T - np.eye(4)) @ np.linalg.inv(T + np.eye(4)))


def dcay_inverse(T: Array) -> Array:
    """Right-trivialised derivative (6, 6) of cay_inverse at the pose T (4, 4): of dT = hat(zeta) T."""
    behind = T @ np.linalg.inv(T + np.eye(4))
    ahead = 2 * (np.eye(4) - (T - np.eye(4)) @ np.linalg.inv(T + np.eye(4)))
    columns = []
    for e in np.eye(6):
        X = np.zeros((4, 4))
        X[:3, :3], X[:3, 3] = hat(e[:3]), e[3:]
        columns.append(unhat6(ahead @ X @ behind))
    return np.array(columns).T
