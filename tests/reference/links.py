"""A Model as a flat list of links with elementary joints, parents first, and the kinematics of that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leastaction.model import BALL, SCREW, Inertia, Model, Part

from .lie import Ad, Array, exp, hat, inverse, log, pose, quat_exp, quat_inv, quat_log, quat_mul, rotation


@dataclass(frozen=True)
class Link:
    """One elementary joint and the frame it moves.

    Parameters
    ----------
    parent : index of the parent link, -1 for the ground
    body : index of the body whose frame this is, -1 inside a compound joint
    placement : (4, 4) joint frame in the parent link's frame, m
    part : the elementary joint, None when fixed
    G : (6, 6) spatial inertia about the link's origin in its axes, SI units
    iq, iv : the joint's places in q and v
    """

    parent: int
    body: int
    placement: Array
    part: Part | None
    G: Array
    iq: slice
    iv: slice


def spatial_inertia(inertia: Inertia) -> Array:
    """Spatial inertia (6, 6) about the body's origin in body axes, kg m^2, kg m and kg."""
    m, C = inertia.mass, hat(np.asarray(inertia.com, dtype=float))
    return np.block([[inertia.matrix - m * C @ C, m * C], [-m * C, m * np.eye(3)]])


def parents_first(model: Model) -> list[int]:
    """Body indices so that a parent comes before its children, each subtree in one piece."""
    index = {body.name: b for b, body in enumerate(model.bodies)}
    children: dict[int, list[int]] = {b: [] for b in range(-1, len(model.bodies))}
    for b, body in enumerate(model.bodies):
        children[-1 if body.parent is None else index[body.parent]].append(b)
    order, stack = [], children[-1][::-1]
    while stack:
        order.append(stack.pop())
        stack += children[order[-1]][::-1]
    return order


def links_of(model: Model) -> list[Link]:
    """The links, depth first; a compound joint is a chain of massless links, a fixed joint has no DoF."""
    starts = np.cumsum([(0, 0)] + [(b.joint.nq, b.joint.nv) for b in model.bodies], axis=0)
    links: list[Link] = []
    link_of_body: dict[str | None, int] = {None: -1}
    for b in parents_first(model):
        body = model.bodies[b]
        iq, iv = (int(i) for i in starts[b])
        parent = link_of_body[body.parent]
        placement = pose(rotation(np.asarray(body.quaternion)), np.asarray(body.position))
        parts: list[Part | None] = list(body.joint.parts()) or [None]
        for k, part in enumerate(parts):
            nq, nv = (0, 0) if part is None else (part.nq, part.nv)
            last = k == len(parts) - 1
            G = spatial_inertia(body.inertia) if last else np.zeros((6, 6))
            links.append(Link(parent, b if last else -1, placement, part, G,
                              slice(iq, iq + nq), slice(iv, iv + nv)))
            parent, placement, iq, iv = len(links) - 1, np.eye(4), iq + nq, iv + nv
        link_of_body[body.name] = parent
    return links


def part_pose(part: Part, q: Array) -> Array:
    """Pose (4, 4) of an elementary joint at its own coordinates q (nq,)."""
    if part.kind == SCREW:
        A = hat(part.turn)
        return pose(np.eye(3) + np.sin(q[0]) * A + (1 - np.cos(q[0])) * A @ A, part.slide * q[0])
    return pose(rotation(q), np.zeros(3)) if part.kind == BALL else pose(rotation(q[3:]), q[:3])


def joint_pose(link: Link, q: Array) -> Array:
    """Pose (4, 4) of the link in its parent link at the configuration q (nq,) of the whole model."""
    return link.placement if link.part is None else link.placement @ part_pose(link.part, q[link.iq])


def joint_motion(part: Part, q0: Array, q1: Array) -> Array:
    """Turn and shift (nv,) of an elementary joint from q0 to q1 (nq,), the shift in parent axes."""
    if part.kind == SCREW:
        return q1 - q0
    turn = quat_log(quat_mul(quat_inv(q0[-4:]), q1[-4:]))
    return turn if part.kind == BALL else np.concatenate([turn, q1[:3] - q0[:3]])


def subspace(link: Link) -> Array:
    """Motion subspace S (6, nv of the joint), in the link's frame."""
    if link.part is None:
        return np.zeros((6, 0))
    if link.part.kind == SCREW:
        return np.concatenate([link.part.turn, link.part.slide])[:, None]
    return np.eye(6)[:, : link.iv.stop - link.iv.start]


def body_jacobians(links: list[Link], q: Array, nv: int) -> list[Array]:
    """Of every link at q (nq,): the matrix (6, nv) from v to the link's twist in its own frame."""
    jacobians: list[Array] = []
    for link in links:
        J = np.zeros((6, nv))
        if link.parent >= 0:
            J += Ad(inverse(joint_pose(link, q))) @ jacobians[link.parent]
        J[:, link.iv] += subspace(link)
        jacobians.append(J)
    return jacobians


def mass_matrix(model: Model, q: ArrayLike) -> Array:
    """Mass matrix (nv, nv) at q (nq,), armature included, SI units."""
    links, nv = links_of(model), model.nv
    M = np.zeros((nv, nv))
    for link, J in zip(links, body_jacobians(links, np.asarray(q, dtype=float), nv), strict=True):
        M += J.T @ link.G @ J
        if link.part is not None:
            M[link.iv, link.iv] += link.part.armature * np.eye(link.iv.stop - link.iv.start)
    return M


def increment(model: Model, q: ArrayLike, delta: ArrayLike) -> Array:
    """Configuration (nq,) reached from q (nq,) by the body-frame increment delta (nv,), rad and m."""
    q, delta = np.asarray(q), np.asarray(delta)
    moved = np.array(q, dtype=np.result_type(q, delta, float))
    for link in links_of(model):
        if link.part is None:
            continue
        here, step = q[link.iq], delta[link.iv]
        if link.part.kind == SCREW:
            moved[link.iq] = here + step
        elif link.part.kind == BALL:
            moved[link.iq] = quat_mul(here, quat_exp(step))
        else:
            T = part_pose(link.part, here) @ exp(step)
            moved[link.iq] = np.concatenate([T[:3, 3], quat_mul(here[3:], quat_exp(step[:3]))])
    return moved


def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> Array:
    """Body-frame increment (nv,), rad and m, that takes q0 (nq,) to q1 (nq,): the inverse of `increment`."""
    q0, q1 = np.asarray(q0), np.asarray(q1)
    delta = np.zeros(model.nv, dtype=np.result_type(q0, q1, float))
    for link in links_of(model):
        if link.part is not None and link.part.kind == SCREW:
            delta[link.iv] = q1[link.iq] - q0[link.iq]
        elif link.part is not None:
            x = log(inverse(part_pose(link.part, q0[link.iq])) @ part_pose(link.part, q1[link.iq]))
            delta[link.iv] = x[: link.iv.stop - link.iv.start]
    return delta
