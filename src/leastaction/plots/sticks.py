"""A model as a stick figure: points that move and the segments between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from leastaction.model import Free, Loop, Rod
from leastaction.viewers.outline import GROUND, is_point, leaf_tips, pinned_arms, pins
from leastaction.viewers.stops import at_limits
from leastaction.viewers.ties import ends, lines_of, size_of

if TYPE_CHECKING:
    from leastaction.trajectory import Trajectory

JET = 0.12     # length of a thruster, of the size of the model
FLAT = 1e-6    # thinner than this part of its size, a motion is planar
X, Y, Z = np.eye(3)


@dataclass(frozen=True)
class Sticks:
    """The stick figure of a model at F instants.

    Attributes
    ----------
    joints : (F, nb, 3) origins of the bodies, world, m
    tips : (F, nt, 3) far ends of the leaves, world, m
    bobs : (F, nm, 3) point masses, world, m
    pins : (F, 2 nl, 3) both ends of every loop, world, m
    anchors : (na, 3) where trees and loops hang on the ground, world, m
    links : (F, ns, 2, 3) segments to draw, world, m
    springs : (F, nf, 2, 3) both ends of springs between bodies, world, m
    jets : (F, nj, 2, 3) thrusters, each as a segment along its jet, world, m
    stopped : (F, nb) bool, whether the joint of each body is at a limit, or was so shortly before
    """

    joints: np.ndarray
    tips: np.ndarray
    bobs: np.ndarray
    pins: np.ndarray
    anchors: np.ndarray
    links: np.ndarray
    springs: np.ndarray
    jets: np.ndarray
    stopped: np.ndarray

    @property
    def points(self) -> np.ndarray:
        """(F, nb + nt + nm + 2 nl, 3) all that moves, and ends of loops, world, m."""
        return np.concatenate((self.joints, self.tips, self.bobs, self.pins), axis=1)


def stick_figure(traj: Trajectory, steps: np.ndarray) -> Sticks:
    """Compute the stick figure of a run.

    Parameters
    ----------
    traj : Trajectory
    steps : (F,) int, which of its kept states
    """
    model = traj.model
    poses = traj.poses(steps=steps)
    joints = poses[..., :3, 3]

    def placed(points: list[tuple[int, np.ndarray]]) -> np.ndarray:
        """World positions of points on bodies, or on the ground."""
        on = [i for i, _ in points]
        local = np.array([point for _, point in points]).reshape(-1, 3)
        found: np.ndarray = joints[:, on] + np.einsum("fbij,bj->fbi", poses[:, on, :3, :3], local)
        return np.where(np.array(on, dtype=int)[:, None] == GROUND, local, found)

    def attached(points: dict[int, np.ndarray]) -> np.ndarray:
        """World positions of one point on each of some bodies."""
        return placed(list(points.items()))

    leaves = leaf_tips(model)
    tips = attached(leaves)
    bobs = attached({i: body.inertia.com for i, body in enumerate(model.bodies) if is_point(body)})
    hung = [i for i, body in enumerate(model.bodies) if body.parent is None and not isinstance(body.joint, Free)]
    anchors = np.array([model.bodies[i].position for i in hung]).reshape(-1, 3)
    parents = model.parents
    children = np.flatnonzero(parents >= 0)
    ground = np.broadcast_to(anchors, (len(joints), *anchors.shape))
    arms, both = pinned_arms(model, leaves), placed(pins(model))
    loops = [loop for loop in model.loops if isinstance(loop, Loop)]
    rods = [2 * k for k, loop in enumerate(loops) if isinstance(loop.joint, Rod)]
    starts = (ground, joints[:, parents[children]], joints[:, list(leaves)], joints[:, [i for i, _ in arms]],
              both[:, rods])
    stops = joints[:, hung], joints[:, children], tips, placed(arms), both[:, [k + 1 for k in rods]]
    links = np.stack((np.concatenate(starts, axis=1), np.concatenate(stops, axis=1)), axis=2)
    size = size_of(model, poses)
    springs = ends(model, lines_of(model, "spring"), poses)
    jets = ends(model, lines_of(model, "thrust"), poses)
    jets[:, :, 1] = jets[:, :, 0] + JET * size * (jets[:, :, 1] - jets[:, :, 0])
    grounded = [end for line in lines_of(model, "spring") for body, end in (line.start, line.end) if body is None]
    pinned = [pin for i, pin in pins(model) if i == GROUND]
    anchors = np.concatenate((anchors, np.array([*grounded, *pinned]).reshape(-1, 3)))
    return Sticks(joints, tips, bobs, both, anchors, links, springs, jets, at_limits(traj, steps))


def drawing_plane(points: np.ndarray, gravity: np.ndarray) -> np.ndarray | None:
    """Find the plane in which a planar motion is drawn.

    Parameters
    ----------
    points : (..., 3) all positions that will be drawn, world, m
    gravity : (3,) world, m/s²; it points down in the picture unless it is normal to the plane

    Returns
    -------
    (2, 3) unit vectors to the right and up, world; None when the motion is not planar
    """
    centred = points.reshape(-1, 3) - points.reshape(-1, 3).mean(axis=0)
    thin = FLAT * np.abs(centred).max()
    _, directions = np.linalg.eigh(centred.T @ centred)
    # World planes first: a motion along a line lies in many planes, and these are the ones one expects.
    for normal in (Y, X, Z, directions[:, 0]):
        if np.abs(centred @ normal).max() <= thin:
            break
    else:
        return None
    candidates = [up - (up @ normal) * normal for up in (-gravity, Z, Y)]
    up = next(up for up in candidates if np.linalg.norm(up) > 1e-3)
    up = up / np.linalg.norm(up)
    right = np.cross(up, normal)
    return np.array([right * np.sign(right[np.argmax(np.abs(right))]), up])
