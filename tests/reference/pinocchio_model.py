"""The same system in Pinocchio, read and answered in this library's layout.

Springs and damping are left out; armature counts in all but the momentum.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from leastaction.model import Model
from leastaction.reference.joints import Ball, Free, Joint, Screw
from leastaction.reference.lie import Array, pose
from leastaction.reference.links import Link, links_of


def joint_model(joint: Joint) -> pin.JointModel:
    """Pinocchio's joint for an elementary one."""
    if isinstance(joint, Screw):
        if not joint.turn.any():
            return pin.JointModelPrismaticUnaligned(joint.slide)
        if not joint.slide.any():
            return pin.JointModelRevoluteUnaligned(joint.turn)
        return pin.JointModelHelicalUnaligned(joint.turn, float(joint.slide @ joint.turn))
    return pin.JointModelSpherical() if isinstance(joint, Ball) else pin.JointModelFreeFlyer()


def depth_first(links: list[Link]) -> list[int]:
    """Indices of the links so that each subtree is in one piece, as Pinocchio's mass matrix needs it."""
    children: dict[int, list[int]] = {i: [] for i in range(-1, len(links))}
    for i, link in enumerate(links):
        children[link.parent].append(i)
    order, stack = [], children[-1][::-1]
    while stack:
        order.append(stack.pop())
        stack += children[order[-1]][::-1]
    return order


class PinocchioModel:
    """A Model in Pinocchio; q, v, a, forces and Jacobians are in the model's own layout throughout."""

    def __init__(self, model: Model) -> None:
        self.pin = pin.Model()
        self.pin.gravity = pin.Motion(np.asarray(model.gravity, dtype=float), np.zeros(3))
        self.carrier = [(0, pin.SE3.Identity())] * len(model.bodies)  # joint that carries it, pose in that
        to_q, to_v, armature = [], [], []
        self.free: list[tuple[slice, float]] = []  # where free joints are in v, and their armature
        where: dict[int, tuple[int, pin.SE3]] = {}  # of every link
        links = links_of(model)
        for i in depth_first(links):
            link = links[i]
            joint, offset = where[link.parent] if link.parent >= 0 else (0, pin.SE3.Identity())
            placement = offset * pin.SE3(link.placement)
            if link.S.size:
                joint = self.pin.addJoint(joint, joint_model(link.joint), placement, f"joint{i}")
                placement = pin.SE3.Identity()
                iq, iv = np.arange(link.iq.start, link.iq.stop), np.arange(link.iv.start, link.iv.stop)
                to_q += list(np.r_[iq[:-4], iq[-3:], iq[-4]] if not isinstance(link.joint, Screw) else iq)  # x, y, z, w
                to_v += list(np.roll(iv, 3))  # linear before angular; for the others this changes nothing
                if isinstance(link.joint, Free):
                    self.free.append((link.iv, link.joint.armature))
                armature += [link.joint.armature] * len(iv)
            where[i] = joint, placement
            if link.body >= 0:
                self.carrier[link.body] = (joint, placement)
                inertia = model.bodies[link.body].inertia
                if joint:
                    theirs = pin.Inertia(inertia.mass, inertia.com, inertia.matrix)
                    self.pin.appendBodyToJoint(joint, theirs, placement)
        self.to_q, self.to_v = np.array(to_q, dtype=int), np.array(to_v, dtype=int)
        self.from_v = np.argsort(self.to_v)
        self.bare = pin.Model(self.pin)  # Pinocchio's kinetic energy counts the armature of some joints only
        self.pin.armature = np.array(armature)
        self.data = self.pin.createData()

    def to_pinocchio(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """Pinocchio's q and v for ours, (nq,) and (nv,)."""
        return np.asarray(q, dtype=float)[self.to_q], np.asarray(v, dtype=float)[self.to_v]

    def from_pinocchio(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """Our q (nq,) and v (nv,) for Pinocchio's."""
        return np.asarray(q, dtype=float)[np.argsort(self.to_q)], np.asarray(v, dtype=float)[self.from_v]

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Mass matrix (nv, nv) with armature, SI units."""
        M = pin.crba(self.pin, self.data, self.to_pinocchio(q, self.to_v)[0])
        M = np.triu(M) + np.triu(M, 1).T
        return M[np.ix_(self.from_v, self.from_v)]

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Joint forces (nv,), N m and N, that give the rate a (nv,) of v, gravity and armature included."""
        rates = np.asarray(v, dtype=float)
        q, v = self.to_pinocchio(q, v)
        tau = pin.rnea(self.pin, self.data, q, v, np.asarray(a, dtype=float)[self.to_v])[self.from_v]
        for iv, armature in self.free:  # Pinocchio leaves out that the body axes of (omega, v) turn
            omega, linear = rates[iv][:3], rates[iv][3:]
            tau[iv] += armature * np.concatenate([np.zeros(3), np.cross(omega, linear)])
        return tau

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> float:
        """Kinetic energy with that of the armature, J."""
        q, v = self.to_pinocchio(q, v)
        bodies = pin.computeKineticEnergy(self.bare, self.data, q, v)
        return bodies + float(self.pin.armature @ v**2) / 2

    def gravitational_energy(self, q: ArrayLike) -> float:
        """Gravitational energy of the bodies that can move, zero at the world's origin, J."""
        return pin.computePotentialEnergy(self.pin, self.data, self.to_pinocchio(q, self.to_v)[0])

    def momentum(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Momentum (6,) about the world's origin in world axes, angular then linear, without armature."""
        about_com = pin.computeCentroidalMomentum(self.pin, self.data, *self.to_pinocchio(q, v))
        com = pin.centerOfMass(self.pin, self.data, self.to_pinocchio(q, v)[0])
        return np.concatenate([about_com.angular + np.cross(com, about_com.linear), about_com.linear])

    def poses(self, q: ArrayLike) -> Array:
        """World poses (nb, 4, 4) of the bodies, m."""
        pin.forwardKinematics(self.pin, self.data, self.to_pinocchio(q, self.to_v)[0])
        places = [self.data.oMi[joint] * offset for joint, offset in self.carrier]
        return np.array([pose(place.rotation, place.translation) for place in places])

    def jacobian(self, q: ArrayLike, body: int) -> Array:
        """Matrix (6, nv) from v to the twist (omega, v) of a body in its own frame."""
        joint, offset = self.carrier[body]
        if joint == 0:
            return np.zeros((6, len(self.to_v)))
        pin.computeJointJacobians(self.pin, self.data, self.to_pinocchio(q, self.to_v)[0])
        J = pin.getJointJacobian(self.pin, self.data, joint, pin.ReferenceFrame.LOCAL).reshape(6, -1)
        return np.roll(offset.inverse().action @ J, 3, axis=0)[:, self.from_v]
