"""DART: semi-implicit Euler."""

import dartpy as dart
import numpy as np

import leastaction as la
from benchmarks.peers.engine import Array, Engine, Method, UnsupportedError
from benchmarks.peers.links import Link, links
from benchmarks.peers.rotations import quaternion_of_vector, vector_of_quaternion
from leastaction.model import BALL, FREE, SCREW
from leastaction.model.arrays import rotation_matrix

LIBRARY = "DART"


def add(skeleton: dart.dynamics.Skeleton, parent: dart.dynamics.BodyNode | None, link: Link) -> dart.dynamics.BodyNode:
    """Add a link to a skeleton."""
    if link.mass == 0.0:
        raise UnsupportedError(f"DART wants every body to have a mass, but '{link.name}' has none")
    part = link.part
    if part.kind == BALL:
        joint, body = skeleton.createBallJointAndBodyNodePair(parent)
    elif part.kind == FREE:
        joint, body = skeleton.createFreeJointAndBodyNodePair(parent)
    elif not part.turn.any():
        joint, body = skeleton.createPrismaticJointAndBodyNodePair(parent)
        joint.setAxis(part.slide)
    elif not part.slide.any():
        joint, body = skeleton.createRevoluteJointAndBodyNodePair(parent)
        joint.setAxis(part.turn)
    else:
        raise UnsupportedError("the bench has no helical joint for DART")
    joint.setTransformFromParentBodyNode(dart.math.Isometry3(link.rotation, link.position))
    body.setInertia(dart.dynamics.Inertia(link.mass, link.com, link.inertia))
    return body


class Dart(Engine):
    """A World with one Skeleton; DART has rotation vectors where we have quaternions.

    Of a free joint the rotation comes first, and the velocities are in the axes of the parent.
    """

    def __init__(self, model: la.Model, h: float) -> None:
        self.links = links(model)
        self.world = dart.simulation.World()
        self.world.setGravity(np.array(model.gravity))
        self.world.setTimeStep(h)
        self.skeleton = dart.dynamics.Skeleton()
        bodies: list[dart.dynamics.BodyNode] = []
        for link in self.links:
            bodies.append(add(self.skeleton, bodies[link.parent] if link.parent >= 0 else None, link))
        self.world.addSkeleton(self.skeleton)
        self.nq, self.nv = model.nq, model.nv

    def start(self, q: Array, v: Array) -> None:
        theirs = []
        for link in self.links:
            own = q[link.q]
            theirs.append(own if link.part.kind == SCREW else np.append(vector_of_quaternion(own[-4:]), own[:-4]))
        self.skeleton.setPositions(np.concatenate(theirs))
        self.skeleton.setVelocities(self._basis(q) @ v)

    def step(self, n: int) -> None:
        step = self.world.step
        for _ in range(n):
            step()

    def state(self) -> tuple[Array, Array]:
        positions, at, q = self.skeleton.getPositions(), 0, np.empty(self.nq)
        for link in self.links:
            own = positions[at : at + link.part.nv]
            at += link.part.nv
            q[link.q] = own if link.part.kind == SCREW else np.append(own[3:], quaternion_of_vector(own[:3]))
        return q, self._basis(q).T @ self.skeleton.getVelocities()

    def mass_matrix(self) -> Array:
        B = self._basis(self.state()[0])
        ours: Array = B.T @ self.skeleton.getMassMatrix() @ B
        return ours

    def _basis(self, q: Array) -> Array:
        """(nv, nv) orthogonal, from our v to DART's, at our q (nq,)."""
        B, at = np.zeros((self.nv, self.nv)), 0
        for link in self.links:
            end = at + link.part.nv
            B[at:end, link.v] = np.eye(link.part.nv)
            if link.part.kind == FREE:
                B[at:end, link.v] = np.kron(np.eye(2), link.rotation @ rotation_matrix(q[link.q][-4:]))
            at = end
        return B


METHODS = (Method(LIBRARY, "Euler", 1, Dart),)
