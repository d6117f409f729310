"""Models, and what they are made of, are equal when their values are; trajectories are themselves only."""

import copy
import gc
import pickle

import numpy as np
import pytest

import leastaction as la
from leastaction import compiled
from leastaction.model.library import BUILTIN


@pytest.mark.parametrize("make", BUILTIN.values(), ids=list(BUILTIN))
def test_models_made_alike_are_equal(make):
    model = make()
    for other in (make(), la.Model.from_dict(model.to_dict()), pickle.loads(pickle.dumps(model)), copy.copy(model)):
        assert model == other
    assert model != la.Model() and model != "model" and model is not None


def rich():
    model = la.Model(name="rich")
    model.add_body("a", None, la.Revolute((0, 1, 0), damping=0.1), (0, 0, 1), (1, 0, 0, 0), la.Inertia(1.0, (0, 0, 1)),
                   [la.Geometry.capsule((0, 0, 0), (0, 0, 1), 0.1, (1, 0, 0, 1))])
    model.keyframes["home"] = np.zeros(1), np.zeros(1)
    return model


def rebuilt(**changes):
    model, body = rich(), rich().bodies[0]
    given = {name: getattr(body, name) for name in ("name", "parent", "joint", "position", "quaternion", "inertia",
                                                    "geometry")}
    other = la.Model(name="rich")
    other.add_body(**{**given, **changes})
    other.keyframes = model.keyframes
    return other


@pytest.mark.parametrize("changes", [
    {"name": "b"}, {"joint": la.Revolute((0, 1, 0), damping=0.2)}, {"joint": la.Prismatic((0, 1, 0), damping=0.1)},
    {"position": (0, 0, 1 + 1e-15)}, {"quaternion": (0, 1, 0, 0)}, {"inertia": la.Inertia(1.0, (0, 0, 1.5))},
    {"geometry": ()}, {"geometry": [la.Geometry.capsule((0, 0, 0), (0, 0, 1), 0.2, (1, 0, 0, 1))]},
], ids=lambda changes: next(iter(changes)))
def test_one_number_makes_a_difference(changes):
    assert rich() == rebuilt()
    assert rich() != rebuilt(**changes)


def test_what_is_assigned_later_counts():
    for name, value in (("gravity", (0, 0, 0)), ("q0", [0.5]), ("v0", [0.5]), ("name", "poor"),
                        ("ignored", {"actuators": ("a",)}), ("keyframes", {"home": (np.ones(1), np.zeros(1))}),
                        ("keyframes", {})):
        other = rich()
        setattr(other, name, value)
        assert rich() != other, name
    neutral = rich()
    neutral.q0 = [0.0]
    assert rich() == neutral


def test_parts_of_a_model_hash_as_they_compare():
    one, other = rich().bodies[0], rich().bodies[0]
    for a, b in ((one, other), (one.inertia, other.inertia), (one.joint, other.joint),
                 (one.geometry[0], other.geometry[0]), (la.Inertia(1.0, (0, 0, 0.0)), la.Inertia(1.0, (0, 0, -0.0)))):
        assert a is not b and a == b and hash(a) == hash(b)
    with pytest.raises(TypeError, match="unhashable"):
        hash(rich())


def test_equal_models_keep_their_own_arrays():
    """The arrays of one model must not follow the edits of its equal, nor outlive it."""
    one, other = la.library.pendulum(), la.library.pendulum()
    assert la.potential_energy(one) == la.potential_energy(other)
    other.gravity = (0, 0, -1)
    assert la.potential_energy(other) == pytest.approx(la.potential_energy(one) / 9.81)
    known, key = len(compiled._cache), id(one)
    assert key in compiled._cache
    del one
    gc.collect()
    assert key not in compiled._cache and len(compiled._cache) < known


def test_trajectories_are_compared_by_identity():
    one, other = (la.simulate(la.library.pendulum(), steps=2) for _ in range(2))
    assert one == one and one != other and len({one, other}) == 2
    assert one.model == other.model
