"""The competitors: every integrator of every library that is installed, ours first.

One file a library. Each is given the same Model, and has to show the same mass matrix before it is timed.
"""

from importlib import import_module, metadata
from importlib.util import find_spec

from benchmarks.peers import ours
from benchmarks.peers.engine import Engine, Method, UnsupportedError, checked, quiet

__all__ = ["Engine", "Method", "UnsupportedError", "checked", "installed", "methods", "missing", "quiet",
           "versions"]

# Our file, what it imports, and the package on PyPI that has it
PEERS = {
    "mujoco": ("mujoco", "mujoco"),
    "pinocchio": ("pinocchio", "pin"),
    "dart": ("dartpy", "dartpy"),
    "drake": ("pydrake", "drake"),
    "exudyn": ("exudyn", "exudyn"),
}


def installed() -> list[str]:
    """Name the files of the peers that can be imported."""
    return [name for name, (module, _) in PEERS.items() if find_spec(module) is not None]


def missing() -> list[str]:
    """Name the packages of the peers that cannot, and are left out."""
    here = installed()
    return [package for name, (_, package) in PEERS.items() if name not in here]


def methods() -> list[Method]:
    """List every integrator at hand, ours first."""
    found = list(ours.METHODS)
    for name in installed():
        found += import_module(f"{__name__}.{name}").METHODS
    return found


def versions() -> dict[str, str]:
    """Tell the versions of the peers that are installed."""
    return {import_module(f"{__name__}.{name}").LIBRARY: metadata.version(PEERS[name][1]) for name in installed()}
