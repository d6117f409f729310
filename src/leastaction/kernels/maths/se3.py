"""Rigid motions (quaternion, translation) and twists (w, v): exp, log and dlog in closed form, exact to round-off.

With θ = |w|: β = (1 − (θ/2) cot(θ/2))/θ², γ = β'(θ)/θ, κ = γ'(θ)/θ. All are smooth in s = sin²(θ/2), so polynomials
in s serve rotations up to half a radian a step, and the closed forms beyond.
"""

from math import factorial, sin, sqrt

from ..machine.jit import formula, kernel
from ..machine.piecewise import piecewise
from . import so3
from .coefficients import BETA, GAMMA, KAPPA, LOG_RATIO
from .so3 import log_ratio, poly9, small_rotation, small_square
from .vec3 import add, add_scaled, cross, dot, scale

# Taylor series of (1 − cos θ)/θ² and (θ − sin θ)/θ³ in θ², to round-off at half a radian
COSINE = tuple((-1) ** k / factorial(2 * k + 2) for k in range(7))
SINE = tuple((-1) ** k / factorial(2 * k + 3) for k in range(7))


@formula
def poly7(c, x):
    xx = x * x
    return ((c[0] + x * c[1]) + xx * (c[2] + x * c[3])) + xx * xx * ((c[4] + x * c[5]) + xx * c[6])


@formula
def poly8(c, x):
    xx = x * x
    return ((c[0] + x * c[1]) + xx * (c[2] + x * c[3])) + xx * xx * ((c[4] + x * c[5]) + xx * (c[6] + x * c[7]))


def _terms_series(_c, s):
    return poly9(LOG_RATIO, s), poly8(BETA, s), poly8(GAMMA, s)


def _terms_closed(c, s):
    ratio = log_ratio(c, s)
    root = sqrt(s)
    u = 0.5 * ratio * root  # θ/2
    cot = c / root
    return ratio, (1.0 - u * cot) / (4.0 * u * u), (u / s + cot - 2.0 / u) / (16.0 * u * u * u)


def _four_terms_series(_c, s):
    return poly9(LOG_RATIO, s), poly8(BETA, s), poly8(GAMMA, s), poly7(KAPPA, s)


def _four_terms_closed(c, s):
    ratio, beta, gamma = rotation_terms(c, s)
    root = sqrt(s)
    u = 0.5 * ratio * root
    cot = c / root
    kappa = (1.0 / (u * u) - u * cot / s - 1.5 * (u / s + cot - 2.0 / u) / u) / (32.0 * u * u * u * u)
    return ratio, beta, gamma, kappa


# For a quaternion with scalar part c and squared vector part s: θ / sin(θ/2), β and γ; and these with κ
rotation_terms = piecewise(small_rotation, _terms_series, _terms_closed)
four_terms = piecewise(small_rotation, _four_terms_series, _four_terms_closed)


@kernel
def terms_of(q):
    """θ / sin(θ/2), β and γ of a quaternion."""
    u = so3.vector(q)
    return rotation_terms(q[0], dot(u, u))


@kernel
def log(q, d):
    """Twist (w, v) whose exponential is the motion (q, d), and the β and γ that belong to it."""
    ratio, beta, gamma = terms_of(q)
    w = scale(ratio, so3.vector(q))
    t = cross(w, d)
    return w, add_scaled(add_scaled(d, -0.5, t), beta, cross(w, t)), beta, gamma


def _exp_series(square):
    return poly7(COSINE, square), poly7(SINE, square)


def _exp_closed(square):
    theta = sqrt(square)
    half = sin(0.5 * theta)
    return 2.0 * half * half / square, (theta - sin(theta)) / (square * theta)


exp_terms = piecewise(small_square, _exp_series, _exp_closed)  # (1 − cos θ)/θ² and (θ − sin θ)/θ³, from θ²


@kernel
def exp(w, v):
    """Motion (quaternion, translation) of the twist (w, v)."""
    a, b = exp_terms(dot(w, w))
    t = cross(w, v)
    return so3.exp(w), add_scaled(add_scaled(v, a, t), b, cross(w, t))


@kernel
def dlog_negative(w, v, z, y):
    """dlog_{−x}(z, y), x = (w, v): the rate of x when its motion is moved by the body twist (z, y)."""
    _, beta, gamma = terms_of(so3.exp(w))
    wz = cross(w, z)
    wwz = cross(w, wz)
    # v-part: y + ½(w×y + v×z) + β(w×(w×y) + w×(v×z) + v×(w×z)) + γ (w·v) w×(w×z)
    r = add(cross(w, y), cross(v, z))
    even = add(cross(w, r), cross(v, wz))
    return (
        add_scaled(add_scaled(z, 0.5, wz), beta, wwz),
        add_scaled(add_scaled(add_scaled(y, 0.5, r), beta, even), gamma * dot(w, v), wwz),
    )
