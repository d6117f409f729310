"""SciPy's DOP853 goes where we go, whatever the joints, and says what it costs."""

import numpy as np
import pytest

import leastaction as la
from leastaction.analysis.accuracy import distance
from leastaction.analysis.dop853_peer import dop853, right_hand_side
from reference.trees import random_model, random_state


def mixed(seed: int) -> la.Model:
    """Joints of every kind, with springs, damping and armature."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, 5, (la.Revolute, la.Prismatic, la.Helical, la.Ball, la.Universal, la.Planar))
    model.add_body("flying", None, la.Free(damping=0.3), (0.1, 0.2, 0.3), (0.6, 0, 0.8, 0),
                   inertia=la.Inertia(1.3, (0.1, 0.2, -0.3), np.diag([0.2, 0.3, 0.4])))
    model.q0, model.v0 = random_state(rng, model)
    return model


@pytest.mark.parametrize("seed", range(3))
def test_rates_are_those_of_the_motion(seed):
    """ẏ against differences of q ⊕ h v and against forward dynamics; the norm of a quaternion does not matter."""
    model = mixed(seed)
    q, v = model.q0, model.v0
    rate = right_hand_side(model)(0.0, np.concatenate([q, v])).copy()
    h = 1e-6
    expected = (la.increment(model, q, h * v) - la.increment(model, q, -h * v)) / (2 * h)
    np.testing.assert_allclose(rate[: model.nq], expected, atol=1e-7)
    np.testing.assert_allclose(rate[model.nq :], la.forward_dynamics(model, q, v), rtol=1e-10, atol=1e-10)
    scaled = q.copy()
    for at in model.layout.quaternions:
        scaled[at : at + 4] *= 1.01
    again = right_hand_side(model)(0.0, np.concatenate([scaled, v]))
    np.testing.assert_allclose(again[model.nq :], rate[model.nq :], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("make", [lambda: la.library.chain(3), la.library.spinning_top, la.library.ragdoll],
                         ids=["chain", "top", "ragdoll"])
def test_it_goes_where_order_8_goes(make):
    model = make()
    ours = la.simulate(model, dt=1e-3, duration=0.5, record_every=50, integrator=la.Variational(order=8))
    run = dop853(model, None, None, ours.t, 1e-11, 1e-11)
    assert distance(model, run.q, ours.q).max() < 1e-8
    np.testing.assert_allclose(run.v, ours.v, atol=1e-6 * np.abs(ours.v).max())
    np.testing.assert_allclose(run.energy, [la.energy(model, q, v) for q, v in zip(run.q, run.v, strict=True)])
    assert np.ptp(run.energy) < 1e-8 * ours.peak_kinetic_energy
    assert run.cpu_seconds > 0


def test_a_looser_tolerance_is_worse_and_cheaper():
    model, t = la.library.chain(5), np.linspace(0, 2.0, 21)
    loose, tight = (dop853(model, None, None, t, tol, tol) for tol in (1e-4, 1e-10))
    assert np.ptp(loose.energy) > 100 * np.ptp(tight.energy)
    assert loose.cpu_seconds < tight.cpu_seconds


def test_it_stops_when_patience_ends():
    stiff = la.library.pendulum()
    light = la.Inertia.sphere(1e-3, 0.01)
    stiff.add_body("finger", stiff.names[-1], la.Revolute((0, 1, 0), damping=1e6), inertia=light)
    run = dop853(stiff, None, [1.0, 1.0], np.linspace(0, 10, 11), 1e-9, 1e-9, patience=0.05)
    assert len(run.q) == len(run.v) == len(run.energy) < 11
    assert 0.05 <= run.cpu_seconds < 0.5
