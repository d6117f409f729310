"""Up to four runs of one model side by side, one in each lane of SIMD (kernels/lanes.py)."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import NamedTuple

import numpy as np

from leastaction.compiled import compile_model, zeros
from leastaction.errors import StepError
from leastaction.files.statistics import Statistics, step_room
from leastaction.integrators import Integrator
from leastaction.kernels import layout, methods
from leastaction.kernels.layout import CARRIED, LANES, LINK, READY, Clock, Forces, V
from leastaction.kernels.loop import run_lanes
from leastaction.kernels.machine import memory
from leastaction.kernels.machine.simd import SIMD
from leastaction.kernels.record import EXTREMES, LOOK, Record, by_name
from leastaction.model import Model, losses
from leastaction.model.unhonoured import KNOWN
from leastaction.simulation.inputs import driven
from leastaction.simulation.judgement import EnergyWatch
from leastaction.simulation.progress import Progress
from leastaction.simulation.run import NODE, STEP, Run, trajectory_of, widen
from leastaction.simulation.simulator import Simulator
from leastaction.trajectory import Control, Trajectory

Array = np.ndarray
_WIDTH = memory.BLOCK // LANES
_AT_NODE = slice(LINK.rows("wrench").start)  # fields that lanes have, too: all but those of the recursions
_MOMENTA = LINK.rows("momentum", "joint_momentum6")  # at a node …
_NODE = LINK.rows("node_momentum", "node_joint_momentum6")  # … and at the one before
_DAMPING = ("damping", "armature", "late", "lookaheads", "servo", "servo_lookahead", "servo_late", "servo_inertia",
            "target", "rate", "asked", "exerted")  # what the steps change of a joint's own


class Member(NamedTuple):
    """One of many runs: its number, and what may differ between them, as given to `simulate`; q, v are checked."""

    number: int
    model: Model
    q: Array
    v: Array
    control: Control
    command: Control = None


@contextmanager
def naming(number: int) -> Iterator[None]:
    """Add the number of the member to an error about its arguments."""
    try:
        yield
    except ValueError as error:
        raise type(error)(f"member {number}: {error}") from None


def suits(integrator: Integrator, one: Member, wrench: Control) -> bool:
    """Tell whether a run can go in a lane: if the integrator can, without loops, and if no function computes forces.

    There must be neither limits nor dry friction: their events come to each run at another time.
    """
    c = compile_model(one.model)
    return (SIMD and integrator.in_lanes and c.rows is None and len(c.limits) == 0
            and not any(map(callable, (one.control, wrench, one.command))))


def stacked(count: int, like: Run, columns: int) -> Record:
    """Allocate the record of ``count`` runs like this one: the arrays of `Record`, with a first axis of members.

    The ledger has so many columns.
    """
    model, nodes = like.sim.model, 1 + like.steps // like.every  # the start is the first node
    try:
        q, v, p, momentum, ledger, impulse = (np.empty((count, nodes, size)) for size in (
            model.nq, model.nv, model.nv, 6, columns, losses.impulses(model)))
        rows = step_room(count, -(-like.steps // like.every))
    except MemoryError:
        raise MemoryError(f"{nodes:,} nodes of {count} runs do not fit in memory: keep fewer, with a larger "
                          "record_every, or give out, a file, to simulate") from None
    return Record(q=q, v=v, p=p, energy=np.empty((count, nodes)), momentum=momentum, ledger=ledger, impulse=impulse,
                  **dict(zip(STEP, rows, strict=True)), looks=np.zeros((count, like.steps // LOOK)))


def rows_of(record: Record, which: int | slice) -> Record:
    """One member of a stacked record, or several: views."""
    return Record._make(array[which] for array in record)


def run_together(members: list[Member], like: Run, record: Record, stop: Event) -> list[Trajectory]:
    """Make up to four runs, which share everything with ``like`` but what a `Member` has.

    They are written to their rows of the stacked record of all members. A KeyboardInterrupt ends them when ``stop`` is
    set.
    """
    team = _Team(members, like, record)
    team.make(stop)
    return team.trajectories()


def _bodies(sim: Simulator) -> Array:
    """The memory of a single simulation as (blocks, 4, rows), a view: every link by itself."""
    memory: Array = sim._engine.state.w[: sim._engine.compiled.tree.end].reshape(-1, _WIDTH, LANES).swapaxes(1, 2)
    return memory


class _Team:
    """The memory of a group. If a step of a lane fails, a simulator makes that step."""

    def __init__(self, members: list[Member], like: Run, record: Record) -> None:
        self.members, self.like, self.record, count = members, like, record, len(members)
        self.failures: list[StepError | None] = [None] * count
        self.alone: dict[int, Simulator] = {}  # of lanes with a step that failed
        self.compiled = [compile_model(member.model) for member in members]
        self.steps, self.every, self.dt, c = like.steps, like.every, like.sim.dt, self.compiled[0]
        n = c.tree.n
        self.tree = memory.addressed(c.tree, lanes=True)
        self.packed = memory.packed(self.tree)
        self.method = methods.known(like.sim.integrator.lane_method(c))
        given = [self._forces(member) for member in members]
        self.taus, self.commands = [tau for tau, _ in given], [asked for _, asked in given]
        four = slice(members[0].number, members[0].number + LANES)
        # The kernel writes to four rows that follow each other. Where the members have no such rows, spare lanes
        # must not write over those of others: such a team has rows of its own, which are copied at the end.
        self.aside = [member.number for member in members] != list(range(four.start, four.stop))
        self.ledger = record.ledger.shape[-1]
        out = stacked(LANES, like, self.ledger) if self.aside else rows_of(record, four)
        if self.every > 1:  # the kernel writes how every step went, which is summed up at the end
            out = out._replace(**dict(zip(STEP, step_room(LANES, self.steps), strict=True)))
        self.out = out
        self.room = zeros(sum(memory.sizes(self.tree, LANES)))
        self.group = memory.parts(self.room, self.tree, LANES)
        self.w = self.group.w[: (n + 1) * memory.BLOCK].reshape(n + 1, _WIDTH, LANES)
        for name in ("base_rotation", "rotation", "dR", "joint_rotation", "free"):
            self.w[:, LINK.rows(name).start] = 1.0
        for lane in range(LANES):
            b = min(lane, count - 1)  # spare lanes repeat the last member
            self.w[:n, : layout.CONSTANTS, lane] = self.compiled[b].constants
            self.group.gravity[lane::LANES] = self.compiled[b].gravity
            self.group.q[lane::LANES], self.group.v[lane::LANES] = members[b].q, members[b].v
        self.group.alive[:count], self.group.forced[:count] = 1.0, [len(tau) > 0 for tau in self.taus]
        self.forces, self.asked = _side_by_side(self.taus, self.tree.nv), _side_by_side(
            self.commands, self.commands[0].shape[1])
        self._start()

    def _forces(self, member: Member) -> tuple[Array, Array]:
        """Joint forces (R, nv) of one member, and what is asked of its servos (R, 2 ns)."""
        with naming(member.number):
            tau, commands = (self.like.per_step(name, given) for name, given in (
                ("control", member.control), ("command", member.command)))
            return driven(member.model, tau, commands)

    def _start(self) -> None:
        """Set up the first node, and record it."""
        group, out = self.group, self.out
        wrong = self._call(0, 0, V)[1] >= 0 or not np.isfinite(group.extremes).all()
        if wrong or (len(self.method.stages) > 1 and self.w[:, LINK.rows("lookaheads")].any()):
            for lane, member in enumerate(self.members):
                with naming(member.number):
                    self._simulator(lane)  # which says what is wrong with it
        for kept, row in ((out.q, group.q), (out.v, group.v), (out.p, group.p), (out.momentum, group.total)):
            kept[:, 0] = row.reshape(-1, LANES).T
        out.energy[:, 0], out.ledger[:, 0], out.impulse[:, 0] = group.energy, 0.0, 0.0

    def _simulator(self, lane: int) -> Simulator:
        """Return the simulator of a member; the first call makes it, at the member's start."""
        if lane not in self.alone:
            one = self.members[lane]
            self.alone[lane] = Simulator(one.model, one.q, one.v, dt=self.dt, integrator=self.like.sim.integrator,
                                         ignore=KNOWN)
            self.alone[lane]._engine.ledger = self.ledger
        return self.alone[lane]

    def _record(self, lane: int) -> Record:
        """The record of one lane; until the end its energies lack that of the ground."""
        return rows_of(self.out, lane)

    def _call(self, first: int, steps: int, given: int = READY) -> tuple[int, int]:
        """Make steps, or set up the node; return how many steps all lanes made, and a singular joint or −1."""
        system = self.compiled[0].system._replace(tree=self.packed)
        forces = Forces(None, np.zeros(0), np.zeros(0), self.forces, self.like.wrenches, self.asked)
        step = self.dt if given == READY else self.dt * self.like.sim._engine.longest
        clock = Clock(step, first, steps, self.every, 0, 1, given)
        made: tuple[int, int] = run_lanes(self.method, system, self.room, forces, clock, self.out)
        return made

    def make(self, stop: Event) -> None:
        """Make all steps; a lane ends at a step that cannot be made, and all end when ``stop`` is set."""
        made, group, pace = 0, self.group, Progress(self.steps, False)
        while made < self.steps and group.alive.any():
            if stop.is_set():
                raise KeyboardInterrupt
            before, asked = made, min(pace.chunk, self.steps - made)
            made += self._call(made, asked)[0]
            if made < before + asked:  # some lane failed at the next step
                for lane in range(LANES):
                    if group.alive[lane] and self.out.status[lane, made] < 0:
                        self._make_alone(lane, made)
                if not group.alive.all():
                    self._repeat_a_living_lane()
                made += 1
            pace.update(made - before)
        out, extremes = self.out, by_name(group.extremes.reshape(EXTREMES, LANES))
        widen(extremes, out.energy.T, np.moveaxis(out.momentum, 0, -1))

    def _make_alone(self, lane: int, k: int) -> None:
        """Make step k of one lane by its simulator, from the node before."""
        sim, out, like = self._simulator(lane), self._record(lane), self.like
        self._leave(lane, sim, k)
        node = sim._engine.record(1, 1, k)
        try:
            tau, push, asked = (like.rows(x, k, 1) for x in (self.taus[lane], like.wrenches, self.commands[lane]))
            sim._advance_stuck(sim._engine.forces(tau, asked, push), node, k)
        except StepError as error:
            self.failures[lane] = error
            self.group.alive[lane] = 0.0
            return
        node.energy[0] -= sim._engine.compiled.ground_energy
        for name in STEP:
            getattr(out, name)[k] = getattr(node, name)[0]
        if (k + 1) % self.every == 0:
            for name in NODE:
                getattr(out, name)[(k + 1) // self.every] = getattr(node, name)[0]
        if (k + 1) % LOOK == 0:
            out.looks[(k + 1) // LOOK - 1] = node.looks[0] - sim._engine.compiled.ground_energy
        self._enter(lane, sim)

    def _enter(self, lane: int, sim: Simulator) -> None:
        """Copy the node of a simulator into a lane."""
        group, state = self.group, sim._engine.state
        self.w[:, _AT_NODE, lane] = _bodies(sim).reshape(-1, _WIDTH)[: len(self.w), _AT_NODE]
        for name in ("q", "v", "low", "history", "known", "extremes", "twice", "energy", "ledger"):
            getattr(group, name)[lane::LANES] = getattr(state, name)
        group.factored[:] = 0.0  # the factors of this lane are not here

    def _leave(self, lane: int, sim: Simulator, k: int) -> None:
        """Copy the node before step k from a lane to a simulator."""
        group, state = self.group, sim._engine.state
        state.q[:], state.low[:] = group.saved_q[lane::LANES], group.saved_low[lane::LANES]
        links = _bodies(sim)
        rows = np.zeros((links.shape[0] * LANES, _NODE.stop - _NODE.start))
        rows[: len(self.w)] = self.w[:, _NODE, lane]
        links[:, :, _MOMENTA] = rows.reshape(*links.shape[:2], -1)
        for name in _DAMPING:
            at = LINK.rows(name)
            numbers = np.zeros((len(rows), at.stop - at.start))
            numbers[: len(self.w)] = self.w[:, at, lane]
            links[:, :, at] = numbers.reshape(*links.shape[:2], -1)
        sim._engine.prepare(CARRIED)
        if sim.steps != k:  # the step before was a plain one
            sim._engine.parts = 1
        state.made[0], state.known[0], state.extremes[:] = k, 0.0, group.extremes[lane::LANES]
        state.ledger[:] = group.saved_ledger[lane::LANES]

    def _repeat_a_living_lane(self) -> None:
        """Copy another lane into lanes that have ended: numbers that are not finite would be slow."""
        group, alive = self.group, self.group.alive != 0
        for name in ("w", "q", "v", "low", "history", "twice", "energy", "gravity", "extremes", "known"):
            lanes = getattr(group, name).reshape(-1, LANES)
            lanes[:, ~alive] = lanes[:, [np.argmax(alive)]]

    def trajectories(self) -> list[Trajectory]:
        """Return every run."""
        return [self._trajectory(lane) for lane in range(len(self.members))]

    def _trajectory(self, lane: int) -> Trajectory:
        """Return one run, up to its last good node."""
        member, kept, like = self.members[lane], self._record(lane), self.like
        made, looks, kept = kept, kept.looks, rows_of(self.record, member.number)
        if self.aside:
            for name in NODE:
                getattr(kept, name)[:] = getattr(made, name)
        failure, ground = self.failures[lane], self.compiled[lane].ground_energy
        steps = self.steps if failure is None else self.alone[lane].steps
        statistics = Statistics(self.every)
        statistics.write(made, 0, steps, kept)
        nodes = slice(1 + steps // self.every)
        if failure is None:
            extremes = by_name(self.group.extremes[lane::LANES].copy())
        else:  # since then its lane has been a copy of another
            extremes = self.alone[lane]._engine.extremes
            widen(extremes, kept.energy[nodes], kept.momentum[nodes])
        kept.energy[nodes] += ground
        control, command = (like.given(given, like.per_step(name, given)) for name, given in (
            ("control", member.control), ("command", member.command)))
        origin = like.origin._replace(control=control, command=command, revision=member.model.revision)
        watch = EnergyWatch(kept.energy[0])
        watch.take(looks[: steps // LOOK] + ground)
        return trajectory_of(member.model, like, kept, steps, extremes, watch.looks(), ground,
                             statistics.tally(steps), failure, origin)


def _side_by_side(forces: list[Array], size: int) -> Array:
    """Forces (R, size) of every lane as (R, 4 size); a lane without has zeros."""
    rows = max(len(own) for own in forces)
    together = np.zeros((rows, size, LANES))
    for lane, own in enumerate(forces):
        if len(own):
            together[:, :, lane] = own
    return together.reshape(rows, size * LANES)
