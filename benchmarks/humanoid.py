"""A robot from a file among the motions: the humanoid of Gymnasium or dm_control, where one is installed."""

from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np

import leastaction as la
from benchmarks.precision import Motion

FILES = {"gymnasium": "gymnasium/envs/mujoco/assets/humanoid.xml", "dm_control": "dm_control/suite/humanoid.xml"}
LEFT_OUT = ("collision", "actuators", "limits", "friction", "tendon")  # of the file: energy is to be conserved


def humanoids() -> tuple[Motion, ...]:
    """Return the motion of a humanoid; none if no file of one is installed, or models cannot be loaded."""
    for package, name in FILES.items():
        try:
            found = [file for file in files(package) or () if file.as_posix() == name]
        except PackageNotFoundError:
            continue
        if found and hasattr(la, "load"):
            make = partial(tumbling, Path(str(found[0].locate())))
            return (Motion(f"humanoid of {package}", make, 1.0, 1e-3),)
    return ()


def tumbling(path: Path) -> la.Model:
    """Load a robot, and let it tumble in space, its joints without friction, springs and rotors."""
    model = frictionless(la.load(path, ignore=LEFT_OUT))
    model.gravity = (0.0, 0.0, 0.0)
    model.v0 = np.random.default_rng(0).uniform(-1, 1, model.nv)
    return model


def frictionless(model: la.Model) -> la.Model:
    """Copy a model without springs, damping and armature of its joints, and without shapes that would collide."""
    bare = la.Model(model.gravity, model.name)
    for body in model.bodies:
        joint = replace(body.joint, damping=0.0, stiffness=0.0, rest=None, armature=0.0, friction=0.0, limits=None,
                        effort_limit=None, velocity_limit=None)
        shapes = [shape for shape in body.geometry if shape.visual]
        bare.add_body(body.name, body.parent, joint, body.position, body.quaternion, body.inertia, shapes)
    bare.q0 = model.q0
    return bare
