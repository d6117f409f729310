"""Impacts at several limits at once: Poisson's law with dense matrices, and energy that never rises."""

from itertools import chain, combinations

import numpy as np
import pytest

import leastaction as la

STEP = 1e-7  # s: in so short a time nothing happens but the impact


def hit(seed, restitution=None):
    """A random tree of whose joints two or three approach their limits together: the model, its restitutions, the
    configuration, which joints are at a limit, on which side, and the impulses that stop them."""
    rng = np.random.default_rng(seed)
    e = rng.choice([0.0, 0.2, 0.5, 0.9, 1.0], 4) if restitution is None else np.full(4, restitution)
    model, names = la.Model(gravity=(0, 0, 0), name="tree"), [None]
    for k in range(4):
        axis = rng.standard_normal(3)
        model.add_body(f"body {k}", names[rng.integers(len(names))],
                       la.Revolute(axis / np.linalg.norm(axis), limits=(-1.0, 1.0), limit_restitution=e[k]),
                       position=0.5 * rng.standard_normal(3), inertia=la.Inertia(
                           rng.uniform(0.2, 2.0), 0.4 * rng.standard_normal(3), np.diag(rng.uniform(0.04, 0.08, 3))))
        names.append(f"body {k}")
    count, side = rng.integers(2, 4), np.where(rng.random(4) < 0.5, -1.0, 1.0)
    q, at = rng.uniform(-0.9, 0.9, 4), rng.permutation(4)[:count]
    q[at] = side[at]
    impulse = np.zeros(4)
    impulse[at] = -rng.uniform(0.2, 1.0, count) * side[at]
    return model, e, q, at, side, impulse


def compression(W, v, at, side):
    """The impulses that stop the joints ``at`` which approach their limits: the one set of them that is pushed, and
    stops the others, too."""
    for held in chain.from_iterable(combinations(at, k) for k in range(1, len(at) + 1)):
        impulse = np.zeros(len(v))
        impulse[list(held)] = -np.linalg.solve(W[np.ix_(held, held)], v[list(held)])
        if np.all(side * impulse <= 0.0) and np.all((side * (v + W @ impulse))[at] < 1e-9):
            return impulse
    raise AssertionError("no set of joints is right")


def poisson(W, v, e, at, side):
    """The velocity after all impacts, and in how many of them the way out was cut back to what the way in stored."""
    shortened = 0
    while np.any((side * v)[at] > 1e-9):
        impulse = compression(W, v, at, side)
        out, stored = e * impulse, impulse @ W @ impulse
        share = min(1.0, np.sqrt(stored / max(out @ W @ out, 1e-300)))
        v = v + W @ (impulse + share * out)
        shortened += share < 1.0 - 1e-9
    return v, shortened


def test_energy_never_rises():
    """Whatever the restitutions are, though some of these impacts would gain energy by the plain law."""
    shortened = 0
    for seed in range(600):
        model, e, q, at, side, impulse = hit(seed)
        W = np.linalg.inv(la.mass_matrix(model, q))
        run = la.simulate(model, q, -W @ impulse, dt=STEP, steps=1)
        assert run.energy[1] < run.energy[0] * (1.0 + 1e-12), seed
        assert abs(run.balance[1]) < 1e-13 * run.energy[0], seed
        v, count = poisson(W, -W @ impulse, e, at, side)
        np.testing.assert_allclose(run.v[1], v, rtol=0, atol=1e-5 * np.abs(W @ impulse).max(), err_msg=str(seed))
        shortened += count > 0
    assert shortened >= 10


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_equal_restitutions_are_never_cut_back(restitution):
    """One impact leaves e² of the energy; further ones at most that."""
    for seed in range(100):
        model, e, q, at, side, impulse = hit(seed, restitution)
        W = np.linalg.inv(la.mass_matrix(model, q))
        run = la.simulate(model, q, -W @ impulse, dt=STEP, steps=1)
        v, count = poisson(W, -W @ impulse, e, at, side)
        assert count == 0 and run.energy[1] <= restitution**2 * run.energy[0] * (1.0 + 1e-9) + 1e-15
        np.testing.assert_allclose(run.v[1], v, rtol=0, atol=1e-5 * np.abs(W @ impulse).max(), err_msg=str(seed))
