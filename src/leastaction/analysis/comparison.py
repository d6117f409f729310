"""Several integrators on the same model, side by side.

The file is long, as it has both the entries of the table and what makes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leastaction import markup
from leastaction.analysis.accuracy import LOST, distance
from leastaction.analysis.certificate import LARGEST, spot_checks
from leastaction.analysis.mujoco_peer import MujocoRun
from leastaction.analysis.nodes import energies_and_momenta
from leastaction.analysis.spot_checks import Spot
from leastaction.analysis.subject import start_of
from leastaction.analysis.symmetry import symmetries
from leastaction.analysis.trend import Trend, trend
from leastaction.compiled import compile_model
from leastaction.errors import ModelError
from leastaction.integrators import DormandPrince8, Integrator, RungeKutta4, SemiImplicitEuler, Variational
from leastaction.model import Model
from leastaction.model.losses import acts, rubs
from leastaction.model.unhonoured import KNOWN, accepted
from leastaction.simulation.judgement import silent
from leastaction.simulation.limits import require_known
from leastaction.simulation.rest import at_rest
from leastaction.simulation.run import step_count
from leastaction.simulation.single import simulate
from leastaction.stopwatch import Stopwatch
from leastaction.trajectory import Trajectory

Array = np.ndarray

METHODS: tuple[Integrator, ...] = (
    Variational(), Variational(order=4), Variational(order=6), SemiImplicitEuler(), RungeKutta4(), DormandPrince8())
MUJOCO = "MuJoCo"
PATIENCE = 60.0  # s of CPU time for a method that chooses its steps: a stiff model makes it take very many
TRIAL = 100  # part of the run from which its time is estimated
NODES = 20_000  # nodes kept of a run; more would only slow down the drawing
RIGHT = 1e-2  # rad or m


@dataclass(frozen=True, eq=False)
class Entry:
    """One method of a comparison; energies in parts of the reference's peak kinetic energy.

    Attributes
    ----------
    label : its name
    t : (N,) times of the kept nodes, s; fewer than asked for if it broke down
    energy_error : (N,) (E + what has left − E₀) / peak kinetic energy of the reference run
    momentum_error : greatest change of a momentum that should be conserved, kg m²/s or kg m/s; None if there is none
    error : (N,) distance from the reference run, rad and m
    cpu_seconds : CPU time of the run, without compiling, s
    steps : number of steps made; None for a method that chooses its own
    ended : why it ended early; empty if it did not
    symplecticity, irreversibility : as in a Certificate; None where they were not examined
    noted : False where work is done that the method does not note: then the energy error is the change of the energy
    """

    label: str
    t: Array
    energy_error: Array
    momentum_error: float | None
    error: Array
    cpu_seconds: float
    steps: int | None
    ended: str = ""
    symplecticity: Spot | None = None
    irreversibility: Spot | None = None
    noted: bool = True

    @property
    def max_energy_error(self) -> float:
        """Greatest |energy error| at a kept node."""
        return float(np.abs(self.energy_error).max())

    @property
    def energy_trend(self) -> Trend | None:
        """Of the energy error, per second."""
        return trend(self.t, self.energy_error)

    @property
    def seconds_a_step(self) -> float | None:
        """CPU time of a step, s; None for a method that chooses its own steps."""
        return None if self.steps is None else self.cpu_seconds / max(self.steps, 1)

    def right_until(self, tolerance: float = RIGHT) -> float:
        """Return the time of the last node before the distance from the reference passes a tolerance, s."""
        wrong = np.flatnonzero(self.error >= tolerance)
        return float(self.t[max(int(wrong[0]) - 1, 0)] if len(wrong) else self.t[-1])


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Methods on one model at one step; ``print`` it, or write it as a page with `html`.

    Attributes
    ----------
    model : the system
    q, v : (nq,), (nv,) the state that all runs start from, rad, m, rad/s, m/s
    dt, duration : of every run, s
    entries : the methods
    left_out : why a method is missing, by its name
    energy_reason : why the energy is not meant to be constant; empty if it is
    """

    model: Model
    q: Array
    v: Array
    dt: float
    duration: float
    entries: list[Entry]
    left_out: dict[str, str]
    energy_reason: str

    HEAD = ("method", "energy error", "at end", "trend per s", "momentum", "symplectic", "reversible", "right until",
            "CPU time", "µs/step")

    def table(self) -> list[tuple[str, ...]]:
        """Return the rows of the table, a text for each name in HEAD."""
        return [self._row(entry) for entry in self.entries]

    def _row(self, e: Entry) -> tuple[str, ...]:
        def number(value: float | None) -> str:
            return "–" if value is None else f"{value:.1e}"

        line, energies = e.energy_trend, (number(e.max_energy_error), f"{e.energy_error[-1]:+.1e}")
        slope = "–" if line is None or not e.noted else f"{line.slope:+.0e} ± {line.uncertainty:.0e}"
        ended, a_step = e.ended and f", {e.ended}", e.seconds_a_step
        return (e.label, *(energies if e.noted else "––"), slope, number(e.momentum_error),
                number(_defect(e.symplecticity)), number(_defect(e.irreversibility)),
                f"{e.right_until():.3g} s{ended}", f"{e.cpu_seconds:.2g} s",
                "–" if a_step is None else f"{1e6 * a_step:.1f}")

    NOTES = (
        "energy error: (E + what has left − E₀) / the reference's greatest kinetic energy; trend: slope of block "
        "means, ± 95 %",
        "momentum: greatest change of one that should be conserved, kg m²/s or kg m/s",
        "symplectic, reversible: defects of the step at three states; differences resolve about 1e-10",
        f"right until: within {RIGHT:g} rad or m of the reference, a run of order 8 at half the step; with dry "
        "friction of order 2 at an eighth",
        "CPU time: of the whole run on this machine, without compiling; DOP853 chooses its own steps",
    )

    def __str__(self) -> str:
        rows = [self.HEAD, *self.table()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(self.HEAD))]
        lines = ["  ".join(f"{text:{'<' if k == 0 else '>'}{widths[k]}}" for k, text in enumerate(row)) for row in rows]
        return "\n".join([self._title, "", *lines, "", *self.NOTES, *self.remarks()])

    __repr__ = __str__  # at the prompt, show the table

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        return markup.comparison(self._title, self.HEAD, self.table(), self.remarks(), self.NOTES)

    @property
    def _title(self) -> str:
        return f"{self.model.name}: {self.duration:g} s at {self.dt:g} s"

    def remarks(self) -> list[str]:
        """List the methods that are left out, and say why the energy is not meant to be constant, if it is not."""
        reason = self.energy_reason and f"the energy is not meant to be constant: {self.energy_reason}"
        blind = [e.label for e in self.entries if not e.noted]
        unknown = f"no energy error of {', '.join(blind)}: they do not note what has left" if blind else ""
        missing = [f"{name} is left out: {why}" for name, why in self.left_out.items()]
        return [*missing, *filter(None, [reason, unknown])]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers under plain names, as JSON can hold them."""
        return {
            "model": self.model.name, "q": self.q.tolist(), "v": self.v.tolist(), "dt": self.dt,
            "duration": self.duration,
            "methods": [{
                "method": e.label, "work_is_noted": e.noted,
                "energy_error": {"max": e.max_energy_error, "end": float(e.energy_error[-1])},
                "energy_trend": e.energy_trend and {"per_second": e.energy_trend.slope,
                                                    "interval": list(e.energy_trend.interval)},
                "momentum_error": e.momentum_error, "symplecticity": _defect(e.symplecticity),
                "irreversibility": _defect(e.irreversibility), "right_until": e.right_until(), "end": float(e.t[-1]),
                "ended": e.ended, "cpu_seconds": e.cpu_seconds, "seconds_a_step": e.seconds_a_step,
            } for e in self.entries],
            "left_out": self.left_out,
        }

    def html(self, path: str | Path = "comparison.html") -> Path:
        """Write the comparison as one self-contained page with plots."""
        from leastaction import pages

        return pages.write_comparison(self, path)


@silent()
def compare(
    subject: Model | Trajectory, q: ArrayLike | None = None, v: ArrayLike | None = None, *, dt: float = 1e-3,
    duration: float = 10.0, ignore: str | Iterable[str] = (),
) -> Comparison:
    """Run several methods on a model: variational of order 2, 4 and 6, semi-implicit Euler, Runge–Kutta 4, DOP853.

    And MuJoCo, where it is installed.

    Parameters
    ----------
    subject : the system; or a trajectory, whose model is run again from its start, with its command
    q : (nq,) initial configuration, rad, m, unit quaternions; model.q0 if None
    v : (nv,) initial velocity, body axes for ball and free joints, rad/s, m/s; model.v0 if None
    dt, duration : of every run, s
    ignore : words of what does not act, or whose warning is silenced, as for `simulate`

    Raises
    ------
    ValueError
        When the model is at rest, so that there is nothing to compare.
    """
    words = accepted(ignore)
    origin = subject.origin if isinstance(subject, Trajectory) else None
    model, q, v = start_of(subject, q, v)
    command = None if origin is None else origin.command
    changing = command is not None and (callable(command) or np.ndim(command) > 1)
    tick = 1 if origin is None else origin.control_every
    steps = step_count(dt, duration, None)
    least = max(1, -(-steps // NODES))
    every = next((k for k in range(least, 2 * least) if steps % k == 0), least)  # a divisor keeps the end
    model = model.without(words)
    finer, order = (8, 2) if rubs(model) else (2, 8)  # dry friction is of order 2
    if changing and not callable(command):
        assert isinstance(subject, Trajectory)
        if (dt, steps) != (subject.dt, subject.steps):
            raise ValueError(f"the commands of the trajectory are given for {subject.steps} steps of {subject.dt:g} s: "
                             f"compare(run, dt={subject.dt:g}, duration={subject.steps * subject.dt:g})")
    fine = np.repeat(np.asarray(command), finer, axis=0) if changing and not callable(command) else command
    reference = simulate(model, q, v, dt=dt / finer, steps=finer * steps, record_every=finer * every, command=fine,
                         control_every=finer * tick, integrator=Variational(order=order), ignore=words | set(KNOWN))
    if at_rest(reference):
        raise ValueError(f"the model '{model.name}' is at rest: nothing to compare; give q or v (--initial)")
    works = bool(reference.judgement.reason)
    entries: list[Entry] = []
    left_out: dict[str, str] = {}
    for integrator in METHODS:
        if model.loops and not integrator.takes_loops:
            left_out[integrator.label] = "it does not keep loops and couplings"
            continue
        try:
            require_known(model, compile_model(model), integrator)
        except ValueError as why:
            left_out[integrator.label] = str(why)
            continue
        if integrator.chooses_steps:
            with Stopwatch() as trial:
                few = -(-steps // TRIAL)
                part = np.asarray(command)[:few] if changing and not callable(command) else command
                simulate(model, q, v, dt=dt, steps=few, integrator=integrator, command=part, control_every=tick,
                         on_failure="truncate", ignore=words)
            if TRIAL * trial.cpu_seconds > PATIENCE:
                left_out[integrator.label] = f"it would take about {TRIAL * trial.cpu_seconds:.0f} s"
                continue
        with Stopwatch() as watch:
            run = simulate(model, q, v, dt=dt, steps=steps, record_every=every, integrator=integrator, command=command,
                           control_every=tick, on_failure="truncate", ignore=words)
        words |= set(KNOWN)  # the first run has warned of it
        checks = spot_checks(run) if model.nv <= LARGEST else (None, None)
        entries.append(_entry(integrator.label, reference, run.q, run.energy[0] + run.balance, run.momentum,
                              watch.cpu_seconds, None if integrator.chooses_steps else run.steps,
                              "broke down" if run.failure else "", checks, not works or integrator.keeps_ledger))
    if acts(model):
        left_out[MUJOCO] = "its joint limits and dry friction are soft; ignore= compares without them"
    elif find_spec("mujoco") is None:
        left_out[MUJOCO] = "it is not installed: pip install mujoco"
    elif changing:
        left_out[MUJOCO] = "it is driven by held commands only"
    else:
        try:
            entries.append(_mujoco(model, reference, dt, steps, every))
        except ModelError as why:  # what MuJoCo cannot have
            left_out[MUJOCO] = str(why)
    return Comparison(model, q, v, dt, steps * dt, entries, left_out, reference.judgement.reason)


def _defect(spot: Spot | None) -> float | None:
    return None if spot is None else spot.defect


def _mujoco(model: Model, reference: Trajectory, dt: float, steps: int, every: int) -> Entry:
    command: Any = None if reference.origin is None else reference.origin.command
    run = MujocoRun(model, reference.q[0], reference.v[0], dt, steps, every, command)
    fine = np.isfinite(run.q).all(axis=1) & np.isfinite(run.v).all(axis=1)
    n = len(fine) if fine.all() else int(np.argmin(fine))
    return _entry(MUJOCO, reference, run.q[:n], *energies_and_momenta(model, run.q[:n], run.v[:n]), run.cpu_seconds,
                  steps, "broke down" if n < len(fine) else "", noted=not reference.judgement.reason)


def _entry(
    label: str, reference: Trajectory, q: Array, energies: Array, momenta: Array, seconds: float, steps: int | None,
    ended: str, checks: tuple[Spot | None, Spot | None] = (None, None), noted: bool = True,
) -> Entry:
    n = min(len(q), len(reference))
    changes = [float(np.ptp(momenta[:n] @ symmetry.screw)) for symmetry in symmetries(reference.model)]
    error = distance(reference.model, q[:n], reference.q[:n])
    scale = reference.peak_kinetic_energy or 1.0
    return Entry(label, reference.t[:n], (energies[:n] - energies[0]) / scale, max(changes, default=None),
                 np.minimum(error, 10 * LOST), seconds, steps, ended, *checks, noted)
