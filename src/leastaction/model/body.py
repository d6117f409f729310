"""A body of a model, and the joint that carries it."""

from dataclasses import dataclass

import numpy as np

from leastaction.model.arrays import ByValue
from leastaction.model.geometry import Geometry
from leastaction.model.inertia import Inertia
from leastaction.model.joint import Joint
from leastaction.model.joints import Fixed


@dataclass(frozen=True, eq=False)
class Body(ByValue):
    """One body of a model and the joint that carries it.

    Parameters
    ----------
    name : unique within the model
    parent : name of the parent body, None for the ground
    joint : how the body moves against its parent
    position : (3,) joint frame's origin at the neutral configuration, parent's body frame, m
    quaternion : (4,) unit quaternion of the joint frame's axes, parent's body frame
    inertia : of the body, body frame
    geometry : what it looks like, for viewers
    """

    name: str
    parent: str | None
    joint: Joint
    position: np.ndarray
    quaternion: np.ndarray
    inertia: Inertia
    geometry: tuple[Geometry, ...] = ()


MASSLESS = Inertia(0.0)
WELD = Fixed()
