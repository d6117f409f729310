"""Rotations, rigid motions and their logarithms: SO(3) and SE(3) as plain matrices (paper, section 2.2).

A twist is (ω, v), a pose a 4×4 matrix, a quaternion (w, x, y, z). Every function is analytic, so that a complex step
passes through it: scalars are power series in the square of the angle, and nothing takes an absolute value.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  # of real numbers, or of complex ones for derivatives by complex steps
ORIGIN = np.zeros(3)


def bernoulli(count: int) -> list[Fraction]:
    """B_0 = 1, B_1 = −1/2, B_2 = 1/6 and so on, as many as `count`."""
    B = [Fraction(1)]
    for n in range(1, count):
        B.append(-sum((comb(n + 1, k) * B[k] for k in range(n)), Fraction(0)) / (n + 1))
    return B


# β(θ) = (1 − (θ/2) cot(θ/2))/θ² = Σ |B_2k|/(2k)! θ^(2k−2), γ = β'/θ and κ = γ'/θ, as coefficients of powers of θ²:
# 40 terms reach round-off up to half a turn.
BETA = [float(abs(B) / factorial(2 * k)) for k, B in enumerate(bernoulli(81)[2::2], start=1)]
GAMMA = [2 * k * c for k, c in enumerate(BETA)][1:]
KAPPA = [2 * k * c for k, c in enumerate(GAMMA)][1:]


def series(coefficients: list[float], u: Any) -> Any:
    """Sum the power series c_0 + c_1 u + c_2 u² and so on."""
    total = 0.0 * u
    for c in reversed(coefficients):
        total = total * u + c
    return total


def beta_gamma_kappa(w: Array) -> tuple[Any, Any, Any]:
    """β, γ = β'/θ and κ = γ'/θ of the rotation vector w (3,), |w| ≤ π."""
    u = w @ w
    return series(BETA, u), series(GAMMA, u), series(KAPPA, u)


def stumpff(u: Any, m: int) -> Any:
    """Σ (−u)^k / (2k + m)!: cos θ, sin θ/θ, (1 − cos θ)/θ² and (θ − sin θ)/θ³ at u = θ², for m = 0, 1, 2 and 3."""
    return series([(-1) ** k / factorial(2 * k + m) for k in range(26)], u)


def hat(w: Array) -> Array:
    """ŵ (3, 3), the matrix of the cross product with w (3,)."""
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
    return np.concatenate([[stumpff(u, 0)], stumpff(u, 1) * w / 2])


def quat_log(r: Array) -> Array:
    """Rotation vector (3,), rad, at most π long, of the unit quaternion r (4,)."""
    r = -r if r[0].real < 0 else r
    tan = r[1:] / (1 + r[0])  # of a quarter of the angle, along the axis: finite up to half a turn
    u = tan @ tan
    if abs(u) < 1e-2:
        return 4 * tan * series([(-1) ** k / (2 * k + 1) for k in range(10)], u)
    return 4 * tan * np.arctan(np.sqrt(u)) / np.sqrt(u)


def rotation(r: Array) -> Array:
    """Rotation matrix (3, 3) of the unit quaternion r (4,)."""
    K = hat(r[1:])
    return np.eye(3) + 2 * r[0] * K + 2 * K @ K


def quat_of(R: Array) -> Array:
    """Unit quaternion (4,) of the rotation matrix R (3, 3), from the longest row of 4 r rᵀ."""
    outer = np.empty((4, 4), dtype=R.dtype)
    trace = np.trace(R)
    outer[0, 0] = 1 + trace
    outer[0, 1:] = outer[1:, 0] = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    outer[1:, 1:] = R + R.T + (1 - trace) * np.eye(3)
    k = int(np.argmax(np.diag(outer).real))
    return outer[k] / (2 * np.sqrt(outer[k, k]))


def pose(R: Array, p: Array) -> Array:
    """T (4, 4) with rotation R (3, 3) and origin p (3,), m; equation (4)."""
    T = np.eye(4, dtype=np.result_type(R, p, float))
    T[:3, :3], T[:3, 3] = R, p
    return T


def inverse(T: Array) -> Array:
    """T⁻¹ (4, 4) of a pose T (4, 4)."""
    return pose(T[:3, :3].T, -T[:3, :3].T @ T[:3, 3])


def bracket(V: Array) -> Array:
    """[V] (4, 4), the matrix form of the twist V (6,); equation (5)."""
    return np.block([[hat(V[:3]), V[3:, None]], [np.zeros((1, 4))]])


def unbracket(X: Array) -> Array:
    """Twist (6,) whose matrix form is X (4, 4)."""
    return np.array([X[2, 1], X[0, 2], X[1, 0], X[0, 3], X[1, 3], X[2, 3]])


def Ad(T: Array) -> Array:
    """[Ad_T] (6, 6), which takes a twist from the frame T (4, 4) to the frame in which T is given; equation (15)."""
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [hat(p) @ R, R]])


def ad(V: Array) -> Array:
    """[ad_V] (6, 6), the Lie bracket with the twist V (6,); equation (13)."""
    return np.block([[hat(V[:3]), np.zeros((3, 3))], [hat(V[3:]), hat(V[:3])]])


def exp(x: Array) -> Array:
    """Pose (4, 4) that a body reaches with the twist x (6,) in unit time."""
    w, v = x[:3], x[3:]
    W, u = hat(w), w @ w
    return pose(rotation(quat_exp(w)), v + stumpff(u, 2) * W @ v + stumpff(u, 3) * W @ W @ v)


def log(T: Array) -> Array:
    """Twist (6,), with a rotation of at most π, whose exponential is the pose T (4, 4)."""
    w = quat_log(quat_of(T[:3, :3]))
    return np.concatenate([w, dlog3(w) @ T[:3, 3]])


def dlog3(w: Array) -> Array:
    """dlog_w (3, 3) on SO(3): exp(ζ)R has the logarithm w + dlog_w ζ, to first order in ζ."""
    W = hat(w)
    return np.eye(3) - W / 2 + beta_gamma_kappa(w)[0] * W @ W


def dlog3_derivative(w: Array, dw: Array) -> Array:
    """Change (3, 3) of the matrix dlog_w when w (3,) changes by dw (3,)."""
    W, dW = hat(w), hat(dw)
    beta, gamma, _ = beta_gamma_kappa(w)
    return -dW / 2 + gamma * (w @ dw) * W @ W + beta * (dW @ W + W @ dW)


def dlog(x: Array) -> Array:
    """[dlog_x] (6, 6) on SE(3), equation (13): exp(ζ)T has the logarithm x + dlog_x ζ, to first order in ζ.

    The whole series in Bernoulli numbers, summed: ad_x has the double eigenvalues 0 and ±iθ, so that the polynomial of
    degree 4 which matches value and slope there is the series. Cut short, it would be the derivative of no logarithm.
    """
    A, u = ad(x), x[:3] @ x[:3]
    beta, gamma, _ = beta_gamma_kappa(x[:3])
    A2 = A @ A
    return np.eye(6) - A / 2 + (beta - gamma * u / 2) * A2 - gamma / 2 * A2 @ A2


def dlog_derivative(x: Array, dx: Array) -> Array:
    """Change (6, 6) of the matrix dlog_x when x (6,) changes by dx (6,)."""
    A, dA, u = ad(x), ad(dx), x[:3] @ x[:3]
    beta, gamma, kappa = beta_gamma_kappa(x[:3])
    A2, dA2 = A @ A, dA @ A + A @ dA
    slope = kappa / 2 * (x[:3] @ dx[:3])
    return (-dA / 2 + (beta - gamma * u / 2) * dA2 - gamma / 2 * (dA2 @ A2 + A2 @ dA2)
            - slope * (u * A2 + A2 @ A2))
