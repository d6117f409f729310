"""The memory of one simulation, and calls of the compiled loop on it: to set up a node, and to make steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from leastaction.compiled import compile_model
from leastaction.constraint_plan import Plan
from leastaction.dynamics import at_centre, require_regular
from leastaction.integrators import Integrator, Status
from leastaction.kernels import methods
from leastaction.kernels.constraints.closed import TOLD
from leastaction.kernels.constraints.projection import STEPPED
from leastaction.kernels.constraints.step import LATEST, set_up
from leastaction.kernels.layout import CARRIED, SCRATCH, Clock, Forces, P, V
from leastaction.kernels.loop import run
from leastaction.kernels.machine.jit import bound
from leastaction.kernels.record import LOOK, Extremes, Record, by_name
from leastaction.model import Model, losses
from leastaction.simulation import ahead, limits
from leastaction.simulation.damping import refuse_composition, refuse_dampers

Array = np.ndarray
NEVER = 2**62  # nodes are kept


class Engine:
    """The memory of one simulation, its method, and the compiled loop.

    Parameters
    ----------
    model : the system
    dt : time step, s; negative for steps back
    integrator : that makes the steps

    Attributes
    ----------
    state : the parts of the memory (kernels/layout.py), with the node that the next step starts from
    method : what the loop is given; ``base`` is the same without limits and dry friction
    longest : the longest stage of a step, in parts of dt; 0 for explicit methods, which do not see damping ahead
    ledger, impulses : columns that records have of either
    nothing : forces, none of which acts
    one : record of a single step of which nothing is kept
    status : what became of the last step
    parts : into which the last step was divided
    pushed : whether external wrenches of an earlier call are in the memory
    asked : (nv + nu,) control and command of the last tick of a controller
    redundant : number of redundant rows of the loops at the start
    events : where that number changed, see kernels/constraints/step.py; empty without rows
    planned : (1 + nq,) 1 if the order of the rows is not that of the model, then the configuration at which it was
        planned; empty without rows
    """

    def __init__(self, model: Model, dt: float, integrator: Integrator) -> None:
        c = compile_model(model)
        self.model, self.dt, self.integrator, self.compiled = model, dt, integrator, c
        self.revision = model.revision
        integrator.check(model, c)
        limits.require_known(model, c, integrator)
        self.ledger, self.impulses = integrator.ledger(model, False), losses.impulses(model)
        self._scratch = limits.scratch(c)
        self.base: Any = methods.known(integrator.method(c))
        self.method = limits.around(self.base, c, self._scratch)
        self.settings: Any = getattr(self.base, "settings", None)
        self.memory: Array = getattr(self.base, "memory", np.zeros(0))  # what the method itself carries on
        self.events: Array = getattr(self.base, "events", np.zeros(0, dtype=np.int64))
        self.planned = np.zeros(0 if c.rows is None else 1 + c.nq)
        self.longest = float(np.abs(self.base.stages).max()) if hasattr(self.base, "stages") else 0.0
        self._ready = not hasattr(self.base, "search")  # else the address of the search is missing
        # The machine code of the loop for the record of one step, and for the record that was last written to
        self._loop_of_one: Any = None
        self._again: tuple[Record | None, Any] = None, None
        if not self._ready:
            ahead.begin(self.base.settings)
        self.nothing = Forces(None, np.zeros(0), np.zeros(0), np.zeros((0, c.nv)), np.zeros((0, c.tree.n, 6)),
                              np.zeros((0, 2 * len(model.drives.servos.q))))
        self.redundant = 0

    def start(self, q: Array, v: Array, p: Array | None = None) -> None:
        """Set the node from (q, v), or from (q, p)."""
        self._room, self.state = self.compiled.room(q, v)
        self.nothing = self.nothing._replace(q=self.state.q, v=self.state.v)
        self.memory.fill(0.0)
        self.one = self.record(1, NEVER, LOOK - 1)
        if p is not None:
            self.state.p[:] = p
        require_regular(self.model, self.compiled, self.prepare(V if p is None else P))
        self.events.fill(0)
        if self.events.size:
            self.events[LATEST] = self._told[STEPPED]
        if hasattr(self.base, "stages") and len(self.base.stages) > 1:
            composed = self.dt, getattr(self.integrator, "order", 2), self.longest
            if self.compiled.damped:
                refuse_composition(self.model, self.compiled, self.state.w, *composed)
            refuse_dampers(self.model, self.compiled, self.state.q, *composed)
        self._require_finite()
        self.parts = 1
        self.status = int(Status.CONVERGED)
        self.pushed = False
        self.asked = np.zeros(self.model.nv + self.model.nu)

    def _require_finite(self) -> None:
        """Raise a ValueError if energy or momentum of the start are beyond the range of numbers."""
        if np.isfinite(self.state.extremes).all() and np.isfinite(self.state.p).all():
            return
        centre = at_centre(self.model, self.state.q)
        if centre:
            raise ValueError(f"the initial state cannot be: {centre}")
        layout, (q, v) = self.model.layout, (self.state.q, self.state.v)
        name, values, starts = max((("q", q, layout.q_start), ("v", v, layout.v_start)), key=lambda x: abs(x[1]).max())
        worst = int(np.argmax(abs(values)))
        body = self.model.names[int(np.searchsorted(starts, worst, side="right")) - 1]
        raise ValueError(f"the energy or the momentum of the initial state is beyond the range of numbers: {name} is "
                         f"{values[worst]:.3g} at body '{body}'")

    @property
    def extremes(self) -> Extremes:
        """Extremes of the invariants so far, by name, without the energy of what is fixed to the ground."""
        named: Extremes = by_name(self.state.extremes)
        return named

    @property
    def steps(self) -> int:
        """Number of steps made."""
        return int(self.state.made.item())

    @property
    def t(self) -> float:
        """Time, s."""
        return self.steps * self.dt

    def prepare(self, given: int) -> int:
        """Set up the node by what is given of it (kernels/layout.py). Gives the first singular joint or −1."""
        clock = Clock(self.dt * self.longest, 0, 0, 1, 0, 0, given)
        singular = int(run(self.method, self.compiled.system, self._room, self.nothing, clock, self.one)[1])
        if self.compiled.rows is not None and singular < 0:
            node = self._room.copy()
            self.redundant = self._project(given)
            if self.redundant < 0 and self.plan_again():
                self.redundant = self._project(given)
            if given == V:  # it is on the manifold: a run that is made again from its first node has the same bits
                self._room[:] = node
        return singular

    def _project(self, given: int) -> int:
        """Put the node on the manifold of closed loops. Gives the number of redundant rows, or −1 if that failed."""
        redundant = int(set_up(self.base.closed, self.compiled.system, self._room, given == CARRIED))
        return redundant if redundant < 0 else redundant + self.compiled.idle

    @property
    def _told(self) -> Array:
        """What the kernels know of the rows (kernels/constraints/projection.py)."""
        closed = self.base.closed
        told: Array = closed.x[closed.places.told :][:TOLD]
        return told

    def plan_again(self) -> bool:
        """Choose an order in which the rows can be eliminated at this node; tell whether it is another one."""
        if not self._order_rows(self.compiled.plan_at(self.state.q)):
            return False
        self.planned[0], self.planned[1:] = 1.0, self.state.q
        return True

    def _order_rows(self, plan: Plan) -> bool:
        """Eliminate the rows in the order of a plan; tell whether it is another one than before."""
        before, told = self.base.closed, self._told
        if np.array_equal(plan.ops, before.ops):
            return False
        self.base = self.base._replace(closed=plan.closed(before.rows))
        self._told[:] = told
        self.method = limits.around(self.base, self.compiled, self._scratch)
        return True

    def record(self, steps: int, every: int, first: int) -> Record:
        """Allocate the record of so many steps from number ``first`` on."""
        c, kept = self.compiled, (first + steps) // every - first // every
        return Record(
            q=np.empty((kept, c.nq)), v=np.empty((kept, c.nv)), p=np.empty((kept, c.nv)), energy=np.empty(kept),
            momentum=np.empty((kept, 6)), ledger=np.empty((kept, self.ledger)),
            impulse=np.empty((kept, self.impulses)), iterations=np.zeros(steps, dtype=np.int64),
            residual=np.zeros(steps), status=np.zeros(steps, dtype=np.int64), substeps=np.ones(steps, dtype=np.int64),
            looks=np.empty((first + steps) // LOOK - first // LOOK),
        )

    def forces(self, tau: Array, command: Array, wrench: Array, control: Any = None) -> Forces:
        """Return what pushes during a call of the loop: rows of forces, or a compiled control law."""
        return Forces(control, self.state.q, self.state.v, tau, wrench, command)

    def run(self, forces: Forces, clock: Clock, out: Record) -> tuple[int, int]:
        """Call the compiled loop. Gives the number of steps made, and the joint to blame if some are missing."""
        given = self.compiled.system, self._room, forces, clock, out
        if not self._ready:
            address = ahead.search_address(self.settings, run, self.method, *given)
            self.base, self._ready = self.base._replace(search=address), True
            self.method = limits.around(self.base, self.compiled, self._scratch)
        loop: Any = run
        if forces.control is None:
            if out is self.one:
                loop = self._loop_of_one = self._loop_of_one or bound(run, self.method, *given)
            elif out is self._again[0]:  # step after step where Python computes forces
                loop = self._again[1] or bound(run, self.method, *given)
            self._again = out, None if loop is run else loop
        made: tuple[int, int] = loop(self.method, *given)
        return made

    def run_by(self, method: Any, forces: Forces, clock: Clock, out: Record) -> bool:
        """Make steps by another method than the own one; tell whether any was made."""
        around = limits.around(methods.known(method), self.compiled, self._scratch)
        return bool(run(around, self.compiled.system, self._room, forces, clock, out)[0])

    def lasting(self) -> dict[str, Array]:
        """Return the parts of the state that outlast a call of the loop."""
        state = {name: part for name, part in self.state._asdict().items() if name not in SCRATCH and part.size}
        own = {"memory": self.memory, "planned": self.planned, "events": self.events}
        return state | {name: part for name, part in own.items() if part.size}

    def snapshot(self) -> dict[str, Any]:
        """All that the next step reads, as arrays and numbers by name."""
        return {
            **self.lasting(), "steps": self.steps, "status": self.status, "pushed": int(self.pushed),
            "parts": self.parts, "asked": self.asked,
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take over what `snapshot` gave, of the same model."""
        for name, array in self.lasting().items():
            array[...] = saved[name]
        if len(self.planned):
            c = self.compiled
            self._order_rows(c.plan_at(self.planned[1:]) if self.planned[0] else c.plan)
        if self.events.size:
            self._told[STEPPED] = self.events[LATEST]
        self.status, self.pushed = int(Status(int(saved["status"]))), bool(saved["pushed"])
        self.parts = int(saved["parts"])
        self.asked[:] = saved["asked"]
