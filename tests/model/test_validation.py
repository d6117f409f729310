import pickle

import numpy as np
import pytest

from leastaction.errors import ModelError, ModelWarning, StepError
from leastaction.model import Ball, Fixed, Free, Inertia, Model, Prismatic, Revolute

Y = (0, 1, 0)
NAN, INF = float("nan"), float("inf")
SOUND = Inertia.sphere(1.0, 0.1)


def faults_of(model: Model, strict: bool = False) -> list[str]:
    with pytest.raises(ModelError) as caught:
        model.validate(strict)
    return caught.value.faults


def single(joint=None, **options) -> Model:
    model = Model()
    model.add_body("link", None, joint or Revolute(Y), **{"inertia": SOUND, **options})
    return model


@pytest.mark.parametrize(
    ("model", "fault"),
    [
        (Model(name="robot"), "robot has no bodies; add one with add_body"),
        (single(inertia=Inertia(NAN)), "body 'link': mass is not finite"),
        (single(inertia=Inertia(INF)), "body 'link': mass is not finite"),
        (single(inertia=Inertia(1, (NAN, 0, 0))), "body 'link': com is not finite"),
        (single(inertia=Inertia(1, matrix=np.full((3, 3), INF))), "body 'link': inertia matrix is not finite"),
        (single(position=(0, INF, 0)), "body 'link': position is not finite"),
        (single(quaternion=(NAN, 0, 0, 0)), "body 'link': quaternion is not finite"),
        (
            single(quaternion=(0, 0, 0, 0)),
            "body 'link': quaternion has norm 0; give a unit quaternion (w, x, y, z)",
        ),
        (
            single(quaternion=(1, 1, 0, 0)),
            "body 'link': quaternion has norm 1.41421; give a unit quaternion (w, x, y, z)",
        ),
        (single(inertia=Inertia(-2)), "body 'link': mass is negative: -2 kg"),
        (
            single(inertia=Inertia(1, matrix=np.diag([1, 1, -0.5]))),
            "body 'link': inertia about the centre of mass has the negative moment -0.5 kg m^2",
        ),
        (
            single(inertia=Inertia(1, matrix=[[1, 0.5, 0], [0, 1, 0], [0, 0, 1]])),
            "body 'link': inertia matrix is not symmetric",
        ),
        (single(Fixed(), inertia=Inertia(-1)), "the bodies fixed to the ground: mass is negative: -1 kg"),
        (single(Revolute((0, 0, 0))), "body 'link': joint axis is zero: give it a direction"),
        (
            single(Revolute(Y, limits=(1, -1))),
            "body 'link': joint limits are in the wrong order: low 1 > high -1",
        ),
        *((single(Revolute(Y, limits=(-1, 1), limit_restitution=e)),
           f"body 'link': joint limit_restitution must be a number from 0 to 1, not {e!r}")
          for e in (-0.1, 1.5, NAN, "x")),
        (single(Revolute(Y, damping="1,5kg")), "body 'link': joint damping must be a number, not '1,5kg'"),
        (
            single("hinge"),
            "body 'link': unknown joint type 'hinge'; use one of "
            "Revolute, Prismatic, Helical, Ball, Free, Fixed, Universal, Cylindrical, Planar",
        ),
    ],
)
def test_one_fault_is_one_line(model, fault):
    assert faults_of(model) == [fault]
    with pytest.raises(ModelError) as caught:
        model.validate()
    assert str(caught.value) == fault


def test_gravity():
    model = single()
    model.gravity = (0, 0, NAN)
    assert faults_of(model) == ["gravity is not finite: [0.0, 0.0, nan]"]
    with pytest.raises(ModelError, match=r"gravity must be numbers of shape \(3,\), not 9.81"):
        model.gravity = 9.81


@pytest.mark.parametrize(
    ("links", "faults"),
    [
        ([("a", "a")], ["body 'a' is its own parent; use parent=None for the ground"]),
        ([("arm", None), ("b", "amr")], ["body 'b' has the unknown parent 'amr'; did you mean 'arm'?"]),
        ([("arm", None), ("b", "xyz")], ["body 'b' has the unknown parent 'xyz'"]),
        (
            [("a", None), ("b", "a"), ("b", None)],
            ["body 'b' is added more than once; give each body its own name"],
        ),
        (
            [("root", None), ("leaf", "a"), ("a", "c"), ("b", "a"), ("c", "b")],
            ["bodies 'a', 'c', 'b' are each other's ancestors; connect one of them to the ground"],
        ),
    ],
)
def test_what_is_not_a_tree(links, faults):
    model = Model()
    for name, parent in links:
        model.add_body(name, parent, Revolute(Y), inertia=SOUND)
    assert faults_of(model) == faults
    assert str(model)


def test_every_fault_is_listed_at_once():
    model = Model()
    model.add_body("a", "nowhere", Revolute((0, 0, 0)), inertia=Inertia(-1))
    model.add_body("b", "b", Prismatic(Y, damping=-1), position=(NAN, 0, 0), inertia=SOUND)
    model.add_body("c", None, Ball(), quaternion=(2, 0, 0, 0), inertia=Inertia(1, matrix=-np.eye(3)))
    model.add_body("d", "c", Fixed(), inertia=Inertia(NAN))
    model.add_body("e", "c", Free(), inertia=Inertia(1, matrix=-np.eye(3)))
    expected = [
        "body 'a' has the unknown parent 'nowhere'",
        "body 'b' is its own parent; use parent=None for the ground",
        "body 'a': joint axis is zero: give it a direction",
        "body 'b': joint damping is negative: -1.0",
        "body 'b': position is not finite",
        "body 'd': mass is not finite",
        "body 'c': quaternion has norm 2; give a unit quaternion (w, x, y, z)",
        "body 'a': mass is negative: -1 kg",
        "body 'e': inertia about the centre of mass has the negative moment -1 kg m^2",
    ]
    assert faults_of(model) == expected
    with pytest.raises(ModelError) as caught:
        model.validate()
    assert str(caught.value) == "\n".join(["9 faults in the model:", *(f"- {fault}" for fault in expected)])


def test_inertias_are_judged_after_merging():
    model = single()
    model.add_body("hole", "link", Fixed(), inertia=Inertia(-0.5))
    model.validate()
    model.add_body("more", "hole", Fixed(), inertia=Inertia(-1.0))
    assert faults_of(model)[0] == "body 'link' with the bodies fixed to it: mass is negative: -0.5 kg"


def test_masses_that_cancel():
    model = single(inertia=Inertia(1, (1, 0, 0), np.eye(3)))
    model.add_body("hole", "link", Fixed(), inertia=Inertia(-1.0))
    assert "body 'link' with the bodies fixed to it: masses cancel, which leaves no centre of mass" in faults_of(
        model
    )


def test_point_masses_and_massless_bodies_are_fine():
    model = single(inertia=None)
    model.add_body("point", "link", Revolute(Y), inertia=Inertia(1, (0.3, 0.7, 1e3)))
    model.add_body("far", "point", Fixed(), (0.1, 0.2, 0.3), (0.6, 0.8, 0, 0), Inertia(2, (1e3, 0.1, 0.7)))
    model.add_body("lone", "far", Ball())
    model.add_body("end", "lone", Fixed(), (0.1, 0.2, 0.3), (0.6, 0, 0.8, 0), Inertia(1, (0.1, 0.2, 0.7)))
    model.validate(strict=True)


def test_triangle_inequality_warns_and_with_strict_raises():
    text = "the inertia of 'link', 'other' violates the triangle inequality by more than 1 %: no rigid body has such"
    model = single(inertia=Inertia(1, matrix=np.diag([1, 1, 2.1])))
    model.add_body("other", "link", Ball(), inertia=Inertia(1, matrix=np.diag([5, 1, 1])))
    model.add_body("fine", "link", Ball(), inertia=Inertia(1, matrix=np.diag([1, 1, 2.01])))
    with pytest.warns(ModelWarning, match=text):
        model.validate()
    (fault,) = faults_of(model, strict=True)
    assert fault.startswith(text)


def test_a_negative_moment_is_borne_where_the_joint_is_far_from_the_centre_of_mass():
    """As robots have it in their files: the kinetic energy of the body is positive in every motion about its joint."""
    slightly = Inertia(2, (0, 0, 0.3), np.diag([-0.01, 0.02, 0.02]))
    for joint in (Revolute(Y), Ball()):
        with pytest.warns(ModelWarning, match="the inertia of 'link' violates the triangle inequality"):
            single(joint, inertia=slightly).validate()
    assert "negative moment -0.01" in faults_of(single(Free(), inertia=slightly))[0]
    along = Inertia(2, (0.3, 0, 0), np.diag([-0.01, 0.02, 0.02]))   # the distance does not help about this axis
    assert "negative moment -0.01" in faults_of(single(Ball(), inertia=along))[0]
    greatly = Inertia(2, (0, 0, 0.3), np.diag([-0.2, 1, 1]))
    assert "negative moment -0.2" in faults_of(single(Ball(), inertia=greatly))[0]


def test_arguments_of_the_wrong_kind_are_refused_when_given():
    model = Model()
    with pytest.raises(ModelError, match=r"the position of body 'a' must be numbers of shape \(3,\), not \(1, 2\)"):
        model.add_body("a", position=(1, 2))
    with pytest.raises(ModelError, match="the quaternion of body 'a' must be numbers of shape"):
        model.add_body("a", quaternion="upright")
    with pytest.raises(ModelError, match=r"the inertia of body 'a' must be an Inertia, not 1\.0"):
        model.add_body("a", inertia=1.0)
    with pytest.raises(ModelError, match="names of bodies must be text, not 7 with the parent None"):
        model.add_body(7)
    assert model.nb == 0


def swinger() -> Model:
    model = Model()
    model.add_body("base", joint=Free(), inertia=SOUND)
    model.add_body("arm", "base", Revolute(Y), inertia=SOUND)
    return model


@pytest.mark.parametrize(
    ("q", "v", "text"),
    [
        (np.zeros(3), None, r"q must have the shape \(8,\), not \(3,\)"),
        (None, np.zeros((7, 1)), r"v must have the shape \(7,\), not \(7, 1\)"),
        ("now", None, "q must be 8 real numbers, not 'now'"),
        ([0, 0, 0, 1, 0, 0, 0, NAN], None, "^q is not finite at body 'arm'$"),
        ([0, 0, INF, 1, 0, 0, 0, 0], None, "^q is not finite at body 'base'$"),
        (None, [0, 0, 0, NAN, 0, NAN, 0], "^v is not finite at body 'base'$"),
        (np.zeros(8), None, "^q has a quaternion of norm 0 at body 'base'; normalise it$"),
        ([0, 0, 0, 2, 0, 0, 0, 0], None, "^q has a quaternion of norm 2 at body 'base'; normalise it$"),
        (
            [0, 0, 0, 2, 0, 0, 0, NAN],
            np.zeros(6),
            "^q is not finite at body 'arm'; q has a quaternion of norm 2 at body 'base'; normalise it; "
            r"v must have the shape \(7,\), not \(6,\)$",
        ),
    ],
)
def test_bad_states_are_refused(q, v, text):
    model = swinger()
    with pytest.raises(ValueError, match=text):
        model.check_state(q, v)
    if q is not None:
        with pytest.raises(ValueError):
            model.q0 = q
    if v is not None:
        with pytest.raises(ValueError):
            model.v0 = v
    assert model.q0.tolist() == [0, 0, 0, 1, 0, 0, 0, 0]


def test_a_good_state_is_copied_and_its_quaternions_normalised():
    given = np.array([1, 2, 3, 1 + 5e-7, 0, 0, 0, 4])
    q, v = swinger().check_state(given, np.ones(7, dtype=int))
    assert q.tolist() == [1, 2, 3, 1, 0, 0, 0, 4]
    assert given[3] == 1 + 5e-7
    assert v.dtype == float


def test_placement_quaternions_lose_round_off():
    body = single(quaternion=(1 + 5e-7, 0, 0, 0)).bodies[0]
    assert body.quaternion.tolist() == [1, 0, 0, 0]


def test_step_error_names_what_to_try_and_survives_pickling():
    error = StepError("no convergence", 12, 0.012, 3e-5, "link7", np.zeros(1), np.ones(1), np.ones(1))
    text = str(pickle.loads(pickle.dumps(error)))
    assert text.startswith("step 12 at t = 0.012 s failed: no convergence; residual 3e-05")
    assert "worst at the joint of 'link7'" in text
    assert "Try a smaller dt or a looser tolerance" in text
    without_a_search = StepError("the motion is too fast", 7, 0.7, 0.0, "", *[np.zeros(1)] * 3)
    assert "too fast. Try a smaller dt; the last good state" in str(without_a_search)


def test_model_error_survives_pickling():
    error = pickle.loads(pickle.dumps(ModelError(["one", "two"])))
    assert error.faults == ["one", "two"]
    assert str(error) == "2 faults in the model:\n- one\n- two"
