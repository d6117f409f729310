"""Drake's discrete solver SAP with ball constraints."""

import numpy as np
from pydrake.multibody.plant import DiscreteContactApproximation
from pydrake.multibody.tree import SpatialInertia

import leastaction as la
from benchmarks.loops.rivals.points import Array, ClosedEngine, points
from benchmarks.peers.drake import Drake


class Balled(Drake, ClosedEngine):
    """A discrete plant whose loops are ball constraints."""

    def __init__(self, model: la.Model, h: float) -> None:
        super().__init__(True, model, h)

    def complete(self, model: la.Model) -> None:
        self.plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
        # A body that is welded to the ground stands for it: with the world's own body Drake 1.51 crashes in a step
        ground = self.plant.AddRigidBody("ground", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
        self.plant.WeldFrames(self.plant.world_frame(), ground.body_frame())
        self.ends = []
        for point in points(model):
            body = self.plant.GetBodyByName(point.body)
            other = self.plant.GetBodyByName(point.other) if point.other else ground
            self.plant.AddBallConstraint(body, point.at, other, point.other_at)
            self.ends.append(((body, point.at), (other, point.other_at)))

    def gaps(self) -> Array:
        places = [[self.plant.EvalBodyPoseInWorld(self.context, body) @ at for body, at in pair] for pair in self.ends]
        distances: Array = np.linalg.norm([one - other for one, other in places], axis=1)
        return distances
