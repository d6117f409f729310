"""A simulation that is advanced one call at a time, and the bare map of one step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leastaction.arguments import all_finite, finite, real_array, shown, whole
from leastaction.assembly import started
from leastaction.compiled import compile_model, require_model
from leastaction.dynamics import energy, link_wrenches, momentum, require_regular, vector
from leastaction.errors import ModelError, StepError
from leastaction.integrators import Integrator, IntegratorName, Status, as_integrator, point_to_integrator
from leastaction.kernels import methods
from leastaction.kernels.constraints.closed import TOLD
from leastaction.kernels.constraints.step import set_up
from leastaction.kernels.layout import CARRIED, READY, SCRATCH, Clock, Forces, P, V
from leastaction.kernels.loop import run
from leastaction.kernels.machine.jit import bound
from leastaction.kernels.record import GREATEST, GREATEST_MOMENTUM, LEAST, LEAST_MOMENTUM, LOOK, MOMENTA, Record
from leastaction.kernels.rescue import Rescued, RescuedConstrained
from leastaction.model import Model, losses
from leastaction.model.unhonoured import (
    COMMAND,
    DAMPING,
    KNOWN,
    STIFFNESS,
    accepted,
    tell,
    tell_command,
    warn_once,
)
from leastaction.simulation import ahead, hints, limits
from leastaction.simulation.damping import refuse_composition, unresolved
from leastaction.simulation.oscillation import too_stiff
from leastaction.simulation.progress import Progress

Array = np.ndarray
WIDE = 200  # numbers in a front of rows and links, above which the user is told
NEVER = 2**62  # nodes are kept


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
        self._set_up(model, seconds, as_integrator(integrator))
        q_start, v_start = started(model, self.compiled, *model.check_state(q, v))
        self._start(q_start, v_start, None)
        if not accepted(ignore) >= set(KNOWN):  # else it has started before
            limits.tell_beyond(model, self.compiled, self.q)
        if self.compiled.rows is not None and self.compiled.plan.width > WIDE:
            warn_once(model, ("width", model.revision), "its loops are eliminated in fronts of "
                      f"{self.compiled.plan.width} numbers, and a step takes time as the square of that: cut the loops "
                      "at other joints, so that fewer are open at a time")
        self._silent = COMMAND in accepted(ignore)
        if self.compiled.damped and self._longest == 0.0 and DAMPING not in accepted(ignore):
            doubt = unresolved_damping(model, self.q, self.dt, self.integrator)
            if doubt:
                key = DAMPING, model.revision, self.dt
                warn_once(model, key, f"{doubt}; ignore=('{DAMPING}',) silences this")
        if model.forces and STIFFNESS not in accepted(ignore):
            refuse_too_stiff(self)

    @classmethod
    def _at(cls, model: Model, dt: float, integrator: Integrator, q: Array, v: Array) -> Simulator:
        """Make a simulator at a state (nq,), (nv,) that a run has come to; nothing is checked or said of it again."""
        sim = cls.__new__(cls)
        sim._set_up(model, dt, integrator)
        sim._start(q, v, None)
        sim._silent = True
        return sim

    def _set_up(self, model: Model, dt: float, integrator: Integrator) -> None:
        """Prepare all that does not depend on the state."""
        self.model = model
        self.dt = dt
        self.integrator = integrator
        self.compiled = compile_model(model)
        self._revision = model.revision
        integrator.check(model, self.compiled)
        limits.require_known(self.model, self.compiled, self.integrator)
        self._desk = limits.desk(self.compiled)
        self._ledger, self._impulses = integrator.ledger(model, False), losses.impulses(model)  # columns that are kept
        self._base = methods.known(self.integrator.method(self.compiled))
        self._method = limits.around(self._base, self.compiled, self._desk)
        self._settings: Any = getattr(self._base, "settings", None)
        self._memory: Array = getattr(self._base, "memory", np.zeros(0))  # what the method itself carries on
        # The longest stage of a step, in parts of dt; explicit methods do not see damping ahead (kernels/mobility.py)
        self._longest = float(np.abs(self._base.stages).max()) if hasattr(self._base, "stages") else 0.0
        self._ready = not hasattr(self._base, "search")  # else the address of the search is missing
        # The machine code of the loop for the record of one step, and for the record that was last written to
        self._loop_of_one: Any = None
        self._again: tuple[Record | None, Any] = None, None
        if not self._ready:
            ahead.begin(self._base.settings)
        self._silent = False  # whether it is not said that actuators are given no command
        self._nothing = Forces(None, np.zeros(0), np.zeros(0), np.zeros((0, self.compiled.nv)),
                               np.zeros((0, self.compiled.tree.n, 6)), np.zeros((0, 2 * len(model.drives.servos.q))))

    def _start(self, q: Array, v: Array, p: Array | None) -> None:
        """Set the node from (q, v), or from (q, p)."""
        self._room, self._state = self.compiled.room(q, v)
        self._memory.fill(0.0)
        self._one = self._record(1, NEVER, LOOK - 1)  # room for a step of which nothing is kept
        if p is not None:
            self._state.p[:] = p
        require_regular(self.model, self.compiled, self._prepare(V if p is None else P))
        if self.compiled.damped and hasattr(self._base, "stages") and len(self._base.stages) > 1:
            order = getattr(self.integrator, "order", 2)
            refuse_composition(self.model, self.compiled, self._state.w, self.dt, order, self._longest)
        self._require_finite()
        self._parts = 1  # into which the last step was divided
        self._status = int(Status.CONVERGED)
        self._pushed = False
        self._asked = np.zeros(self.model.nv + self.model.nu)  # control and command of the last tick of a controller

    def _require_finite(self) -> None:
        """Raise a ValueError if energy or momentum of the start are beyond the range of numbers."""
        if np.isfinite(self.extremes).all() and np.isfinite(self._state.p).all():
            return
        layout, (q, v) = self.model.layout, (self._state.q, self._state.v)
        name, values, starts = max((("q", q, layout.q_start), ("v", v, layout.v_start)), key=lambda x: abs(x[1]).max())
        worst = int(np.argmax(abs(values)))
        body = self.model.names[int(np.searchsorted(starts, worst, side="right")) - 1]
        raise ValueError(f"the energy or the momentum of the initial state is beyond the range of numbers: {name} is "
                         f"{values[worst]:.3g} at body '{body}'")

    def _require_unchanged(self) -> None:
        """Raise a ModelError if the model is no longer the one that is simulated."""
        if self.model.revision != self._revision:
            raise ModelError(f"model '{self.model.name}' was changed while it was being simulated: make a new "
                             "Simulator of it; this one stays at its last step, with q, v and t")

    def _prepare(self, given: int) -> int:
        """Set up the node by what is given of it (kernels/layout.py). Gives the first singular joint or −1."""
        clock = Clock(self.dt * self._longest, 0, 0, 1, 0, 0, given)
        singular = int(run(self._method, self.compiled.system, self._room, self._nothing, clock, self._one)[1])
        if self.compiled.rows is not None and singular < 0:
            node = self._room.copy()
            self._redundant = self._project(given)
            if self._redundant < 0 and self._plan_again():
                self._redundant = self._project(given)
            if given == V:  # it is on the manifold: a run that is made again from its first node has the same bits
                self._room[:] = node
        return singular

    def _project(self, given: int) -> int:
        """Put the node on the manifold of closed loops. Gives the number of redundant rows, or −1 if that failed."""
        redundant = int(set_up(self._method.closed, self.compiled.system, self._room, given == CARRIED))
        return redundant if redundant < 0 else redundant + self.compiled.plan.void

    def _plan_again(self) -> bool:
        """Choose an order in which the rows can be eliminated at this node; tell whether it is another one."""
        before = self._method.closed
        closed = self.compiled.plan_at(self._state.q).closed(before.rows)
        if np.array_equal(closed.ops, before.ops):
            return False
        closed.x[closed.places.told :][:TOLD] = before.x[before.places.told :][:TOLD]
        self._base = self._method = self._method._replace(closed=closed)
        return True

    @property
    def steps(self) -> int:
        """Number of steps made."""
        return int(self._state.made[0])

    @property
    def status(self) -> Status:
        """What became of the last step."""
        return Status(self._status)

    @property
    def extremes(self) -> Array:
        """(16,) extremes of the invariants so far, without the energy of what is fixed to the ground."""
        extremes: Array = self._state.extremes
        return extremes

    @property
    def t(self) -> float:
        """Time, s."""
        return self.steps * self.dt

    @property
    def q(self) -> Array:
        """(nq,) configuration, rad, m, unit quaternions (a copy)."""
        q: Array = self._state.q.copy()
        return q

    @property
    def v(self) -> Array:
        """(nv,) velocity, body axes for ball and free joints, rad/s, m/s (a copy)."""
        v: Array = self._state.v.copy()
        return v

    @property
    def p(self) -> Array:
        """(nv,) momentum conjugate to v, kg m²/s, kg m/s (a copy)."""
        p: Array = self._state.p.copy()
        return p

    @property
    def energy(self) -> float:
        """Total energy, J."""
        return float(self._state.energy[0]) + self.compiled.ground_energy

    @property
    def momentum(self) -> Array:
        """(6,) total spatial momentum about the world's origin, angular then linear, world axes (a copy)."""
        total: Array = self._state.total.copy()
        return total

    def step(
        self, n: int = 1, tau: ArrayLike | None = None, wrench: ArrayLike | None = None,
        command: ArrayLike | None = None,
    ) -> None:
        """Advance by n steps. Ctrl-C ends it early, after a whole step.

        Parameters
        ----------
        n : number of steps
        tau : (nv,) joint forces held over these steps, N m and N
        wrench : (nb, 6) external wrenches (moment, force) held over these steps, each in the body's frame about its
            origin, N m and N
        command : (nu,) commands of the actuators, held over these steps; model.command0 if None
        """
        n = whole("n", n, 0)
        if tau is None and wrench is None and not self._pushed:
            forces, push = self._nothing.tau, self._nothing.wrench
        else:
            forces, push = per_step("tau", tau, (self.model.nv,), None), self._wrenches(wrench)
        servos = self._nothing.command
        if command is not None or self.model.nu:
            forces, servos = driven(self.model, forces, self._commands(command, None))
        if n == 1:
            self._one.iterations[0] = 0
            self._advance(1, forces, push, self._one, self.steps, NEVER, command=servos)
            return
        end, pace = self.steps + n, Progress(n, False)
        pace.chunk = min(pace.chunk, self.integrator.first_chunk)
        while self.steps < end:  # Ctrl-C takes effect in between
            first, count = self.steps, min(pace.chunk, end - self.steps)
            self._advance(count, forces, push, self._record(count, NEVER, first), first, NEVER, command=servos)
            pace.update(count)

    def _commands(self, command: ArrayLike | None, steps: int | None, every: int = 1) -> Array:
        """Commands (R, nu) as `per_step`; model.command0 if None, which is said."""
        nu = self.model.nu
        if not nu:
            if command is not None:
                raise ValueError(f"model '{self.model.name}' has no actuators that could take a command: "
                                 "model.add_actuator(name, la.PD(...)) adds one, and control=... gives joint forces")
            return np.zeros((0, 0))
        if command is None:
            if not self._silent:
                tell_command(self.model)
            command = self.model.command0
        return per_step("command", command, (nu,), steps, every)


    def _wrenches(self, wrench: ArrayLike | None, steps: int | None = None) -> Array:
        """Wrenches on links (R, n, 6); zeros once, where wrenches of an earlier call have to be taken away."""
        if wrench is None:
            rows = 1 if self._pushed else 0
            self._pushed = False
            return np.zeros((rows, self.compiled.tree.n, 6))
        if not self.integrator.takes_wrenches:
            raise ValueError(f"{self.integrator!r} takes no external wrenches: take la.Variational(), or give joint "
                             "forces")
        self._pushed = True
        given = per_step("wrench", wrench, (self.model.nb, 6), steps)
        return np.ascontiguousarray(link_wrenches(self.model, given))

    def _record(self, steps: int, every: int, first: int) -> Record:
        """Allocate the record of so many steps from number ``first`` on."""
        c, kept = self.compiled, (first + steps) // every - first // every
        return Record(
            np.empty((kept, c.nq)), np.empty((kept, c.nv)), np.empty((kept, c.nv)), np.empty(kept), np.empty((kept, 6)),
            np.empty((kept, self._ledger)), np.empty((kept, self._impulses)), np.zeros(steps, dtype=np.int64),
            np.zeros(steps), np.zeros(steps, dtype=np.int64), np.ones(steps, dtype=np.int64),
            np.empty((first + steps) // LOOK - first // LOOK),
        )

    def _advance(
        self, steps: int, tau: Array, wrench: Array, out: Record, first: int, every: int, control: Any = None,
        origin: int | None = None, command: Array | None = None,
    ) -> None:
        """Make steps and fill ``out``; on failure raise the StepError, the node being the last good one.

        The first row of ``out`` is of step ``origin``, or of the first of these steps. All that changes is in the
        memory of the kernels, so an exception at any point, of Ctrl-C for instance, finds the node after a whole number
        of steps.
        """
        self._require_unchanged()
        origin, end = first if origin is None else origin, first + steps
        forces = self._forces(control, tau, wrench, command)
        k, blamed = first, -1
        while k < end:
            made, blamed = self._run(forces, Clock(self.dt, k, end - k, every, origin, 0, READY), out)
            k += made
            self._parts = 1 if made else self._parts
            if k < end:
                if not self._rescue(k, forces, out, every, origin):
                    break
                k += 1  # the rescue made this step: continue with plain steps
        self._account(first, k, out, every, origin)
        if k < end:
            self._settle()
            if self._status == Status.BAD_CONTROL:
                self._ask_again(control.law)
            at = k - origin
            held = self._held(forces, k, at).reshape(-1)
            raise self._failure(blamed, float(out.residual[at]), held, _row(wrench, at))

    def _forces(self, control: Any, tau: Array, wrench: Array, command: Array | None) -> Forces:
        """Return what pushes during a call of the loop."""
        asked = self._nothing.command if command is None else command
        return Forces(control, self._state.q, self._state.v, tau, wrench, asked)

    def _run(self, forces: Forces, clock: Clock, out: Record) -> tuple[int, int]:
        """Call the compiled loop. Gives the number of steps made, and the joint to blame if some are missing."""
        given = self.compiled.system, self._room, forces, clock, out
        if not self._ready:
            address = ahead.search_address(self._settings, run, self._method, *given)
            self._base, self._ready = self._base._replace(search=address), True
            self._method = limits.around(self._base, self.compiled, self._desk)
        loop: Any = run
        if forces.control is None:
            if out is self._one:
                loop = self._loop_of_one = self._loop_of_one or bound(run, self._method, *given)
            elif out is self._again[0]:  # step after step where Python computes forces
                loop = self._again[1] or bound(run, self._method, *given)
            self._again = out, None if loop is run else loop
        made: tuple[int, int] = loop(self._method, *given)
        return made

    def _advance_stuck(self, tau: Array, wrench: Array, command: Array, out: Record, k: int) -> None:
        """Make step k, for which the plain search is known to fail, and fill ``out``, as `_advance`."""
        if self._rescue(k, self._forces(None, tau, wrench, command), out, 1, k):
            self._account(k, k + 1, out, 1, k)
        else:
            self._advance(1, tau, wrench, out, k, 1, command=command)  # which says why

    def _account(self, first: int, end: int, out: Record, every: int, origin: int) -> None:
        """Take note of steps that the kernels have made."""
        ground = self.compiled.ground_energy
        if ground:
            for values, spacing in ((out.energy, every), (out.looks, LOOK)):
                values[first // spacing - origin // spacing : end // spacing - origin // spacing] += ground
        self._status = int(out.status[max(min(end - origin, len(out.status) - 1), 0)])

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

    def _lasting(self) -> dict[str, Array]:
        """Return the parts of the state that outlast a call of the loop."""
        state = {name: part for name, part in self._state._asdict().items() if name not in SCRATCH and part.size}
        return {**state, "memory": self._memory} if len(self._memory) else state

    def _snapshot(self) -> dict[str, Any]:
        """All that the next step reads, as arrays and numbers by name."""
        return {
            **self._lasting(), "steps": self.steps, "status": self._status, "pushed": int(self._pushed),
            "parts": self._parts, "asked": self._asked,
        }

    def _restore(self, saved: Mapping[str, Any]) -> None:
        """Take over what `_snapshot` gave, of the same model."""
        for name, array in self._lasting().items():
            array[...] = saved[name]
        self._status, self._pushed = Status(int(saved["status"])), bool(saved["pushed"])
        self._parts = int(saved["parts"])
        self._asked[:] = saved["asked"]

    def __getstate__(self) -> dict[str, Any]:
        """Return what describes it in another process: not the kernels' memory, to which there are addresses."""
        self._require_unchanged()
        return {"model": self.model, "dt": self.dt, "integrator": self.integrator, "saved": self._snapshot()}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self._set_up(kept["model"], kept["dt"], kept["integrator"])
        self._start(kept["saved"]["q"], kept["saved"]["v"], None)
        self._restore(kept["saved"])

    def _rescue(self, k: int, forces: Forces, out: Record, every: int, origin: int) -> bool:
        """Make step k, at which the plain search failed, if that is allowed and possible."""
        at, settings = k - origin, self._settings
        if out.status[at] == Status.SINGULAR and self._plan_again():
            clock = Clock(self.dt, k, 1, every, origin, 0, READY)
            if self._run(forces, clock, out)[0]:
                return True
        if settings is None or not settings.rescue or out.status[at] == Status.BAD_CONTROL:
            return False
        held = self._held(forces, k, at)
        if forces.control is not None and len(held[0]) != self.compiled.nv:
            out.status[at] = Status.BAD_CONTROL
            return False
        # A step that follows one which had to be divided is likely to need nearly as many parts
        parts, spent = max(self._parts // 2, 1), 0
        again = forces._replace(control=None, tau=held, wrench=_row(forces.wrench, at),
                                command=_row(forces.command, at))
        clock = Clock(self.dt, k, 1, every, origin, 0, READY)
        failed = out.residual[at], out.status[at]
        while parts <= settings.max_substeps:
            method = limits.around(methods.known(self._rescued(parts)), self.compiled, self._desk)
            made, _ = run(method, self.compiled.system, self._room, again, clock, out)
            spent += int(out.iterations[at])
            if made:
                break
            parts *= 2
        out.iterations[at] = spent
        if parts > settings.max_substeps:
            out.residual[at], out.status[at] = failed  # of the plain search, which says more
            self._parts = 1
            return False
        self._parts = out.substeps[at] = parts
        return True

    def _rescued(self, parts: int) -> Any:
        """Return the method that makes a step in so many parts."""
        own = self._base
        if self.compiled.rows is None:
            return Rescued(own.stages, own.settings, parts)
        return RescuedConstrained(own.stages, own.settings, parts, own.closed, own.events)

    def _held(self, forces: Forces, k: int, at: int) -> Array:
        """Joint forces (1, nv) of step k, its start being the node; (0, nv) if there are none."""
        if forces.control is not None:
            force: Array = forces.control(k * self.dt, self.q, self.v)
            return force[None]
        return _row(forces.tau, at)

    def _forces_by(self, law: Any, name: str = "control") -> Array:
        """Joint forces (nv,) by a control law at this node, or commands (nu,); it gets copies of the state."""
        given: Any = law(self.t, self.q, self.v)
        size = self.compiled.nv if name == "control" else self.model.nu
        plain = isinstance(given, np.ndarray) and given.shape == (size,) and given.dtype == float
        if plain and all_finite(given):
            asked: Array = given
            return asked
        first: Array = returned(name, given, (size,))[0]
        return first

    def _control_failure(self, hint: str = "") -> StepError:
        """Return the StepError of a control that failed at this node."""
        self._status = int(Status.BAD_CONTROL)
        return StepError(self.status.meaning, self.steps, self.t, np.nan, "", self.q, self.v, self.p, hint)

    def _blame_control(self, error: Exception) -> Exception:
        """Add to what a control raised when that was; the StepError that it is raised from has the last good state."""
        error.add_note(f"raised by the control at step {self.steps}, t = {self.t:.6g} s; the last good state is in q, "
                       "v and p of the __cause__ of this exception")
        return error

    def _ask_again(self, law: Any) -> None:
        """Call a law that failed inside the compiled loop from Python, to raise what it raises."""
        try:
            self._forces_by(law)
        except Exception as error:
            raise self._blame_control(error) from self._control_failure()
        raise self._control_failure("It does not fail when it is called again at the same t, q and v: does it depend "
                                    "on anything else?")

    def _settle(self) -> None:
        """Know the energy and the momentum of the last good node after a step that failed."""
        with suppress(ValueError):  # beyond the range of numbers, which was noticed a few steps later
            self._state.total[:] = momentum(self.model, self.q, self.v)
            self._state.energy[0] = energy(self.model, self.q, self.v) - self.compiled.ground_energy

    def _failure(self, blamed: int, residual: float, tau: Array, wrench: Array) -> StepError:
        joint = self.model.names[self.compiled.body_of_link[blamed]]
        forced = hints.forced(self.model, self.compiled, self.q, self.dt, tau, wrench.reshape(-1, 6))
        hint = " ".join(filter(None, (forced, self.integrator.advice(self.status))))
        return StepError(self.status.meaning, self.steps, self.t, residual, joint, self.q, self.v, self.p, hint)


def _mass_solver(sim: Simulator) -> Callable[[Array], Array]:
    """Return the product of M⁻¹ with a vector (nv,), at the configuration of a simulator, which is used up by it.

    Each product is the start of a simulation at a momentum, which is compiled for every run anyway.
    """
    def solve(p: Array) -> Array:
        sim._state.p[:] = p
        sim._prepare(P)
        return sim.v

    return solve


def refuse_too_stiff(sim: Simulator) -> None:
    """Raise a ValueError that names the force between bodies which the step of a simulator cannot follow."""
    longest = sim.integrator.longest
    if not longest:  # it chooses its steps
        return
    spare = sim.__class__.__new__(sim.__class__)
    spare._set_up(sim.model, sim.dt, sim.integrator)
    spare._start(sim.q, np.zeros(sim.model.nv), None)
    limit = sim.integrator.stable / longest
    fault = too_stiff(sim.model, sim.compiled, sim.q, sim.dt, limit, _mass_solver(spare))
    if fault:
        raise ValueError(fault)


def unresolved_damping(model: Model, q: Array, dt: float, integrator: Integrator) -> str:
    """Name the joint whose damping an explicit step from q (nq,) cannot resolve, and a dt, s, that does; or empty."""
    sim = Simulator(model, q, np.zeros(model.nv), dt=dt, integrator=integrator, ignore=KNOWN)
    if sim._longest or integrator.chooses_steps or not sim.compiled.damped:
        return ""
    return unresolved(model, dt, integrator.longest, _mass_solver(sim))


def widen(extremes: Array, energy: Array, momentum: Array) -> None:
    """Count kept nodes among the extremes (16,): their energy (K,), without that of the ground, and momentum (K, 6).

    Of several runs at once, all three have one more axis, the last.
    """
    if len(energy):
        least, greatest = slice(LEAST_MOMENTUM, GREATEST_MOMENTUM), slice(GREATEST_MOMENTUM, MOMENTA.stop)
        extremes[LEAST] = np.minimum(extremes[LEAST], energy.min(axis=0))
        extremes[GREATEST] = np.maximum(extremes[GREATEST], energy.max(axis=0))
        extremes[least] = np.minimum(extremes[least], momentum.min(axis=0))
        extremes[greatest] = np.maximum(extremes[greatest], momentum.max(axis=0))


def _row(forces: Array, at: int) -> Array:
    """Forces (R, ...) of one step: (1, ...) or (0, ...)."""
    return forces[at : at + 1] if len(forces) > 1 else forces


def per_step(
    name: str, value: ArrayLike | None, shape: tuple[int, ...], steps: int | None, every: int = 1
) -> Array:
    """Forces as (R, *shape): R = 0 for none, 1 if held, or the number of steps; they may be given for every few."""
    if value is None:
        return np.zeros((0, *shape))
    array = real_array(value, name)
    if array.ndim == 0 and shape == (1,):
        array = array.reshape(1)
    ticks = None if steps is None or every == 1 else -(-steps // every)
    if array.shape == shape:
        array = array[None]
    elif ticks is not None and array.shape == (ticks, *shape):
        array = np.repeat(array, every, axis=0)[:steps]
    elif steps is None or array.shape != (steps, *shape):
        options = " or ".join(str(one) for one in (
            shape, *((rows, *shape) for rows in (steps, ticks) if rows is not None)))
        raise ValueError(f"{name} must have shape {options}, not {array.shape}")
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0][0])
        raise ValueError(f"{name} has entries that are not finite, the first in row {row}")
    return array


def driven(model: Model, tau: Array, commands: Array) -> tuple[Array, Array]:
    """Joint forces (R, nv) with those of motors added, and what commands (R, nu) ask of servos (R, 2 ns)."""
    drives = model.drives
    if not len(commands):
        return tau, np.zeros((0, 2 * len(drives.servos.q)))
    servos, motors = drives.asked(commands)
    if not drives.has_motors:
        return tau, servos
    return (tau + motors if len(tau) else motors), servos


def returned(name: str, value: object, shape: tuple[int, ...]) -> Array:
    """What the function that was given for this argument returned, as `per_step`; None is no force, but a fault."""
    name = f"what {name} returns"
    return per_step(name, real_array(value, name), shape, None)


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
    sim.dt = step
    sim._start(sim.q, sim.v, p)
    sim.step()
    return sim.q, sim.p
