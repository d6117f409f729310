"""Whole runs: step, record, report."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from leastaction import files
from leastaction.arguments import whole
from leastaction.errors import StepError
from leastaction.files.statistics import Statistics, step_room
from leastaction.integrators import Integrator, IntegratorName, point_to_integrator
from leastaction.kernels.record import LOOK, Record
from leastaction.model import Model
from leastaction.simulation.group import rows_of, stacked
from leastaction.simulation.judgement import warn
from leastaction.simulation.progress import Progress
from leastaction.simulation.run import NODE, STEP, Keeper, OnFailure, Run, step_count, tell_end, trajectory_of
from leastaction.simulation.simulator import Simulator
from leastaction.trajectory import Control, Trajectory

AT_ONCE = 30_000  # steps whose statistics are held one by one


@point_to_integrator
def simulate(
    model: Model,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    dt: float = 1e-3,
    duration: float | None = None,
    steps: int | None = None,
    integrator: Integrator | IntegratorName | None = None,
    control: Control = None,
    wrench: Control = None,
    command: Control = None,
    control_every: int = 1,
    record_every: int = 1,
    progress: bool | None = None,
    on_failure: OnFailure = "raise",
    out: str | Path | None = None,
    checkpoint_every: int | None = None,
    overwrite: bool = False,
    ignore: str | Iterable[str] = (),
) -> Trajectory:
    """Simulate a model from an initial state.

    Parameters
    ----------
    model : the system
    q : (nq,) initial configuration, rad, m, unit quaternions; model.q0 if None
    v : (nv,) initial velocity, body axes for ball and free joints, rad/s, m/s; model.v0 if None
    dt : time step, s
    duration, steps : length of the run, s, or its number of steps; give one of them. A duration that is no multiple of
        dt is covered by one more step, with a warning that names the end
    integrator : an integrator, or "variational", "euler", "rk4" or "dop853"; Variational() unless given
    control : joint forces, N m and N: a function f(t, q, v) → (nv,), sampled at the start of each step and held over it
        (fast when compiled with numba.njit); or an array (nv,) held throughout, or (steps, nv)
    wrench : external wrenches (moment, force), each in the body's frame about its origin, N m and N: a function
        f(t, q, v) → (nb, 6), or an array (nb, 6) or (steps, nb, 6)
    command : commands of the actuators, each in its own unit: a function f(t, q, v) → (nu,), or an array (nu,) held
        throughout, or (steps, nu); model.command0 unless given, with a warning. Joint forces of ``control`` add to
        those of the actuators
    control_every : steps between the ticks of the controller: functions for control and command are called at every
        so many steps, from the first on, and what they return is held in between; arrays may have a row for each tick
        instead of one for each step
    record_every : keep the start and every so many steps; a warning tells when that leaves out the end, which
        `Trajectory.at` gives. The ranges of energy and momentum are over more: every eighth step as well, and each in
        which some link turns by more than 0.05 rad
    progress : whether to show a bar; None shows it for runs of more than about two seconds at a terminal
    on_failure : what to do when a step cannot be made: "raise" the StepError, or "truncate", which returns what was
        made so far with the StepError as its ``failure``
    out : HDF5 file to write to while the run goes on, in little memory however long it is; killed at any moment it
        stays readable, and `resume` goes on with it bit for bit
    checkpoint_every : steps between the places in that file from which `Trajectory.at` can start; up to 100 of them
        unless given
    overwrite : whether ``out`` may replace a file that is there
    ignore : "limits", "friction": joint limits, dry friction do not act. The other words of `load` silence the warning
        of what the model has and the dynamics do not honour; "damping" that of damping which an explicit step cannot
        resolve, "command" that of actuators without a command; "stiffness" runs a force between bodies that is too
        stiff for the step

    Returns
    -------
    Trajectory
        In memory, or with ``out`` one that reads the file as it is asked.

    Raises
    ------
    StepError
        When a step cannot be made; it carries the last good state.

    Warns
    -----
    UserWarning
        When the run ends later than ``duration``, or its end is not kept.
    AccuracyWarning
        When the energy should be constant and wanders (`Trajectory.judgement`), with a remedy.
    """
    if on_failure not in get_args(OnFailure):
        raise ValueError(f"on_failure must be 'raise' or 'truncate', not {on_failure!r}")
    run = prepare(model, q, v, dt=dt, duration=duration, steps=steps, integrator=integrator, control=control,
                  wrench=wrench, command=command, control_every=control_every, record_every=record_every,
                  ignore=ignore)
    tell_end(run)
    bar = Progress(run.steps, progress)
    if out is not None:
        return warn(files.stream(run, Path(out), checkpoint_every, overwrite, bar, on_failure))
    return warn(make(run, bar, on_failure))


def prepare(
    model: Model, q: ArrayLike | None, v: ArrayLike | None, *, dt: float = 1e-3, duration: float | None = None,
    steps: int | None = None, integrator: Integrator | IntegratorName | None = None, control: Control = None,
    wrench: Control = None, command: Control = None, control_every: int = 1, record_every: int = 1,
    ignore: str | Iterable[str] = (),
) -> Run:
    """Return the run that `simulate` makes of these arguments, at its start."""
    sim = Simulator(model, q, v, dt=dt, integrator=integrator, ignore=ignore)
    count = step_count(sim.dt, duration, steps)
    return Run(sim, count, whole("record_every", record_every, 1), control, wrench, command, control_every)


def make(run: Run, bar: Progress, on_failure: OnFailure, kept: Record | None = None) -> Trajectory:
    """Make a run in memory: in a record that is given, or in a new one."""
    memory = Memory(run.sim, kept or rows_of(stacked(1, run, run.ledger), 0), run.every)
    failure = None
    try:
        run.make(run.steps, memory, bar)
    except StepError as error:
        if on_failure == "raise":
            raise
        failure = error
    sim = run.sim
    return trajectory_of(sim.model, run, memory.kept, sim.steps, sim._engine.extremes, memory.watch.looks(),
                         sim._engine.compiled.ground_energy, memory.statistics.tally(sim.steps), failure, run.origin)


class Memory(Keeper):
    """Keeps a run in arrays of its whole length, the start being their first row; the steps between nodes summed up."""

    def __init__(self, sim: Simulator, kept: Record, every: int) -> None:
        super().__init__(sim, every)
        self.kept, self.statistics = kept, Statistics(every)
        kept.q[0], kept.v[0], kept.p[0], kept.energy[0] = sim.q, sim.v, sim.p, sim.energy
        kept.momentum[0], kept.ledger[0], kept.impulse[0] = sim.momentum, 0.0, 0.0

    def most(self, _first: int) -> int:
        """Bound the room for single steps."""
        return AT_ONCE

    def room(self, first: int, steps: int) -> Record:
        """Return views of where these nodes belong, and room for how each step goes."""
        nodes, kept = slice(1 + first // self.every, 1 + (first + steps) // self.every), self.kept
        return Record(
            **{name: getattr(kept, name)[nodes] for name in NODE}, **dict(zip(STEP, step_room(steps), strict=True)),
            looks=np.empty((first + steps) // LOOK - first // LOOK),
        )

    def keep(self, out: Record, first: int, made: int) -> None:
        """Sum up how these steps went."""
        super().keep(out, first, made)
        self.statistics.write(out, first, made, self.kept)

