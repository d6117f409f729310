"""Whole runs: step, record, report."""

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from leastaction.errors import StepError
from leastaction.integrators import Integrator
from leastaction.kernels import control as laws
from leastaction.kernels.record import Record
from leastaction.model import Model
from leastaction.progress import Progress
from leastaction.simulator import Simulator, per_step
from leastaction.trajectory import Control, Origin, Trajectory

Array = np.ndarray
OnFailure = Literal["raise", "truncate"]


def simulate(
    model: Model,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    dt: float = 1e-3,
    duration: float | None = None,
    steps: int | None = None,
    integrator: Integrator | None = None,
    control: Control = None,
    wrench: Control = None,
    record_every: int = 1,
    progress: bool | None = None,
    on_failure: OnFailure = "raise",
) -> Trajectory:
    """Simulate a model from an initial state.

    Parameters
    ----------
    model : the system
    q : (nq,) initial configuration, rad, m, unit quaternions; model.q0 if None
    v : (nv,) initial velocity, body axes for ball and free joints, rad/s, m/s; model.v0 if None
    dt : time step, s
    duration, steps : length of the run, s, or its number of steps; give one of them
    integrator : Variational() unless given
    control : joint forces, N m and N: a function f(t, q, v) → (nv,), sampled at the start of each step and held over it
        (fast when compiled with numba.njit); or an array (nv,) held throughout, or (steps, nv)
    wrench : external wrenches (moment, force), each in the body's frame about its origin, N m and N: a function
        f(t, q, v) → (nb, 6), or an array (nb, 6) or (steps, nb, 6)
    record_every : keep the start and every so many steps; energy and momentum are followed at every step
    progress : whether to show a bar; None shows it for runs of more than about two seconds at a terminal
    on_failure : what to do when a step cannot be made: "raise" the StepError, or "truncate", which returns what was
        made so far with the StepError as its ``failure``

    Returns
    -------
    Trajectory

    Raises
    ------
    StepError
        When a step cannot be made; it carries the last good state.
    """
    if on_failure not in get_args(OnFailure):
        raise ValueError(f"on_failure must be 'raise' or 'truncate', not {on_failure!r}")
    sim = Simulator(model, q, v, dt=dt, integrator=integrator)
    count = _step_count(sim.dt, duration, steps)
    if not (isinstance(record_every, int | np.integer) and record_every >= 1):
        raise ValueError(f"record_every must be a whole number of at least 1, not {record_every!r}")
    run = _Run(sim, count, int(record_every), control, wrench)
    failure = None
    try:
        run.make(Progress(count, progress))
    except StepError as error:
        if on_failure == "raise":
            raise
        failure = error
    return run.trajectory(failure)


def _step_count(dt: float, duration: float | None, steps: int | None) -> int:
    if steps is not None and duration is None:
        if not (isinstance(steps, int | np.integer) and steps >= 0):
            raise ValueError(f"steps must be a whole number of at least 0, not {steps!r}")
        return int(steps)
    if duration is None or steps is not None:
        raise ValueError("give either duration or steps")
    if not (np.isfinite(duration) and duration >= 0):
        raise ValueError(f"duration must be a number of seconds, not {duration!r}")
    return int(np.ceil(duration / dt - 1e-9))


class _Run:
    """One call of `simulate`: the arrays it fills, and the forces of each stretch of steps."""

    def __init__(self, sim: Simulator, steps: int, every: int, control: Control, wrench: Control) -> None:
        self.sim, self.steps, self.every = sim, steps, every
        nb, nv = sim.model.nb, sim.model.nv
        self.law: Any = control if callable(control) else None
        self.push: Any = wrench if callable(wrench) else None
        for name, function, shape in (("control", self.law, (nv,)), ("wrench", self.push, (nb, 6))):
            if function is not None:
                per_step(f"what {name} returns", laws.sample(function, 0.0, sim.q, sim.v), shape, None)
        compiled = self.law is not None and self.push is None and laws.is_compiled(self.law)
        self.compiled_law = laws.first_class(self.law) if compiled else None
        self.stepwise = (self.law is not None or self.push is not None) and not compiled
        self.tau = per_step("control", None if callable(control) else control, (nv,), steps)
        self.wrenches = sim.wrenches(None if callable(wrench) else wrench, steps)
        self.kept = sim.record(steps, every, 0)
        self.origin = Origin(_copied(control), _copied(wrench), sim.model.revision)
        self.first = sim.q, sim.v, sim.p, sim.energy, sim.momentum

    def make(self, progress: Progress) -> None:
        """Make all the steps."""
        sim = self.sim
        with progress:
            while sim.steps < self.steps:
                k = sim.steps
                chunk = min(1 if self.stepwise else progress.chunk, self.steps - k)
                if self.stepwise:
                    self._sampled_step(k)
                else:
                    sim.advance(chunk, self._rows(self.tau, k, chunk), self._rows(self.wrenches, k, chunk),
                                 self._part(k, chunk), k, self.every, self.compiled_law)
                progress.update(chunk)

    def _sampled_step(self, k: int) -> None:
        """One step under forces that Python computes at its start."""
        sim = self.sim
        tau, push = self._rows(self.tau, k, 1), self._rows(self.wrenches, k, 1)
        if self.law is not None:
            tau = per_step("what control returns", laws.sample(self.law, sim.t, sim.q, sim.v), (sim.model.nv,), None)
        if self.push is not None:
            push = sim.wrenches(laws.sample(self.push, sim.t, sim.q, sim.v))
        every_step = sim.record(1, 1, k)  # the law needs the velocity of every node
        sim.advance(1, tau, push, every_step, k, 1)
        for name in ("iterations", "residual", "status", "substeps"):
            getattr(self.kept, name)[k] = getattr(every_step, name)[0]
        if (k + 1) % self.every == 0:
            for name in ("q", "v", "p", "energy", "momentum"):
                getattr(self.kept, name)[(k + 1) // self.every - 1] = getattr(every_step, name)[0]

    def _rows(self, forces: Array, k: int, chunk: int) -> Array:
        """The part of forces (R, ...) that belongs to these steps."""
        return forces[k : k + chunk] if len(forces) == self.steps and self.steps > 1 else forces

    def _part(self, k: int, chunk: int) -> Record:
        """Where these steps write."""
        nodes, these = slice(k // self.every, (k + chunk) // self.every), slice(k, k + chunk)
        kept = self.kept
        return Record(
            kept.q[nodes], kept.v[nodes], kept.p[nodes], kept.energy[nodes], kept.momentum[nodes],
            kept.iterations[these], kept.residual[these], kept.status[these], kept.substeps[these], self.sim.extremes,
        )

    def trajectory(self, failure: StepError | None) -> Trajectory:
        """Return what was made, up to the last good node."""
        sim, kept = self.sim, self._part(0, self.sim.steps)
        q, v, p, energy, momentum = (
            np.concatenate([np.asarray(start)[None], rest])
            for start, rest in zip(self.first, (kept.q, kept.v, kept.p, kept.energy, kept.momentum), strict=True)
        )
        extremes = sim.extremes
        return Trajectory(
            sim.model, sim.integrator, sim.dt, self.every, np.arange(len(q)) * self.every * sim.dt, q, v, p, energy,
            momentum, kept.iterations, kept.residual, kept.status, kept.substeps, extremes[:2] +
            sim.compiled.ground_energy, extremes[3:].reshape(2, 6).copy(), float(extremes[2]), failure,
            self.origin,
        )


def _copied(forces: Control) -> Control:
    """Forces that stay the same whatever their owner does to the array."""
    return forces if forces is None or callable(forces) else np.array(forces, dtype=float)
