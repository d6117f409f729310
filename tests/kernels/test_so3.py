"""Rotations, and the polynomials behind them, against 50 digits from the identity to the half turn."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from compiled import EPS, call, plain
from mpmath import mp, mpf

from leastaction.kernels.maths import coefficients, se3, so3
from reference import lie_mp

ANGLES = [0.0, *np.geomspace(1e-12, 3.14, 40), 0.5 - 1e-9, 0.5 + 1e-9, 1.5707963267948966]
RNG = np.random.default_rng(1)
TOOL = Path(__file__).parents[2] / "tools" / "make_coefficients.py"


def unit(rng=RNG):
    axis = rng.normal(size=3)
    return axis / np.linalg.norm(axis)


def quaternions(count):
    raw = np.random.default_rng(2).normal(size=(count, 4))
    return [tuple(q) for q in raw / np.linalg.norm(raw, axis=1)[:, None]]


def mp_quaternion(w):
    """Unit quaternion of a rotation vector of floats, to 50 digits."""
    with mp.workdps(lie_mp.DIGITS):
        theta = mp.norm(w)
        k = mp.sin(theta / 2) / theta if theta else mpf(1) / 2
        return [mp.cos(theta / 2), *(k * mpf(c) for c in w)]


def largest(values):
    return max(abs(float(x)) for x in values)


@pytest.mark.parametrize("theta", ANGLES)
def test_exp_to_round_off(theta):
    w = theta * unit()
    error = [a - b for a, b in zip(call(so3.exp)(tuple(w)), mp_quaternion(w), strict=True)]
    assert abs(error[0]) <= EPS
    assert largest(error[1:]) <= 2 * EPS * theta


@pytest.mark.parametrize("theta", ANGLES)
def test_log_to_round_off(theta):
    q = call(so3.exp)(tuple(theta * unit()))
    with mp.workdps(lie_mp.DIGITS):
        c, *u = (mpf(x) for x in q)
        s = mp.norm(u)
        exact = [2 * mp.atan2(s, c) / s * x if s else x for x in u]
    assert largest(a - b for a, b in zip(call(so3.log)(q), exact, strict=True)) <= 4 * EPS * theta


@pytest.mark.parametrize("theta", ANGLES)
def test_log_undoes_exp(theta):
    w = theta * unit()
    np.testing.assert_allclose(call(so3.log)(call(so3.exp)(tuple(w))), w, rtol=0, atol=4 * EPS * theta)


def test_log_keeps_the_sign_of_the_quaternion():
    w = 4.0 * unit()
    np.testing.assert_allclose(call(so3.log)(call(so3.exp)(tuple(w))), w, rtol=4 * EPS)


@pytest.mark.parametrize("theta", [a for a in ANGLES if a > 0])
def test_beta_gamma_kappa(theta):
    """To the round-off of what they multiply: θ², θ⁴ and θ⁶ at most, in terms that stand beside 1."""
    c, k = np.cos(theta / 2), np.sin(theta / 2)
    _, beta, gamma = call(se3.rotation_terms)(c, k * k)
    exact = lie_mp.beta_gamma_kappa(theta)
    assert abs(beta - exact[0]) * max(theta, 0.5) ** 2 <= 2 * EPS
    assert abs(gamma - exact[1]) * max(theta, 0.5) ** 4 <= 8 * EPS
    assert abs(call(se3.four_terms)(c, k * k)[3] - exact[2]) * max(theta, 0.5) ** 6 <= 64 * EPS


def test_group_axioms():
    multiply, inverse = call(so3.multiply), call(so3.inverse)
    a, b, c = quaternions(3)
    one = (1.0, 0.0, 0.0, 0.0)
    np.testing.assert_allclose(multiply(multiply(a, b), c), multiply(a, multiply(b, c)), atol=4 * EPS)
    assert multiply(a, one) == a == multiply(one, a)
    np.testing.assert_allclose(multiply(a, inverse(a)), one, atol=2 * EPS)
    scaled = tuple(3.0 * x for x in a)
    np.testing.assert_allclose(call(so3.normalize)(scaled), a, rtol=2 * EPS)


def test_action_is_that_of_the_matrix():
    a, b = quaternions(2)
    p = tuple(RNG.normal(size=3))
    R = np.reshape(call(so3.matrix)(a), (3, 3))
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=4 * EPS)
    assert np.linalg.det(R) > 0
    np.testing.assert_allclose(call(so3.rotate)(a, p), R @ p, atol=8 * EPS)
    np.testing.assert_allclose(call(so3.unrotate)(a, p), R.T @ p, atol=8 * EPS)
    np.testing.assert_allclose(np.reshape(call(so3.matrix)(call(so3.multiply)(b, a)), (3, 3)),
                               np.reshape(call(so3.matrix)(b), (3, 3)) @ R, atol=8 * EPS)
    j = call(so3.multiply)(call(so3.multiply)(a, b), call(so3.inverse)(a))
    np.testing.assert_allclose(call(so3.conjugate_by)(a, b), j, atol=8 * EPS)
    A = RNG.normal(size=(3, 3))
    A += A.T
    rotated = R @ A @ R.T
    six = [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]
    np.testing.assert_allclose(call(so3.rotate_symmetric)(tuple(R.ravel()), tuple(A[six])), rotated[six], atol=32 * EPS)


@pytest.mark.parametrize("theta", [1e-12, 1e-8, 1e-4, 1e-1])
def test_turn_has_no_cancellation(theta):
    """(R − 1) p is exact relative to itself, however small the rotation."""
    w, p = theta * unit(), RNG.normal(size=3)
    with mp.workdps(lie_mp.DIGITS):
        exact = (lie_mp.exp3(w) - mp.eye(3)) * mp.matrix(p.tolist())
    found = call(so3.rotate_less_one)(call(so3.exp)(tuple(w)), tuple(p))
    error = np.array(found) - np.array(exact.tolist(), dtype=float)[:, 0]
    assert np.abs(error).max() <= 4 * EPS * theta * np.linalg.norm(p)


@pytest.mark.filterwarnings("ignore:Descending")
def test_coefficients_are_what_the_tool_makes():
    with mp.workdps(mp.dps):  # the tool sets its own precision
        tool = runpy.run_path(str(TOOL))
        square = tool["LIMIT"] ** 2
        s = mp.sin(tool["LIMIT"] / 2) ** 2
        assert (float(s), float(square)) == (coefficients.S_LIMIT, coefficients.SQUARE_LIMIT)
        for name, function, _, variable, tolerance in tool["TABLE"]:
            made = tool["fit"](function, square if variable == "θ²" else s, tolerance)
            assert tuple(float(c) for c in made) == getattr(coefficients, name)


def test_kernels_run_on_numbers_of_any_type():
    """The same text in plain Python: 40 digits from mpmath, a derivative from a complex step."""
    vec3, so3_, split = plain("maths.vec3"), plain("maths.so3"), plain("retractions.split")
    w, f, p = (tuple(RNG.normal(size=3)) for _ in range(3))
    with mp.workdps(lie_mp.DIGITS):
        beta, _, _ = lie_mp.beta_gamma_kappa(mp.norm(w))
        exact = lie_mp.dlog(w + w)[:3, :3]
        got = split.rotation_derivative(tuple(map(mpf, w)), beta)
        assert max(abs(a - b) for a, b in zip(got, exact, strict=True)) < mpf(10) ** -40
        q = tuple(mp_quaternion(w))
        exact = lie_mp.exp3(w) * mp.matrix(p)
        assert max(abs(a - b) for a, b in zip(so3_.rotate(q, p), exact, strict=True)) < mpf(10) ** -40

    def area(t):
        """|exp(t w/|w|) p × f|²."""
        cos, sin, n = np.cos(0.5 * t), np.sin(0.5 * t), np.linalg.norm(w)
        turned = so3_.rotate((cos, *(sin * x / n for x in w)), p)
        normal = vec3.cross(turned, f)
        return vec3.dot(normal, normal)

    slope = area(0.1 + 1e-30j).imag / 1e-30
    np.testing.assert_allclose(slope, (area(0.1 + 1e-5) - area(0.1 - 1e-5)) / 2e-5, rtol=1e-8)
