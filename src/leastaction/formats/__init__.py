"""Robots from files: URDF and MJCF, exact and safe."""

from leastaction.formats.load import find_model, load
from leastaction.formats.mujoco_model import from_mujoco

__all__ = ["find_model", "from_mujoco", "load"]
