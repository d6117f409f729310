"""A certificate names what was left out and which limits the motion passed, and does not just say "kept"."""

import json

import numpy as np
import pytest

import leastaction as la
from leastaction.analysis.left_out import passed_limits

ROD = la.Inertia.box(1.0, (0.05, 0.05, 0.5), com=(0, 0, -0.25))


def arm(joint=None) -> la.Model:
    model = la.Model(name="arm")
    hinge = la.Revolute((0, 1, 0), limits=(-0.5, 0.5), velocity_limit=2.0, friction=0.1, name="hinge")
    model.add_body("link", joint=joint or hinge, inertia=ROD)
    return model


def audit(model: la.Model, v, duration: float = 0.5):
    return la.audit(la.simulate(model, None, v, duration=duration, ignore=("limits", "friction")))


def test_the_verdict_names_what_was_left_out_and_passed():
    found = audit(arm(), [3.0])
    run = found.run
    assert found.kept
    assert found.verdict[0] == ("Physics of the model as simulated is kept; left out: joint limits (1), "
                                "limits of effort or velocity (1), dry friction (1).")
    words = str(found)
    assert f"The motion passed the position limits of 'hinge' by {run.q.max() - 0.5:.3g} rad." in words
    assert f"The motion passed the velocity limits of 'hinge' by {abs(run.v).max() - 2:.3g} rad/s." in words
    assert "left out" in words and "limits passed" in words
    told = json.loads(json.dumps(found.to_dict()))["left_out"]
    assert told["ignored"] == {"limits": ["'hinge'"], "effort": ["'hinge' (velocity)"], "friction": ["'hinge'"]}
    assert [limit["kind"] for limit in told["limits_passed"]] == ["velocity", "position"]


def test_limits_that_were_not_passed_are_not_named():
    found = audit(arm(), [0.1])
    assert found.left_out.passed == [] and "passed" not in " ".join(found.verdict)
    assert "left out: joint limits (1)" in found.verdict[0]


def test_a_model_that_is_honoured_in_full_is_just_kept():
    found = la.audit(la.library.pendulum(), duration=0.5)
    assert found.verdict[0] == "Physics is kept." and found.left_out.rows() == []


def test_what_is_not_kept_names_it_too():
    found = la.audit(la.simulate(arm(), None, [400.0], dt=0.05, duration=1.0, ignore=("limits", "friction"),
                                 integrator=la.Variational(rescue=la.Rescue(max_substeps=1)), on_failure="truncate"))
    assert found.verdict[:2] == ["Physics is not kept.", "Left out: joint limits (1), "
                                 "limits of effort or velocity (1), dry friction (1)."]


@pytest.mark.parametrize(("joint", "q", "excess", "unit"), [
    (la.Prismatic((1, 0, 0), limits=(-0.1, 0.2)), [-0.35], 0.25, "m"),
    (la.Universal((1, 0, 0), (0, 1, 0), limits=((-1, -2), (1, 2))), [0.5, 2.5], 0.5, "rad"),
    (la.Ball(limits=(0, 0.5)), [np.cos(0.6), 0, -np.sin(0.6), 0], 0.7, "rad"),
    (la.Ball(limits=(0, 0.5)), [-np.cos(0.6), 0, -np.sin(0.6), 0], 0.7, "rad"),
])
def test_joints_of_every_kind(joint, q, excess, unit):
    run = la.simulate(arm(joint), q, steps=0, ignore="limits")
    (passed,) = passed_limits(run)
    assert (passed.joint, passed.kind, passed.unit) == ("link", "position", unit)
    assert passed.excess == pytest.approx(excess)


def test_a_ringing_joint_is_not_just_kept():
    model = arm(la.Revolute((0, 1, 0), damping=1e3))
    found = la.audit(la.simulate(model, v=[1.0], steps=5, ignore="damping", integrator=la.RungeKutta4()))
    assert found.verdict[0] == "Physics of the model as simulated is kept."
    assert "Beware: a step of 0.001 s cannot resolve the damping of the joint 'link'" in " ".join(found.verdict)
