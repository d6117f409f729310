"""Momenta that are said to be conserved are, and none is missing: checked against forward dynamics."""

import numpy as np
import pytest

import leastaction as la
from leastaction.analysis import symmetries
from leastaction.model.arrays import about
from reference.forces import with_all_kinds
from reference.trees import random_state

BODY = la.Inertia(1.3, (0.1, 0.2, -0.3), np.diag([0.2, 0.3, 0.4]))
TILT = about((1, 2, 3), 0.7)
PLACE = (0.3, -0.2, 0.5)


def on_the_ground(*roots, gravity=(0, 0, -9.81), leg=True):
    model = la.Model(gravity=gravity)
    for k, (joint, position, quaternion) in enumerate(roots):
        model.add_body(f"root{k}", None, joint, position, quaternion, BODY)
        if leg:
            model.add_body(f"leg{k}", f"root{k}", la.Ball(damping=0.3, stiffness=2.0), (0, 0.4, 0.1), inertia=BODY)
    return model


LEVEL = about((0, 0, 1), 0.4)
NONE = (0.0, 0.0, 0.0)


def with_force(force, gravity=NONE):
    """Two free trees with a force between them, or on the first."""
    model = on_the_ground((la.Free(), PLACE, TILT), (la.Free(), (1, 1, 1), LEVEL), gravity=gravity)
    model.add_body("post", None, la.Fixed(), (2, 1, 0), TILT)
    model.add_force("force", force)
    return model


CASES = {
    "free in space": (on_the_ground((la.Free(), PLACE, TILT), gravity=(0, 0, 0)), 6),
    "free in gravity": (on_the_ground((la.Free(), PLACE, TILT)), 3),
    "free, gravity oblique": (on_the_ground((la.Free(), PLACE, TILT), gravity=(1, -2, 3)), 3),
    "ball away from the origin": (on_the_ground((la.Ball(), PLACE, TILT)), 1),
    "ball in space": (on_the_ground((la.Ball(), PLACE, TILT), gravity=(0, 0, 0)), 3),
    "upright hinge": (on_the_ground((la.Revolute((0, 0, 1)), PLACE, LEVEL)), 1),
    "level hinge": (on_the_ground((la.Revolute((0, 1, 0)), PLACE, LEVEL)), 0),
    "hinge in space": (on_the_ground((la.Revolute((1, 2, 3)), PLACE, TILT), gravity=(0, 0, 0)), 1),
    "level slide": (on_the_ground((la.Prismatic((1, 0, 0)), PLACE, LEVEL)), 1),
    "upright slide": (on_the_ground((la.Prismatic((0, 0, 1)), PLACE, LEVEL)), 0),
    "screw in space": (on_the_ground((la.Helical((1, 2, 3), 0.3), PLACE, TILT), gravity=(0, 0, 0)), 1),
    "universal, upright first": (on_the_ground((la.Universal((0, 0, 1), (1, 0, 0)), PLACE, LEVEL)), 1),
    "level plane": (on_the_ground((la.Planar((1, 0, 0), (0, 1, 0)), PLACE, LEVEL)), 3),
    "damped root": (on_the_ground((la.Free(damping=0.1), PLACE, TILT)), 0),
    "spring at the root": (on_the_ground((la.Revolute((0, 0, 1), stiffness=1.0), PLACE, LEVEL)), 0),
    "rotor at the root": (on_the_ground((la.Revolute((0, 0, 1), armature=1.0), PLACE, LEVEL)), 0),
    "two free bodies": (on_the_ground((la.Free(), PLACE, TILT), (la.Free(), (1, 1, 1), LEVEL)), 3),
    "free and hinged": (on_the_ground((la.Free(), PLACE, TILT), (la.Revolute((0, 0, 1)), (1, 1, 1), LEVEL)), 1),
    "a spring between two": (with_force(la.Spring("leg0", "root1", PLACE, stiffness=3.0, rest=0.2, damping=1.0)), 6),
    "a leash": (with_force(la.Spring("leg0", None, PLACE, (1, 2, 3), stiffness=3.0, rest=0.2, damping=1.0)), 3),
    "a leash to a post, in gravity": (with_force(la.Spring("leg0", "post", PLACE, PLACE, 3.0, damping=1.0),
                                                 gravity=(0, 0, -9.81)), 1),
    "a central mass": (with_force(la.Field(mu=30.0, center=(5, 4, 3))), 3),
    "a compass": (with_force(la.Field(body="leg0", moment=(1, 2, 3), point=PLACE, uniform=(1, 2, -1))), 4),
    "a magnet and a dipole": (with_force(la.Field(body="leg0", moment=(1, 2, 3), dipole=(1e7, 2e7, 0),
                                                  center=(3, 2, 1))), 1),
    "a thruster": (with_force(la.Thruster("leg0", (1, 2, 3), 4.0, point=PLACE)), 0),
    "two hinges": (on_the_ground(*((la.Revolute((0, 0, 1)), place, LEVEL) for place in (PLACE, (1, 1, 1)))), 0),
}


def momentum_rates(model, count=12):
    """Rates of the total momentum, (count, 6), at random states, by a difference along forward dynamics."""
    rng, eps, rates = np.random.default_rng(0), 1e-5, []
    if model.forces:
        model = with_all_kinds(la.Model.from_dict(model.to_dict()))
    for _ in range(count):
        q, v = random_state(rng, model)
        a = la.forward_dynamics(model, q, v)
        ends = [la.momentum(model, la.increment(model, q, s * v), v + s * a) for s in (eps, -eps)]
        rates.append((ends[0] - ends[1]) / (2 * eps))
    return np.array(rates)


@pytest.mark.parametrize("name", CASES)
def test_conserved_momenta(name):
    """The listed ones do not change at random states; and as many directions there are, not more."""
    model, count = CASES[name]
    found = symmetries(model)
    assert len(found) == count
    rates = momentum_rates(model)
    scale = np.abs(rates).max() + 1.0
    for symmetry in found:
        assert np.abs(rates @ symmetry.screw).max() < 1e-6 * scale, symmetry.name
    steady = np.linalg.svd(rates)[1] < 1e-6 * scale
    if "hinges" not in name and "rotor" not in name:   # there another quantity is conserved, or each tree's own
        assert np.count_nonzero(steady) == count


def test_bodies_welded_to_the_ground_are_ground():
    model = la.Model()
    model.add_body("base", None, la.Fixed(), (1, 0, 0), inertia=BODY)
    model.add_body("arm", "base", la.Revolute((0, 0, 1)), (0, 2, 0), inertia=BODY)
    found, = symmetries(model)
    assert found.name == "angular momentum about z through (1, 2, 0) m"


def test_names():
    assert [s.name for s in symmetries(la.library.ragdoll())] == [
        "angular momentum about z", "linear momentum along x", "linear momentum along y"]
