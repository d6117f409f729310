"""Every peer has our model in mind: its mass matrix, its states, and the motion it makes."""

import numpy as np
import pytest
from benchmarks.humanoid import frictionless
from benchmarks.peers import UnsupportedError, checked
from benchmarks.peers.engine import MismatchError, quiet
from benchmarks.peers.links import links
from benchmarks.peers.rotations import (
    angles_of_quaternion,
    quaternion_of_angles,
    quaternion_of_vector,
    vector_of_quaternion,
)

import leastaction as la
from benchmarks import humanoid, peers
from leastaction.analysis.accuracy import distance
from leastaction.model.arrays import rotation_matrix

METHODS = peers.methods()


def turned() -> la.Model:
    """Bodies placed askew, on the joints that all libraries with balls know, one welded on."""
    model = la.Model(name="turned")
    box = la.Inertia.box(2.0, (0.3, 0.2, 0.1), com=(0.1, 0.05, -0.02))
    model.add_body("floating", joint=la.Free(), position=(0.1, 0.2, 0.3), quaternion=(0.8, 0.6, 0, 0), inertia=box)
    model.add_body("ball", "floating", la.Ball(), (0.3, 0, 0.1), (0.6, 0, 0.8, 0), box)
    model.add_body("welded", "ball", la.Fixed(), (0.1, 0, 0), (0.8, 0, 0, 0.6), box)
    model.add_body("hinged", "welded", la.Revolute((1, 2, 2)), (0, 0.2, 0), inertia=box)
    model.add_body("sliding", "floating", la.Prismatic((0, 1, 0)), (0, 0, -0.3), inertia=box)
    model.v0 = np.random.default_rng(1).uniform(-1, 1, model.nv)
    return model


MODELS = {"chain": lambda: la.library.paper_chain(4), "turned": turned, "ragdoll": la.library.ragdoll,
          "branched": lambda: la.library.tree(3, 2, "revolute")}


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
@pytest.mark.parametrize("name", MODELS)
def test_motion_converges_to_ours_at_its_order(method, name):
    model, duration = MODELS[name](), 0.16
    truth = la.simulate(model, dt=1e-3, duration=duration, integrator=la.Variational(order=8)).q[-1]
    errors = []
    for h in (8e-3, 4e-3):
        try:
            engine = checked(method, model, h)
        except UnsupportedError:
            assert method.library == "Exudyn" and name in ("turned", "ragdoll")
            return
        engine.start(model.q0, model.v0)
        assert engine.timed(round(duration / h)) > 0
        errors.append(distance(model, engine.state()[0][None], truth[None])[0])
    assert errors[1] < 1e-9 or errors[1] < errors[0] / 2 ** (method.order - 0.6)
    assert errors[1] < 0.02 if method.order == 1 else errors[1] < 1e-3


def test_another_model_is_found_out():
    def heavier(model, h):
        other = la.library.paper_chain(3)
        other.add_body("more", "link3", inertia=la.Inertia(0.01, (0, 0, -1)))
        return METHODS[0].make(other, h)

    with pytest.raises(MismatchError, match="another mass matrix of 'paper_chain'"):
        checked(METHODS[0]._replace(make=heavier), la.library.paper_chain(3), 1e-3)


def test_passive_forces_are_refused():
    model = la.Model()
    model.add_body("damped", joint=la.Revolute((0, 1, 0), damping=0.1), inertia=la.Inertia(1.0, (0, 0, -1)))
    with pytest.raises(UnsupportedError, match="'damped' has damping"):
        links(model)


def test_joints_through_massless_bodies():
    model = la.Model(name="massless")
    model.add_body("arm", joint=la.Universal((1, 0, 0), (0, 1, 0)), inertia=la.Inertia.box(1.0, (1, 2, 3)))
    model.add_body("nothing", "arm", la.Revolute((0, 0, 1)), (0.1, 0.2, 0.3), (0.6, 0, 0.8, 0))
    model.add_body("hand", "nothing", la.Revolute((1, 0, 0)), (0.2, 0, 0.1), (0.8, 0.6, 0, 0),
                   la.Inertia.box(1.0, (1, 2, 3), com=(0.3, 0.2, 0.1)))
    assert [link.mass for link in links(model)] == [0.0, 1.0, 0.0, 1.0]
    for method in METHODS:
        if method.library in ("MuJoCo", "Pinocchio", "Drake"):
            checked(method, model, 1e-3)


def test_robots_lose_what_makes_or_takes_energy():
    joint = la.Revolute((0, 1, 0), damping=1.0, stiffness=2.0, rest=0.5, armature=0.1, friction=0.2, limits=(-1, 1))
    model = la.Model(gravity=(0, 0, -1), name="robot")
    model.add_body("arm", joint=joint, position=(1, 2, 3), inertia=la.Inertia.box(1.0, (1, 2, 3)))
    model.q0 = [0.3]
    bare = frictionless(model)
    assert bare.bodies[0].joint == la.Revolute((0, 1, 0)) and bare.q0 == model.q0 and bare.name == "robot"
    np.testing.assert_array_equal(bare.bodies[0].position, (1, 2, 3))
    np.testing.assert_allclose(la.mass_matrix(bare, [0.3]), la.mass_matrix(model, [0.3]) - 0.1)


def test_no_humanoid_where_there_is_none(monkeypatch):
    monkeypatch.setattr(humanoid, "FILES", {"no-such-package": "humanoid.xml", "numpy": "no/such/file.xml"})
    assert humanoid.humanoids() == ()


@pytest.mark.parametrize("seed", range(5))
def test_rotations_there_and_back(seed):
    quaternion = np.random.default_rng(seed).normal(size=4)
    quaternion /= np.linalg.norm(quaternion)
    R = rotation_matrix(quaternion)
    np.testing.assert_allclose(rotation_matrix(quaternion_of_vector(vector_of_quaternion(quaternion))), R, atol=1e-14)
    np.testing.assert_allclose(rotation_matrix(quaternion_of_angles(angles_of_quaternion(quaternion))), R, atol=1e-14)
    assert not vector_of_quaternion(np.array([1.0, 0, 0, 0])).any()


def test_quiet_hides_what_c_libraries_print(capfd):
    import os

    with quiet():
        os.write(1, b"hidden")
        os.write(2, b"hidden")
    os.write(1, b"seen")
    assert capfd.readouterr() == ("seen", "")
