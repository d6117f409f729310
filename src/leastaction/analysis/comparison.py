"""Several integrators on the same model, side by side."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from leastaction.analysis.accuracy import LOST, distance
from leastaction.analysis.certificate import LARGEST, method, spot_checks
from leastaction.analysis.mujoco_peer import MujocoRun
from leastaction.analysis.spot_checks import Spot
from leastaction.analysis.symmetry import symmetries
from leastaction.analysis.trend import Trend, trend
from leastaction.dynamics import energy, momentum
from leastaction.integrators import Integrator, RungeKutta4, SemiImplicitEuler, Variational
from leastaction.judgement import silent
from leastaction.model import Model
from leastaction.run import step_count
from leastaction.simulate import simulate
from leastaction.trajectory import Trajectory

Array = np.ndarray

METHODS: tuple[Integrator, ...] = (
    Variational(), Variational(order=4), Variational(order=6), SemiImplicitEuler(), RungeKutta4())
MUJOCO = "MuJoCo"
NODES = 20_000  # kept of a run; more would only slow down the drawing
WARM_UP_STEPS = 10  # so that no compiling is timed
RIGHT = 1e-2  # rad or m


@dataclass(frozen=True, eq=False)
class Entry:
    """One method of a comparison; energies in parts of the reference's peak kinetic energy.

    Attributes
    ----------
    label : its name
    t : (N,) times of the kept nodes, s; fewer than asked for if it broke down
    energy_error : (N,) (E − E₀) / peak kinetic energy of the reference run
    momentum_error : greatest change of a momentum that should be conserved, kg m²/s or kg m/s; None if there is none
    error : (N,) distance from the reference run, rad and m
    seconds_a_step : wall-clock time, s
    symplecticity, irreversibility : as in a Certificate; None where they were not examined
    """

    label: str
    t: Array
    energy_error: Array
    momentum_error: float | None
    error: Array
    seconds_a_step: float
    symplecticity: Spot | None = None
    irreversibility: Spot | None = None

    @property
    def max_energy_error(self) -> float:
        """Greatest |energy error| at a kept node."""
        return float(np.abs(self.energy_error).max())

    @property
    def energy_trend(self) -> Trend | None:
        """Of the energy error, per second."""
        return trend(self.t, self.energy_error)

    def right_until(self, tolerance: float = RIGHT) -> float:
        """Tell the time of the last node before the distance from the reference passes a tolerance, s."""
        wrong = np.flatnonzero(self.error >= tolerance)
        return float(self.t[max(int(wrong[0]) - 1, 0)] if len(wrong) else self.t[-1])


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods on one model at one step; ``print`` it, or write it as a page with `html`.

    Attributes
    ----------
    model : the system, run from its default state
    dt, duration : of every run, s
    entries : the methods
    left_out : why a method is missing, by its name
    energy_reason : why the energy is not meant to be constant; empty if it is
    """

    model: Model
    dt: float
    duration: float
    entries: list[Entry]
    left_out: dict[str, str]
    energy_reason: str

    HEAD = ("method", "energy error", "at end", "trend per s", "momentum", "symplectic", "reversible", "right until",
            "µs/step")

    def table(self) -> list[tuple[str, ...]]:
        """Return the rows of the table, a text for each name in HEAD."""
        return [self._row(entry) for entry in self.entries]

    def _row(self, e: Entry) -> tuple[str, ...]:
        def number(value: float | None) -> str:
            return "–" if value is None else f"{value:.1e}"

        line = e.energy_trend
        slope = "–" if line is None else f"{line.slope:+.0e} ± {line.uncertainty:.0e}"
        broken = ", broke down" if e.t[-1] < max(entry.t[-1] for entry in self.entries) else ""
        return (e.label, number(e.max_energy_error), f"{e.energy_error[-1]:+.1e}", slope, number(e.momentum_error),
                number(_defect(e.symplecticity)), number(_defect(e.irreversibility)),
                f"{e.right_until():.3g} s{broken}", f"{1e6 * e.seconds_a_step:.1f}")

    NOTES = (
        "energy error: (E − E₀) / the reference's greatest kinetic energy; trend: of its block means, with 95 %",
        "momentum: greatest change of one that should be conserved, kg m²/s or kg m/s",
        "symplectic, reversible: defects of the step at three states; differences resolve about 1e-10",
        f"right until: within {RIGHT:g} rad or m of the reference, a run of order 8 at half the step",
        "µs/step: wall-clock time on this machine, with compiling where a method had not been used before",
    )

    def __str__(self) -> str:
        rows = [self.HEAD, *self.table()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(self.HEAD))]
        lines = ["  ".join(f"{text:{'<' if k == 0 else '>'}{widths[k]}}" for k, text in enumerate(row)) for row in rows]
        left_out = [f"{name} is left out: {why}" for name, why in self.left_out.items()]
        title = f"{self.model.name}: {self.duration:g} s at {self.dt:g} s"
        return "\n".join([title, "", *lines, "", *self.NOTES, *left_out])

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers under plain names, as JSON can hold them."""
        return {
            "model": self.model.name, "dt": self.dt, "duration": self.duration,
            "methods": [{
                "method": e.label, "energy_error": {"max": e.max_energy_error, "end": float(e.energy_error[-1])},
                "energy_trend": e.energy_trend and {"per_second": e.energy_trend.slope,
                                                    "interval": list(e.energy_trend.interval)},
                "momentum_error": e.momentum_error, "symplecticity": _defect(e.symplecticity),
                "irreversibility": _defect(e.irreversibility), "right_until": e.right_until(), "end": float(e.t[-1]),
                "seconds_a_step": e.seconds_a_step,
            } for e in self.entries],
            "left_out": self.left_out,
        }

    def html(self, path: str | Path = "comparison.html") -> Path:
        """Write the comparison as one self-contained page with plots."""
        from leastaction import pages

        return pages.write_comparison(self, path)


@silent()
def compare(model: Model, *, dt: float = 1e-3, duration: float = 10.0) -> Comparison:
    """Run the variational orders 2, 4 and 6, semi-implicit Euler, Runge–Kutta 4 and, if installed, MuJoCo on a model.

    Parameters
    ----------
    model : the system, from its default state
    dt, duration : of every run, s
    """
    steps = step_count(dt, duration, None)
    least = max(1, -(-steps // NODES))
    every = next((k for k in range(least, 2 * least) if steps % k == 0), least)  # the end is kept if that is possible
    reference = simulate(model, dt=0.5 * dt, steps=2 * steps, record_every=2 * every, integrator=Variational(order=8))
    entries, left_out = [], {}
    for integrator in METHODS:
        simulate(model, dt=dt, steps=min(WARM_UP_STEPS, steps), integrator=integrator, progress=False,
                 on_failure="truncate")
        start = time.perf_counter()
        run = simulate(model, dt=dt, steps=steps, record_every=every, integrator=integrator, on_failure="truncate")
        spent = (time.perf_counter() - start) / max(len(run.iterations), 1)
        checks = spot_checks(run) if model.nv <= LARGEST else (None, None)
        entries.append(_entry(method(integrator), reference, run.q, run.energy, run.momentum, spent, checks))
    if find_spec("mujoco") is None:
        left_out[MUJOCO] = "it is not installed: pip install mujoco"
    else:
        try:
            entries.append(_mujoco(model, reference, dt, steps, every))
        except ValueError as why:  # what MuJoCo cannot have, in our words or in its compiler's
            left_out[MUJOCO] = " ".join(str(why).split())
    return Comparison(model, dt, steps * dt, entries, left_out, reference.judgement.reason)


def _defect(spot: Spot | None) -> float | None:
    return None if spot is None else spot.defect


def _mujoco(model: Model, reference: Trajectory, dt: float, steps: int, every: int) -> Entry:
    run = MujocoRun(model, dt, steps, every)
    fine = np.isfinite(run.q).all(axis=1) & np.isfinite(run.v).all(axis=1)
    n = len(fine) if fine.all() else int(np.argmin(fine))
    energies = np.array([energy(model, q, v) for q, v in zip(run.q[:n], run.v[:n], strict=True)])
    momenta = np.array([momentum(model, q, v) for q, v in zip(run.q[:n], run.v[:n], strict=True)])
    return _entry(MUJOCO, reference, run.q[:n], energies, momenta, run.seconds_a_step, (None, None))


def _entry(
    label: str, reference: Trajectory, q: Array, energies: Array, momenta: Array, seconds: float,
    checks: tuple[Spot | None, Spot | None],
) -> Entry:
    n = min(len(q), len(reference))
    changes = [float(np.ptp(momenta[:n] @ symmetry.screw)) for symmetry in symmetries(reference.model)]
    error = distance(reference.model, q[:n], reference.q[:n])
    scale = reference.peak_kinetic_energy or 1.0
    return Entry(label, reference.t[:n], (energies[:n] - energies[0]) / scale, max(changes, default=None),
                 np.minimum(error, 10 * LOST), seconds, *checks)
