"""A jointed human figure; its proportions are a table, which is why it has its own file."""

from dataclasses import dataclass

import numpy as np

from leastaction.model.arrays import about
from leastaction.model.geometry import Geometry
from leastaction.model.inertia import Inertia
from leastaction.model.joints import Ball, Free
from leastaction.model.model import Model

HEIGHT = 1.75  # m
MASS = 75.0  # kg
ACROSS = (0.0, 1.0, 0.0)
TORSO, LIMB = (0.10, 0.42, 0.70, 1.0), (0.90, 0.62, 0.38, 1.0)  # colours


@dataclass(frozen=True)
class Segment:
    """A capsule from its joint to `end`; lengths are fractions of HEIGHT, frame x forward, y left, z up.

    `share` is its fraction of MASS, `bend` the angle (rad) about y in the initial pose, which
    swings a hanging limb backwards.
    """

    name: str
    parent: str | None
    joint: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: float
    share: float
    bend: float = 0.0


TRUNK = (
    Segment("pelvis", None, (0, 0, 0), (0, 0, 0.06), 0.07, 0.142),
    Segment("chest", "pelvis", (0, 0, 0.07), (0, 0, 0.22), 0.08, 0.355, 0.1),
    Segment("head", "chest", (0, 0, 0.25), (0, 0, 0.16), 0.05, 0.081, 0.1),
)
# The left side; the right one is its mirror image.
LIMBS = (
    Segment("upper_arm", "chest", (0, 0.115, 0.21), (0, 0, -0.186), 0.026, 0.028, -0.2),
    Segment("forearm", "upper_arm", (0, 0, -0.186), (0, 0, -0.146), 0.021, 0.016, -0.5),
    Segment("hand", "forearm", (0, 0, -0.146), (0, 0, -0.108), 0.018, 0.006),
    Segment("thigh", "pelvis", (0, 0.05, 0), (0, 0, -0.245), 0.046, 0.100, -0.3),
    Segment("shank", "thigh", (0, 0, -0.245), (0, 0, -0.246), 0.030, 0.0465, 0.5),
    Segment("foot", "shank", (0, 0, -0.246), (0.11, 0, -0.02), 0.019, 0.0145, -0.2),
)


def ragdoll() -> Model:
    """Make a human figure, 1.75 m and 75 kg, pelvis free, ball joints, slightly bent and about to tumble."""
    model = Model(name="ragdoll")
    for segment in TRUNK:
        _add(model, segment, segment.name, segment.parent, 1.0)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for segment in LIMBS:
            parent = segment.parent if segment.parent in model.names else f"{side}_{segment.parent}"
            _add(model, segment, f"{side}_{segment.name}", parent, sign)

    q, v = model.q0, model.v0
    bends = {segment.name: segment.bend for segment in TRUNK + LIMBS}
    for name in model.names:
        bend = bends[name.removeprefix("left_").removeprefix("right_")]
        q[model.q_slice(name)][-4:] = about(ACROSS, bend)
    q[2] = 0.53 * HEIGHT
    v[model.v_slice("pelvis")] = (0.4, 0.8, 0.3, 0.3, 0.1, 1.0)
    v[model.v_slice("left_upper_arm")] = (1.0, -0.5, 0.0)
    v[model.v_slice("right_thigh")] = (0.0, -0.8, 0.2)
    model.q0, model.v0 = q, v
    return model


def _add(model: Model, segment: Segment, name: str, parent: str | None, sign: float) -> None:
    """Add a segment, mirrored to the right side by sign = -1."""
    mirror = np.array([1.0, sign, 1.0]) * HEIGHT
    end = mirror * segment.end
    model.add_body(
        name,
        parent,
        Free() if parent is None else Ball(),
        position=mirror * segment.joint,
        inertia=Inertia.capsule(
            segment.share * MASS, segment.radius * HEIGHT, float(np.linalg.norm(end)), axis=end, com=end / 2
        ),
        geometry=[Geometry.capsule((0, 0, 0), end, segment.radius * HEIGHT, TORSO if segment in TRUNK else LIMB)],
    )
