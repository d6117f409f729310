"""The loop: step, record, report. `simulate` for whole runs, `Simulator` for one step at a time."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leastaction.compiled import compile_model
from leastaction.dynamics import link_wrenches, require_regular, vector
from leastaction.errors import StepError
from leastaction.integrators import Integrator, RungeKutta4, SemiImplicitEuler, Status, Variational
from leastaction.kernels import control as laws
from leastaction.kernels import explicit, variational
from leastaction.kernels.record import Record
from leastaction.model import Model
from leastaction.progress import Progress
from leastaction.trajectory import Trajectory

Array = np.ndarray
Control = Callable[[float, Array, Array], ArrayLike] | ArrayLike | None


class Simulator:
    """A simulation that is advanced one call at a time, with the same step as `simulate`.

    Parameters
    ----------
    model : the system
    q : (nq,) initial configuration, rad, m, unit quaternions; model.q0 if None
    v : (nv,) initial velocity, body axes for ball and free joints, rad/s, m/s; model.v0 if None
    dt : time step, s
    integrator : Variational() unless given
    """

    def __init__(
        self,
        model: Model,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        *,
        dt: float = 1e-3,
        integrator: Integrator | None = None,
    ) -> None:
        if not (np.isfinite(dt) and dt > 0):
            raise ValueError(f"dt must be a positive number of seconds, not {dt!r}")
        self.model = model
        self.dt = float(dt)
        self.integrator = integrator if integrator is not None else Variational()
        if not isinstance(self.integrator, Integrator):
            raise ValueError(f"integrator must be an integrator such as Variational(), not {integrator!r}")
        self._compiled = compile_model(model)
        self._start(*model.check_state(q, v), None)

    def _start(self, q: Array, v: Array, p: Array | None) -> None:
        """Set the node from (q, v), or from (q, p)."""
        c = self._compiled
        self._state = c.state(q, v)
        self._p = np.zeros(c.nv) if p is None else p.copy()
        singular, kinetic, energy, angular, linear = variational.start(
            c.tree, self._state, c.rest, c.gravity, p is not None, self._p
        )
        require_regular(self.model, c, singular)
        self._energy, self._momentum = energy + c.ground_energy, np.array(angular + linear)
        self.steps = 0
        self.status = Status.CONVERGED
        self._pushed = False
        self._extremes = np.concatenate([[energy, energy, kinetic], self._momentum, self._momentum])

    @property
    def t(self) -> float:
        """Time, s."""
        return self.steps * self.dt

    @property
    def q(self) -> Array:
        """(nq,) configuration, rad, m, unit quaternions (a copy)."""
        return self._state.q.copy()

    @property
    def v(self) -> Array:
        """(nv,) velocity, body axes for ball and free joints, rad/s, m/s (a copy)."""
        return self._state.v.copy()

    @property
    def p(self) -> Array:
        """(nv,) momentum conjugate to v, kg m²/s, kg m/s (a copy)."""
        return self._p.copy()

    @property
    def energy(self) -> float:
        """Total energy, J."""
        return self._energy

    @property
    def momentum(self) -> Array:
        """(6,) total spatial momentum about the world's origin, angular then linear, world axes (a copy)."""
        return self._momentum.copy()

    def step(self, n: int = 1, tau: ArrayLike | None = None, wrench: ArrayLike | None = None) -> None:
        """Advance by n steps.

        Parameters
        ----------
        n : number of steps
        tau : (nv,) joint forces held over these steps, N m and N
        wrench : (nb, 6) external wrenches (moment, force) held over these steps, each in the body's frame about its
            origin, N m and N
        """
        if not (isinstance(n, int | np.integer) and n >= 0):
            raise ValueError(f"n must be a whole number of steps, not {n!r}")
        if n == 0:
            return
        forces = _per_step("tau", tau, (self.model.nv,), None)
        out = self._record(int(n), every=int(n), first=0)
        self._advance(int(n), forces, self._wrenches(wrench), out, first=0, every=int(n))

    def _wrenches(self, wrench: ArrayLike | None, steps: int | None = None) -> Array:
        """Wrenches on links (R, n, 6); zeros once, where wrenches of an earlier call have to be taken away."""
        if wrench is None:
            rows = 1 if self._pushed else 0
            self._pushed = False
            return np.zeros((rows, len(self._compiled.tree.parent), 6))
        self._pushed = True
        given = _per_step("wrench", wrench, (self.model.nb, 6), steps)
        return np.ascontiguousarray(link_wrenches(self.model, given))

    def _record(self, steps: int, every: int, first: int) -> Record:
        """Room for what these steps leave behind."""
        c, kept = self._compiled, (first + steps) // every - first // every
        return Record(
            np.empty((kept, c.nq)), np.empty((kept, c.nv)), np.empty((kept, c.nv)), np.empty(kept), np.empty((kept, 6)),
            np.zeros(steps, dtype=np.int64), np.zeros(steps), np.zeros(steps, dtype=np.int64), self._extremes,
        )

    def _advance(
        self, steps: int, tau: Array, wrench: Array, out: Record, first: int, every: int, control: Any = None
    ) -> None:
        """Make steps and fill ``out``; on failure raise the StepError, the node being the last good one."""
        c, chosen = self._compiled, self.integrator
        feedback = control is not None
        common = (c.tree, self._state, c.rest, c.gravity, control if feedback else laws.no_control(), feedback, tau, wrench,
                  self.dt, first, steps, every)
        if isinstance(chosen, Variational):
            made, blamed = variational.run(*common, min(self.steps, 4), chosen.settings(c.stiff), out)
        else:
            method = explicit.RUNGE_KUTTA_4 if isinstance(chosen, RungeKutta4) else explicit.SEMI_IMPLICIT_EULER
            made, blamed = explicit.run_explicit(*common, method, out)
        kept = (first + made) // every - first // every
        out.energy[:kept] += c.ground_energy
        if kept:
            self._p, self._energy = out.p[kept - 1].copy(), float(out.energy[kept - 1])
            self._momentum = out.momentum[kept - 1].copy()
        self.steps += made
        self.status = Status(out.status[max(min(made, steps - 1), 0)])
        if made < steps:
            raise self._failure(blamed, float(out.residual[made]))

    def _failure(self, blamed: int, residual: float) -> StepError:
        joint = self.model.names[self._compiled.body_of_link[blamed]]
        self._p = self._state.scratch[0].copy()  # the kernels leave the momentum of the last good node here
        return StepError(self.status.meaning, self.steps, self.t, residual, joint, self.q, self.v, self.p)


def _per_step(name: str, value: ArrayLike | None, shape: tuple[int, ...], steps: int | None) -> Array:
    """Forces as (R, *shape): R = 0 for none, 1 if held, or the number of steps."""
    if value is None:
        return np.zeros((0, *shape))
    array = np.array(value, dtype=float, order="C")
    if array.shape == shape:
        array = array[None]
    elif steps is None or array.shape != (steps, *shape):
        options = f"{shape}" if steps is None else f"{shape} or {(steps, *shape)}"
        raise ValueError(f"{name} must have shape {options}, not {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has entries that are not finite, the first in row {np.argwhere(~np.isfinite(array))[0][0]}")
    return array


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
    control : joint forces, N m and N: a function f(t, q, v) → (nv,), sampled at the start of each step and held over it (fast when
        compiled with numba.njit); or an array (nv,) held throughout, or (steps, nv)
    wrench : external wrenches (moment, force), each in the body's frame about its origin, N m and N: f(t, q, v) → (nb, 6), or
        an array (nb, 6) or (steps, nb, 6)
    record_every : keep the start and every so many steps; energy and momentum are followed at every step
    progress : whether to show a bar; None shows it for runs of more than about two seconds at a terminal

    Returns
    -------
    Trajectory

    Raises
    ------
    StepError
        When a step has no root; it carries the last good state.
    """
    if (duration is None) == (steps is None):
        raise ValueError("give either duration or steps")
    sim = Simulator(model, q, v, dt=dt, integrator=integrator)
    if steps is None:
        if not (np.isfinite(duration) and duration >= 0):
            raise ValueError(f"duration must be a number of seconds, not {duration!r}")
        steps = int(np.ceil(duration / dt - 1e-9))
    for name, value, least in (("steps", steps, 0), ("record_every", record_every, 1)):
        if not (isinstance(value, int | np.integer) and value >= least):
            raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return _Run(sim, int(steps), int(record_every), control, wrench).finish(Progress(int(steps), progress))


class _Run:
    """One call of `simulate`: the arrays it fills, and the forces of each stretch of steps."""

    def __init__(self, sim: Simulator, steps: int, every: int, control: Control, wrench: Control) -> None:
        self.sim, self.steps, self.every = sim, steps, every
        nb, nv = sim.model.nb, sim.model.nv
        self.law = control if callable(control) else None
        self.push = wrench if callable(wrench) else None
        for name, function, shape in (("control", self.law, (nv,)), ("wrench", self.push, (nb, 6))):
            if function is not None:
                _per_step(f"what {name} returns", laws.sample(function, 0.0, sim.q, sim.v), shape, None)
        compiled = self.law is not None and self.push is None and laws.is_compiled(self.law)
        self.compiled_law = laws.first_class(self.law) if compiled else None
        self.stepwise = (self.law is not None or self.push is not None) and not compiled
        self.tau = _per_step("control", None if self.law else control, (nv,), steps)
        self.wrenches = sim._wrenches(None if self.push else wrench, steps)
        self.kept = sim._record(steps, every, 0)
        self.first = sim.q, sim.v, sim.p, sim.energy, sim.momentum

    def finish(self, progress: Progress) -> Trajectory:
        sim = self.sim
        with progress:
            while sim.steps < self.steps:
                k = sim.steps
                chunk = min(1 if self.stepwise else progress.chunk, self.steps - k)
                if self.stepwise:
                    self._sampled_step(k)
                else:
                    sim._advance(chunk, self._rows(self.tau, k, chunk), self._rows(self.wrenches, k, chunk),
                                 self._part(k, chunk), k, self.every, self.compiled_law)
                progress.update(chunk)
        return self._trajectory()

    def _sampled_step(self, k: int) -> None:
        """One step under forces that Python computes at its start."""
        sim = self.sim
        tau, push = self._rows(self.tau, k, 1), self._rows(self.wrenches, k, 1)
        if self.law is not None:
            tau = _per_step("what control returns", laws.sample(self.law, sim.t, sim.q, sim.v), (sim.model.nv,), None)
        if self.push is not None:
            push = sim._wrenches(laws.sample(self.push, sim.t, sim.q, sim.v))
        every_step = sim._record(1, 1, k)  # the law needs the velocity of every node
        sim._advance(1, tau, push, every_step, k, 1)
        for name in ("iterations", "residual", "status"):
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
        parts = [getattr(self.kept, name)[nodes] for name in ("q", "v", "p", "energy", "momentum")]
        return Record(*parts, *(getattr(self.kept, name)[these] for name in ("iterations", "residual", "status")),
                      self.sim._extremes)

    def _trajectory(self) -> Trajectory:
        sim, kept = self.sim, self.kept
        q, v, p, energy, momentum = (
            np.concatenate([np.asarray(start)[None], rest])
            for start, rest in zip(self.first, (kept.q, kept.v, kept.p, kept.energy, kept.momentum), strict=True)
        )
        extremes = sim._extremes
        return Trajectory(
            sim.model, sim.integrator, sim.dt, self.every, np.arange(len(q)) * self.every * sim.dt, q, v, p, energy, momentum,
            kept.iterations, kept.residual, kept.status, extremes[:2] + sim._compiled.ground_energy,
            extremes[3:].reshape(2, 6).copy(), float(extremes[2]),
        )


def variational_step(
    model: Model, q0: ArrayLike, p0: ArrayLike, h: float, integrator: Variational | None = None
) -> tuple[Array, Array]:
    """The bare map of one variational step, without forces other than the model's own.

    Parameters
    ----------
    q0 : (nq,) configuration, rad, m, unit quaternions
    p0 : (nv,) momentum conjugate to v, kg m²/s, kg m/s
    h : time step, s; negative steps back, and undoes a step of +h

    Returns
    -------
    q1 : (nq,) configuration
    p1 : (nv,) momentum
    """
    if not (np.isfinite(h) and h != 0):
        raise ValueError(f"h must be a finite number other than zero, not {h!r}")
    p = vector(model, p0, "p0")
    sim = Simulator(model, q0, None, dt=abs(h), integrator=integrator)
    sim.dt = float(h)
    sim._start(sim.q, sim.v, p)
    sim.step()
    return sim.q, sim.p
