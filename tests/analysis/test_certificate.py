"""Certificates say what their numbers mean: good runs pass, each kind of bad one fails for its own reason."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import leastaction as la
from leastaction.analysis.verdict import _motion


@pytest.fixture(scope="module")
def gentle():
    return la.audit(la.library.paper_chain(4), duration=4.0)


def test_a_good_run_passes(gentle):
    assert gentle.kept
    words = " ".join(gentle.verdict)
    assert words.startswith("Physics is kept.")
    assert "symplectic and reversible" in words and "does not wander" in words and "Every step converged" in words
    assert gentle.accuracy is not None and gentle.symplecticity.defect < 1e-9


def test_text_and_json_tell_the_same_numbers(gentle):
    found = json.loads(json.dumps(gentle.to_dict()))
    assert found["kept"] is True and found["steps"] == 4000
    run = gentle.run
    assert found["energy_error"]["max"] == run.max_energy_error
    assert found["evaluations"]["mean"] == pytest.approx(run.iterations.mean())
    assert found["residual"]["max"] == run.residual.max()
    low, high = found["energy_trend"]["interval"]
    assert low < found["energy_trend"]["per_second"] < high
    text = str(gentle)
    assert f"{run.max_energy_error:.2e}" in text and found["verdict"] in text


def test_semi_implicit_euler_fails_for_its_step_and_momentum():
    certificate = la.audit(la.library.ragdoll(), duration=1.0, integrator=la.SemiImplicitEuler())
    words = " ".join(certificate.verdict)
    assert not certificate.kept
    assert "not symplectic and not reversible" in words
    assert "Momentum that should be conserved is not" in words


def test_runge_kutta_drifts_on_a_fast_top():
    top = la.library.spinning_top()
    slow, fast = (la.audit(top, dt=dt, duration=5.0, integrator=la.RungeKutta4()) for dt in (3e-3, 8e-3))
    assert slow.run.judgement.kept and "this method does not bound the drift" in " ".join(slow.verdict)
    assert not fast.kept and fast.energy_trend.found
    assert "The energy drifts" in " ".join(fast.verdict)
    assert la.audit(top, dt=8e-3, duration=5.0, integrator=la.Variational(order=4)).kept


def test_a_method_that_chooses_its_steps():
    """Its nodes are not its steps: the step that is examined is no symplectic one, at whatever tolerance tells that."""
    tight = la.audit(la.library.double_pendulum(), dt=0.01, duration=10.0, integrator=la.DormandPrince8(1e-9))
    words = " ".join(tight.verdict)
    assert tight.kept and words.startswith("Physics is kept. The energy stays within")
    assert "but drifts by" in words and "this method does not bound the drift" in words
    assert "right to about" in words and tight.run.max_energy_error < 1e-8
    loose = la.audit(la.library.spinning_top(), dt=0.01, duration=5.0, integrator=la.DormandPrince8(1e-3))
    words = " ".join(loose.verdict)
    assert not loose.kept and loose.energy_trend.found and words.startswith("Physics is not kept. The energy drifts")
    assert "Take a smaller tolerance, such as tol=1e-05, or la.Variational()" in words
    assert "Momentum that should be conserved is not" in words
    assert "The step is not symplectic and not reversible" in words


def test_a_step_too_long_is_named():
    certificate = la.audit(la.library.double_pendulum(), duration=10.0, dt=0.1)
    assert not certificate.kept
    assert "Take a smaller step, such as dt = 0.05" in " ".join(certificate.verdict)


def test_momenta_are_those_of_the_trajectory():
    run = la.simulate(la.library.ragdoll(), dt=1e-3, duration=0.5, integrator=la.SemiImplicitEuler())
    certificate = run.audit()
    errors = {kept.symmetry.name: kept.error for kept in certificate.momenta}
    changes = np.abs(run.momentum - run.momentum[0]).max(axis=0)
    assert errors == pytest.approx({"angular momentum about z": changes[2], "linear momentum along x": changes[3],
                                    "linear momentum along y": changes[4]})


def test_damping_is_no_fault_of_the_integrator():
    model = la.Model()
    rod = la.Inertia.rod(1.0, 0.5, com=(0, 0, -0.25))
    model.add_body("arm", joint=la.Revolute((0, 1, 0), damping=0.1), inertia=rod)
    model.q0 = [1.0]
    certificate = la.audit(model, duration=2.0)
    assert certificate.kept and certificate.symplecticity is None and certificate.irreversibility is None
    assert "not meant to be constant: the joint of 'arm' has damping" in " ".join(certificate.verdict)


def test_controls_and_wrenches():
    model = la.library.ragdoll()
    push = np.zeros(model.nv)
    push[model.v_slice("head")] = 0.1
    inside = la.audit(la.simulate(model, steps=100, control=push))
    assert len(inside.momenta) == 3 and inside.kept
    assert "a control may do work" in inside.energy_reason
    push[0] = 0.1
    against = la.audit(la.simulate(model, steps=100, control=push))
    assert against.momenta == [] and against.momentum_reason == "a control acts against the ground"
    pulled = la.audit(la.simulate(model, steps=100, wrench=np.ones((model.nb, 6))))
    assert pulled.momentum_reason == "external wrenches act"
    steered = la.audit(la.simulate(model, steps=100, control=lambda t, q, v: np.zeros(model.nv)))
    assert "control function" in steered.momentum_reason


def test_a_run_that_broke_off():
    model = la.library.pendulum()
    model.v0 = [400.0]
    whole = la.Variational(rescue=la.Rescue(max_substeps=1))
    run = la.simulate(model, dt=0.05, duration=1.0, on_failure="truncate", integrator=whole)
    assert run.failure is not None
    certificate = la.audit(run)
    assert not certificate.kept
    assert "The run ended early: step" in " ".join(certificate.verdict)


def test_the_initial_state_is_as_given(gentle):
    model = la.library.double_pendulum()
    certificate = la.audit(model, [2.0, 1.0], [0.5, 0.0], duration=0.2)
    assert certificate.run.q[0].tolist() == [2, 1] and certificate.run.v[0].tolist() == [0.5, 0]
    with pytest.raises(ValueError, match="a trajectory was given, which has its own"):
        la.audit(gentle.run, gentle.run.q[0])
    with pytest.raises(ValueError, match="a trajectory was given, which has its own"):
        la.view(gentle.run, v=gentle.run.v[0])


def test_a_model_at_rest():
    certificate = la.audit(la.library.double_pendulum(), [0, 0], [0, 0], duration=0.5)
    assert certificate.verdict[0] == "The model is at rest." and certificate.kept
    assert "give q or v (--initial)" in str(certificate)


def test_a_run_without_a_step():
    certificate = la.audit(la.simulate(la.library.pendulum(), steps=0))
    assert "too short to tell whether it wanders" in " ".join(certificate.verdict)
    assert str(certificate) and json.dumps(certificate.to_dict())


def test_a_motion_that_is_off_at_once_is_told_so():
    """Not that it is right until 0 s."""
    t = np.array([0.0, 0.01, 1.0])
    accuracy = SimpleNamespace(max_error=0.5, t=t, doubling_time=None, good_until=lambda tolerance: 0.0)
    (said,) = _motion(SimpleNamespace(accuracy=accuracy))
    assert said == ("The motion itself is off by more than 0.01 rad or m within the first 0.01 s of 1 s: trust its "
                    "statistics, not its path.")
