"""MuJoCo."""

from functools import partial

import mujoco
import numpy as np

import leastaction as la
from benchmarks.peers.engine import Array, Engine, Method, UnsupportedError
from benchmarks.peers.links import Link, links
from leastaction.model import BALL, FREE
from leastaction.model.arrays import product, rotated, rotation_matrix

LIBRARY = "MuJoCo"


def kind(link: Link) -> mujoco.mjtJoint:
    """MuJoCo's type of a joint."""
    part = link.part
    if part.kind == BALL:
        return mujoco.mjtJoint.mjJNT_BALL
    if part.kind == FREE:
        if link.parent >= 0:
            raise UnsupportedError("MuJoCo has free joints on the ground only")
        return mujoco.mjtJoint.mjJNT_FREE
    if part.turn.any() and part.slide.any():
        raise UnsupportedError("MuJoCo has no helical joint")
    return mujoco.mjtJoint.mjJNT_HINGE if part.turn.any() else mujoco.mjtJoint.mjJNT_SLIDE


def specification(model: la.Model, parts: list[Link]) -> mujoco.MjSpec:
    """Describe a model to MuJoCo, where every body that moves has a mass, and may have several joints."""
    spec = mujoco.MjSpec()
    spec.option.gravity = np.array(model.gravity)
    bodies: dict[int, mujoco.MjsBody] = {-1: spec.worldbody}
    for i, link in enumerate(parts):
        if link.mass == 0.0:
            continue
        position, quaternion = link.position, link.quaternion  # of the body in the link above
        joints = [(link, np.zeros(3), np.eye(3))]  # the joint's origin and axes in the body
        above = link.parent
        while above not in bodies:
            other = parts[above]
            R = rotation_matrix(quaternion)
            joints.insert(0, (other, -R.T @ position, R.T))
            position = other.position + np.array(rotated(other.quaternion, position))
            quaternion = np.array(product(other.quaternion, quaternion))
            above = other.parent
        body = bodies[i] = bodies[above].add_body(name=link.name, pos=position, quat=quaternion)
        for moved, origin, axes in joints:
            joint = body.add_joint(name=moved.name, type=kind(moved))
            if moved.part.nv == 1:
                joint.pos, joint.axis = origin, axes @ (moved.part.turn + moved.part.slide)
        body.mass, body.ipos, body.explicitinertial = link.mass, link.com, True
        body.fullinertia = link.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return spec


class Mujoco(Engine):
    """MjModel and MjData; MuJoCo has a free joint's pose in the world, and its linear velocity in world axes, first."""

    def __init__(self, integrator: mujoco.mjtIntegrator, model: la.Model, h: float) -> None:
        parts = links(model)
        massless = [link.parent for link in parts if link.parent >= 0 and parts[link.parent].mass == 0.0]
        if len(set(massless)) < len(massless):
            raise UnsupportedError("MuJoCo wants every body that moves, and that branches, to have a mass")
        self.model = self.specified(model, parts).compile()
        self.model.opt.timestep, self.model.opt.integrator = h, integrator
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET  # a run that blows up shall show it
        mujoco.set_mju_user_warning(lambda _message: None)  # and not write a file about it
        self.data = mujoco.MjData(self.model)
        self.q_of, self.v_of = np.zeros(model.nq, dtype=int), np.zeros(model.nv, dtype=int)  # theirs for each of ours
        self.free: list[tuple[Link, int, int]] = []
        for link in parts:
            joint = self.model.joint(link.name)
            at_q, at_v = int(joint.qposadr[0]), int(joint.dofadr[0])
            self.q_of[link.q] = at_q + np.arange(link.part.nq)
            self.v_of[link.v] = at_v + np.arange(link.part.nv)
            if link.part.kind == FREE:
                self.v_of[link.v] = at_v + np.array([3, 4, 5, 0, 1, 2])
                self.free.append((link, at_q, at_v))

    def specified(self, model: la.Model, parts: list[Link]) -> mujoco.MjSpec:
        """Describe the model; a subclass adds what the tree lacks."""
        return specification(model, parts)

    def start(self, q: Array, v: Array) -> None:
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[self.q_of] = q
        for link, at, _ in self.free:
            pose = self.data.qpos[at : at + 7]
            pose[:3] = link.position + np.array(rotated(link.quaternion, pose[:3]))
            pose[3:] = product(link.quaternion, pose[3:])
        self.data.qvel[:] = self._basis() @ v
        mujoco.mj_forward(self.model, self.data)

    def step(self, n: int) -> None:
        mujoco.mj_step(self.model, self.data, n)

    def state(self) -> tuple[Array, Array]:
        qpos = self.data.qpos.copy()
        for link, at, _ in self.free:
            w, x, y, z = link.quaternion
            back, pose = (w, -x, -y, -z), qpos[at : at + 7]
            pose[:3], pose[3:] = rotated(back, pose[:3] - link.position), product(back, pose[3:])
        return qpos[self.q_of], self._basis().T @ self.data.qvel

    def mass_matrix(self) -> Array:
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        B = self._basis()
        ours: Array = B.T @ M @ B
        return ours

    def _basis(self) -> Array:
        """(nv, nv) orthogonal, from our v to qvel."""
        B = np.zeros((self.model.nv, self.model.nv))
        B[self.v_of, np.arange(self.model.nv)] = 1.0
        for _, at_q, at_v in self.free:
            B[at_v : at_v + 3] = rotation_matrix(self.data.qpos[at_q + 3 : at_q + 7]) @ B[at_v : at_v + 3]
        return B


METHODS = tuple(
    Method(LIBRARY, name, order, partial(Mujoco, integrator))
    for name, order, integrator in (
        ("RK4", 4, mujoco.mjtIntegrator.mjINT_RK4),
        ("Euler", 1, mujoco.mjtIntegrator.mjINT_EULER),
        ("implicitfast", 1, mujoco.mjtIntegrator.mjINT_IMPLICITFAST),
    )
)
