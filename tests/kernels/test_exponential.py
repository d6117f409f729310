"""A link's momentum under the exponential on SE(3), in the closed form about its centre of mass, against 50 digits."""

import numpy as np
import pytest
from compiled import EPS, call_with_link
from mpmath import mp

from leastaction.kernels import drnea
from leastaction.kernels.machine.memory import BLOCK, python_link
from leastaction.kernels.stiffness import EXP
from leastaction.reference import lie
from reference import lie_mp

H = 0.01
N = np.linalg.norm


@pytest.mark.parametrize("reach", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("theta", [1e-9, 1e-5, 1e-2, 0.4999, 0.5001, 1.5, 3.1])
def test_momentum_to_round_off(theta, reach):
    """μ = [dlog_x]ᵀ G x / h with x = log ΔT and G of the paper, all about the origin of the link."""
    rng = np.random.default_rng(int(1e6 * theta))
    turn, d, centre = rng.normal(size=(3, 3))
    turn, d, centre = theta * turn / N(turn), reach * d, 0.3 * centre
    spin = rng.normal(size=(3, 3))
    mass, inertia = 1.7, spin @ spin.T + 0.1 * np.eye(3)
    q = lie.quat_exp(turn).tolist()
    w = np.zeros(BLOCK)
    L = python_link(w, 0)
    L.mass, L.centre, L.dR, L.d = mass, centre, q, d
    L.inertia_world = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    m, f, energy = call_with_link(drnea.link_momentum)(w, H, EXP)
    with mp.workdps(lie_mp.DIGITS):
        c = lie_mp.hat(centre.tolist())
        G = mp.zeros(6)
        G[:3, :3], G[:3, 3:] = mp.matrix(inertia.tolist()) - mass * c * c, mass * c
        G[3:, :3], G[3:, 3:] = -mass * c, mass * mp.eye(3)
        u = lie_mp.hat(q[1:])
        T = mp.eye(4)
        T[:3, :3] = mp.eye(3) + 2 * (q[0] * u + u * u) / mp.norm(q) ** 2
        T[:3, 3] = mp.matrix(d.tolist())
        x = mp.matrix(lie_mp.log(T))
        exact = lie_mp.dlog(x).T * G * x / H
        twice = float((x.T * G * x)[0])
    exact = np.array(exact.tolist(), dtype=float).ravel()
    moved = reach + 0.3 * theta
    assert N(np.subtract(f, exact[3:])) <= 20 * EPS * mass * moved / H
    assert N(np.subtract(m, exact[:3])) <= 40 * EPS * (N(inertia) * theta + mass * moved * (0.3 + moved)) / H
    assert abs(energy - twice) <= 20 * EPS * twice
