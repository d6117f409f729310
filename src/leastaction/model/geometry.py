"""What a body looks like; the dynamics never read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from leastaction.model.arrays import ByValue

Shape = Literal["box", "sphere", "capsule", "cylinder", "ellipsoid", "mesh"]


@dataclass(frozen=True, eq=False)
class Geometry(ByValue):
    """A shape fixed to a body, for viewers.

    Parameters
    ----------
    shape : box, sphere, capsule, cylinder, ellipsoid or mesh
    size : (3,) m; box: half its edges; sphere: radius; capsule, cylinder: radius, half the length of the straight part
        along z; ellipsoid: half its axes; mesh: not used. Numbers that a shape does not need are 0
    position : (3,) of the shape's centre, body frame, m
    quaternion : (4,) unit quaternion of the shape's axes, body frame
    color : (4,) red, green, blue, opacity, each from 0 to 1
    vertices : (nvertices, 3) of a mesh, shape's axes, m; empty otherwise
    faces : (nfaces, 3) indices of vertices, counter-clockwise seen from outside; empty otherwise
    visual : whether it is there to be looked at; collision shapes are kept for viewers that ask for them
    """

    shape: Shape
    size: np.ndarray
    position: np.ndarray
    quaternion: np.ndarray
    color: np.ndarray
    vertices: np.ndarray
    faces: np.ndarray
    visual: bool = True

    @classmethod
    def capsule(cls, start: ArrayLike, end: ArrayLike, radius: float, color: ArrayLike) -> Geometry:
        """Make a capsule between two points.

        Parameters
        ----------
        start, end : (3,) centres of its round ends, body frame, m
        radius : m
        color : (4,) red, green, blue, opacity, each from 0 to 1
        """
        a, b = np.array(start, dtype=float), np.array(end, dtype=float)
        length = float(np.linalg.norm(b - a))
        x, y, z = (b - a) / length
        # The shortest turn from the z axis; half a turn has no shortest one.
        turn = np.array([1.0 + z, -y, x, 0.0]) if z > -1 + 1e-12 else np.array([0.0, 1.0, 0.0, 0.0])
        return cls("capsule", np.array([radius, 0.5 * length, 0.0]), 0.5 * (a + b), turn / np.linalg.norm(turn),
                   np.array(color, dtype=float), np.zeros((0, 3)), np.zeros((0, 3), dtype=int))
