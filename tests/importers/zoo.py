"""Where the packages with robots keep their files, and what it takes to load each."""

from importlib.metadata import files
from importlib.resources import files as resources
from pathlib import Path

MIMIC = ("mimic",)


def robot_data() -> list[Path]:
    """All URDF files of example-robot-data."""
    found = [Path(str(entry.locate())).resolve() for entry in files("example-robot-data") if entry.suffix == ".urdf"]
    return sorted(found)


def gymnasium_assets() -> list[Path]:
    """All MJCF files of gymnasium."""
    folder = Path(str(resources("gymnasium"))) / "envs" / "mujoco" / "assets"
    return sorted(folder.glob("*.xml"))
