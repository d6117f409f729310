"""The same system in Pinocchio, read and answered in this library's layout.

Springs and damping are left out; armature counts in all but the momentum.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from leastaction.model import BALL, FREE, SCREW, Model, Part

from .lie import Array, pose
from .links import links_of


def joint_model(part: Part) -> pin.JointModel:
    """Pinocchio's joint for an elementary part."""
    if part.kind == SCREW:
        if not part.turn.any():
            return pin.JointModelPrismaticUnaligned(part.slide)
        if not part.slide.any():
            return pin.JointModelRevoluteUnaligned(part.turn)
        return pin.JointModelHelicalUnaligned(part.turn, float(part.slide @ part.turn))
    return pin.JointModelSpherical() if part.kind == BALL else pin.JointModelFreeFlyer()


class PinocchioModel:
    """A Model in Pinocchio; q, v, a, forces and Jacobians are in the model's own layout throughout."""

    def __init__(self, model: Model) -> None:
        self.pin = pin.Model()
        self.pin.gravity = pin.Motion(np.asarray(model.gravity, dtype=float), np.zeros(3))
        self.carrier = [(0, pin.SE3.Identity())] * len(model.bodies)  # joint that carries it, pose in that
        to_q, to_v, armature = [], [], []
        self.free: list[tuple[slice, float]] = []  # where free joints are in v, and their armature
        where: list[tuple[int, pin.SE3]] = []  # of every link
        for i, link in enumerate(links_of(model)):
            joint, offset = where[link.parent] if link.parent >= 0 else (0, pin.SE3.Identity())
            placement = offset * pin.SE3(link.placement)
            if link.part is not None:
                joint = self.pin.addJoint(joint, joint_model(link.part), placement, f"joint{i}")
                placement = pin.SE3.Identity()
                iq, iv = np.arange(link.iq.start, link.iq.stop), np.arange(link.iv.start, link.iv.stop)
                to_q += list(np.r_[iq[:-4], iq[-3:], iq[-4]] if link.part.kind != SCREW else iq)  # x, y, z, w
                to_v += list(np.roll(iv, 3))  # linear before angular; for the others this changes nothing
                if link.part.kind == FREE:
                    self.free.append((link.iv, link.part.armature))
                armature += [link.part.armature] * len(iv)
            where.append((joint, placement))
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
