"""The loop of a run: the forces of each stretch of steps, and who keeps what the steps leave behind."""

from threading import Event
from typing import Any, Literal, Self

import numpy as np

from leastaction.arguments import MOST, finite, real_array, shown, whole
from leastaction.errors import StepError, warn_user
from leastaction.kernels import control as laws
from leastaction.kernels.layout import Forces
from leastaction.kernels.record import LOOK, Extremes, Record
from leastaction.model import Model
from leastaction.simulation import failures, inputs
from leastaction.simulation.judgement import EnergyWatch, Looks, is_silent
from leastaction.simulation.progress import Progress
from leastaction.simulation.simulator import Simulator
from leastaction.trajectory import Control, Origin, Tally, Trajectory

Array = np.ndarray
ROUND_OFF = 1e-3  # of a step by which a duration may miss a multiple of it
OnFailure = Literal["raise", "truncate"]
NODE = ("q", "v", "p", "energy", "momentum", "ledger", "impulse")
STEP = ("iterations", "residual", "status", "substeps")


class Keeper:
    """Gives each stretch of steps room to write in, and here forgets it but for the extremes."""

    def __init__(self, sim: Simulator, every: int) -> None:
        self.sim, self.every = sim, every
        self.watch = EnergyWatch(sim.energy)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any = None, *_error: object) -> None:
        """Let go of what is held."""

    def most(self, _first: int) -> int | None:
        """Tell how many steps may be made at a stretch from this one on; None for any number."""
        return None

    def room(self, first: int, steps: int) -> Record:
        """Return where these steps are to write."""
        return self.sim._engine.record(steps, self.every, first)

    def keep(self, out: Record, first: int, made: int) -> None:
        """Take so many steps; the simulator is at the last of them."""
        self.watch.take(out.looks[: (first + made) // LOOK - first // LOOK])
        kept = (first + made) // self.every - first // self.every
        engine = self.sim._engine
        widen(engine.extremes, out.energy[:kept] - engine.compiled.ground_energy, out.momentum[:kept])

    def fail(self, failure: StepError) -> None:
        """Note that the run cannot go on."""


class Run:
    """A run of a simulator: its forces, and the loop.

    Parameters
    ----------
    sim : at the first step to be made
    steps : of the whole run
    every : which nodes to keep
    control, wrench, command, control_every : as given to `simulate`

    Attributes
    ----------
    laws : functions for "control" and "command", which are called every ``tick`` steps and held in between
    asked : (1, nv) and (1, nu) what they returned last: views of the simulator's
    steady : whether the only forces that change are those of the control
    stop : set by another thread to end the run, between two stretches of steps; None if nobody will
    """

    def __init__(
        self, sim: Simulator, steps: int, every: int, control: Control, wrench: Control, command: Control = None,
        control_every: int = 1,
    ) -> None:
        self.sim, self.steps, self.every = sim, steps, every
        self.tick = whole("control_every", control_every, 1)
        self.stop: Event | None = None
        nb, nv, nu = sim.model.nb, sim.model.nv, sim.model.nu
        self.laws: dict[str, Any] = {
            name: given for name, given in (("control", control), ("command", command)) if callable(given)}
        self.driven = nu > 0
        self.asked = {"control": sim._engine.asked[None, :nv], "command": sim._engine.asked[None, nv:]}
        self.push: Any = wrench if callable(wrench) else None
        if "command" in self.laws and not nu:
            inputs.commands(sim.model, (), None)  # which says what is wrong
        for name, function, shape in (*((name, law, (nv if name == "control" else nu,))
                                        for name, law in self.laws.items()), ("wrench", self.push, (nb, 6))):
            if function is not None:
                inputs.returned(name, function(sim.t, sim.q, sim.v), shape)
        # What the compiled loop can ask by itself: joint forces, every step, which motors do not add to
        compiled = (list(self.laws) == ["control"] and self.push is None and self.tick == 1
                    and laws.is_compiled(control) and not sim.model.drives.has_motors)
        self.compiled_law = laws.first_class(control) if compiled else None
        self.stepwise = bool(self.laws or self.push) and not compiled
        self.steady = "control" in self.laws and self.push is None and not self.driven
        self.tau = self.per_step("control", None if callable(control) else control)
        self.wrenches = inputs.wrenches(sim._engine, None if callable(wrench) else wrench, steps)
        self.commands = self.per_step("command", sim.model.command0 if callable(command) else command)
        self.origin = Origin(
            control if callable(control) else self.given(control, self.tau), copied(wrench),
            command if callable(command) else self.given(command, self.commands), self.tick, sim.model.revision)
        self.ledger = sim._engine.ledger = sim.integrator.ledger(sim.model, control is not None)  # columns

    def per_step(self, name: str, given: Control) -> Array:
        """Return joint forces (R, nv), or commands (R, nu), that are no function."""
        if name == "command":
            return inputs.commands(self.sim.model, given, self.steps, self.tick, self.sim._silent)  # type: ignore[arg-type]
        return inputs.per_step(name, given, (self.sim.model.nv,), self.steps, self.tick)  # type: ignore[arg-type]

    @staticmethod
    def given(given: Control, rows: Array) -> Control:
        """Return what an origin keeps of forces (R, ...): None, those that are held, or a row a step."""
        if not len(rows):
            return None
        changing = given is not None and np.ndim(given) == rows.ndim  # type: ignore[arg-type]
        return rows.copy() if changing else rows[0].copy()

    def make(self, until: int, keeper: Keeper, progress: Progress) -> None:
        """Make the steps up to one; a StepError is noted by the keeper, and raised."""
        sim = self.sim
        progress.chunk = min(progress.chunk, sim.integrator.first_chunk)
        with progress, keeper:
            while sim.steps < until:
                if self.stop is not None and self.stop.is_set():
                    raise KeyboardInterrupt
                first = sim.steps
                chunk = min(progress.chunk, until - first, keeper.most(first) or until)
                out = keeper.room(first, chunk)
                try:
                    self._stretch(first, chunk, out)
                except Exception as error:  # raised by the step or by the user's control; earlier steps are valid
                    keeper.keep(out, first, sim.steps - first)
                    if isinstance(error, StepError):
                        keeper.fail(error)
                    raise
                keeper.keep(out, first, chunk)
                progress.update(chunk)

    def _stretch(self, first: int, chunk: int, out: Record) -> None:
        """Make steps, one by one where Python computes forces."""
        sim, end, tick = self.sim, first + chunk, self.tick
        push = self.rows(self.wrenches, first, chunk)
        forces = sim._engine.forces(*self._driven(first, chunk), push, self.compiled_law)
        if not self.stepwise:
            sim._advance(chunk, forces, out, first, self.every)
            return
        k = first
        while k < end:
            if k % tick == 0:
                self._ask()
            count = min(end - k, 1 if self.push else tick - k % tick)
            if not self.steady:
                forces = self._changed(forces, k, count, first, chunk)
            sim._advance(count, forces, out, k, self.every, first)
            k += count

    def _changed(self, forces: Forces, k: int, count: int, first: int, chunk: int) -> Forces:
        """Forces of steps from k on, within a stretch of ``chunk`` steps from ``first`` on."""
        tau, servos = self._driven(k, count)
        if count > 1:
            tau, servos = _within(tau, k - first, chunk), _within(servos, k - first, chunk)
        return forces._replace(tau=tau, command=servos, wrench=self._pushed() if self.push else forces.wrench)

    def _driven(self, k: int, count: int) -> tuple[Array, Array]:
        """Joint forces (R, nv) and what is asked of servos (R, 2 ns) in these steps."""
        tau = self.asked["control"] if "control" in self.laws else self.rows(self.tau, k, count)
        if not self.driven:
            return tau, self.sim._engine.nothing.command
        commands = self.asked["command"] if "command" in self.laws else self.rows(self.commands, k, count)
        return inputs.driven(self.sim.model, tau, commands)

    def _ask(self) -> None:
        """Let the functions for control and command say what is held until the next tick."""
        engine = self.sim._engine
        try:
            for name, law in self.laws.items():
                self.asked[name][0] = failures.ask(engine, law, name)
        except Exception as error:
            raise failures.blamed_on_control(engine, error) from failures.control_failure(engine)

    def _pushed(self) -> Array:
        """Wrenches on links (1, n, 6) at this node, by the function that was given."""
        sim, engine = self.sim, self.sim._engine
        try:
            given = inputs.returned("wrench", self.push(sim.t, sim.q, sim.v), (sim.model.nb, 6))
            return inputs.wrenches(engine, given[0])
        except Exception as error:
            raise failures.blamed_on_control(engine, error) from failures.control_failure(engine)

    def rows(self, forces: Array, k: int, chunk: int) -> Array:
        """The part of forces (R, ...) that belongs to these steps."""
        return forces[k : k + chunk] if len(forces) == self.steps and self.steps > 1 else forces


def _within(rows: Array, at: int, steps: int) -> Array:
    """Rows of some steps among those of a stretch, where the loop looks for them; one row that is held stays one."""
    if len(rows) <= 1:
        return rows
    stretch = np.zeros((steps, *rows.shape[1:]))
    stretch[at : at + len(rows)] = rows
    return stretch


def widen(extremes: Extremes, energy: Array, momentum: Array) -> None:
    """Count kept nodes among the extremes: their energy (K,), without that of the ground, and momentum (K, 6).

    Of several runs at once, all three have one more axis, the last.
    """
    if len(energy):
        for ends, given in ((extremes.energy, energy), (extremes.momentum, momentum)):
            ends[0] = np.minimum(ends[0], given.min(axis=0))
            ends[1] = np.maximum(ends[1], given.max(axis=0))


def step_count(dt: float, duration: float | None, steps: int | None) -> int:
    """Return the number of steps of a run, given by it or by the time, s.

    A duration that is no multiple of dt is covered: the run ends at the first step after it, and a warning says so.
    """
    if steps is not None and duration is None:
        return whole("steps", steps, 0)
    if duration is None or steps is not None:
        raise ValueError("give either duration or steps")
    seconds = finite(duration)
    if seconds is None or seconds < 0:
        raise ValueError(f"duration must be a number of seconds, not {shown(duration)}")
    exact = seconds / dt
    if exact > MOST:
        raise ValueError(f"duration {duration:g} s is more than {MOST:,} steps of {dt:g} s: give a shorter one")
    count = round(exact)
    if (count > 0 and abs(exact - count) <= ROUND_OFF) or duration == 0:
        return count
    if exact < 1:
        raise ValueError(f"duration {duration:g} s is shorter than a step of {dt:g} s: give a smaller dt, or steps=1")
    count = int(np.ceil(exact))
    warn_user(f"duration {duration:g} s is no multiple of dt {dt:g} s: the run has {count} steps and ends at "
              f"{count * dt:.9g} s")
    return count


def tell_end(run: Run) -> None:
    """Warn if the end of a run is not among the nodes that it keeps."""
    last = run.steps - run.steps % run.every
    if last < run.steps and not is_silent():
        dt = run.sim.dt
        warn_user(f"record_every={run.every} leaves out the end of {run.steps} steps: the last node kept is at "
                  f"{last * dt:.9g} s, and at({run.steps * dt:.9g}) of the trajectory gives the end")


def copied(forces: Control) -> Control:
    """Forces that stay the same whatever their owner does to the array."""
    return forces if forces is None or callable(forces) else real_array(forces, "forces")


def trajectory_of(
    model: Model, run: Run, kept: Record, steps: int, extremes: Extremes, looks: Looks, ground_energy: float,
    tally: Tally, failure: StepError | None, origin: Origin,
) -> Trajectory:
    """Return what was made of a run like this one, the first ``steps`` of its steps, the start being the first row."""
    made, count = slice(-(-steps // run.every)), 1 + steps // run.every
    return Trajectory(
        model, run.sim.integrator, run.sim.dt, run.every, np.arange(count) * run.every * run.sim.dt, kept.q[:count],
        kept.v[:count], kept.p[:count], kept.energy[:count], kept.momentum[:count], kept.ledger[:count],
        kept.impulse[:count], kept.iterations[made],
        kept.residual[made], kept.status[made], kept.substeps[made], extremes.energy + ground_energy,
        extremes.momentum.copy(), float(extremes.kinetic), looks, tally, failure, origin,
        run.sim._engine.events.copy(),
    )
