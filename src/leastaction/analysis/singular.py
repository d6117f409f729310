"""Where the loops of a run came through a singular configuration: there other rows follow from the rest than before."""

import numpy as np

from leastaction.compiled import compile_model
from leastaction.dynamics import with_loops
from leastaction.integrators import Flag
from leastaction.kernels.constraints.step import EVENTS
from leastaction.trajectory import Trajectory

Array = np.ndarray


def redundant_rows(run: Trajectory) -> Array:
    """Count the rows (N,) that follow from others at every kept node."""
    c = compile_model(run.model)
    if c.rows is None:
        return np.zeros(len(run), dtype=int)
    nothing = np.zeros(c.nv), np.zeros((c.tree.n, 6)), 0.0
    return np.array([with_loops(run.model, c, q, v, *nothing).redundant for q, v in zip(run.q, run.v, strict=True)])


def changes(run: Trajectory) -> Array:
    """Return the steps (E,) in which the elimination found another number of redundant rows than in the step before.

    Only so many are noted; if there were more, all steps after the last of them count as such.
    """
    if not run.events.size:
        return np.zeros(0, dtype=int)
    noted = run.events[1 : 1 + 2 * min(int(run.events[0]), EVENTS) : 2]
    return noted if run.events[0] <= EVENTS else np.concatenate([noted, np.arange(noted[-1] + 1, run.steps)])


def flags(run: Trajectory, redundant: Array) -> Array:
    """Return the flags (N,) of the kept nodes, which have so many redundant rows (N,)."""
    changed = redundant != redundant[0]
    rows = changes(run) // run.record_every + 1  # of the first kept node that comes after
    changed[rows[rows < len(run)]] = True
    return np.where(changed, int(Flag.RANK_CHANGED), 0)


def times(run: Trajectory, redundant: Array) -> list[float]:
    """Return the times of the nodes that are flagged, s, and of changes after the last kept node."""
    steps, last = changes(run) + 1, (len(run) - 1) * run.record_every
    return [*run.t[flags(run, redundant) != 0].tolist(), *(steps[steps > last] * run.dt).tolist()]
