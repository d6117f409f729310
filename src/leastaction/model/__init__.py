"""What a user describes: inertias, joints, trees of bodies, and ready models."""

from leastaction.model import library
from leastaction.model.actuators import PD, Actuator, Motor, Velocity
from leastaction.model.body import Body
from leastaction.model.drives import Drives
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
from leastaction.model.model import Model

__all__ = [
    "BALL",
    "FORCE_KINDS",
    "FREE",
    "JOINT_KINDS",
    "PD",
    "SCREW",
    "Actuator",
    "Ball",
    "Body",
    "Coupling",
    "Cylindrical",
    "Drives",
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
    "Motor",
    "Part",
    "Planar",
    "Prismatic",
    "Revolute",
    "Rod",
    "Spring",
    "Thruster",
    "Universal",
    "Velocity",
    "library",
    "merge_fixed",
]
