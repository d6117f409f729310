"""Variants of a model: the same arrays as those of a model that is made and compiled by itself, to the last bit."""

import pickle
from dataclasses import fields

import numpy as np
import pytest

import leastaction as la
from leastaction.compiled import Compiled, _cache, _compile, compile_model
from leastaction.variants import variants

BODY = la.Inertia(1.0, (0.1, 0.0, -0.3), np.diag([0.1, 0.2, 0.15]))
TURN = (0.5, 0.5, -0.5, 0.5)


def arm():
    """Fixed bodies on the ground, on a link and between links; joints of several parts."""
    model = la.Model(name="arm")
    model.add_body("socket", None, position=(0.1, 0.2, 0.3), quaternion=TURN, inertia=BODY)
    model.add_body("upper", "socket", la.Universal((1, 0, 0), (0, 1, 0), damping=(0.1, 0.2)), inertia=BODY)
    model.add_body("flange", "upper", position=(0, 0.1, -0.5), quaternion=TURN, inertia=BODY)
    model.add_body("lower", "flange", la.Ball(stiffness=2.0), position=(0.3, 0, 0), inertia=BODY)
    model.add_body("tool", "lower", position=(0, 0.2, -0.3), quaternion=TURN, inertia=BODY)
    model.add_body("slider", "lower", la.Planar((1, 0, 0), (0, 1, 0)), position=(0, 0, 0.2), inertia=BODY)
    model.add_body("frame", "slider", position=(0, 0, 0.1))
    return model


def changes(model, names, count, seed=0):
    rng, found = np.random.default_rng(seed), {}
    for b, body in enumerate(model.bodies):
        for name in names:
            if name == "mass":
                found[name, b] = body.inertia.mass * rng.uniform(0.5, 1.5, count)
            elif name in ("com", "position"):
                found[name, b] = rng.normal(size=(count, 3))
            elif name == "gravity":
                found[name, -1] = rng.normal(size=(count, 3))
            elif body.joint.nv:
                size = np.shape(getattr(body.joint, name))
                found[name, b] = rng.uniform(0, 1, (count, *size)) * rng.integers(0, 2, (count, *(1,) * len(size)))
    return found


@pytest.mark.parametrize("names", [["mass"], ["com"], ["position"], ["damping"], ["stiffness", "armature"], ["gravity"],
                                   ["mass", "com", "position", "damping", "stiffness", "armature", "gravity"]])
def test_arrays_are_those_of_a_model_made_by_itself(names):
    model, count = arm(), 9
    given = changes(model, names, count)
    made = variants(model, given, count)
    quickly = 0
    for b, one in enumerate(made):
        assert isinstance(one, la.Model), one
        found = compile_model(one)
        quickly += "_bodies" not in one.__dict__
        again = la.Model.from_dict(one.to_dict())
        assert again == one
        expected = _compile(again)
        for field in fields(Compiled):
            ours, theirs = getattr(found, field.name), getattr(expected, field.name)
            if field.name == "tree":
                assert all(np.array_equal(x, y) for x, y in zip(ours, theirs, strict=True)), b
            else:
                np.testing.assert_array_equal(ours, theirs, err_msg=f"{field.name} of {b}")
        assert found.structure == expected.structure
        if "mass" in names:
            assert one.bodies[1].inertia.mass == given["mass", 1][b]
            np.testing.assert_array_equal(one.bodies[1].inertia.matrix, BODY.matrix * given["mass", 1][b])
    assert quickly == count


def test_bad_numbers_fail_one_variant():
    model = arm()
    mass, damping = np.array([1.0, -0.5, np.nan, 2.0]), np.array([0.0, 1.0, 0.0, -1.0])
    made = variants(model, {("mass", 3): mass, ("damping", 3): damping}, 4)
    assert [isinstance(one, la.Model) for one in made] == [True, False, False, False]
    assert str(made[1]) == "body 'lower': mass is negative: -0.5 kg"
    assert "not finite" in str(made[2])
    assert "body 'lower': joint damping is negative" in str(made[3])
    made = variants(model, {("mass", 6): np.array([0.0, 1.0])}, 2)
    assert isinstance(made[0], la.Model)
    assert "body 'frame' has no mass" in str(made[1])


def test_other_fields_of_a_joint():
    model = arm()
    made = variants(model, {("rest", 3): np.array([[1.0, 0, 0, 0], [0.0, 1.0, 0, 0], [2.0, 0, 0, 0]])}, 3)
    assert made[1].bodies[3].joint.rest == (0.0, 1.0, 0.0, 0.0)
    assert "rest has a quaternion of norm 2" in str(made[2])


def test_a_variant_is_a_model_of_its_own():
    model = arm()
    one, two = variants(model, {("mass", 1): np.array([1.5, 2.0])}, 2)
    copy = pickle.loads(pickle.dumps(one))
    assert copy == one != two
    one.add_body("more", "lower", inertia=BODY)
    assert model.nb == two.nb == 7 and one.nb == 8
    assert model.bodies[1].inertia.mass == 1.0
    key = id(two)
    assert key in _cache
    del two
    assert key not in _cache
