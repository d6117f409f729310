"""Up to four runs of one model side by side, one in each lane of SIMD (kernels/lanes.py)."""

import numpy as np

from leastaction.compiled import zeros
from leastaction.errors import StepError
from leastaction.integrators import Integrator, Newton, Variational
from leastaction.kernels import layout, variational
from leastaction.kernels.guess import PAST
from leastaction.kernels.lanes import Group, run_lanes
from leastaction.kernels.lanes_root import Search
from leastaction.kernels.layout import LANES
from leastaction.kernels.record import EXTREMES, Record
from leastaction.kernels.simd import SIMD
from leastaction.run import NODE, STEP, Run
from leastaction.simulate import Memory
from leastaction.simulator import Simulator
from leastaction.trajectory import Control, Trajectory

Array = np.ndarray
_WIDTH = layout.BLOCK // LANES
_MOMENTA = slice(layout.MOMENTUM // LANES, layout.MOMENTUM // LANES + 12)  # rows of links and joints, at a node …
_NODE = slice(layout.NODE // LANES, layout.NODE // LANES + 12)  # … and at the one before


def suits(integrator: Integrator, control: Control, wrench: Control) -> bool:
    """Tell whether a run can go in a lane: by Newton's method with its own rule, and no function computes forces."""
    return (SIMD and isinstance(integrator, Variational) and isinstance(integrator.root_finder, Newton)
            and integrator.root_finder.criterion == "scaled" and integrator.guess != "dynamics"
            and not callable(control) and not callable(wrench))


def run_together(runs: list[Run]) -> list[Trajectory]:
    """Make up to four runs of one model, of the same length and method, all at their start."""
    team = _Team(runs)
    team.make()
    return team.trajectories()


def _bodies(w: Array) -> Array:
    """The memory of a single simulation as (blocks, 4, rows), a view: every link by itself."""
    return w.reshape(-1, _WIDTH, LANES).swapaxes(1, 2)


def _search(size: int) -> Search:
    """Room for the root finding of a group whose memory has this size."""
    residual, best, before, going, wanted = zeros(5 * LANES).reshape(5, LANES)
    stalled, status, outcome, spent = np.zeros((4, LANES), dtype=np.int64)
    return Search(residual, best, before, stalled, status, outcome, spent, going, wanted, zeros(size))


class _Team:
    """The memory of a group, and the simulators to which its lanes fall back."""

    def __init__(self, runs: list[Run]) -> None:
        self.runs: list[Run] = runs
        self.failures: list[StepError | None] = [None] * len(runs)
        lanes = [runs[min(lane, len(runs) - 1)] for lane in range(LANES)]  # spare ones repeat the last
        first = runs[0]
        self.steps, self.every, self.dt, c = first.steps, first.every, first.sim.dt, first.sim.compiled
        self.compiled, n, nv = c, c.tree.n, c.nv
        self.tree = c.tree._replace(end=n * layout.BLOCK)  # loops over blocks leave out the ground, which is after
        chosen = first.sim.integrator
        assert isinstance(chosen, Variational)
        self.method = chosen.method(c.stiff, c.damped)
        self.forces = self._side_by_side([run.tau for run in lanes])
        nodes = 1 + self.steps // self.every  # the start is the first
        q, v, p, energy, momentum = (np.empty((LANES, nodes, size)) for size in (c.nq, nv, nv, 1, 6))
        count = np.zeros((3, LANES, self.steps), dtype=np.int64)
        count[2] = 1  # substeps
        self.out = Record(q, v, p, energy, momentum, count[0], np.zeros((LANES, self.steps)), count[1], count[2], None)
        self.memories = [Memory(run.sim, self._record(lane), self.every) for lane, run in enumerate(runs)]
        size = (n + 1) * _WIDTH
        sizes = {"w": size, "q": c.nq, "v": nv, "low": c.nq, "saved_q": c.nq, "saved_low": c.nq, "history": PAST * nv,
                 "twice": 1, "energy": 1, "p": nv, "momentum": 6, "extremes": EXTREMES, "gravity": 3, "motion": nv,
                 "weights": (PAST + 1) * len(self.method[0]), "aside": EXTREMES}
        room, begin, arrays = zeros(LANES * sum(sizes.values())), 0, {}
        for name, numbers in sizes.items():
            arrays[name] = room[begin : begin + LANES * numbers]
            begin += LANES * numbers
        self.group = Group(
            **arrays, known=np.zeros(LANES, dtype=np.int64), search=_search(LANES * size),
            forced=np.array([len(run.tau) > 0 for run in lanes], dtype=np.int64),
            alive=np.array([lane < len(runs) for lane in range(LANES)], dtype=np.int64),
        )
        self.w = self.group.w.reshape(n + 1, _WIDTH, LANES)
        for lane, run in enumerate(lanes):
            self.w[:, :, lane] = _bodies(run.sim._state.w).reshape(-1, _WIDTH)[: n + 1]
            self.group.gravity[lane::LANES] = run.sim.compiled.gravity
            self._enter(lane, run.sim)
        self._call(-1)

    def _side_by_side(self, forces: list[Array]) -> Array:
        """Joint forces (R, nv) of every lane as (R, 4 nv); a lane without has zeros."""
        rows, nv = max(len(tau) for tau in forces), self.compiled.nv
        together = np.zeros((rows, nv, LANES))
        for lane, tau in enumerate(forces):
            if len(tau):
                together[:, :, lane] = tau
        return together.reshape(rows, nv * LANES)

    def _record(self, lane: int) -> Record:
        """What is written of one lane."""
        out = self.out
        return Record(out.q[lane], out.v[lane], out.p[lane], out.energy[lane, :, 0], out.momentum[lane],
                      out.iterations[lane], out.residual[lane], out.status[lane], out.substeps[lane], None)

    def _call(self, first: int) -> int:
        return run_lanes(self.tree, self.group, self.compiled.rest, self.forces, self.runs[0].wrenches, self.dt, first,
                         self.steps, self.every, self.method, self.out)

    def make(self) -> None:
        """Make all steps, or those of every lane up to one that cannot be made."""
        made, group = 0, self.group
        while made < self.steps and group.alive.any():
            begun, made = made, self._call(made)
            fallen = np.flatnonzero(group.alive & (self.out.status[:, made - 1] < 0))
            for lane, run in enumerate(self.runs):
                kept = slice(1 + begun // self.every, 1 + (made - (lane in fallen)) // self.every)
                self.out.energy[lane, kept] += run.sim.compiled.ground_energy
            if len(fallen):
                others = np.delete(np.arange(LANES), fallen)
                before = self.w[:, :, others]
                for lane in fallen.tolist():
                    self._make_alone(lane, made - 1)
                self._repeat_a_living_lane()
                self._call(-1)
                self.w[:, :, others] = before  # the same, but for the last bit where the compiler chose otherwise
        for lane, run in enumerate(self.runs):
            if group.alive[lane]:
                run.sim.steps, run.sim.extremes = self.steps, group.extremes[lane::LANES].copy()
            nodes, out = slice(1, 1 + run.sim.steps // self.every), self._record(lane)
            run.sim.widen(out.energy[nodes], out.momentum[nodes])

    def _make_alone(self, lane: int, k: int) -> None:
        """Make step k of one lane by its simulator, from the node before."""
        run = self.runs[lane]
        sim, out = run.sim, self._record(lane)
        self._leave(lane, sim, k)
        node = sim.record(1, 1, k)
        try:
            sim.advance_stuck(run.rows(run.tau, k, 1), run.rows(run.wrenches, k, 1), node, k)
        except StepError as error:
            self.failures[lane] = error
            self.group.alive[lane] = 0
            return
        for name in STEP:
            getattr(out, name)[k] = getattr(node, name)[0]
        if (k + 1) % self.every == 0:
            for name in NODE:
                getattr(out, name)[(k + 1) // self.every] = getattr(node, name)[0]
        self.w[:, _MOMENTA, lane] = _bodies(sim._state.w).reshape(-1, _WIDTH)[: len(self.w), _MOMENTA]
        self._enter(lane, sim)

    def _enter(self, lane: int, sim: Simulator) -> None:
        """Take over the node of a simulator; its momenta are there."""
        group, state = self.group, sim._state
        for name in ("q", "v", "low", "history"):
            getattr(group, name)[lane::LANES] = getattr(state, name)
        group.known[lane], group.extremes[lane::LANES] = sim._known, sim.extremes
        group.twice[lane], group.energy[lane] = state.v @ sim.p, sim.energy - sim.compiled.ground_energy

    def _leave(self, lane: int, sim: Simulator, k: int) -> None:
        """Give the node before step k to a simulator."""
        group, state = self.group, sim._state
        state.q[:], state.low[:] = group.saved_q[lane::LANES], group.saved_low[lane::LANES]
        links = _bodies(state.w)
        rows = np.zeros((links.shape[0] * LANES, 12))
        rows[: len(self.w)] = self.w[:, _NODE, lane]
        links[:, :, _MOMENTA] = rows.reshape(*links.shape[:2], 12)
        sim.prepare(variational.CARRIED)
        sim.steps, sim._known, sim.extremes = k, 0, group.extremes[lane::LANES].copy()

    def _repeat_a_living_lane(self) -> None:
        """Let lanes that cannot go on do what another does: numbers that are not finite would be slow."""
        group, alive = self.group, self.group.alive != 0
        for name in ("w", "q", "v", "low", "history", "twice", "energy", "gravity", "extremes", "known"):
            lanes = getattr(group, name).reshape(-1, LANES)
            lanes[:, ~alive] = lanes[:, [np.argmax(alive)]]

    def trajectories(self) -> list[Trajectory]:
        """Return what was made of every run."""
        return [memory.trajectory(failure, run.origin)
                for memory, failure, run in zip(self.memories, self.failures, self.runs, strict=True)]
