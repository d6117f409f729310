"""Pictures of a trajectory: energy, momentum, state and a stick figure that moves."""

from importlib.util import find_spec

if find_spec("matplotlib") is None:
    raise ModuleNotFoundError("plots need matplotlib: pip install 'leastaction[plot]'", name="matplotlib")

from leastaction.plots.animation import animate
from leastaction.plots.curves import compare_energy, energy, momentum, state
from leastaction.plots.fan import fan
from leastaction.plots.style import style

__all__ = ["animate", "compare_energy", "energy", "fan", "momentum", "state", "style"]
