"""Drake: its discrete plant, and Runge–Kutta 3 with a fixed step on its continuous one."""

from functools import partial

import numpy as np
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    BallRpyJoint,
    FixedOffsetFrame,
    Frame,
    Joint,
    PrismaticJoint,
    QuaternionFloatingJoint,
    RevoluteJoint,
    RigidBody,
    ScrewJoint,
    SpatialInertia,
    UnitInertia,
)
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

import leastaction as la
from benchmarks.peers.engine import Array, Engine, Method
from benchmarks.peers.links import Link, links
from benchmarks.peers.rotations import angles_of_quaternion, quaternion_of_angles
from leastaction.model import BALL, FREE, SCREW
from leastaction.model.arrays import rotation_matrix

LIBRARY = "Drake"


def spatial_inertia(link: Link) -> SpatialInertia:
    """Drake's inertia of a link: about its origin, divided by its mass."""
    if link.mass == 0.0:
        return SpatialInertia.Zero()
    com, I = link.com, link.inertia / link.mass
    about = I + (com @ com) * np.eye(3) - np.outer(com, com)
    unit = UnitInertia(about[0, 0], about[1, 1], about[2, 2], about[0, 1], about[0, 2], about[1, 2])
    return SpatialInertia(link.mass, com, unit)


def joint(link: Link, frame: Frame, body: RigidBody) -> Joint:
    """Drake's joint; its ball joint has angles, which are singular at a pitch of a quarter turn."""
    part, ends = link.part, (link.name, frame, body.body_frame())
    if part.kind == FREE:
        return QuaternionFloatingJoint(*ends)
    if part.kind == BALL:
        return BallRpyJoint(*ends)
    if not part.turn.any():
        return PrismaticJoint(*ends, part.slide)
    if not part.slide.any():
        return RevoluteJoint(*ends, part.turn)
    return ScrewJoint(*ends, part.turn, 2 * np.pi * float(part.slide @ part.turn), 0.0)


class Drake(Engine):
    """A MultibodyPlant in a Simulator; the velocities of ball and free joints are in the axes of the joint's frame."""

    def __init__(self, discrete: bool, model: la.Model, h: float) -> None:
        self.h, self.links = h, links(model)
        self.plant = MultibodyPlant(h if discrete else 0.0)
        self.plant.mutable_gravity_field().set_gravity_vector(np.array(model.gravity))
        bodies: list[RigidBody] = []
        for link in self.links:
            parent = bodies[link.parent] if link.parent >= 0 else self.plant.world_body()
            bodies.append(self.plant.AddRigidBody(link.name, spatial_inertia(link)))
            place = RigidTransform(RotationMatrix(link.rotation), link.position)
            frame = self.plant.AddFrame(FixedOffsetFrame(f"{link.name} joint", parent.body_frame(), place))
            self.plant.AddJoint(joint(link, frame, bodies[-1]))
        self.complete(model)
        self.plant.Finalize()
        self.simulator = Simulator(self.plant)
        if not discrete:
            ResetIntegratorFromFlags(self.simulator, "runge_kutta3", h).set_fixed_step_mode(True)
        self.context = self.simulator.get_mutable_context()
        self.at = [(j.position_start(), j.velocity_start()) for j in
                   (self.plant.GetJointByName(link.name) for link in self.links)]
        self.nq, self.nv = model.nq, model.nv

    def complete(self, model: la.Model) -> None:
        """Add to the plant what the tree lacks: nothing here, closures in a subclass."""

    def start(self, q: Array, v: Array) -> None:
        theirs = np.empty(self.plant.num_positions())
        for link, (at, _) in zip(self.links, self.at, strict=True):
            own = q[link.q]
            if link.part.kind == FREE:
                own = np.append(own[3:], own[:3])
            elif link.part.kind == BALL:
                own = angles_of_quaternion(own)
            theirs[at : at + len(own)] = own
        self.plant.SetPositions(self.context, theirs)
        self.plant.SetVelocities(self.context, self._basis(q) @ v)
        self.context.SetTime(0.0)
        self.made = 0
        self.simulator.Initialize()

    def step(self, n: int) -> None:
        self.made += n
        self.simulator.AdvanceTo(self.made * self.h)

    def state(self) -> tuple[Array, Array]:
        positions, q = self.plant.GetPositions(self.context), np.empty(self.nq)
        for link, (at, _) in zip(self.links, self.at, strict=True):
            if link.part.kind == SCREW:
                q[link.q] = positions[at]
            elif link.part.kind == BALL:
                q[link.q] = quaternion_of_angles(positions[at : at + 3])
            else:
                own = positions[at : at + 7]
                q[link.q] = np.append(own[4:], own[:4] / np.linalg.norm(own[:4]))
        return q, self._basis(q).T @ self.plant.GetVelocities(self.context)

    def mass_matrix(self) -> Array:
        B = self._basis(self.state()[0])
        ours: Array = B.T @ self.plant.CalcMassMatrix(self.context) @ B
        return ours

    def _basis(self, q: Array) -> Array:
        """(nv, nv) orthogonal, from our v to Drake's, at our q (nq,)."""
        B = np.zeros((self.nv, self.nv))
        for link, (_, at) in zip(self.links, self.at, strict=True):
            R = np.eye(1) if link.part.kind == SCREW else rotation_matrix(q[link.q][-4:])
            for k in range(0, link.part.nv, len(R)):
                B[at + k : at + k + len(R), link.v.start + k : link.v.start + k + len(R)] = R
        return B


METHODS = (
    Method(LIBRARY, "RK3", 3, partial(Drake, False)),
    Method(LIBRARY, "discrete", 1, partial(Drake, True)),
)
