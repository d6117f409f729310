"""The integrators by their names, and runs summed up for a machine to read."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

import leastaction as la

if TYPE_CHECKING:
    from leastaction.integrators import Integrator


Tolerance = Annotated[float | None, typer.Option("--tol", help="Tolerance of dop853, 1e-9 unless given.")]


class Method(StrEnum):
    """The integrators by their names, which are those of `leastaction.integrators.NAMED`."""

    VARIATIONAL = "variational"
    EULER = "euler"
    RK4 = "rk4"
    DOP853 = "dop853"


def chosen(method: Method, order: int = 2, tol: float | None = None) -> Integrator:
    """Return the integrator that the options name."""
    from leastaction.integrators import as_integrator

    if tol is not None and method is not Method.DOP853:
        raise ValueError(f"--tol is for the integrator dop853, not for {method.value}")
    if method is Method.VARIATIONAL:
        return la.Variational(order=order)
    if order != 2:
        raise ValueError(f"--order is for the variational integrator, not for {method.value}")
    if tol is not None:
        return la.DormandPrince8(tol)
    return as_integrator(method.value)


def summary(traj: la.Trajectory) -> dict[str, Any]:
    """Sum up a run for a machine to read: plain numbers and text; energies in J, times in s."""
    from leastaction.files import integrator_to_dict

    tally = traj.tally
    return {
        "model": traj.model.name,
        "integrator": integrator_to_dict(traj.integrator),
        "dt": traj.dt,
        "steps": tally.steps,
        "duration": tally.steps * traj.dt,
        "kept": len(traj),
        "energy": float(traj.energy[0]),
        "peak_kinetic_energy": traj.peak_kinetic_energy,
        "max_energy_error": traj.max_energy_error,
        "energy_error_at_end": float(traj.energy_error[-1]),
        "evaluations": tally.evaluations,
        "most_evaluations": tally.most,
        "divided_steps": tally.divided,
        "statuses": {status.name.lower(): count for status, count in tally.statuses.items()},
    }
