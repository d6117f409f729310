"""Statistics of the steps between two kept nodes, so that a file grows with the nodes kept, not with the steps made."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from leastaction.integrators import Status
from leastaction.kernels.record import Record
from leastaction.trajectory import Tally, Trajectory

Array = np.ndarray
KINDS = int(max(Status)) + 1  # of steps that were made


def step_room(*shape: int) -> tuple[Array, Array, Array, Array]:
    """Allocate iterations, residual, status and substeps; the last axis is of steps."""
    return (np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape, dtype=np.int64),
            np.ones(shape, dtype=np.int64))


class Statistics:
    """Sums and worst cases of the steps so far: of all, and of those since the last kept node.

    Parameters
    ----------
    every : steps between two kept nodes
    """

    def __init__(self, every: int) -> None:
        self.every = every
        self.evaluations = self.most = self.divided = 0
        self.statuses = np.zeros(KINDS, dtype=np.int64)
        self.open = np.array([0.0, 0.0, 0.0, 1.0])  # iterations, residual, status, substeps since the last kept node

    def take(self, out: Record, first: int, made: int) -> dict[str, Array]:
        """Add steps; return rows from row first // every on: the sum of iterations, and the worst of the others."""
        if made == 0:
            return {}
        iterations, status, substeps = out.iterations[:made], out.status[:made], out.substeps[:made]
        self.evaluations += int(iterations.sum())
        self.most = max(self.most, int(iterations.max()))
        self.divided += int(np.count_nonzero(substeps > 1))
        self.statuses += np.bincount(status, minlength=KINDS)
        starts = np.arange(-(first % self.every), made, self.every)
        starts[0] = 0
        rows = {
            "iterations": np.add.reduceat(iterations, starts),
            "residual": np.maximum.reduceat(out.residual[:made], starts),
            "status": np.maximum.reduceat(status, starts).astype(np.int8),
            "substeps": np.maximum.reduceat(substeps, starts),
        }
        if first % self.every:
            rows["iterations"][0] += int(self.open[0])
            for name, before in zip(("residual", "status", "substeps"), self.open[1:], strict=True):
                rows[name][0] = max(rows[name][0], before)
        self.open[:] = [row[-1] for row in rows.values()]
        return rows

    def write(self, out: Record, first: int, made: int, to: Record) -> None:
        """Add steps, and write the rows to where those of the whole run are."""
        for name, values in self.take(out, first, made).items():
            row = first // self.every
            getattr(to, name)[row : row + len(values)] = values

    def tally(self, steps: int) -> Tally:
        """Sum up a run of which these are all steps."""
        return tally({"steps": steps, **self.fields()})

    @classmethod
    def of(cls, traj: Trajectory) -> Self:
        """Return the statistics of a run that has ended."""
        made, whole = cls(traj.record_every), traj.tally
        made.evaluations, made.most, made.divided = whole.evaluations, whole.most, whole.divided
        if traj.steps:
            made.open[:] = [rows[-1] for rows in (traj.iterations, traj.residual, traj.status, traj.substeps)]
        for kind, count in whole.statuses.items():
            made.statuses[kind] = count
        return made

    def fields(self) -> dict[str, Any]:
        """Return all of it as numbers by name, for a checkpoint."""
        return {"evaluations": self.evaluations, "most": self.most, "divided": self.divided, "statuses": self.statuses,
                "open": self.open}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Set everything from what `fields` returned."""
        self.evaluations, self.most, self.divided = (int(saved[name]) for name in ("evaluations", "most", "divided"))
        self.statuses, self.open = np.array(saved["statuses"]), np.array(saved["open"])


def tally(saved: Mapping[str, Any]) -> Tally:
    """Sum up what a checkpoint says."""
    counts = {Status(kind): int(count) for kind, count in enumerate(saved["statuses"]) if count}
    return Tally(int(saved["steps"]), int(saved["evaluations"]), int(saved["most"]), int(saved["divided"]), counts)
