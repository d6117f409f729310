"""What a body looks like; the dynamics never read it."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

Shape = Literal["box", "sphere", "capsule", "cylinder", "ellipsoid", "mesh"]


@dataclass(frozen=True, eq=False)
class Geometry:
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
