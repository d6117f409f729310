"""Pinocchio's constrained dynamics with Baumgarte's correction, integrated by Runge–Kutta 4.

Charged the calls alone, each at its price less the price of the same call on a model without joints.
"""

from typing import ClassVar

import numpy as np
import pinocchio as pin

import leastaction as la
from benchmarks.loops.rivals.points import Array, ClosedEngine, points
from benchmarks.peers.links import links
from benchmarks.peers.pinocchio import RungeKutta4

KP, KD = 2500.0, 100.0  # of Baumgarte's correction, 1/s² and 1/s
ACCURACY, MOST = 1e-10, 20  # of the multipliers, and most iterations


class Constrained(RungeKutta4, ClosedEngine):
    """A model whose loops are point constraints.

    Parameters
    ----------
    algorithm : name of Pinocchio's function
    damping : of its multipliers, the power of ten at which it errs least for its time on the ladders: of `lcaba` 1e-6
        costs 4 calls where this costs 5, and errs a hundred times as much
    """

    algorithm: ClassVar[str]
    damping: ClassVar[float]

    def __init__(self, model: la.Model, h: float) -> None:
        super().__init__(model, h)
        joint_of: dict[str | None, int] = {link.name: k for k, link in enumerate(links(model), 1)}
        joint_of[None] = 0
        self.ends, held = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for point in points(model):
            end = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, self.model, joint_of[point.body], pin.SE3(np.eye(3), point.at),
                joint_of[point.other], pin.SE3(np.eye(3), point.other_at), pin.LOCAL)
            end.m_baumgarte_parameters.Kp, end.m_baumgarte_parameters.Kd = KP, KD
            self.ends.append(end)
            held.append(end.createData())
        self.prepare(held)
        self.law = getattr(pin, self.algorithm)
        self.settings = (self.ends, held, pin.ProximalSettings(ACCURACY, self.damping, MOST))

    def prepare(self, held: pin.StdVec_RigidConstraintData) -> None:
        """Do what the algorithm wants to be done once for a model."""
        pin.initConstraintDynamics(self.model, self.data, self.ends, held)

    def gaps(self) -> Array:
        pin.forwardKinematics(self.model, self.data, self.q)
        places = [[self.data.oMi[joint].act(placement.translation) for joint, placement in (
            (end.joint1_id, end.joint1_placement), (end.joint2_id, end.joint2_placement))] for end in self.ends]
        distances: Array = np.linalg.norm([one - other for one, other in places], axis=1)
        return distances


class ConstraintDynamics(Constrained):
    """By `constraintDynamics`, which factors the matrix of all constraints and joints."""

    algorithm, damping = "constraintDynamics", 1e-6


class Lcaba(Constrained):
    """By `lcaba`, which eliminates joints and constraints one by one."""

    algorithm, damping = "lcaba", 1e-4

    def prepare(self, held: pin.StdVec_RigidConstraintData) -> None:
        pin.computeJointMinimalOrdering(self.model, self.data, self.ends)
