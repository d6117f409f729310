"""Runs that write to a file as they go, and go on from it."""

import os
import signal
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO, Self

import numpy as np

from leastaction.arguments import whole
from leastaction.errors import FileError, StepError
from leastaction.files import checkpoint
from leastaction.files.columns import CHECKPOINTS, FORCES, ROWS, Column, columns
from leastaction.files.container import create, lock, plain_errors, written_aside
from leastaction.files.contents import MEANING, NO_FAILURE, Contents, contents, record_type
from leastaction.files.statistics import Statistics
from leastaction.files.sums import Sums
from leastaction.integrators import Status
from leastaction.kernels.record import Record
from leastaction.simulation.judgement import EnergyWatch
from leastaction.simulation.progress import Progress
from leastaction.simulation.run import NODE, Keeper, Run
from leastaction.simulation.simulator import Simulator

PATIENCE = 1.0  # most seconds of work that a kill may cost, unless a commit takes longer than a tenth of that
REGULAR = 100  # checkpoints that stay, at most
MANY = 2**48  # more commits than any run makes
LITTLE = 1_000_000  # bytes that checkpoints may always take; beyond that a tenth of the results


def spacing(model: Any, steps: int, every: int, ledger: int, record_size: int) -> int:
    """Choose the steps between two checkpoints, so that they take a tenth of the file or little at all."""
    size = sum(column.size for column in columns(model, steps, every, ledger).values())
    count = min(REGULAR, max(LITTLE, size // 10) // record_size)
    return max(1, -(-steps // (count + 1)))


class Writer(Keeper):
    """Writes the rows of a run to their places in the file, and commits: everything up to a commit is safe.

    Parameters
    ----------
    path : file made by `new_file`
    sim : at the step from which to go on
    every : steps between two kept nodes
    regular : steps between two checkpoints that stay
    begun : whether the file holds a commit to go on from
    """

    def __init__(self, path: Path, sim: Simulator, every: int, regular: int, begun: bool = True) -> None:
        super().__init__(sim, every)
        self.path, self.regular = path, regular
        self.statistics, self.sums = Statistics(every), Sums()
        self.failure: dict[str, Any] = dict(NO_FAILURE)
        self.kept = self.committed = sim.steps
        self.turn = self.commits = 0
        self.cost, self.rested = 0.0, time.perf_counter()
        self.interrupted = False
        self.handler: Any = None
        with plain_errors(path):
            self.file: BinaryIO = path.open("rb+", buffering=0)
        lock(self.file, path)
        source = contents(path)
        self.places = source.places
        if begun:
            self._restore(source)

    def _restore(self, source: Contents) -> None:
        """Continue the statistics and check sums of the latest commit."""
        last = checkpoint.latest(source, older=True)
        if last["steps"] != self.kept:
            self.file.close()
            raise FileError(f"another process went on with the run in {self.path} at this moment: open it again")
        for part in (self.statistics, self.watch):
            part.restore(last)
        self.sums.open[:] = last["rows"]
        self.turn = checkpoint.spare(source, last)
        counted = checkpoint.commits(source)
        self.commits = max(int(last["commit"]), counted if counted < MANY else 0)  # a damaged count may be anything

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self.handler = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, kind: Any = None, *_error: object) -> None:
        if self.handler is not None:
            signal.signal(signal.SIGINT, self.handler)
        try:
            # After a second Ctrl-C amid a step, or with a full disk, no commit can be made: the last one stays.
            unsafe = kind is not None and issubclass(kind, KeyboardInterrupt | OSError)
            if not unsafe:
                if self.kept > self.committed:
                    self.commit()
                self._checkpoint(self.turn)  # both records now hold the end, so that the loss of one does no harm
        finally:
            self.file.close()

    def _interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True

    def most(self, first: int) -> int:
        """Return the number of steps to the next checkpoint."""
        return self.regular - first % self.regular

    def begin(self) -> None:
        """Write the node at the start."""
        sim = self.sim
        start = {"t": sim.t, "q": sim.q, "v": sim.v, "p": sim.p, "energy": sim.energy, "momentum": sim.momentum,
                 "ledger": np.zeros(sim._engine.ledger), "impulse": np.zeros(sim._engine.impulses)}
        for name, value in start.items():
            self._rows(name, 0, np.asarray(value, dtype=float)[None])
        self.commit()
        self.commit()  # both records now have their place on the disk, even if it gets full later

    def keep(self, out: Record, first: int, made: int) -> None:
        """Write the rows of these steps, and commit if it is time or if Ctrl-C was pressed, which is then raised."""
        super().keep(out, first, made)
        row, last = first // self.every, (first + made) // self.every
        times = np.arange(row + 1, last + 1) * self.every * self.sim.dt
        with self._errors():
            self._rows("t", row + 1, times)
            for name in NODE:
                self._rows(name, row + 1, getattr(out, name)[: last - row])
            for name, values in self.statistics.take(out, first, made).items():
                self._rows(name, row, values, last - row)
        self.kept = first + made
        if made and self.kept % self.regular == 0 and self.kept // self.regular <= self.places_left:
            self._checkpoint(1 + self.kept // self.regular)
        if self.interrupted or time.perf_counter() - self.rested > max(PATIENCE, 10 * self.cost):
            self.commit()
        if self.interrupted:
            raise KeyboardInterrupt

    @property
    def places_left(self) -> int:
        """Number of checkpoints that stay for which there is room."""
        return self.places[CHECKPOINTS].shape[0] - 2

    def fail(self, failure: StepError) -> None:
        """Note why the run ended."""
        code = next(status for status in Status if status.meaning == failure.status)
        body = self.sim.model.body_index(failure.joint) if failure.joint else -1
        self.failure = {"failed_status": int(code), "failed_body": body,
                        "failed_residual": failure.residual}
        self.commit()

    def commit(self) -> None:
        """Make what was written so far safe: first the rows, then the state, last the counts."""
        began = time.perf_counter()
        self.commits += 1
        with self._errors():
            os.fsync(self.file.fileno())
            self._checkpoint(self.turn)
            os.fsync(self.file.fileno())
            self._write("commits", 0, np.array(self.commits))
            self._write("committed", 0, np.array(self.kept // self.every + 1))
        self.turn = 1 - self.turn
        self.committed, self.rested = self.kept, time.perf_counter()
        self.cost = self.rested - began

    def content(self) -> dict[str, Any]:
        """Return the content of a checkpoint."""
        return {**self.sim._engine.snapshot(), **self.statistics.fields(), **self.watch.fields(), **self.failure,
                "rows": self.sums.open, "commit": self.commits}

    def _checkpoint(self, index: int) -> None:
        with self._errors():
            data = checkpoint.pack(self.content())
            self._put(self.places[CHECKPOINTS].offset + index * len(data), data)

    def _rows(self, name: str, row: int, values: np.ndarray, complete: int | None = None) -> None:
        """Write rows; the first ``complete`` of them, all by default, enter the check sums."""
        place = self.places[name]
        values = np.ascontiguousarray(values, dtype=place.dtype)
        self._write(name, row, values)
        for block, total in self.sums.take(name, row, values[:complete]):
            offset = 4 * (block * len(ROWS) + ROWS.index(name))
            self._put(self.places["sums"].offset + offset, np.uint32(total).tobytes())

    def _write(self, name: str, row: int, values: np.ndarray) -> None:
        if values.size:
            place = self.places[name]
            width = place.dtype.itemsize * int(np.prod(place.shape[1:]))
            self._put(place.offset + row * width, np.ascontiguousarray(values, dtype=place.dtype).data)

    def _put(self, offset: int, data: bytes | memoryview) -> None:
        self.file.seek(offset)
        rest = memoryview(data).cast("B")
        while rest:
            rest = rest[self.file.write(rest) :]

    def _errors(self) -> Any:
        reached = f"{self.committed} steps, {self.committed * self.sim.dt:g} s"
        return plain_errors(self.path, f"; what was committed, {reached}, is safe in it, and `leastaction resume` or "
                                       "la.resume goes on from there")


def new_file(run: Run, path: Path, checkpoint_every: int | None, overwrite: bool) -> int:
    """Make the file of a run with its first node; return the steps between two checkpoints."""
    sim, every, steps = run.sim, run.every, run.steps
    if checkpoint_every is not None:
        checkpoint_every = whole("checkpoint_every", checkpoint_every, 1)
    kind = record_type({**sim._engine.snapshot(), **Statistics(every).fields(), **EnergyWatch(0.0).fields(),
                        **NO_FAILURE, "rows": Sums().open, "commit": 0})
    regular = int(checkpoint_every or spacing(sim.model, steps, every, run.ledger, kind.itemsize))
    given, forces = {}, {}
    for name, value in zip(FORCES, run.origin, strict=False):
        forces[name] = "none" if value is None else "function" if callable(value) else "array"
        if forces[name] == "array":
            given[name] = np.asarray(value)
    description = {**checkpoint.origin(sim, kind), "steps": steps, "record_every": every, "checkpoint_every": regular,
                   **forces, "control_every": run.tick}
    states = Column((2 + steps // regular,), kind, MEANING)
    with written_aside(path, overwrite) as part:
        create(part, description, given, {**columns(sim.model, steps, every, run.ledger), CHECKPOINTS: states})
        with Writer(part, sim, every, regular, begun=False) as writer:
            writer.begin()
    return regular


def make(run: Run, writer: Writer, progress: Progress, on_failure: str) -> None:
    """Make the rest of a run."""
    try:
        run.make(run.steps, writer, progress)
    except StepError:
        if on_failure == "raise":
            raise
