"""The NumPy Lie functions against the 50-digit ones, which are checked against each other."""

from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

from leastaction.reference import lie

from . import lie_mp

ANGLES = [0.0, 1e-12, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.19, 0.21, 1.0, 2.0, 3.0, 3.14]


def as_float(a) -> np.ndarray:
    return np.array(a.tolist() if isinstance(a, mp.matrix) else a, dtype=float)


def twist(angle: float) -> np.ndarray:
    return np.concatenate([angle * np.array([2.0, -1.0, 2.0]) / 3, [0.3, -0.7, 0.4]])


@pytest.mark.parametrize("angle", ANGLES)
def test_scalars(angle):
    numbers = lie.beta_gamma_kappa(np.array([angle, 0.0, 0.0]))
    np.testing.assert_allclose(numbers, [float(c) for c in lie_mp.beta_gamma_kappa(angle)], rtol=4e-15)


@pytest.mark.parametrize("angle", ANGLES)
def test_exp_log_dlog(angle):
    x = twist(angle)
    exact = lie_mp.exp(x)
    np.testing.assert_allclose(lie.exp(x), as_float(exact), atol=3e-15)
    np.testing.assert_allclose(as_float(lie_mp.log(exact)), x, rtol=1e-15, atol=1e-40)
    np.testing.assert_allclose(lie.log(as_float(exact)), x, rtol=0, atol=5e-15)
    np.testing.assert_allclose(lie.dlog(x), as_float(lie_mp.dlog(x)), rtol=0, atol=5e-14)
    np.testing.assert_allclose(lie.dlog3(x[:3]), as_float(lie_mp.dlog3(x[:3])), rtol=0, atol=5e-15)
    np.testing.assert_allclose(lie.dlog(x) @ lie.Ad(lie.exp(x)), lie.dlog(-x), atol=3e-14)


@pytest.mark.parametrize("angle", [mp.pi, mp.pi - mp.mpf(10) ** -30])
def test_log_at_a_half_turn(angle):
    with mp.workdps(50):
        w = [angle * c / mp.mpf(3) for c in (2, -1, 2)]
        back = lie_mp.log3(lie_mp.exp3(w))
        sign = mp.sign(back[0])
        assert max(abs(sign * b - c) for b, c in zip(back, w, strict=True)) < mp.mpf(10) ** -18


@pytest.mark.parametrize("angle", ANGLES)
def test_dlog_is_the_derivative_of_log(angle):
    x, zeta = twist(angle), np.array([0.3, -0.2, 0.5, 0.1, 0.7, -0.4])
    changed = lie.log(lie.exp(1e-30j * zeta) @ lie.exp(x)).imag / 1e-30
    np.testing.assert_allclose(changed, lie.dlog(x) @ zeta, atol=2e-13 if angle < 3 else 1e-11)


@pytest.mark.parametrize("angle", ANGLES)
def test_derivative_of_dlog(angle):
    x, y = twist(angle), np.array([0.3, -0.2, 0.5, 0.1, 0.7, -0.4])
    columns = [lie.dlog_derivative(x, dx).T @ y for dx in np.eye(6)]
    exact = as_float(lie_mp.dlog_transpose_jacobian(x, y))
    np.testing.assert_allclose(np.transpose(columns), exact, atol=1e-13)


def test_bernoulli_numbers():
    assert lie.bernoulli(7) == [1, Fraction(-1, 2), Fraction(1, 6), 0, Fraction(-1, 30), 0, Fraction(1, 42)]


def test_quaternions():
    rng = np.random.default_rng(1)
    for _ in range(50):
        a, b = (lie.quat_exp(rng.normal(size=3)) for _ in range(2))
        R = lie.rotation(lie.quat_mul(a, b))
        np.testing.assert_allclose(R, lie.rotation(a) @ lie.rotation(b), atol=1e-15)
        np.testing.assert_allclose(lie.rotation(lie.quat_of(R)), R, atol=1e-15)
        np.testing.assert_allclose(lie.rotation(lie.quat_exp(lie.quat_log(a))), lie.rotation(a), atol=1e-15)
        np.testing.assert_allclose(lie.quat_mul(a, lie.quat_inv(a)), [1, 0, 0, 0], atol=1e-15)
