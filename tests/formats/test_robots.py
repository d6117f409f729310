"""Real robots fall and swing for ten seconds: their energy stays, and without gravity their momentum."""

from dataclasses import replace

import numpy as np
import pytest

import leastaction as la
from leastaction.formats import zoo
from leastaction.model import Model

pytestmark = pytest.mark.filterwarnings("ignore::leastaction.errors.ModelWarning")   # Romeo's inertias
STANDING = ["panda.urdf", "ur5_robot.urdf", "allegro_right_hand.urdf"]
FLOATING = ["talos_reduced.urdf", "g1_29dof_rev_1_0.urdf", "anymal.urdf", "romeo_small.urdf", "humanoid.xml", "ant.xml"]


def frictionless(name: str, root: str, gravity: tuple) -> Model:
    """The robot of a file without damping, dry friction and limits."""
    files = [*zoo.paths("example-robot-data"), *zoo.paths("gymnasium")]
    path = next(path for path in files if path.name == name)
    robot = zoo.survey(path).load(root=root if path.suffix == ".urdf" else "auto")
    model = Model(gravity, robot.name)
    for body in robot.bodies:
        joint = replace(body.joint, damping=0.0, friction=0.0, limits=None)
        model.add_body(body.name, body.parent, joint, body.position, body.quaternion, body.inertia)
    model.q0 = robot.q0
    return model


def run(model: Model, v: np.ndarray) -> la.Trajectory:
    return la.simulate(model, model.q0, v, dt=1e-3, duration=10.0, record_every=100, progress=False)


@pytest.mark.parametrize("name", STANDING)
def test_swinging_arms_keep_their_energy(name):
    model = frictionless(name, "fixed", (0, 0, -9.81))
    assert run(model, np.zeros(model.nv)).max_energy_error < 2e-3


@pytest.mark.parametrize("name", FLOATING)
def test_falling_robots_keep_their_energy(name):
    model = frictionless(name, "free", (0, 0, -9.81))
    assert run(model, np.random.default_rng(1).normal(size=model.nv)).max_energy_error < 1e-5


@pytest.mark.parametrize("name", FLOATING)
def test_floating_robots_keep_energy_and_momentum(name):
    model = frictionless(name, "free", (0, 0, 0))
    trajectory = run(model, np.random.default_rng(1).normal(size=model.nv))
    assert trajectory.max_energy_error < 1e-4
    drift = abs(trajectory.momentum - trajectory.momentum[0]).max()
    assert drift < 1e-10 * abs(trajectory.momentum[0]).max()
