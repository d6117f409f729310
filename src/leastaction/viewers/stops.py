"""Joints at their limits: where they are marked, and when."""

from typing import TYPE_CHECKING

import numpy as np

from leastaction.model import Geometry
from leastaction.viewers.outline import Drawn, ball

if TYPE_CHECKING:
    from leastaction.trajectory import Trajectory

Array = np.ndarray

GLOW = 0.1  # s of the run for which a joint stays marked after it has left its limit, or an impact would not be seen
STOP = (0.86, 0.08, 0.16, 1.0)
SIZE = 0.022  # radius of a mark, of the size of the model …
STOUT = 1.7  # … or of the thickest stick


def at_limits(traj: "Trajectory", frames: Array) -> Array:
    """Tell of every body whether its joint is at a limit at some kept nodes (F,), or was so shortly before: (F, nb)."""
    pushed = traj.limit_force != 0.0  # (N − 1, nv), from each node to the next
    model = traj.model
    touched = np.zeros((1 + len(pushed), model.nb), dtype=int)
    for i, body in enumerate(model.bodies):
        touched[1:, i] = np.cumsum(pushed[:, model.v_slice(body.name)].any(axis=1))
    back = int(np.ceil(GLOW / (traj.dt * traj.record_every)))
    before = np.minimum(np.append(0, frames[:-1]), np.maximum(frames - back, 0))  # no impact between frames is lost
    after = np.minimum(frames + 1, len(pushed))
    lit: Array = touched[after] > touched[before]
    return lit


def marks(drawn: list[Drawn], lit: Array, size: float) -> tuple[list[Drawn], Array]:
    """Balls at the joints that are at a limit at some time, and when each is seen (F, m).

    Parameters
    ----------
    drawn : shapes of the model
    lit : (F, nb) bool, as of `at_limits`
    size : of the model, m
    """
    bodies = np.flatnonzero(lit.any(axis=0)).tolist()
    thick = max((float(shape.size[0]) for _, shape in drawn if shape.shape == "capsule"), default=0.0)
    shape: Geometry = ball(np.zeros(3), max(SIZE * size, STOUT * thick), STOP)
    return [(i, shape) for i in bodies], lit[:, bodies]
