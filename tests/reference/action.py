"""The discrete action as a plain function, and what follows from it by complex-step differentiation.

Nothing here knows a recursion for forces: world poses by 4x4 products, their logarithms, energies.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from leastaction import reference
from leastaction.model import Model
from leastaction.reference.joints import JOINTS, Ball, Joint
from leastaction.reference.lie import Array, inverse, log, pose, rotation
from leastaction.reference.links import increment, spatial_inertia

STEP = 1e-30  # of the complex step: no cancellation, so it can be tiny


def joint_coordinates(model: Model, q: Array) -> list[list[tuple[Joint, Array]]]:
    """Of every body: its joint's elementary parts with their own coordinates, cut from q (nq,)."""
    cut, at = [], 0
    for body in model.bodies:
        joint: list[tuple[Joint, Array]] = []
        for part in body.joint.parts():
            joint.append((JOINTS[part.kind](part), q[at : at + part.nq]))
            at += part.nq
        cut.append(joint)
    return cut


def poses(model: Model, q: ArrayLike) -> Array:
    """World poses (nb, 4, 4) of the bodies at q (nq,), m."""
    q = np.asarray(q)
    index = {body.name: b for b, body in enumerate(model.bodies)}
    joints = joint_coordinates(model, q)
    T = np.zeros((len(model.bodies), 4, 4), dtype=np.result_type(q, float))
    for b in model.order():
        body = model.bodies[b]
        T[b] = np.eye(4) if body.parent is None else T[index[body.parent]]
        T[b] = T[b] @ pose(rotation(np.asarray(body.quaternion)), np.asarray(body.position))
        for part, coordinates in joints[b]:
            T[b] = T[b] @ part.pose(coordinates)
    return T


def gravitational_energy(model: Model, q: ArrayLike) -> complex:
    """Energy -m g.c of all bodies at q (nq,), zero at the world's origin, J."""
    energy: complex = 0.0
    for body, T in zip(model.bodies, poses(model, q), strict=True):
        com = T[:3, :3] @ body.inertia.com + T[:3, 3]
        energy -= body.inertia.mass * (np.asarray(model.gravity) @ com)
    return energy


def split_square(model: Model, q0: Array, q1: Array) -> complex:
    """Sum of wᵀI w + m |e|² over rigid groups of bodies: w the rotation vector, e the displacement of the centre."""
    index = {body.name: b for b, body in enumerate(model.bodies)}
    carrier: dict[int, int] = {}
    for b in model.order():
        body = model.bodies[b]
        moves = bool(body.joint.parts())
        carrier[b] = b if moves else (-1 if body.parent is None else carrier[index[body.parent]])
    before, after = poses(model, q0), poses(model, q1)
    total: complex = 0.0
    for c in set(carrier.values()) - {-1}:
        group = [b for b in carrier if carrier[b] == c and model.bodies[b].inertia.mass + np.trace(
            model.bodies[b].inertia.matrix) > 0]
        if not group:
            continue
        relative = [(inverse(before[c]) @ before[b]).real for b in group]
        inertias = [model.bodies[b].inertia for b in group]
        masses = np.array([inertia.mass for inertia in inertias])
        coms = np.array([T[:3, :3] @ i.com + T[:3, 3] for T, i in zip(relative, inertias, strict=True)])
        centre = masses @ coms / masses.sum() if masses.sum() > 0 else np.zeros(3)
        I = sum(T[:3, :3] @ i.matrix @ T[:3, :3].T + i.mass * ((r @ r) * np.eye(3) - np.outer(r, r))
                for T, i, r in zip(relative, inertias, coms - centre, strict=True))
        step = pose(before[c][:3, :3].T @ after[c][:3, :3], np.zeros(3))
        w = log(step)[:3]
        e = (after[c] - before[c])[:3] @ np.append(centre, 1.0)
        total += w @ I @ w + masses.sum() * (e @ e)
    return total


def discrete_lagrangian(model: Model, q0: ArrayLike, q1: ArrayLike, h: float, retraction: str = "exp") -> complex:
    """L_d(q0, q1; h), J s, of configurations q0 and q1 (nq,) a time h apart, s."""
    q0, q1 = np.asarray(q0), np.asarray(q1)
    L = -h / 2 * (gravitational_energy(model, q0) + gravitational_energy(model, q1))
    if retraction == "split":
        L += split_square(model, q0, q1) / (2 * h)
    else:
        for body, T0, T1 in zip(model.bodies, poses(model, q0), poses(model, q1), strict=True):
            x = log(inverse(T0) @ T1)
            L += x @ spatial_inertia(body.inertia) @ x / (2 * h)
    for joint0, joint1 in zip(joint_coordinates(model, q0), joint_coordinates(model, q1), strict=True):
        for (part, c0), (_, c1) in zip(joint0, joint1, strict=True):
            eps = part.motion(c0, c1)
            psi = (part.motion(part.rest, c0) + part.motion(part.rest, c1)) / 2
            L += part.armature * (eps @ eps) / (2 * h) - h * part.stiffness / 2 * (psi @ psi)
            if isinstance(part, Ball):
                L -= h * part.torsion / 2 * (part.axis @ psi) ** 2
    return L


def gradient(model: Model, function: Callable[[Array], complex], q: ArrayLike) -> Array:
    """Derivative (nv,) of a function of q (nq,) by body-frame increments of q, by complex steps."""
    steps = 1j * STEP * np.eye(model.nv)
    return np.array([complex(function(increment(model, q, step))).imag / STEP for step in steps])


def momenta(model: Model, q0: ArrayLike, q1: ArrayLike, h: float, retraction: str = "exp") -> tuple[Array, Array]:
    """Discrete momenta -D1 L_d at q0 and D2 L_d at q1, each (nv,), body-frame components, N m s and N s."""
    before = -gradient(model, lambda q: discrete_lagrangian(model, q, q1, h, retraction), q0)
    return before, gradient(model, lambda q: discrete_lagrangian(model, q0, q, h, retraction), q1)


def half_impulses(model: Model, q0: ArrayLike, q1: ArrayLike, h: float, tau: ArrayLike | None = None,
                  wrench: ArrayLike | None = None) -> tuple[Array, Array]:
    """Forcing f- at q0 and f+ at q1, each (nv,), of damping, joint forces tau (nv,) and wrenches (nb, 6)."""
    q0, q1 = np.asarray(q0, dtype=float), np.asarray(q1, dtype=float)
    ends = []
    for q in (q0, q1):
        def work(moved: Array, at: Array = q) -> complex:
            """Work of the forcing on a displacement from the configuration `at`."""
            total: complex = 0.0
            joints = [joint_coordinates(model, c) for c in (q0, q1, at, moved)]
            for joint0, joint1, here, there in zip(*joints, strict=True):
                for (part, c0), (_, c1), (_, c), (_, d) in zip(joint0, joint1, here, there, strict=True):
                    total -= part.damping / 2 * (part.motion(c0, c1) @ part.motion(c, d))
            if wrench is not None:
                moves = zip(np.asarray(wrench), poses(model, at), poses(model, moved), strict=True)
                total += sum(h / 2 * W @ log(inverse(T0) @ T1) for W, T0, T1 in moves)
            return total

        applied = 0.0 if tau is None else h / 2 * np.asarray(tau)
        ends.append(gradient(model, work, q) + applied)
    return ends[0], ends[1]


def residual(model: Model, q_prev: ArrayLike, q: ArrayLike, q_next: ArrayLike, h: float,
             tau: ArrayLike | None = None, wrench: ArrayLike | None = None, retraction: str = "exp") -> Array:
    """-(D2 L_d(q_prev, q) + D1 L_d(q, q_next)) - forcing (nv,), body-frame components, N m s and N s."""
    arrived = momenta(model, q_prev, q, h, retraction)[1] + half_impulses(model, q_prev, q, h, tau, wrench)[1]
    return momenta(model, q, q_next, h, retraction)[0] - arrived - half_impulses(model, q, q_next, h, tau, wrench)[0]


def jacobian(model: Model, q_prev: ArrayLike, q: ArrayLike, q_next: ArrayLike, h: float,
             retraction: str = "exp") -> Array:
    """d residual / d q_next (nv, nv) in body-frame increments, by complex steps through the reference's DRNEA."""
    state = reference.end_of_step(model, q_prev, q, h, retraction=retraction)
    columns = [reference.drnea(model, state, increment(model, q_next, step), h, retraction=retraction).imag / STEP
               for step in 1j * STEP * np.eye(model.nv)]
    return np.array(columns).T
