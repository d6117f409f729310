"""leastaction: multibody simulation that stays physical, by a linear-time variational integrator."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from leastaction._version import __version__

if TYPE_CHECKING:
    from leastaction import analysis as analysis
    from leastaction import plots as plots
    from leastaction import reference as reference
    from leastaction import viewers as viewers
    from leastaction.analysis import Certificate, audit, compare, to_mujoco
    from leastaction.assembly import assemble
    from leastaction.closures import closure, constraint_jacobian
    from leastaction.discrete import discrete_jacobian, discrete_residual
    from leastaction.dynamics import (
        actuator_forces,
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
    from leastaction.ensemble import Ensemble, EnsembleResults, Normal, Uniform, open_ensemble
    from leastaction.errors import AccuracyWarning, AssemblyError, FileError, ModelError, ModelWarning, StepError
    from leastaction.files import open_run
    from leastaction.files.resume import resume
    from leastaction.formats import convert as convert
    from leastaction.formats import find_model, from_mujoco, load
    from leastaction.integrators import (
        RIQN,
        DormandPrince8,
        Flag,
        Newton,
        Rescue,
        RungeKutta4,
        SemiImplicitEuler,
        Status,
        Variational,
    )
    from leastaction.integrators import peers as peers
    from leastaction.model import (
        PD,
        Ball,
        Body,
        Coupling,
        Cylindrical,
        Field,
        Fixed,
        Force,
        Free,
        Geometry,
        Helical,
        Inertia,
        Loop,
        Model,
        Motor,
        Planar,
        Prismatic,
        Revolute,
        Rod,
        Spring,
        Thruster,
        Universal,
        Velocity,
        library,
    )
    from leastaction.simulation.many import simulate_many
    from leastaction.simulation.simulator import Simulator, variational_step
    from leastaction.simulation.single import simulate
    from leastaction.trajectories import Trajectories
    from leastaction.trajectory import Trajectory
    from leastaction.viewers import view

    open = open_run  # a name imported as another is not public to a type checker

# Where each public name is. It is imported when first used, so that `leastaction --help` does not wait for Numba, nor a
# simulation for the readers of files and the viewers.
_HOME = {
    name: f"leastaction.{module}"
    for module, names in {
        "analysis": "Certificate audit compare to_mujoco",
        "assembly": "assemble",
        "closures": "closure constraint_jacobian",
        "discrete": "discrete_jacobian discrete_residual",
        "dynamics": "actuator_forces energy forward_dynamics increment inverse_dynamics jacobian kinetic_energy "
                    "mass_matrix momentum poses potential_energy",
        "ensemble": "Ensemble EnsembleResults Normal Uniform open_ensemble",
        "errors": "AccuracyWarning AssemblyError FileError ModelError ModelWarning StepError",
        "files": "resume",
        "formats": "find_model from_mujoco load",
        "integrators": "DormandPrince8 Flag Newton RIQN Rescue RungeKutta4 SemiImplicitEuler Status Variational",
        "model": "Ball Body Coupling Cylindrical Field Fixed Force Free Geometry Helical Inertia Loop Model Motor PD "
                 "Planar Prismatic Revolute Rod Spring Thruster Universal Velocity library",
        "simulation.many": "simulate_many",
        "simulation.simulator": "Simulator variational_step",
        "simulation.single": "simulate",
        "trajectories": "Trajectories",
        "trajectory": "Trajectory",
        "viewers": "view",
    }.items()
    for name in names.split()
}
_MODULES = {name: f"leastaction.{name}" for name in ("analysis", "plots", "reference", "viewers")} | {
    "peers": "leastaction.integrators.peers",
    "convert": "leastaction.formats.convert"}
_OTHERS = {"dop853": "DormandPrince8", "rk4": "RungeKutta4", "euler": "SemiImplicitEuler"}  # names of integrators
_PEERS = ("SVI", "Absolute", "Broyden", "DenseNewton")  # looked for here by those who know the paper

# All public names but `open`, which dir() adds: a star import takes these, and must not replace Python's own `open`.
__all__ = [
    "PD",
    "RIQN",
    "AccuracyWarning",
    "AssemblyError",
    "Ball",
    "Body",
    "Certificate",
    "Coupling",
    "Cylindrical",
    "DormandPrince8",
    "Ensemble",
    "EnsembleResults",
    "Field",
    "FileError",
    "Fixed",
    "Flag",
    "Force",
    "Free",
    "Geometry",
    "Helical",
    "Inertia",
    "Loop",
    "Model",
    "ModelError",
    "ModelWarning",
    "Motor",
    "Newton",
    "Normal",
    "Planar",
    "Prismatic",
    "Rescue",
    "Revolute",
    "Rod",
    "RungeKutta4",
    "SemiImplicitEuler",
    "Simulator",
    "Spring",
    "Status",
    "StepError",
    "Thruster",
    "Trajectories",
    "Trajectory",
    "Uniform",
    "Universal",
    "Variational",
    "Velocity",
    "__version__",
    "actuator_forces",
    "assemble",
    "audit",
    "closure",
    "compare",
    "constraint_jacobian",
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
    "open_ensemble",
    "peers",
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
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name == "open":
        value = import_module("leastaction.files").open_run
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    else:
        hint = f": it is leastaction.peers.{name}" if name in _PEERS else ""
        other = _OTHERS.get(name.lower()) or next((one for one in __all__ if one.lower() == name.lower()), None)
        if other and not hint:
            raise AttributeError(f"module 'leastaction' has no attribute {name!r}: it is leastaction.{other}")
        # With name and module, Python adds the public name that is most alike: "Did you mean: 'simulate'?"
        raise AttributeError(f"module 'leastaction' has no attribute {name!r}{hint}", name=name,
                             obj=sys.modules[__name__])
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "open"])
