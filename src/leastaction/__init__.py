"""leastaction: multibody simulation that stays physical, by a linear-time variational integrator."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from leastaction._version import __version__
from leastaction.dynamics import (
    discrete_jacobian,
    discrete_residual,
    energy,
    forward_dynamics,
    increment,
    inverse_dynamics,
    jacobian,
    kinetic_energy,
    mass_matrix,
    momentum,
    poses,
    potential_energy,
)
from leastaction.errors import AccuracyWarning, FileError, ModelError, ModelWarning, StepError
from leastaction.files import open_run as open
from leastaction.files import resume
from leastaction.integrators import (
    RIQN,
    Broyden,
    DenseNewton,
    Newton,
    RungeKutta4,
    SemiImplicitEuler,
    Status,
    Variational,
)
from leastaction.model import (
    Ball,
    Body,
    Fixed,
    Free,
    Geometry,
    Helical,
    Inertia,
    Model,
    Planar,
    Prismatic,
    Revolute,
    Universal,
    library,
)
from leastaction.simulate import simulate
from leastaction.simulate_many import simulate_many
from leastaction.simulator import Simulator, variational_step
from leastaction.trajectories import Trajectories
from leastaction.trajectory import Trajectory

if TYPE_CHECKING:
    from leastaction import convert
    from leastaction.analysis import Certificate, audit, compare, to_mujoco
    from leastaction.importers import find_model, from_mujoco, load
    from leastaction.viewers import view

# What a simulation does not need is imported when it is first asked for: a script starts a quarter sooner.
_LATER = {
    **dict.fromkeys(("Certificate", "audit", "compare", "to_mujoco"), "leastaction.analysis"),
    **dict.fromkeys(("find_model", "from_mujoco", "load"), "leastaction.importers"),
    "view": "leastaction.viewers",
}

__all__ = [
    "RIQN",
    "AccuracyWarning",
    "Ball",
    "Body",
    "Broyden",
    "Certificate",
    "DenseNewton",
    "FileError",
    "Fixed",
    "Free",
    "Geometry",
    "Helical",
    "Inertia",
    "Model",
    "ModelError",
    "ModelWarning",
    "Newton",
    "Planar",
    "Prismatic",
    "Revolute",
    "RungeKutta4",
    "SemiImplicitEuler",
    "Simulator",
    "Status",
    "StepError",
    "Trajectories",
    "Trajectory",
    "Universal",
    "Variational",
    "__version__",
    "audit",
    "compare",
    "convert",
    "discrete_jacobian",
    "discrete_residual",
    "energy",
    "find_model",
    "forward_dynamics",
    "from_mujoco",
    "increment",
    "inverse_dynamics",
    "jacobian",
    "kinetic_energy",
    "library",
    "load",
    "mass_matrix",
    "momentum",
    "open",
    "poses",
    "potential_energy",
    "resume",
    "simulate",
    "simulate_many",
    "to_mujoco",
    "variational_step",
    "view",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name == "convert":
        return import_module("leastaction.convert")
    if name not in _LATER:
        raise AttributeError(f"module 'leastaction' has no attribute {name!r}")
    value = getattr(import_module(_LATER[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
