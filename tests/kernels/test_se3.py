"""Rigid motions and twists against 50 digits, rotations from 0 to nearly π, translations from 1e-6 to 1e3.

Errors are counted in EPS of the natural size of each block: a translation |v|, a moment |m| + |v| |f|, a force |f|.
"""

import numpy as np
import pytest
from compiled import EPS, call
from mpmath import mp

from leastaction.kernels.maths import se3, so3
from leastaction.reference import lie
from reference import lie_mp

ANGLES = [0.0, *np.geomspace(1e-12, 3.14, 25), 0.4999, 0.5001]
SIZES = [1e-6, 1e-3, 1.0, 1e3]
N = np.linalg.norm


def twist(theta, size):
    """A random twist (w, v) with |w| = theta and |v| = size, in floats."""
    rng = np.random.default_rng(int(1e6 * theta))
    w, v = rng.normal(size=(2, 3))
    return tuple((theta * w / N(w)).tolist()), tuple((size * v / N(v)).tolist())


def covector(seed=3):
    m, f = np.random.default_rng(seed).normal(size=(2, 3))
    return tuple(m.tolist()), tuple(f.tolist())


def floats(matrix):
    """An mpmath matrix or vector as an array of floats."""
    return np.array(matrix.tolist() if hasattr(matrix, "tolist") else matrix, dtype=float).squeeze()


def pose(q, d):
    """The motion (quaternion, translation) of floats as a 4×4 matrix of 50 digits."""
    with mp.workdps(lie_mp.DIGITS):
        u = lie_mp.hat(q[1:])
        T = mp.eye(4)
        T[:3, :3] = mp.eye(3) + 2 * (q[0] * u + u * u) / mp.norm(q) ** 2
        T[:3, 3] = mp.matrix(d)
        return T


def coefficients(w):
    """β and γ of a rotation vector, from the kernels."""
    c, *u = call(so3.exp)(w)
    s = float(np.dot(u, u))
    return call(se3.rotation_terms)(c, s)[1:]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theta", ANGLES)
def test_exp_to_round_off(theta, size):
    w, v = twist(theta, size)
    q, d = call(se3.exp)(w, v)
    assert q == call(so3.exp)(w)
    assert N(d - floats(lie_mp.exp(w + v)[:3, 3])) <= 4 * EPS * size


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theta", ANGLES)
def test_log_to_round_off(theta, size):
    q, (_, d) = call(so3.exp)(twist(theta, size)[0]), twist(theta + 1, size)
    w, v, beta, gamma = call(se3.log)(q, d)
    exact = floats(lie_mp.log(pose(q, d)))
    assert N(w - exact[:3]) <= 4 * EPS * theta
    assert N(v - exact[3:]) <= 8 * EPS * size
    np.testing.assert_allclose((beta, gamma), coefficients(w), rtol=1e-11)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theta", ANGLES)
def test_log_undoes_exp(theta, size):
    w, v = twist(theta, size)
    got = call(se3.log)(*call(se3.exp)(w, v))
    assert N(np.subtract(got[0], w)) <= 4 * EPS * theta
    assert N(np.subtract(got[1], v)) <= 8 * EPS * size


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theta", ANGLES)
def test_dlog_of_the_opposite_twist_to_round_off(theta, size):
    w, v = twist(theta, size)
    z, y = covector()
    got = call(se3.dlog_negative)(w, v, z, y)
    with mp.workdps(lie_mp.DIGITS):
        exact = floats(lie_mp.dlog([-c for c in w + v]) * mp.matrix(z + y))
    assert N(got[0] - exact[:3]) <= 4 * EPS * N(z)
    assert N(got[1] - exact[3:]) <= 8 * EPS * (N(y) + size * N(z))


@pytest.mark.parametrize("theta", [1e-6, 0.3, 2.0])
def test_dlog_is_the_derivative_of_log(theta):
    """`exp(ζ) g` changes log g by dlog ζ, and `g exp(ζ)` by dlog of the opposite twist."""
    x, zeta = np.array(sum(twist(theta, 1.0), ())), np.array(sum(covector(), ()))
    T, step = lie.exp(x), 1e-6
    change = (lie.log(T @ lie.exp(step * zeta)) - lie.log(T @ lie.exp(-step * zeta))) / (2 * step)
    got = sum(call(se3.dlog_negative)(*(tuple(part) for part in (x[:3], x[3:], zeta[:3], zeta[3:]))), ())
    np.testing.assert_allclose(got, change, atol=1e-8)
