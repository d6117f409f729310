"""Loops and couplings as a user describes them: what they say of themselves, and every fault by name."""

import copy
import json
import pickle

import numpy as np
import pytest

import leastaction as la
from reference.mechanisms import Z, four_bar, gear_train, rod

NAN = float("nan")
CLOSURES = {
    la.Ball(): 3, la.Fixed(): 6, la.Revolute(Z): 5, la.Prismatic(Z): 5, la.Universal((1, 0, 0), Z): 4,
    la.Cylindrical(Z): 4, la.Planar((1, 0, 0), (0, 1, 0)): 3, la.Rod(2): 1,
}


def two_links():
    model = la.Model(name="two")
    model.add_body("a", None, la.Revolute(Z, name="ja"), inertia=rod(1.0))
    model.add_body("b", "a", la.Ball(), (1, 0, 0), inertia=rod(1.0))
    model.add_body("plate", "b", la.Fixed(), inertia=rod(0.1))
    return model


def closed_by(joint, **given):
    model = two_links()
    model.add_loop("l", "b", joint=joint, **given)
    return model


@pytest.mark.parametrize("joint", CLOSURES, ids=lambda joint: type(joint).__name__)
def test_rows_description_and_copies(joint):
    model = closed_by(joint, position=(1, 0, 0), other_position=(0, 1 / 3, 0), quaternion=(0, 0, 1, 0))
    assert model.loops[0].rows == CLOSURES[joint] == len(la.constraint_jacobian(model))
    again = la.Model.from_dict(json.loads(json.dumps(model.to_dict(), allow_nan=False)))
    for other in (again, copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other == model and other.loops == model.loops
    assert closed_by(joint) != model and two_links() != model
    assert f"loop 'l': {type(joint).__name__.lower()} 'b' to the ground, {CLOSURES[joint]} row" in str(model)
    assert "1 loop" in repr(model) and "loop 'l'" in model._repr_html_().replace("&#x27;", "'")


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.float64, int])
def test_lengths_of_rods_may_be_any_numbers(kind):
    assert la.Rod(kind(2)) == la.Rod(2.0) and la.Rod(kind(2)).faults() == []


def test_where_rows_are_counted():
    """At a q0 that is open, as that of a model just built, the count is of no configuration that the model can have."""
    model = four_bar()
    assert str(model).endswith("3 of 5 are redundant at q0")
    model.q0 = np.zeros(3)
    assert str(model).endswith("4 of 5 are redundant at q0, where 'pin' is open by 0.7 m")


def test_couplings():
    model = gear_train()
    again = la.Model.from_dict(json.loads(json.dumps(model.to_dict(), allow_nan=False)))
    assert again == model and again.loops == model.loops and pickle.loads(pickle.dumps(model)) == model
    text = str(model)
    assert "coupling 'gear': 'second' = -0.5 'drive', 1 row" in text
    assert "coupling 'cam': 'slider' = 0.05 + 0.1 + 0.2 ('first' - 0.3) + 0.05 ('first' - 0.3)^3, 1 row" in text
    assert "2 couplings (2 rows)" in repr(model)


def test_a_model_without_loops_says_nothing_of_them():
    model = two_links()
    assert model.loops == () and "loops" not in model.to_dict() and "loop" not in str(model)
    assert la.closure(model).shape == (0,) and la.constraint_jacobian(model).shape == (0, 4)
    assert model.mobility() == model.nv == 4
    q, v = la.assemble(model, [0.1, 1, 0, 0, 0], [1, 2, 3, 4])
    assert q.tolist() == [0.1, 1, 0, 0, 0] and v.tolist() == [1, 2, 3, 4]


def test_a_loop_is_a_change():
    model = two_links()
    before = model.revision, la.closure(model).size
    model.add_loop("l", "b", joint=la.Ball(), position=(1, 0, 0), other_position=(2, 0, 0))
    assert (model.revision, la.closure(model).size) == (before[0] + 1, before[1] + 1)


@pytest.mark.parametrize(("given", "fault"), [
    ({"body": "c"}, "loop 'l' has the unknown body 'c'"),
    ({"body": "bb"}, "loop 'l' has the unknown body 'bb'"),
    ({"other": "plat"}, "loop 'l' has the unknown other 'plat'; did you mean 'plate'?"),
    ({"other": "b"}, "loop 'l' joins body 'b' to itself"),
    ({"other": "plate"}, "loop 'l' joins 'b' to 'plate', which cannot move against each other"),
    ({"joint": la.Free()}, "loop 'l' cannot be closed by a Free joint; use Ball"),
    ({"joint": la.Helical(Z, 0.1)}, "loop 'l' cannot be closed by a Helical joint"),
    ({"joint": "ball"}, "loop 'l' cannot be closed by 'ball'; use Ball, Fixed,"),
    ({"joint": la.Ball(damping=0.1)}, "loop 'l' has a joint with damping, which does not act in a closure"),
    ({"joint": la.Ball(stiffness=1, armature=2)}, "stiffness, armature, which do not act"),
    ({"joint": la.Revolute(Z, limits=(-1, 1))}, "loop 'l' has a joint with limits"),
    ({"joint": la.Revolute(Z, friction=0.1)}, "loop 'l' has a joint with friction"),
    ({"joint": la.Revolute((0, 0, 0))}, "loop 'l' has a joint whose axis is zero"),
    ({"joint": la.Revolute((0, 0, NAN))}, "loop 'l' has a joint whose axis is not finite"),
    ({"joint": la.Rod(0.0)}, "loop 'l' has a rod whose length must be a positive number of metres, not 0.0"),
    ({"joint": la.Rod(NAN)}, "loop 'l' has a rod whose length"),
    ({"joint": la.Rod("long")}, "loop 'l' has a rod whose length"),
    ({"position": (0, 0, NAN)}, "loop 'l' has position that is not finite"),
    ({"other_position": (0, 0, np.inf)}, "loop 'l' has other_position that is not finite"),
    ({"quaternion": (2, 0, 0, 0)}, "loop 'l' has quaternion of norm 2; give a unit quaternion"),
    ({"other_quaternion": (NAN, 0, 0, 0)}, "loop 'l' has other_quaternion that is not finite"),
])
def test_faults_of_loops(given, fault):
    model = two_links()
    model.add_loop("l", **{"body": "b", "joint": la.Ball(), **given})
    with pytest.raises(la.ModelError) as error:
        la.closure(model)
    assert fault in str(error.value)


@pytest.mark.parametrize(("given", "fault"), [
    ({"joint": "j"}, "coupling 'c' has the unknown joint 'j'; did you mean 'ja'?"),
    ({"to": "x"}, "coupling 'c' has the unknown joint 'x'"),
    ({"to": "ja"}, "coupling 'c' couples joint 'a' to itself"),
    ({"to": "b"}, "coupling 'c' is of joint 'b', a Ball of 3 degrees of freedom: only joints of one can be coupled"),
    ({"joint": "plate"}, "coupling 'c' is of joint 'plate', a Fixed of 0 degrees of freedom"),
    ({"to": None, "coefficients": (0, 1)}, "coupling 'c' has no second joint"),
    ({"to": None, "coefficients": (1, 2, 3, 4, 5, 6)}, "coupling 'c' must have one to 5 coefficients"),
    ({"to": None, "coefficients": ()}, "coupling 'c' must have one to 5 coefficients"),
    ({"to": None, "coefficients": NAN}, "coupling 'c' has numbers that are not finite"),
    ({"to": None, "coefficients": 1, "reference": (np.inf, 0)}, "coupling 'c' has numbers that are not finite"),
])
def test_faults_of_couplings(given, fault):
    model = two_links()
    model.add_coupling("c", **{"joint": "a", **given})
    with pytest.raises(la.ModelError) as error:
        la.closure(model)
    assert fault in str(error.value)


def test_what_is_refused_at_once():
    model = two_links()
    for call, text in (
        (lambda: model.add_loop(1, "b", joint=la.Ball()), "names of loops and bodies must be text"),
        (lambda: model.add_loop("l", "b", 3, joint=la.Ball()), "must be text"),
        (lambda: model.add_loop("l", "b", joint=la.Ball(), position=(1, 2)), "the position of loop 'l' must be"),
        (lambda: model.add_coupling("c", 1), "names of couplings and joints must be text"),
        (lambda: model.add_coupling("c", "a", reference=1.0), "the reference of coupling 'c' must be"),
        (lambda: model.add_coupling("c", "a", coefficients="x"), "the coefficients of coupling 'c'"),
        (lambda: model.add_coupling("c", "a", coefficients=((0, 1), (2, 3))), "must be one row of numbers"),
    ):
        with pytest.raises(la.ModelError, match=text):
            call()
    assert model.loops == ()


def test_names_are_unique():
    model = closed_by(la.Ball())
    model.add_coupling("l", "a", None, 1.0)
    with pytest.raises(la.ModelError, match="loop 'l' is added more than once"):
        la.closure(model)


@pytest.mark.parametrize(("change", "fault"), [
    (lambda loop: loop.pop("body"), "loop 'pin': body must be text, not None"),
    (lambda loop: loop.update(joints=1), "loop 'pin' has the unknown key 'joints'; did you mean 'joint'?"),
    (lambda loop: loop["joint"].update(kind="glue"), "the joint of loop 'pin' has the unknown kind 'glue'"),
    (lambda loop: loop.update(joint={"kind": "rod"}), "the rod of loop 'pin' is not complete"),
    (lambda loop: loop.update(position=[1, 2]), "the position of loop 'pin' must be"),
    (lambda loop: loop.update(joint="crank"), "coupling 'pin' has the unknown key 'body'"),
])
def test_what_nobody_would_read_is_an_error(change, fault):
    data = four_bar().to_dict()
    change(data["loops"][0])
    with pytest.raises(la.ModelError) as error:
        la.Model.from_dict(data)
    assert fault in str(error.value)
