"""Damping that the step cannot resolve is named with a dt that does; what it can resolve is not."""

import numpy as np
import pytest

import leastaction as la
from leastaction.errors import ModelWarning
from leastaction.simulation import damping

FINGER = la.Inertia.rod(0.02, 0.1, com=(0, 0, -0.05))   # 20 g, 10 cm: 6.7e-5 kg m² about its end
INERTIA = 0.02 * 0.1**2 / 3


def hinge(damping: float = 1.0) -> la.Model:
    model = la.Model(gravity=(0, 0, 0), name="hand")
    model.add_body("finger", joint=la.Revolute((0, 1, 0), damping=damping, name="knuckle"), inertia=FINGER)
    return model


def test_a_finger_that_rings_is_named():
    with pytest.warns(ModelWarning) as caught:
        run = la.simulate(hinge(), v=[5.0], dt=1e-3, steps=10)
    assert (np.diff(np.sign(run.v[:, 0])) != 0).all()   # it does ring
    (warning,) = caught
    text = str(warning.message)
    assert text.startswith("hand: a step of 0.001 s cannot resolve the damping of the joint 'knuckle': ")
    assert f"is {0.5e-3 / INERTIA:.3g}, and above 1" in text and "dt=0.0001 resolves it" in text
    assert warning.filename == __file__
    resolved = la.simulate(hinge(), v=[5.0], dt=1e-4, steps=10)
    assert (np.diff(resolved.v[:, 0]) < 0).all() and (resolved.v > 0).all()


@pytest.mark.parametrize(("share", "warned"), [(0.99, False), (1.01, True)])
@pytest.mark.parametrize("integrator", [la.Variational(), la.Variational(order=4), la.RungeKutta4()])
def test_the_bound_is_where_the_rate_changes_sign(share, warned, integrator, recwarn):
    longest = 1 / 3 if getattr(integrator, "order", 0) == 4 else 1.0
    model = hinge(share * 2 * INERTIA / 1e-3 / longest)
    with np.errstate(all="ignore"):
        run = la.simulate(model, v=[5.0], dt=1e-3, steps=3, integrator=integrator, ignore="damping")
    assert [str(w.message) for w in recwarn] == []
    if integrator == la.Variational():
        assert (run.v[1, 0] < 0) == warned
    if warned:
        with pytest.warns(ModelWarning, match="cannot resolve"):
            la.Simulator(model, dt=1e-3, integrator=integrator)
    else:
        la.Simulator(model, dt=1e-3, integrator=integrator)


def test_next_to_no_inertia_calls_for_an_armature():
    model = la.Model()
    model.add_body("wire", joint=la.Revolute((0, 0, 1), damping=0.1), inertia=la.Inertia(1.0, (1e-9, 0, -1)))
    with pytest.warns(ModelWarning, match="next to nothing, so give the joint an armature"):
        la.Simulator(model)


def test_it_is_said_once_for_a_model_and_a_step():
    model = hinge()
    with pytest.warns(ModelWarning) as caught:
        for dt in (1e-3, 1e-3, 5e-4):
            la.simulate(model, dt=dt, steps=1)
        la.simulate_many(model, v=np.ones((3, 1)), dt=2e-3, steps=1)
        la.audit(la.simulate(model, dt=1e-3, steps=3))
    assert len(caught) == 3


def test_the_greatest_eigenvalue_decides():
    """A light finger on a parent that gives way: its own articulated inertia, the parent at rest, would not tell."""
    model = la.Model(gravity=(0, 0, 0))
    model.add_body("hub", joint=la.Revolute((0, 1, 0)), inertia=la.Inertia(0.0, matrix=1e-7 * np.eye(3)))
    model.add_body("still", "hub")
    model.add_body("finger", "still", la.Revolute((0, 1, 0), damping=1e-2), inertia=FINGER)
    M = la.mass_matrix(model)
    rate = 1e-2 * np.linalg.inv(M)[1, 1]
    assert 0.5e-4 * rate > 1 > 0.5e-4 * 1e-2 / INERTIA
    with pytest.warns(ModelWarning, match="of the joint 'finger'"):
        la.Simulator(model, dt=1e-4)


def test_the_estimate_is_below_the_eigenvalue_and_close_to_it():
    rng = np.random.default_rng(1)
    for n in (1, 2, 7, 30):
        A = rng.normal(size=(n, n))
        M, d = A @ A.T + np.eye(n), rng.uniform(0, 3, n) * (rng.random(n) < 0.7)
        d[0] = 1.0
        exact = np.linalg.eigvals(np.linalg.solve(M, np.diag(d))).real.max()
        rate, share = damping.fastest_decay(d, lambda p, M=M: np.linalg.solve(M, p))
        assert 0.85 * exact < rate < exact * (1 + 1e-12) and share.sum() == pytest.approx(1.0)


def test_undamped_models_are_not_examined(monkeypatch):
    monkeypatch.setattr(damping, "fastest_decay", None)
    la.simulate(la.library.chain(3), steps=1)
