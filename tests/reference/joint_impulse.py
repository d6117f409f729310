"""The joint impulse Q of the paper's Algorithm 2, line 9, of springs, damping and armature.

With e the joint's motion over a step and psi its motion away from rest, both in v layout: armature is
I_a |e|^2 / 2h in L_d, a spring -h k |(psi0 + psi1)/2|^2 / 2, and damping the force -(c/2) e at both ends.
"""

from __future__ import annotations

import numpy as np

from leastaction.model import BALL, FREE, SCREW, Part

from .lie import Array, dlog3, rotation
from .links import Link, joint_motion


def block(turn: Array, shift: Array) -> Array:
    """Block-diagonal (6, 6) of two (3, 3) matrices."""
    return np.block([[turn, np.zeros((3, 3))], [np.zeros((3, 3)), shift]])


def motion_derivative(part: Part, q0: Array, q1: Array) -> Array:
    """Derivative (nv, nv) of `joint_motion` by a body-frame increment of q1."""
    if part.kind == SCREW:
        return np.eye(1)
    turn = dlog3(-joint_motion(part, q0, q1)[:3])
    return turn if part.kind == BALL else block(turn, rotation(q1[3:]))


def body_components(part: Part, q: Array) -> Array:
    """Matrix (nv, nv) that takes a covector of `joint_motion` to body-frame components at q (nq,).

    A rotation vector has the same components at both ends of the rotation, so only the translation turns.
    """
    return block(np.eye(3), rotation(q[3:]).T) if part.kind == FREE else np.eye(part.nv)


def joint_impulse(link: Link, q_prev: Array, q: Array, q_next: Array, h: float) -> Array:
    """Impulse Q (nv of the joint) at q^k, N m s and N s, for configurations (nq,) of the whole model."""
    part = link.part
    if part is None:
        return np.zeros(0)
    q_prev, q, q_next = q_prev[link.iq], q[link.iq], q_next[link.iq]
    before, after = joint_motion(part, q_prev, q), joint_motion(part, q, q_next)
    rest = np.asarray(part.rest, dtype=float)
    stretch = joint_motion(part, rest, q_prev) + 2 * joint_motion(part, rest, q) + joint_motion(part, rest, q_next)
    push = -part.damping / 2 * (before + after) - part.armature / h * (after - before)
    spring = -h * part.stiffness / 4 * motion_derivative(part, rest, q).T @ stretch
    return body_components(part, q) @ push + spring


def joint_impulse_derivative(link: Link, q: Array, q_next: Array, h: float) -> Array:
    """Derivative (nv, nv of the joint) of `joint_impulse` by a body-frame increment of q_next."""
    part = link.part
    if part is None:
        return np.zeros((0, 0))
    q, q_next, rest = q[link.iq], q_next[link.iq], np.asarray(part.rest, dtype=float)
    push = -(part.damping / 2 + part.armature / h) * motion_derivative(part, q, q_next)
    spring = motion_derivative(part, rest, q).T @ motion_derivative(part, rest, q_next)
    return body_components(part, q) @ push - h * part.stiffness / 4 * spring
