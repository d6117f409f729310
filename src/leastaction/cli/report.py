"""Timed runs and the table that sums them up."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import leastaction as la

if TYPE_CHECKING:
    from leastaction.integrators import Integrator


class Method(StrEnum):
    """The integrators by their names, which are those of `leastaction.integrators.NAMED`."""

    VARIATIONAL = "variational"
    EULER = "euler"
    RK4 = "rk4"


LABELS = {
    Method.VARIATIONAL: "variational",
    Method.EULER: "semi-implicit Euler",
    Method.RK4: "Runge–Kutta 4",
}


def chosen(method: Method, order: int = 2) -> Integrator:
    """Return the integrator that the options name."""
    from leastaction.integrators import as_integrator

    if method is Method.VARIATIONAL:
        return la.Variational(order=order)
    if order != 2:
        raise ValueError(f"--order is for the variational integrator, not for {method.value}")
    return as_integrator(method.value)


class Run(NamedTuple):
    """A trajectory, the name of its integrator and the CPU time of a step, s."""

    label: str
    trajectory: la.Trajectory
    seconds_a_step: float


def timed_run(model: la.Model, method: Method, dt: float, duration: float) -> Run:
    """Simulate a model from its default state, and time that without the compiling.

    Parameters
    ----------
    model : Model
    method : Method
    dt : float, s
    duration : float, s
    """
    from leastaction.stopwatch import Stopwatch

    with Stopwatch() as watch:
        trajectory = la.simulate(model, dt=dt, duration=duration, integrator=chosen(method))
    return Run(LABELS[method], trajectory, watch.cpu_seconds / trajectory.steps)


def table(runs: Iterable[Run]) -> str:
    """Sum up runs, one line each: energy error, iterations and time a step."""
    lines = [f"{'':20}   energy error, %¹",
             f"{'integrator':20} {'largest':>9} {'at end':>9}   iterations/step   µs/step"]
    for label, trajectory, seconds in runs:
        errors = f"{100 * trajectory.max_energy_error:9.3g} {100 * trajectory.energy_error[-1]:+9.3g}"
        mean = trajectory.iterations.mean()
        iterations = f"{mean:.1f}" if mean > 0 else "–"
        lines.append(f"{label:20} {errors}   {iterations:>15}   {1e6 * seconds:7.1f}")
    return "\n".join([*lines, "", "¹ (E − E₀) / the largest kinetic energy of the run"])


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
