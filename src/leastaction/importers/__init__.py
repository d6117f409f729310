"""Robots from files: URDF and MJCF, exact and safe."""

from leastaction.importers.load import find_model, load
from leastaction.importers.mujoco_model import from_mujoco

__all__ = ["find_model", "from_mujoco", "load"]
