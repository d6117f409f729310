"""A simulation that is advanced one call at a time, and the bare map of one step."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leastaction.arguments import finite, shown, whole
from leastaction.assembly import started
from leastaction.compiled import require_model
from leastaction.dynamics import vector
from leastaction.errors import ModelError
from leastaction.integrators import Integrator, IntegratorName, Status, as_integrator, point_to_integrator
from leastaction.kernels.layout import Forces
from leastaction.kernels.record import Record
from leastaction.model import Model
from leastaction.model.unhonoured import COMMAND, KNOWN, accepted, tell
from leastaction.simulation import failures, inputs
from leastaction.simulation.advance import advance, advance_stuck
from leastaction.simulation.checks import check_start
from leastaction.simulation.engine import NEVER, Engine
from leastaction.simulation.progress import Progress

Array = np.ndarray


class Simulator:
    """A simulation that is advanced one call at a time, with the same step as `simulate`.

    Parameters
    ----------
    model : the system
    q : (nq,) initial configuration, rad, m, unit quaternions; model.q0 if None
    v : (nv,) initial velocity, body axes for ball and free joints, rad/s, m/s; model.v0 if None
    dt : time step, s
    integrator : an integrator, or "variational", "euler", "rk4" or "dop853"; Variational() unless given
    ignore : "limits", "friction": joint limits, dry friction do not act. The other words of `load` silence the warning
        of what the model has and the dynamics do not honour; "damping" that of damping which an explicit step cannot
        resolve, "command" that of actuators without a command; "stiffness" runs a force between bodies that is too
        stiff for the step
    """

    @point_to_integrator
    def __init__(
        self,
        model: Model,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        *,
        dt: float = 1e-3,
        integrator: Integrator | IntegratorName | None = None,
        ignore: str | Iterable[str] = (),
    ) -> None:
        seconds = finite(dt)
        if seconds is None or seconds <= 0:
            raise ValueError(f"dt must be a positive number of seconds, not {shown(dt)}")
        require_model(model)
        tell(model, ignore)
        model = model.without(ignore)
        self._engine = Engine(model, seconds, as_integrator(integrator))
        self._engine.start(*started(model, self._engine.compiled, *model.check_state(q, v)))
        silenced = accepted(ignore)
        self._silent = COMMAND in silenced  # whether it is not said that actuators are given no command
        check_start(self._engine, silenced)

    @classmethod
    def _at(cls, model: Model, dt: float, integrator: Integrator, q: Array, v: Array) -> Simulator:
        """Make a simulator at a state (nq,), (nv,) that a run has come to; nothing is checked or said of it again."""
        sim = cls.__new__(cls)
        sim._engine, sim._silent = Engine(model, dt, integrator), True
        sim._engine.start(q, v)
        return sim

    @property
    def model(self) -> Model:
        """The system."""
        return self._engine.model

    @property
    def dt(self) -> float:
        """Time step, s."""
        return self._engine.dt

    @property
    def integrator(self) -> Integrator:
        """The integrator that makes the steps."""
        return self._engine.integrator

    @property
    def steps(self) -> int:
        """Number of steps made."""
        return self._engine.steps

    @property
    def status(self) -> Status:
        """What became of the last step."""
        return Status(self._engine.status)

    @property
    def t(self) -> float:
        """Time, s."""
        return self._engine.t

    @property
    def q(self) -> Array:
        """(nq,) configuration, rad, m, unit quaternions (a copy)."""
        q: Array = self._engine.state.q.copy()
        return q

    @property
    def v(self) -> Array:
        """(nv,) velocity, body axes for ball and free joints, rad/s, m/s (a copy)."""
        v: Array = self._engine.state.v.copy()
        return v

    @property
    def p(self) -> Array:
        """(nv,) momentum conjugate to v, kg m²/s, kg m/s (a copy)."""
        p: Array = self._engine.state.p.copy()
        return p

    @property
    def energy(self) -> float:
        """Total energy, J."""
        return float(self._engine.state.energy[0]) + self._engine.compiled.ground_energy

    @property
    def momentum(self) -> Array:
        """(6,) total spatial momentum about the world's origin, angular then linear, world axes (a copy)."""
        total: Array = self._engine.state.total.copy()
        return total

    def step(
        self, n: int = 1, tau: ArrayLike | None = None, wrench: ArrayLike | None = None,
        command: ArrayLike | None = None,
    ) -> None:
        """Advance by n steps. Ctrl-C ends it early, after a whole step.

        Parameters
        ----------
        n : number of steps
        tau : (nv,) joint forces held over these steps, N m and N; also where actuators drive the joints, whose commands
            are ``command``
        wrench : (nb, 6) external wrenches (moment, force) held over these steps, each in the body's frame about its
            origin, N m and N
        command : (nu,) commands of the actuators, held over these steps; model.command0 if None
        """
        n, engine = whole("n", n, 0), self._engine
        forces = engine.nothing
        if tau is not None or wrench is not None or engine.pushed:
            forces = forces._replace(tau=inputs.per_step("tau", tau, (engine.compiled.nv,), None),
                                     wrench=inputs.wrenches(engine, wrench))
        if command is not None or engine.model.nu:
            asked = inputs.commands(engine.model, command, None, silent=self._silent)
            given, servos = inputs.driven(engine.model, forces.tau, asked)
            forces = forces._replace(tau=given, command=servos)
        if n == 1:
            engine.one.iterations[0] = 0
            self._advance(1, forces, engine.one, engine.steps, NEVER)
            return
        end, pace = self.steps + n, Progress(n, False)
        pace.chunk = min(pace.chunk, self.integrator.first_chunk)
        while self.steps < end:  # Ctrl-C takes effect in between
            first, count = self.steps, min(pace.chunk, end - self.steps)
            self._advance(count, forces, engine.record(count, NEVER, first), first, NEVER)
            pace.update(count)

    def _advance(
        self, steps: int, forces: Forces, out: Record, first: int, every: int, origin: int | None = None
    ) -> None:
        """Make steps and fill ``out``, whose first row is of step ``origin``, or of the first of these steps.

        On failure the StepError is raised, the node being the last good one.
        """
        self._require_unchanged()
        origin = first if origin is None else origin
        made, blamed = advance(self._engine, steps, forces, out, first, every, origin)
        if made < steps:
            failures.settle(self._engine)
            if self.status == Status.BAD_CONTROL:
                failures.ask_again(self._engine, forces.control.law)
            raise failures.step_failure(self._engine, blamed, forces, out, first + made - origin)

    def _advance_stuck(self, forces: Forces, out: Record, k: int) -> None:
        """Make step k, for which the plain search is known to fail, and fill ``out``, as `_advance`."""
        if not advance_stuck(self._engine, forces, out, k):
            self._advance(1, forces, out, k, 1)  # which says why

    def _require_unchanged(self) -> None:
        """Raise a ModelError if the model is no longer the one that is simulated."""
        if self._engine.model.revision != self._engine.revision:
            raise ModelError(f"model '{self.model.name}' was changed while it was being simulated: make a new "
                             "Simulator of it; this one stays at its last step, with q, v and t")

    def checkpoint(self, path: str | Path) -> Path:
        """Write all that the next step reads to a file, from which `restore` goes on bit for bit.

        The file is complete or not there at all: it is written aside, then put in place of an older one.
        """
        from leastaction import files

        self._require_unchanged()
        return files.save_checkpoint(self, Path(path))

    @classmethod
    def restore(cls, path: str | Path) -> Simulator:
        """Make the simulator of a checkpoint, or one at the last step that a run's file holds."""
        from leastaction import files

        return files.load_checkpoint(Path(path))

    def __getstate__(self) -> dict[str, Any]:
        """Return what describes it in another process: not the kernels' memory, to which there are addresses."""
        self._require_unchanged()
        return {"model": self.model, "dt": self.dt, "integrator": self.integrator, "saved": self._engine.snapshot()}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self._engine, self._silent = Engine(kept["model"], kept["dt"], kept["integrator"]), False
        self._engine.start(kept["saved"]["q"], kept["saved"]["v"])
        self._engine.restore(kept["saved"])


@point_to_integrator
def variational_step(
    model: Model, q0: ArrayLike, p0: ArrayLike, h: float, integrator: Integrator | IntegratorName | None = None,
    ignore: str | Iterable[str] = (),
) -> tuple[Array, Array]:
    """The bare map of one variational step, without forces other than the model's own; actuators hold model.command0.

    Parameters
    ----------
    q0 : (nq,) configuration, rad, m, unit quaternions
    p0 : (nv,) momentum conjugate to v, kg m²/s, kg m/s
    h : time step, s; negative steps back, and undoes a step of +h
    integrator : Variational(...), or another integrator to compare it with; Variational() unless given
    ignore : "limits", "friction": joint limits, dry friction do not act; as for `simulate`

    Returns
    -------
    q1 : (nq,) configuration
    p1 : (nv,) momentum
    """
    step = finite(h)
    if not step:
        raise ValueError(f"h must be a finite number other than zero, not {shown(h)}")
    p = vector(model, p0, "p0")
    words = accepted(ignore) | set(KNOWN)
    sim = Simulator(model, q0, np.zeros(model.nv), dt=abs(step), integrator=integrator, ignore=words)
    sim._engine.dt = step
    sim._engine.start(sim.q, sim.v, p)
    sim.step()
    return sim.q, sim.p
