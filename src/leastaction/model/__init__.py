"""What a user describes: inertias, joints, trees of bodies, and ready models."""

from leastaction.model import library
from leastaction.model.force import FORCE_KINDS, Force, Line
from leastaction.model.forces import Field, Spring, Thruster
from leastaction.model.geometry import Geometry
from leastaction.model.inertia import Inertia
from leastaction.model.joint import BALL, FREE, SCREW, Joint, Part
from leastaction.model.joints import (
    JOINT_KINDS,
    Ball,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Universal,
)
from leastaction.model.loops import Coupling, Loop, Rod
from leastaction.model.merge import Merged, merge_fixed
from leastaction.model.model import Body, Model

__all__ = [
    "BALL",
    "FORCE_KINDS",
    "FREE",
    "JOINT_KINDS",
    "SCREW",
    "Ball",
    "Body",
    "Coupling",
    "Cylindrical",
    "Field",
    "Fixed",
    "Force",
    "Free",
    "Geometry",
    "Helical",
    "Inertia",
    "Joint",
    "Line",
    "Loop",
    "Merged",
    "Model",
    "Part",
    "Planar",
    "Prismatic",
    "Revolute",
    "Rod",
    "Spring",
    "Thruster",
    "Universal",
    "library",
    "merge_fixed",
]
