"""Members of a batch, each with a model of its own: they are divided into teams for the lanes of SIMD, and on threads.

The kernels read some things once for all lanes: which joints have a spring or damping, where springs are relaxed. Only
members that agree in all of these form a team, so that a member's numbers never depend on its neighbours.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

from leastaction.compiled import compile_model
from leastaction.kernels.layout import LANES
from leastaction.kernels.record import Record
from leastaction.simulation.group import Member, naming, rows_of, run_together, stacked, suits
from leastaction.simulation.progress import Progress
from leastaction.simulation.run import Run
from leastaction.simulation.single import make, prepare
from leastaction.trajectory import Trajectory

Result = Trajectory | ValueError


def run_members(
    members: Sequence[Member], like: Run, options: Mapping[str, Any], *, threads: int, stop: Event,
    update: Callable[[int], None] = lambda _count: None, begun: Member | None = None, forgive: bool = False,
) -> tuple[Record, list[Result]]:
    """Simulate members that have the bodies and joints of one model, but may differ in every number of it.

    Parameters
    ----------
    members : member b has the number b
    like : a run at its start, with all that they have in common
    options : what it was prepared with, as for `prepare`, but for control and command
    threads : how many to use
    stop : set by another thread to end all runs with a KeyboardInterrupt; set here when one of them raises
    update : called with the number of members that were made
    begun : the member whose run is ``like``, so that it need not be prepared again; None if there is none
    forgive : whether to return the error of a member that cannot be started among the results, instead of raising it

    Returns
    -------
    record : stacked arrays, of which those of each run are views; after the end of a failed run they are not set
    runs : the run of each member, or the ValueError that says why it could not be started
    """
    batch = _Batch(members, like, options, stop, begun, forgive)
    runs: dict[int, Result] = {}
    threads = max(1, min(threads, len(batch.teams)))
    with ThreadPoolExecutor(threads) as pool:
        made = pool.map(batch.run, batch.teams) if threads > 1 else map(batch.run, batch.teams)  # one would only wait
        try:
            for team, results in zip(batch.teams, made, strict=True):
                runs.update(zip(team, results, strict=True))
                update(len(team))
        finally:
            if len(runs) < len(members):
                stop.set()
            pool.shutdown(cancel_futures=True)
    return batch.record, [runs[b] for b in range(len(members))]


class _Batch:
    """Members divided into teams, and the room for their results."""

    def __init__(
        self, members: Sequence[Member], like: Run, options: Mapping[str, Any], stop: Event, begun: Member | None,
        forgive: bool,
    ) -> None:
        self.members, self.like, self.stop, self.begun, self.forgive = members, like, stop, begun, forgive
        self.options: dict[str, Any] = {**options, "steps": like.steps, "duration": None}
        # All members write a ledger if one of them loses energy. Other batches may have the same ``like`` at this time
        self.ledger = max(
            (like.sim.integrator.ledger(one.model, one.control is not None) for one in
             {(id(one.model), one.control is None): one for one in members}.values()), default=like.ledger)
        self.record = stacked(len(members), like, self.ledger)
        self.pushed = len(like.wrenches) > 0
        self.structures: list[bytes | None] = [
            self._structure(one) if suits(like.sim.integrator, one, options.get("wrench")) else None
            for one in members]
        alike: dict[bytes, list[int]] = defaultdict(list)
        self.teams: list[list[int]] = []
        for b, structure in enumerate(self.structures):
            if structure is None:
                self.teams.append([b])
            else:
                alike[structure].append(b)
        for group in alike.values():
            self.teams += [group[k : k + LANES] for k in range(0, len(group), LANES)]

    def _structure(self, one: Member) -> bytes:
        """Return what the kernels read once for all lanes. Wrenches on links depend on where bodies are on them."""
        c = compile_model(one.model)
        return c.structure + (c.body_position.tobytes() + c.body_quaternion.tobytes() if self.pushed else b"")

    def run(self, team: list[int]) -> list[Result]:
        """Make the runs of a team."""
        try:
            if self.structures[team[0]] is None:
                return [self._alone(team[0])]
            return [*run_together([self.members[b] for b in team], self._in_common(team[0]), self.record, self.stop)]
        except ValueError as error:
            if not self.forgive:
                raise
            if len(team) == 1:
                return [error]
            return [result for b in team for result in self.run([b])]

    def _in_common(self, b: int) -> Run:
        """Return a run whose wrenches on links are those of a member."""
        if not self.pushed or self.members[b].model is self.like.sim.model:
            return self.like
        return self._prepared(b)

    def _prepared(self, b: int) -> Run:
        one = self.members[b]
        with naming(b):
            run = prepare(one.model, one.q, one.v, control=one.control, command=one.command, **self.options)
        return run

    def _alone(self, b: int) -> Trajectory:
        own = self.like if self.members[b] is self.begun else self._prepared(b)
        own.ledger = own.sim._engine.ledger = self.ledger
        own.stop = self.stop
        try:
            return make(own, Progress(0, False), "truncate", rows_of(self.record, b))
        except Exception as error:
            error.add_note(f"in member {b} of simulate_many")
            raise
