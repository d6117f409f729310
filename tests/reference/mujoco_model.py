"""The same system in MuJoCo, read and answered in this library's layout.

Springs and damping are left out; armature counts in all but the momentum.
MuJoCo has no helical joint and allows a free joint only on a child of the world.
"""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from leastaction.model import BALL, FREE, Body, Model, Part
from leastaction.reference.lie import Array, pose, quat_inv, quat_mul, rotation


def joint_kind(part: Part, body: Body) -> mujoco.mjtJoint:
    """MuJoCo's joint type for an elementary part."""
    if part.kind == BALL:
        return mujoco.mjtJoint.mjJNT_BALL
    if part.kind == FREE:
        if body.parent is not None:
            raise NotImplementedError("MuJoCo has no free joint below a body")
        return mujoco.mjtJoint.mjJNT_FREE
    if part.turn.any() and part.slide.any():
        raise NotImplementedError("MuJoCo has no helical joint")
    return mujoco.mjtJoint.mjJNT_HINGE if part.turn.any() else mujoco.mjtJoint.mjJNT_SLIDE


def full_inertia(matrix: Array) -> Array:
    """The six entries of an inertia matrix (3, 3) in MuJoCo's order."""
    return matrix[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


class MujocoModel:
    """A Model in MuJoCo; q, v, a, forces and Jacobians are in the model's own layout throughout."""

    def __init__(self, model: Model) -> None:
        spec = mujoco.MjSpec()
        spec.option.gravity = np.asarray(model.gravity, dtype=float)
        made: dict[str | None, mujoco.MjsBody] = {None: spec.worldbody}
        for b in model.order():
            body = model.bodies[b]
            new = made[body.parent].add_body(name=body.name, pos=body.position, quat=body.quaternion)
            made[body.name] = new
            if body.inertia.mass > 0:
                new.mass, new.ipos = body.inertia.mass, body.inertia.com
                new.fullinertia = full_inertia(body.inertia.matrix)
                new.explicitinertial = True
            for k, part in enumerate(body.joint.parts()):
                kind = joint_kind(part, body)
                joint = new.add_joint(type=kind, name=f"{body.name}.{k}", armature=part.armature)
                if part.kind not in (BALL, FREE):
                    joint.axis = part.turn + part.slide
        self.mj = spec.compile()
        self.data = mujoco.MjData(self.mj)
        self.ids = [self.mj.body(body.name).id for body in model.bodies]
        self._lay_out(model)

    def _lay_out(self, model: Model) -> None:
        """Find where MuJoCo keeps our coordinates, and the free joints, which it sees differently."""
        to_q, to_v = np.zeros(model.nq, dtype=int), np.zeros(model.nv, dtype=int)
        self.free: list[tuple[int, int, Array, Array]] = []
        iq = iv = 0
        for body in model.bodies:
            for k, part in enumerate(body.joint.parts()):
                joint = self.mj.joint(f"{body.name}.{k}")
                q_at, v_at = int(joint.qposadr[0]), int(joint.dofadr[0])
                to_q[q_at : q_at + part.nq] = np.arange(iq, iq + part.nq)
                order = np.arange(iv, iv + part.nv)
                to_v[v_at : v_at + part.nv] = np.roll(order, 3) if part.kind == FREE else order
                if part.kind == FREE:
                    self.free.append((q_at, v_at, np.array(body.position), np.array(body.quaternion)))
                iq, iv = iq + part.nq, iv + part.nv
        self.to_q, self.to_v = to_q, to_v

    def to_mujoco(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """MuJoCo's qpos and qvel for our q (nq,) and v (nv,)."""
        qpos = np.asarray(q, dtype=float)[self.to_q]
        for at, _, position, quaternion in self.free:
            qpos[at : at + 3] = position + rotation(quaternion) @ qpos[at : at + 3]
            qpos[at + 3 : at + 7] = quat_mul(quaternion, qpos[at + 3 : at + 7])
        return qpos, self._basis(qpos) @ np.asarray(v, dtype=float)

    def from_mujoco(self, qpos: ArrayLike, qvel: ArrayLike) -> tuple[Array, Array]:
        """Our q (nq,) and v (nv,) for MuJoCo's qpos and qvel."""
        v = self._basis(np.asarray(qpos)).T @ np.asarray(qvel)
        local = np.array(qpos, dtype=float)
        for at, _, position, quaternion in self.free:
            local[at : at + 3] = rotation(quaternion).T @ (local[at : at + 3] - position)
            local[at + 3 : at + 7] = quat_mul(quat_inv(quaternion), local[at + 3 : at + 7])
        return local[np.argsort(self.to_q)], v

    def _basis(self, qpos: Array) -> Array:
        """Orthogonal matrix (nv, nv) from our v to qvel, which has a free joint's velocity in world axes."""
        B = np.eye(len(self.to_v))[self.to_v]
        for q_at, v_at, _, _ in self.free:
            B[v_at : v_at + 3] = rotation(qpos[q_at + 3 : q_at + 7]) @ B[v_at : v_at + 3]
        return B

    def _set(self, q: ArrayLike, v: ArrayLike | None = None) -> Array:
        """Bring MuJoCo's data to our state; returns the basis from our v to qvel."""
        self.data.qpos, self.data.qvel = self.to_mujoco(q, np.zeros(len(self.to_v)) if v is None else v)
        mujoco.mj_forward(self.mj, self.data)
        return self._basis(self.data.qpos)

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Mass matrix (nv, nv) with armature, SI units."""
        B = self._set(q)
        M = np.zeros((self.mj.nv, self.mj.nv))
        mujoco.mj_fullM(self.mj, self.data, M)
        return B.T @ M @ B

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Joint forces (nv,), N m and N, that give the rate a (nv,) of v, gravity and armature included."""
        B = self._set(q, v)
        qacc = B @ np.asarray(a, dtype=float)
        qvel = self.data.qvel
        for q_at, v_at, _, _ in self.free:  # world axes do not turn with the body: qacc = R (a + omega x v)
            omega = rotation(self.data.qpos[q_at + 3 : q_at + 7]) @ qvel[v_at + 3 : v_at + 6]
            qacc[v_at : v_at + 3] += np.cross(omega, qvel[v_at : v_at + 3])
        inertial = np.zeros(self.mj.nv)
        mujoco.mj_mulM(self.mj, self.data, inertial, qacc)
        return B.T @ (inertial + self.data.qfrc_bias)

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> float:
        """Kinetic energy with that of the armature, J."""
        self._set(q, v)
        mujoco.mj_energyVel(self.mj, self.data)
        return float(self.data.energy[1])

    def gravitational_energy(self, q: ArrayLike) -> float:
        """Gravitational energy of the bodies, zero at the world's origin, J."""
        self._set(q)
        mujoco.mj_energyPos(self.mj, self.data)
        return float(self.data.energy[0])

    def momentum(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Momentum (6,) about the world's origin in world axes, angular then linear, without armature."""
        self._set(q, v)
        mujoco.mj_subtreeVel(self.mj, self.data)
        linear = self.mj.body_subtreemass[0] * self.data.subtree_linvel[0]
        angular = self.data.subtree_angmom[0] + np.cross(self.data.subtree_com[0], linear)
        return np.concatenate([angular, linear])

    def poses(self, q: ArrayLike) -> Array:
        """World poses (nb, 4, 4) of the bodies, m."""
        self._set(q)
        return np.array([pose(self.data.xmat[i].reshape(3, 3), self.data.xpos[i]) for i in self.ids])

    def jacobian(self, q: ArrayLike, body: int) -> Array:
        """Matrix (6, nv) from v to the twist (omega, v) of a body in its own frame."""
        B = self._set(q)
        linear, angular = np.zeros((3, self.mj.nv)), np.zeros((3, self.mj.nv))
        mujoco.mj_jacBody(self.mj, self.data, linear, angular, self.ids[body])
        R = self.data.xmat[self.ids[body]].reshape(3, 3)
        return np.concatenate([R.T @ angular, R.T @ linear]) @ B
