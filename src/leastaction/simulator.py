"""A simulation that is advanced one call at a time, and the bare map of one step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leastaction import ahead, hints
from leastaction.arguments import finite, real_array, shown, whole
from leastaction.compiled import compile_model
from leastaction.damping import unresolved
from leastaction.dynamics import energy, link_wrenches, momentum, require_regular, vector
from leastaction.errors import ModelError, StepError
from leastaction.integrators import (
    Integrator,
    IntegratorName,
    RungeKutta4,
    Status,
    VariationalMethod,
    as_integrator,
    point_to_integrator,
)
from leastaction.kernels import explicit, variational
from leastaction.kernels.layout import SCREW
from leastaction.kernels.record import EXTREMES, LOOK, Record
from leastaction.kernels.rescue import run_rescued
from leastaction.model import Model
from leastaction.model.unhonoured import DAMPING, accepted, tell, warn_once
from leastaction.peers import SVI
from leastaction.progress import Interrupts, Progress

Array = np.ndarray


class Simulator:
    """A simulation that is advanced one call at a time, with the same step as `simulate`.

    Parameters
    ----------
    model : the system
    q : (nq,) initial configuration, rad, m, unit quaternions; model.q0 if None
    v : (nv,) initial velocity, body axes for ball and free joints, rad/s, m/s; model.v0 if None
    dt : time step, s
    integrator : an integrator, or "variational", "euler" or "rk4"; Variational() unless given
    ignore : words that silence the warning of what the model has and the dynamics do not honour, as for `load`;
        "damping" silences that of damping which the step cannot resolve
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
        self.model = model
        self.dt = seconds
        self.integrator = as_integrator(integrator)
        self.compiled = compile_model(model)
        self._revision = model.revision
        if isinstance(self.integrator, VariationalMethod):
            self._method = self.integrator.method(self.compiled.stiff, self.compiled.damped)
        self._desk: Any = None  # room for the methods of kernels/dense_root.py, made when first needed
        self._check_joints()
        if not isinstance(self.integrator, VariationalMethod) or self.integrator.peer:
            model._refuse_elements(f"{self.integrator!r}")
        if isinstance(self.integrator, VariationalMethod) and not self.integrator.peer:
            ahead.begin(self._method[-1])
        self._start(*model.check_state(q, v), None)
        tell(model, ignore)
        if self.compiled.damped and DAMPING not in accepted(ignore):
            doubt = unresolved_damping(model, self.q, self.dt, self.integrator)
            if doubt:
                key = DAMPING, model.revision, self.dt
                warn_once(model, key, f"{doubt}; ignore=('{DAMPING}',) silences this")

    def _check_joints(self) -> None:
        """Raise a ValueError if the model has joints that the integrator does not know."""
        unknown = np.flatnonzero(self.compiled.tree.kind != SCREW)
        if isinstance(self.integrator, SVI) and len(unknown):
            name = self.model.names[self.compiled.body_of_link[unknown[0]]]
            raise ValueError(f"la.peers.SVI() knows joints of one degree of freedom only, and body '{name}' has "
                             "another: take la.Variational()")

    def _start(self, q: Array, v: Array, p: Array | None) -> None:
        """Set the node from (q, v), or from (q, p)."""
        c = self.compiled
        self._state = c.state(q, v)
        self.extremes = np.zeros(EXTREMES)
        if p is not None:
            self._state.p[:] = p
        require_regular(self.model, c, self.prepare(variational.V if p is None else variational.P))
        self._require_finite()
        self._energy, self._momentum = self.extremes[0] + c.ground_energy, self.extremes[3:9].copy()
        self.steps = 0
        self._known = 0  # increments in the history
        self._parts = 1  # into which the last step was divided
        self.status = Status.CONVERGED
        self._pushed = False

    def _require_finite(self) -> None:
        """Raise a ValueError if energy or momentum of the start are beyond the range of numbers."""
        if np.isfinite(self.extremes).all() and np.isfinite(self._p).all():
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

    def prepare(self, given: int) -> int:
        """Set up the node by what is given of it, as variational.start does. Gives the first singular joint or −1."""
        c, state, chosen = self.compiled, self._state, self.integrator
        if isinstance(chosen, VariationalMethod) and not chosen.peer:
            nothing = np.zeros((0, c.nv)), np.zeros((0, c.tree.n, 6))
            singular = variational.run(c.system, state, None, *nothing, self.dt, 0, -1 - given, 1, 0, self._method,
                                       self.record(0, 1, 0), 0)[2]
        else:
            singular = variational.start(c.system, state, given, self.extremes)
        self._p = state.p.copy()
        return int(singular)

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
        p: Array = self._p.copy()
        return p

    @property
    def energy(self) -> float:
        """Total energy, J."""
        return float(self._energy)

    @property
    def momentum(self) -> Array:
        """(6,) total spatial momentum about the world's origin, angular then linear, world axes (a copy)."""
        return self._momentum.copy()

    def step(self, n: int = 1, tau: ArrayLike | None = None, wrench: ArrayLike | None = None) -> None:
        """Advance by n steps. Ctrl-C ends it early, after a whole step.

        Parameters
        ----------
        n : number of steps
        tau : (nv,) joint forces held over these steps, N m and N
        wrench : (nb, 6) external wrenches (moment, force) held over these steps, each in the body's frame about its
            origin, N m and N
        """
        n = whole("n", n, 0)
        if n == 0:
            return
        forces, push, end = per_step("tau", tau, (self.model.nv,), None), self.wrenches(wrench), self.steps + n
        pace = Progress(n, False)
        with Interrupts() as ctrl_c:
            while self.steps < end and not ctrl_c.asked:
                first, until = self.steps, min(self.steps + pace.chunk, end)
                self.advance(until - first, forces, push, self.record(until - first, until, first), first, until)
                pace.update(until - first)

    def wrenches(self, wrench: ArrayLike | None, steps: int | None = None) -> Array:
        """Wrenches on links (R, n, 6); zeros once, where wrenches of an earlier call have to be taken away."""
        if wrench is None:
            rows = 1 if self._pushed else 0
            self._pushed = False
            return np.zeros((rows, self.compiled.tree.n, 6))
        if isinstance(self.integrator, SVI):
            raise ValueError("la.peers.SVI() takes no external wrenches: take la.Variational(), or give joint forces")
        self._pushed = True
        given = per_step("wrench", wrench, (self.model.nb, 6), steps)
        return np.ascontiguousarray(link_wrenches(self.model, given))

    def record(self, steps: int, every: int, first: int, before: int = 0) -> Record:
        """Room for what these steps leave behind, and for so many nodes before them."""
        c, kept = self.compiled, before + (first + steps) // every - first // every
        return Record(
            np.empty((kept, c.nq)), np.empty((kept, c.nv)), np.empty((kept, c.nv)), np.empty(kept), np.empty((kept, 6)),
            np.zeros(steps, dtype=np.int64), np.zeros(steps), np.zeros(steps, dtype=np.int64), np.ones(steps,
            dtype=np.int64), np.empty((first + steps) // LOOK - first // LOOK), self.extremes,
        )

    def advance(
        self, steps: int, tau: Array, wrench: Array, out: Record, first: int, every: int, control: Any = None
    ) -> None:
        """Make steps and fill ``out``; on failure raise the StepError, the node being the last good one."""
        self._require_unchanged()
        made, blamed = self._run(steps, tau, wrench, out, first, every, control)
        while made < steps and self._rescue(made, tau, wrench, out, first, every, control):
            made += 1  # that one by other means, then on as before
            if made < steps:
                more, blamed = self._run(
                    steps - made, _rows(tau, made), _rows(wrench, made), part(out, made, first, every), first + made,
                    every, control,
                )
                made += more
        self._account(made, out, first, every)
        if made < steps:
            self._settle()
            if self.status == Status.BAD_CONTROL:
                self._ask_again(control.law)
            raise self._failure(blamed, float(out.residual[made]), self._held(tau, made, first, control),
                                _rows(wrench, made)[:1])

    def advance_stuck(self, tau: Array, wrench: Array, out: Record, first: int) -> None:
        """Make the one step for which the plain search is known to fail, and fill ``out``, as `advance`."""
        if self._rescue(0, tau, wrench, out, first, 1, None):
            self._account(1, out, first, 1)
        else:
            self.advance(1, tau, wrench, out, first, 1)  # which says why

    def _account(self, made: int, out: Record, first: int, every: int) -> None:
        """Take note of steps that the kernels have made."""
        kept = (first + made) // every - first // every
        out.energy[:kept] += self.compiled.ground_energy
        out.looks[: (first + made) // LOOK - first // LOOK] += self.compiled.ground_energy
        if kept:
            self._p, self._energy = out.p[kept - 1].copy(), float(out.energy[kept - 1])
            self._momentum = out.momentum[kept - 1].copy()
        self.steps += made
        self.status = Status(out.status[max(min(made, len(out.status) - 1), 0)])

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

    def _snapshot(self) -> dict[str, Any]:
        """All that the next step reads, as arrays and numbers by name."""
        return {
            **self._state._asdict(), "p": self._p, "energy": self._energy, "momentum": self._momentum,
            "extremes": self.extremes, "steps": self.steps, "known": self._known, "status": int(self.status),
            "pushed": int(self._pushed), "parts": self._parts,
        }

    def _restore(self, saved: Mapping[str, Any]) -> None:
        """Take over what `_snapshot` gave, of the same model."""
        for name, array in self._state._asdict().items():
            array[...] = saved[name]
        self._p, self._momentum = np.array(saved["p"]), np.array(saved["momentum"])
        self._energy, self.extremes = float(saved["energy"]), np.array(saved["extremes"])
        self.steps, self._known, self.status = int(saved["steps"]), int(saved["known"]), Status(int(saved["status"]))
        self._pushed, self._parts = bool(saved["pushed"]), int(saved["parts"])

    def _run(
        self, steps: int, tau: Array, wrench: Array, out: Record, first: int, every: int, control: Any
    ) -> tuple[int, int]:
        """Call the compiled loop. Gives the number of steps made, and the joint to blame if some are missing."""
        c, chosen = self.compiled, self.integrator
        common = c.system, self._state, control, tau, wrench, self.dt, first, steps, every
        if isinstance(chosen, VariationalMethod) and chosen.peer:
            return self._run_peer(chosen, common, out)
        if isinstance(chosen, VariationalMethod):
            given = (*common, self._known, self._method, out)
            where = ahead.search_address(self._method[-1], variational.run, *given)
            made, self._known, blamed = variational.run(*given, where)
            self._parts = 1 if made else self._parts
            return made, blamed
        method = explicit.RUNGE_KUTTA_4 if isinstance(chosen, RungeKutta4) else explicit.SEMI_IMPLICIT_EULER
        made, blamed = explicit.run_explicit(*common, method, out)
        return made, blamed

    def _run_peer(self, chosen: VariationalMethod, common: tuple[Any, ...], out: Record) -> tuple[int, int]:
        """Call the compiled loop of the methods that the paper compares itself with."""
        from leastaction.kernels.peers import dense, dense_root  # few runs need them

        c, method = self.compiled, self._method
        if self._desk is None:
            self._desk = dense_root.desk_of(c.tree.parent, c.nv, c.workspace(), chosen.residual, method[-1].method)
        made, self._known, blamed = dense.run_dense(*common, self._known, method, chosen.residual, self._desk, out)
        return made, blamed

    def _rescue(
        self, made: int, tau: Array, wrench: Array, out: Record, first: int, every: int, control: Any
    ) -> bool:
        """Make the step at which the plain search failed, if that is allowed and possible."""
        c = self.compiled
        allowed = isinstance(self.integrator, VariationalMethod) and self._method[-1].rescue
        if not allowed or out.status[made] == Status.BAD_CONTROL:
            return False
        held = self._held(tau, made, first, control)
        if control is not None and len(held) != c.nv:
            out.status[made] = Status.BAD_CONTROL
            return False
        stages, _, _, settings = self._method
        self._known = 0
        # A step that follows one which had to be divided is likely to need nearly as many parts
        begin = max(self._parts // 2, 1)
        rescued = bool(run_rescued(
            c.system, self._state, held, _rows(wrench, made)[:1], self.dt, stages,
            settings, begin, first + made, (first + made + 1) % every == 0, part(out, made, first, every),
        ))
        self._parts = int(out.substeps[made]) if rescued else 1
        return rescued

    def _held(self, tau: Array, made: int, first: int, control: Any) -> Array:
        """Joint forces (nv,) of the step after ``made`` of these, its start being the node; empty if there are none."""
        if control is not None:
            force: Array = control((first + made) * self.dt, self.q, self.v)
            return force
        return _rows(tau, made)[:1].reshape(-1)

    def forces_by(self, law: Any) -> Array:
        """Joint forces (1, nv) by a control law at this node, as `per_step`; it gets copies of the state."""
        return returned("control", law(self.t, self.q, self.v), (self.model.nv,))

    def control_failure(self, hint: str = "") -> StepError:
        """Return the StepError of a control that failed at this node."""
        self.status = Status.BAD_CONTROL
        return StepError(self.status.meaning, self.steps, self.t, np.nan, "", self.q, self.v, self.p, hint)

    def blame_control(self, error: Exception) -> Exception:
        """Add to what a control raised when that was; the StepError that it is raised from has the last good state."""
        error.add_note(f"raised by the control at step {self.steps}, t = {self.t:.6g} s; the last good state is in q, "
                       "v and p of the __cause__ of this exception")
        return error

    def _ask_again(self, law: Any) -> None:
        """Call a law that failed inside the compiled loop from Python, to raise what it raises."""
        try:
            self.forces_by(law)
        except Exception as error:
            raise self.blame_control(error) from self.control_failure()
        raise self.control_failure("It does not fail when it is called again at the same t, q and v: does it depend on "
                                   "anything else?")

    def _settle(self) -> None:
        """Know the last good node after a step that failed: the kernels leave its momentum in the state."""
        self._p = self._state.p.copy()
        with suppress(ValueError):  # beyond the range of numbers, which was noticed a few steps later
            self._energy, self._momentum = energy(self.model, self.q, self.v), momentum(self.model, self.q, self.v)

    def _failure(self, blamed: int, residual: float, tau: Array, wrench: Array) -> StepError:
        joint = self.model.names[self.compiled.body_of_link[blamed]]
        hint = hints.forced(self.model, self.compiled, self.q, self.dt, tau, wrench.reshape(-1, 6))
        return StepError(self.status.meaning, self.steps, self.t, residual, joint, self.q, self.v, self.p, hint)


def unresolved_damping(model: Model, q: Array, dt: float, integrator: Integrator) -> str:
    """Name the joint whose damping a step from q (nq,) cannot resolve, and a dt, s, that does; empty if there is none.

    Each product with M⁻¹ is the start of a simulation at a momentum, which is compiled for every run anyway.
    """
    sim = Simulator(model, q, np.zeros(model.nv), dt=dt, integrator=integrator, ignore=DAMPING)

    def solve(p: Array) -> Array:
        sim._state.p[:] = p
        sim.prepare(variational.P)
        return sim.v

    longest = float(np.abs(sim._method[0]).max()) if isinstance(integrator, VariationalMethod) else 1.0
    return unresolved(model, dt, longest, solve) if sim.compiled.damped else ""


def widen(extremes: Array, energy: Array, momentum: Array) -> None:
    """Count kept nodes among the extremes (16,): their energy (K,), without that of the ground, and momentum (K, 6).

    Of several runs at once, all three have one more axis, the last.
    """
    if len(energy):
        extremes[0] = np.minimum(extremes[0], energy.min(axis=0))
        extremes[1] = np.maximum(extremes[1], energy.max(axis=0))
        extremes[3:9] = np.minimum(extremes[3:9], momentum.min(axis=0))
        extremes[9:15] = np.maximum(extremes[9:15], momentum.max(axis=0))


def part(out: Record, made: int, first: int, every: int) -> Record:
    """The rest of a record, after ``made`` of its steps."""
    nodes = slice((first + made) // every - first // every, None)
    steps = slice(made, None)
    return Record(
        out.q[nodes], out.v[nodes], out.p[nodes], out.energy[nodes], out.momentum[nodes],
        out.iterations[steps], out.residual[steps], out.status[steps], out.substeps[steps],
        out.looks[(first + made) // LOOK - first // LOOK :], out.extremes,
    )


def _rows(forces: Array, made: int) -> Array:
    """What is left of forces (R, ...) after ``made`` steps; the same if they are held."""
    return forces[made:] if len(forces) > 1 else forces


def per_step(name: str, value: ArrayLike | None, shape: tuple[int, ...], steps: int | None) -> Array:
    """Forces as (R, *shape): R = 0 for none, 1 if held, or the number of steps."""
    if value is None:
        return np.zeros((0, *shape))
    array = real_array(value, name)
    if array.ndim == 0 and shape == (1,):
        array = array.reshape(1)
    if array.shape == shape:
        array = array[None]
    elif steps is None or array.shape != (steps, *shape):
        options = f"{shape}" if steps is None else f"{shape} or {(steps, *shape)}"
        raise ValueError(f"{name} must have shape {options}, not {array.shape}")
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0][0])
        raise ValueError(f"{name} has entries that are not finite, the first in row {row}")
    return array


def returned(name: str, value: object, shape: tuple[int, ...]) -> Array:
    """What the function that was given for this argument returned, as `per_step`; None is no force, but a fault."""
    name = f"what {name} returns"
    return per_step(name, real_array(value, name), shape, None)


@point_to_integrator
def variational_step(
    model: Model, q0: ArrayLike, p0: ArrayLike, h: float, integrator: Integrator | IntegratorName | None = None
) -> tuple[Array, Array]:
    """The bare map of one variational step, without forces other than the model's own.

    Parameters
    ----------
    q0 : (nq,) configuration, rad, m, unit quaternions
    p0 : (nv,) momentum conjugate to v, kg m²/s, kg m/s
    h : time step, s; negative steps back, and undoes a step of +h
    integrator : Variational(...), or another integrator to compare it with; Variational() unless given

    Returns
    -------
    q1 : (nq,) configuration
    p1 : (nv,) momentum
    """
    step = finite(h)
    if not step:
        raise ValueError(f"h must be a finite number other than zero, not {shown(h)}")
    p = vector(model, p0, "p0")
    sim = Simulator(model, q0, None, dt=abs(step), integrator=integrator, ignore=DAMPING)
    sim.dt = step
    sim._start(sim.q, sim.v, p)
    sim.step()
    return sim.q, sim.p
