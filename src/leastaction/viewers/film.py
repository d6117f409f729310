"""A run as a film: poses at a steady frame rate, the camera's path, and curves to draw beside it."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from leastaction.model import Model
from leastaction.viewers.outline import Drawn, leaf_tips, quaternions, shapes
from leastaction.viewers.solids import reach
from leastaction.viewers.stops import at_limits, marks
from leastaction.viewers.ties import BEADS, beads, lines_of, nozzles, size_of

if TYPE_CHECKING:
    from leastaction.trajectory import Trajectory

Array = np.ndarray

FPS = 60.0
FOLLOW = 3.0  # the camera follows a model that travels this many times its own size
STRAYED = 1.5  # a body further from the middle than this many sizes of the first frame has left the picture
MAX_TRAILS = 8
CURVE_POINTS = 1600  # more than a screen shows
MOST = 250_000  # poses in a film, at most 12 bytes each in a page; longer runs get fewer frames a second


@dataclass(frozen=True, eq=False)
class Film:
    """What a viewer needs to know of a run; gravity points down, along -z.

    Attributes
    ----------
    shapes : what to draw, each with the index of its body
    t : (F,) times of the frames, s
    positions : (F, nb + m, 3) of the bodies, and of the m beads that springs are drawn as, m
    quaternions : (F, nb + m, 4) of the same
    focus : (F, 3) where the camera looks, m
    radius : of the ball about the focus that holds what moves, m
    floor : height of the floor, m; if ``floor_follows``, below the focus
    floor_follows : whether the fall is so deep that the floor moves with the camera
    tips : points (3,) that leave a trail, body frame, m, each with the index of its body
    marks : what marks joints at their limits, each with the index of its body
    lit : (F, m) bool, when each of these is seen
    """

    shapes: list[Drawn]
    t: Array
    positions: Array
    quaternions: Array
    focus: Array
    radius: float
    floor: float
    floor_follows: bool
    tips: list[tuple[int, Array]]
    marks: list[Drawn]
    lit: Array

    def every(self, stride: int) -> "Film":
        """Return the film with every ``stride``-th of its frames, and the last one."""
        kept = np.unique(np.append(np.arange(0, len(self.t), stride), len(self.t) - 1))
        return replace(self, t=self.t[kept], positions=self.positions[kept], quaternions=self.quaternions[kept],
                       focus=self.focus[kept], lit=self.lit[kept])


def film(traj: "Trajectory", fps: float = FPS) -> Film:
    """Sample a run at no more than ``fps`` frames a second of model time, fewer if that makes too many."""
    if not fps > 0:
        raise ValueError(f"fps must be positive, not {fps!r}")
    poses_a_frame = traj.model.nb + BEADS * len(lines_of(traj.model, "spring"))
    interval = max(1.0 / fps, poses_a_frame * float(traj.t[-1] - traj.t[0]) / MOST)
    frames = np.unique(np.append(steps_every(traj.t, interval), len(traj.t) - 1))
    upright = _upright(traj.model.gravity)
    poses = traj.poses(steps=frames)
    size = size_of(traj.model, poses)
    places, bead = beads(traj.model, poses, size)
    positions = np.concatenate([poses[..., :3, 3], places], axis=1) @ upright.T
    turned = upright @ poses[..., :3, :3]
    turned = np.concatenate([turned, np.broadcast_to(np.eye(3), (*places.shape[:2], 3, 3))], axis=1)
    drawn = shapes(traj.model) + nozzles(traj.model, size)
    if bead is not None:
        drawn += [(traj.model.nb + k, bead) for k in range(places.shape[1])]
    low, high = _boxes(*_balls(drawn, positions, turned))
    focus, radius = _camera(low, high)
    lowest = low[:, 2]
    deep = np.ptp(lowest) > FOLLOW * radius
    floor = float((lowest - focus[:, 2]).min() if deep else lowest.min()) - 0.04 * radius
    return Film(_turned_ground(drawn, upright), traj.t[frames], positions, quaternions(turned), focus, radius, floor,
                bool(deep), _tips(traj.model), *marks(drawn, at_limits(traj, frames), size))


def _tips(model: Model) -> list[tuple[int, Array]]:
    """Ends of sticks, which leave trails; models with shapes of their own leave none, as trails would cover them."""
    if any(body.geometry for body in model.bodies):
        return []
    return list(leaf_tips(model).items())[:MAX_TRAILS]


def steps_every(t: Array, interval: float) -> Array:
    """Find the nodes nearest to t[0], t[0] + interval, ..., in times t (N,), s."""
    times = t[0] + interval * np.arange(1 + int((t[-1] - t[0]) / interval + 1e-9))
    return np.asarray(np.searchsorted(0.5 * (t[1:] + t[:-1]), times))


def thinned(t: Array, y: Array, points: int = CURVE_POINTS) -> tuple[Array, Array]:
    """Thin out a curve to about ``points`` points without losing its peaks.

    Parameters
    ----------
    t : (N,) s
    y : (N,)

    Returns
    -------
    times and values of the curve's ends, and of the least and the greatest value in each of ``points // 2`` intervals
    """
    if len(t) <= points:
        return t, y
    edges = np.linspace(0, len(t), points // 2 + 1).astype(int)
    kept = {0, len(t) - 1}
    for low, high in pairwise(edges):
        kept |= {int(low + np.argmin(y[low:high])), int(low + np.argmax(y[low:high]))}
    index = np.array(sorted(kept))
    return t[index], y[index]


def _upright(gravity: Array) -> Array:
    """Rotation (3, 3) that makes gravity point along -z; none without gravity."""
    size = float(np.linalg.norm(gravity))
    if size == 0:
        return np.eye(3)
    up = -gravity / size
    if up[2] > 1 - 1e-12:
        return np.eye(3)
    side = np.cross(up, np.eye(3)[int(np.argmin(np.abs(up)))])
    side /= np.linalg.norm(side)
    return np.array([side, np.cross(up, side), up])


def _turned_ground(drawn: list[Drawn], upright: Array) -> list[Drawn]:
    """Turn shapes fixed to the ground with the world."""
    if np.array_equal(upright, np.eye(3)):
        return drawn
    return [(i, shape if i >= 0 else replace(shape, position=upright @ shape.position)) for i, shape in drawn]


def _balls(drawn: list[Drawn], positions: Array, rotations: Array) -> tuple[Array, Array]:
    """Centres (F, m, 3) and radii (m,) of balls that hold every moving shape; the bodies' origins if there is none."""
    moving = [(i, shape) for i, shape in drawn if i >= 0]
    if not moving:
        return positions, np.zeros(positions.shape[1])
    on = [i for i, _ in moving]
    local = np.array([shape.position for _, shape in moving])
    centres = positions[:, on] + np.einsum("fbij,bj->fbi", rotations[:, on], local)
    return centres, np.array([reach(shape) for _, shape in moving])


def _boxes(centres: Array, reaches: Array) -> tuple[Array, Array]:
    """Corners (F, 3) of the boxes about what moves; a body that flies far away from the others is left out."""
    room = reaches[:, None]
    first = float(np.linalg.norm((centres[0] + room).max(axis=0) - (centres[0] - room).min(axis=0)))
    away = np.linalg.norm(centres - np.median(centres, axis=1, keepdims=True), axis=2) > STRAYED * first
    lost = away[..., None] & ~away.all(axis=1)[:, None, None]
    return np.where(lost, np.inf, centres - room).min(axis=1), np.where(lost, -np.inf, centres + room).max(axis=1)


def _camera(low: Array, high: Array) -> tuple[Array, float]:
    """Where the camera looks (F, 3), and the radius of what it has to see, m; from the boxes about what moves."""
    size = float(np.linalg.norm(high - low, axis=1).max())
    whole = float(np.linalg.norm(high.max(axis=0) - low.min(axis=0)))
    if whole > FOLLOW * size:
        return _smooth(0.5 * (low + high)), 0.6 * size or 1.0
    middle = 0.5 * (high.max(axis=0) + low.min(axis=0))
    return np.tile(middle, (len(low), 1)), 0.5 * whole or 1.0


def _smooth(path: Array) -> Array:
    """Average a path (F, 3) over about half a second, so that the camera does not shake."""
    half = min(int(0.25 * FPS), (len(path) - 1) // 2)
    if half < 1:
        return path
    window = np.ones(2 * half + 1) / (2 * half + 1)
    # The path goes straight on beyond its ends, so that the camera follows a fall there, too.
    before = path[0] - (path[half:0:-1] - path[0])
    after = path[-1] - (path[-2 : -half - 2 : -1] - path[-1])
    padded = np.concatenate([before, path, after])
    return np.stack([np.convolve(column, window, mode="valid") for column in padded.T], axis=1)
