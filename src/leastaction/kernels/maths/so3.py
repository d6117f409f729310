"""Rotations as unit quaternions (w, x, y, z): product, action, exp, log, and dlog on SO(3)."""

from math import atan2, cos, factorial, pi, sin, sqrt

from ..machine.jit import formula, kernel
from ..machine.piecewise import piecewise
from ..machine.simd import below, nearest
from .coefficients import COS_HALF, LOG_RATIO, S_LIMIT, SINC_HALF, SQUARE_LIMIT
from .vec3 import add, add_scaled, cross, dot, scale

# Polynomials by Estrin's scheme: in Horner's, every product waits for the one before


@formula
def poly6(c, x):
    xx = x * x
    return (c[0] + x * c[1]) + xx * ((c[2] + x * c[3]) + xx * (c[4] + x * c[5]))


@formula
def poly9(c, x):
    xx = x * x
    four = xx * xx
    return ((c[0] + x * c[1]) + xx * (c[2] + x * c[3])) + four * (
        ((c[4] + x * c[5]) + xx * (c[6] + x * c[7])) + four * c[8])


@kernel
def multiply(a, b):
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3],
        a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1],
    )


@kernel
def inverse(q):
    return q[0], -q[1], -q[2], -q[3]


@kernel
def vector(q):
    return q[1], q[2], q[3]


@kernel
def normalize(q):
    k = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return k * q[0], k * q[1], k * q[2], k * q[3]


@kernel
def rotate_less_one(q, p):
    """(R − 1) p, without the cancellation that R p − p would have for a small rotation."""
    u = vector(q)
    t = cross(u, p)
    t = add(t, t)
    return add_scaled(cross(u, t), q[0], t)


@kernel
def rotate(q, p):
    """R p."""
    return add(p, rotate_less_one(q, p))


@kernel
def unrotate(q, p):
    """Rᵀ p."""
    return add(p, rotate_less_one(inverse(q), p))


@kernel
def conjugate_by(q, j):
    """q j q⁻¹: the rotation j in world axes, where j is given in the axes of a body of orientation q."""
    x, y, z = rotate(q, vector(j))
    return j[0], x, y, z


@kernel
def matrix(q):
    """Rotation matrix, row by row."""
    w, x, y, z = q
    xx, yy, zz = 2.0 * x * x, 2.0 * y * y, 2.0 * z * z
    xy, xz, yz = 2.0 * x * y, 2.0 * x * z, 2.0 * y * z
    wx, wy, wz = 2.0 * w * x, 2.0 * w * y, 2.0 * w * z
    return 1.0 - yy - zz, xy - wz, xz + wy, xy + wz, 1.0 - xx - zz, yz - wx, xz - wy, yz + wx, 1.0 - xx - yy


@kernel
def rotate_symmetric(R, A):
    """R A Rᵀ of a symmetric A, with R row by row."""
    r0, r1, r2 = (R[0], R[1], R[2]), (R[3], R[4], R[5]), (R[6], R[7], R[8])
    c0, c1, c2 = (A[0], A[3], A[4]), (A[3], A[1], A[5]), (A[4], A[5], A[2])
    a0 = dot(r0, c0), dot(r0, c1), dot(r0, c2)
    a1 = dot(r1, c0), dot(r1, c1), dot(r1, c2)
    a2 = dot(r2, c0), dot(r2, c1), dot(r2, c2)
    return dot(a0, r0), dot(a1, r1), dot(a2, r2), dot(a0, r1), dot(a0, r2), dot(a1, r2)


def small_square(square):
    """Whether θ², or each of four, is small enough for series."""
    return below(square, SQUARE_LIMIT)


def _half_angle_series(square):
    return poly6(COS_HALF, square), poly6(SINC_HALF, square)


def _half_angle_closed(square):
    theta = sqrt(square)
    return cos(0.5 * theta), sin(0.5 * theta) / theta


half_angle_cos_sinc = piecewise(small_square, _half_angle_series, _half_angle_closed)  # cos(θ/2), sin(θ/2)/θ, from θ²


# 2π in three parts, the first two short enough that their products with a count of turns are exact
TURN_1, TURN_2, TURN_3 = 6.283185303211212, 3.9683743166540886e-09, 2.068073192717642e-18
MANY_TURNS = 2.0**20
# Taylor series of cos x and of sin x / x in x², to round-off at π/4
COS = tuple((-1) ** k / factorial(2 * k) for k in range(9))
SIN = tuple((-1) ** k / factorial(2 * k + 1) for k in range(9))


@kernel
def half_angle(angle):
    """cos(θ/2) and sin(θ/2) of an angle of less than MANY_TURNS turns, or of four; both may have the other sign."""
    k = nearest(angle * (0.5 / pi))
    x = 0.25 * (((angle - k * TURN_1) - k * TURN_2) - k * TURN_3)  # a quarter of the angle, less whole turns: |x| ≤ π/4
    s = x * poly9(SIN, x * x)
    return 1.0 - 2.0 * s * s, 2.0 * s * poly9(COS, x * x)


@kernel
def exp(w):
    """Quaternion of the rotation vector w."""
    c, k = half_angle_cos_sinc(dot(w, w))
    return c, k * w[0], k * w[1], k * w[2]


def small_rotation(c, s):
    """Whether a quaternion with scalar part c and squared vector part s is within range of the series."""
    return below(s, S_LIMIT) and below(0.0, c)


def _log_ratio_series(_c, s):
    return poly9(LOG_RATIO, s)


def _log_ratio_closed(c, s):
    root = sqrt(s)
    return 2.0 * atan2(root, c) / root


# θ / sin(θ/2) of a quaternion with scalar part c and vector part of squared norm s; θ is in [0, 2π)
log_ratio = piecewise(small_rotation, _log_ratio_series, _log_ratio_closed)


@kernel
def log(q):
    """Rotation vector of a quaternion. Its sign is kept, so a rotation past π stays past π."""
    u = vector(q)
    return scale(log_ratio(q[0], dot(u, u)), u)
