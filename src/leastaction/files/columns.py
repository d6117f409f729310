"""The arrays of a run's file: their shapes, types and meanings."""

from typing import Any, NamedTuple

import numpy as np

from leastaction.model import losses

NODES = ("t", "q", "v", "p", "energy", "momentum", "ledger", "impulse")
STATISTICS = ("iterations", "residual", "status", "substeps")
ROWS = NODES + STATISTICS  # the arrays that grow with a run, in the order of their check sums
BLOCK = 1024  # rows to a check sum: docs/files.md names it, and other values are another format
CHECKPOINTS = "checkpoints"
FORCES = ("control", "wrench", "command")
DESCRIPTION = "description"


class Column(NamedTuple):
    """An array of a file: its shape and type, and what it holds, with the unit."""

    shape: tuple[int, ...]
    dtype: Any
    meaning: str

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return int(np.prod(self.shape, dtype=object)) * int(np.dtype(self.dtype).itemsize)


def columns(model: Any, steps: int, every: int, ledger: int) -> dict[str, Column]:
    """Return the arrays of a run of ``steps`` steps, with so many columns of its ledger, by name."""
    n, stretches, nq, nv = steps // every + 1, -(-steps // every), model.nq, model.nv
    between = "from the node of the same row to the next"
    return {
        "t": Column((n,), float, "time of the kept nodes, s"),
        "q": Column((n, nq), float, "configuration, rad, m, unit quaternions (w, x, y, z)"),
        "v": Column((n, nv), float, "velocity, body axes for ball and free joints, rad/s, m/s"),
        "p": Column((n, nv), float, "momentum conjugate to v, kg m^2/s, kg m/s"),
        "energy": Column((n,), float, "total energy, J"),
        "momentum": Column((n, 6), float, "total momentum about the world's origin, angular then linear, world axes"),
        "ledger": Column((n, ledger), float,
                         f"energy that has left the mechanism so far, J, by {', '.join(losses.ENTRIES)}"),
        "impulse": Column((n, losses.impulses(model)), float,
                          "impulses of limits, then of dry friction, since the node before, N m s, N s"),
        "iterations": Column((stretches,), np.int64, f"residual evaluations {between}"),
        "residual": Column((stretches,), float, f"greatest residual left {between}"),
        "status": Column((stretches,), np.int8, f"the most that a step needed {between}, see leastaction.Status"),
        "substeps": Column((stretches,), np.int64, f"into how many parts a step was divided at most {between}"),
        "sums": Column((n // BLOCK, len(ROWS)), np.uint32,
                       f"CRC-32 of every {BLOCK} complete rows of {', '.join(ROWS)}; of the rest: in the checkpoints"),
        "committed": Column((), np.int64, "number of valid rows of t, q, v, p, energy, momentum, ledger and impulse"),
        "commits": Column((), np.int64, "number of the latest commit; a checkpoint with it, or a later one, is there"),
    }
