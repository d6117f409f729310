"""Mechanisms with loops in other libraries, one file a library, each on the peer of `make bench` that has its tree.

MuJoCo and Drake hold loops by constraints that give way or dissipate. Pinocchio has the constrained dynamics and no
integrator: Runge–Kutta 4 is made on its calls. Before a rival is followed it must show our mass matrix and closures.
"""

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

import leastaction as la
from benchmarks.loops.mechanisms import Mechanism
from benchmarks.loops.rivals.points import ClosedEngine


class Rival(NamedTuple):
    """A library with an integrator.

    make : from a model and a step, s, to an engine
    note : what was chosen for it, if anything
    most : degrees of freedom of a tree up to which it fits into memory
    """

    name: str
    make: Callable[[la.Model, float], ClosedEngine]
    note: str = ""
    most: int = 10_000


def _mujoco(mechanism: Mechanism, h: float, trial: float) -> Iterator[Rival]:
    from mujoco import mjtIntegrator

    from benchmarks.loops.rivals.mujoco import Connected, stiffest

    for name, integrator in (("Euler", mjtIntegrator.mjINT_EULER), ("RK4", mjtIntegrator.mjINT_RK4)):
        yield Rival(f"MuJoCo {name}, default", partial(Connected, integrator, None))
        found = stiffest(integrator, mechanism, h, trial)
        yield Rival(f"MuJoCo {name}, stiffest", partial(Connected, integrator, found), str(found))


def _pinocchio(_mechanism: Mechanism, _h: float, _trial: float) -> Iterator[Rival]:
    from benchmarks.loops.rivals.pinocchio import ConstraintDynamics, Lcaba
    from benchmarks.peers.pinocchio import MOST

    for kind in (ConstraintDynamics, Lcaba):
        yield Rival(f"Pinocchio {kind.algorithm}, RK4", kind, most=MOST)


def _drake(_mechanism: Mechanism, _h: float, _trial: float) -> Iterator[Rival]:
    from benchmarks.loops.rivals.drake import Balled

    yield Rival("Drake SAP", Balled)


LIBRARIES = {"mujoco": _mujoco, "pinocchio": _pinocchio, "pydrake": _drake}  # by what they import


def missing() -> list[str]:
    """Name the libraries that are not installed, and are left out."""
    return [module for module in LIBRARIES if find_spec(module) is None]


def rivals(mechanism: Mechanism, h: float, trial: float) -> Iterator[Rival]:
    """All of them that are installed.

    Parameters
    ----------
    mechanism, h, trial : on which, with which step, s, and for how long, s, settings of a rival are searched
    """
    for module, listed in LIBRARIES.items():
        if module not in missing():
            yield from listed(mechanism, h, trial)
