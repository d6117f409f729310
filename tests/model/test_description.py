"""A model written down and read again is the same, bit for bit, and what nobody would read is an error."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leastaction as la
from leastaction.model.library import BUILTIN


def again(model):
    return la.Model.from_dict(json.loads(json.dumps(model.to_dict(), allow_nan=False)))


def everything():
    """One of each joint, with all that joints and bodies can have."""
    model = la.Model(gravity=(0.1, 1 / 3, -9.81), name="everything")
    turn = np.array([1.0, 2.0, 3.0, 4.0]) / np.sqrt(30.0)
    corners = np.random.default_rng(0).normal(size=(4, 3))
    mesh = la.Geometry("mesh", np.zeros(3), np.full(3, 0.1), turn, np.ones(4), corners,
                       np.array([[0, 1, 2], [0, 2, 3]]), visual=False)
    joints = [la.Free(), la.Revolute((0, 1, 1 / 3), limits=(-np.inf, 1.1), friction=0.1),
              la.Prismatic((1, 0, 0), rest=0.2), la.Helical((0, 0, 1), pitch=0.1), la.Ball(stiffness=1.0, rest=turn),
              la.Fixed(), la.Universal((1, 0, 0), (0, 1, 0), damping=(0.1, 0.2)),
              la.Planar((1, 0, 0), (0, 1, 0), armature=0.3)]
    inertia = la.Inertia.capsule(1.1, 0.03, 0.5, axis=(1, 2, 3), com=(0, 0.1, 0.2))
    for i, joint in enumerate(joints):
        model.add_body(f"body {i}", f"body {i - 1}" if i else None, joint, (0.1, 0, 0.7), turn, inertia, [mesh])
    q0 = model.q0
    q0[3:7] = turn
    model.q0, model.v0 = q0, np.random.default_rng(1).normal(size=model.nv)
    return model


@pytest.mark.parametrize("model", [everything(), *(make() for make in BUILTIN.values())], ids=lambda model: model.name)
def test_all_comes_back(model):
    copy = again(model)
    assert copy.to_dict() == model.to_dict()
    assert [body.joint for body in copy.bodies] == [body.joint for body in model.bodies]
    np.testing.assert_array_equal(copy.q0, model.q0)
    np.testing.assert_array_equal(copy.v0, model.v0)
    np.testing.assert_array_equal(la.mass_matrix(copy, copy.q0), la.mass_matrix(model, model.q0))
    for body, other in zip(model.bodies, copy.bodies, strict=True):
        assert len(body.geometry) == len(other.geometry)
        for shape, same in zip(body.geometry, other.geometry, strict=True):
            for name, value in vars(shape).items():
                np.testing.assert_array_equal(value, getattr(same, name))


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1))
def test_quaternions_are_not_normalised_again(quaternion):
    model = la.Model()
    model.add_body("a", joint=la.Ball(), quaternion=np.array(quaternion) / np.linalg.norm(quaternion),
                   inertia=la.Inertia.sphere(1.0, 0.1))
    copy = again(again(model))
    assert copy.bodies[0].quaternion.tobytes() == model.bodies[0].quaternion.tobytes()


def edited(change):
    data = everything().to_dict()
    change(data)
    return data


@pytest.mark.parametrize(("change", "words"), [
    (lambda d: d.update(gravty=1), "unknown key 'gravty'; did you mean 'gravity'"),
    (lambda d: d["bodies"][1].update(colour="red"), "body 'body 1' has the unknown key 'colour'"),
    (lambda d: d["bodies"][1]["joint"].update(kind="hinge"), "joint of body 'body 1' has the unknown kind 'hinge'"),
    (lambda d: d["bodies"][1]["joint"].update(axes=1), "unknown key 'axes'"),
    (lambda d: d["bodies"][1]["joint"].pop("axis"), "joint of body 'body 1' is not complete.*axis"),
    (lambda d: d["bodies"][1]["geometry"][0].update(vertices=[1, 2]), "vertices of the geometry of body 'body 1'"),
    (lambda d: d["bodies"][1].update(inertia=3), "inertia of body 'body 1' must be a mapping"),
    (lambda d: d["bodies"][1].update(position=[1, 2]), "position of body 'body 1'"),
    (lambda d: d.update(q0=[1]), "q0 must be numbers of shape"),
])
def test_what_is_wrong_is_named(change, words):
    with pytest.raises(la.ModelError, match=words):
        la.Model.from_dict(edited(change))
