"""The three joints from which all others are made: screw, ball and free.

Every joint answers the same questions, which `Joint` explains. Its configuration q is an angle or a length (screw), a
unit quaternion (ball), or a position and a quaternion (free). Its increments δ have the layout of v: a number (screw),
a rotation vector (ball) or a twist (free), the latter two in body axes.
"""

from __future__ import annotations

import numpy as np

from leastaction.model import BALL, FREE, SCREW, Part

from .lie import (
    ORIGIN,
    Array,
    dlog3,
    exp,
    hat,
    inverse,
    log,
    pose,
    quat_exp,
    quat_inv,
    quat_log,
    quat_mul,
    rotation,
)


class Joint:
    """A joint that does not move, and what the others have in common with it."""

    S: Array = np.zeros((6, 0))  # (6, nv) motion subspace, in the frame of the link that the joint moves
    damping = stiffness = armature = 0.0  # per unit of `motion`
    torsion = 0.0  # stiffness about `axis` beyond that about the axes across it
    axis: Array = ORIGIN
    rest: Array = np.zeros(0)  # (nq,) configuration in which the spring is relaxed

    def __init__(self, part: Part | None = None) -> None:
        if part is not None:
            self.turn, self.slide = part.turn, part.slide
            self.damping, self.stiffness, self.armature, self.rest = (
                part.damping, part.stiffness, part.armature, part.rest)
            self.torsion, self.axis = part.torsion, part.axis

    def pose(self, q: Array) -> Array:
        """Pose (4, 4) of the link in the joint's frame."""
        return np.eye(4)

    def move(self, q: Array, delta: Array) -> Array:
        """Return q ⊕ δ, the configuration reached from q by the increment δ (nv,)."""
        return q

    def motion(self, q0: Array, q1: Array) -> Array:
        """Turn and shift (nv,) from q0 to q1, on which spring, damper and armature act."""
        return np.zeros(0)

    def difference(self, q0: Array, q1: Array) -> Array:
        """Return q1 ⊖ q0 (nv,), the increment that takes q0 to q1."""
        return self.motion(q0, q1)

    def motion_derivative(self, q0: Array, q1: Array) -> Array:
        """Change (nv, nv) of `motion` per unit of an increment of q1."""
        return np.eye(self.S.shape[1])

    @property
    def K(self) -> Array:
        """Stiffness (nv, nv) of the spring, N m, N/m."""
        return self.stiffness * np.eye(self.S.shape[1])

    def body_axes(self, q: Array) -> Array:
        """Matrix (nv, nv) that takes `motion` to the axes of the link at q."""
        return np.eye(self.S.shape[1])

    def drift(self, v: Array) -> Array:
        """Second derivative (nv,) of `motion` in body axes when the rate of v (nv,) is zero."""
        return np.zeros(self.S.shape[1])


class Screw(Joint):
    """Revolute, prismatic or helical: turns by turn·q and shifts by slide·q."""

    def __init__(self, part: Part) -> None:
        super().__init__(part)
        self.S = np.concatenate([part.turn, part.slide])[:, None]

    def pose(self, q: Array) -> Array:
        A = hat(self.turn)
        return pose(np.eye(3) + np.sin(q[0]) * A + (1 - np.cos(q[0])) * A @ A, self.slide * q[0])

    def move(self, q: Array, delta: Array) -> Array:
        return q + delta

    def motion(self, q0: Array, q1: Array) -> Array:
        return q1 - q0


class Ball(Joint):
    """Turns freely about a point."""

    S = np.eye(6)[:, :3]

    def pose(self, q: Array) -> Array:
        return pose(rotation(q), ORIGIN)

    def move(self, q: Array, delta: Array) -> Array:
        return quat_mul(q, quat_exp(delta))

    def motion(self, q0: Array, q1: Array) -> Array:
        return turn(q0, q1)

    def motion_derivative(self, q0: Array, q1: Array) -> Array:
        return dlog3(-turn(q0, q1))

    @property
    def K(self) -> Array:
        return self.stiffness * np.eye(3) + self.torsion * np.outer(self.axis, self.axis)


class Free(Joint):
    """Turns and shifts freely; q is position, then quaternion. The shift of `motion` is in the axes of the parent."""

    S = np.eye(6)

    def pose(self, q: Array) -> Array:
        return pose(rotation(q[3:]), q[:3])

    def move(self, q: Array, delta: Array) -> Array:
        return np.concatenate([(self.pose(q) @ exp(delta))[:3, 3], quat_mul(q[3:], quat_exp(delta[:3]))])

    def motion(self, q0: Array, q1: Array) -> Array:
        return np.concatenate([turn(q0[3:], q1[3:]), q1[:3] - q0[:3]])

    def difference(self, q0: Array, q1: Array) -> Array:
        return log(inverse(self.pose(q0)) @ self.pose(q1))

    def motion_derivative(self, q0: Array, q1: Array) -> Array:
        return blocks(dlog3(-turn(q0[3:], q1[3:])), rotation(q1[3:]))

    def body_axes(self, q: Array) -> Array:
        return blocks(np.eye(3), rotation(q[3:]).T)

    def drift(self, v: Array) -> Array:
        return np.concatenate([ORIGIN, np.cross(v[:3], v[3:])])  # the axes in which v is written turn


def turn(r0: Array, r1: Array) -> Array:
    """Rotation vector (3,), rad, from r0 to r1 (4,); it has the same components in both frames."""
    return quat_log(quat_mul(quat_inv(r0), r1))


def blocks(A: Array, B: Array) -> Array:
    """Block-diagonal matrix (6, 6) of two matrices (3, 3)."""
    return np.block([[A, np.zeros((3, 3))], [np.zeros((3, 3)), B]])


JOINTS = {SCREW: Screw, BALL: Ball, FREE: Free}
