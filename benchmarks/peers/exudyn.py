"""Exudyn: generalized-α without damping, and Runge–Kutta 4, on its kinematic tree."""

from functools import partial

import exudyn
import numpy as np
from exudyn.itemInterface import NodeGenericODE2, ObjectKinematicTree

import leastaction as la
from benchmarks.peers.engine import Array, Engine, Method, UnsupportedError
from benchmarks.peers.links import Link, links

LIBRARY = "Exudyn"
TURNS = (exudyn.JointType.RevoluteX, exudyn.JointType.RevoluteY, exudyn.JointType.RevoluteZ)
SLIDES = (exudyn.JointType.PrismaticX, exudyn.JointType.PrismaticY, exudyn.JointType.PrismaticZ)


def joint_type(link: Link) -> exudyn.JointType:
    """Exudyn's joint, which is about or along a coordinate axis."""
    part = link.part
    for direction, other, types in ((part.turn, part.slide, TURNS), (part.slide, part.turn, SLIDES)):
        axis = int(np.argmax(direction))
        if part.nv == 1 and not other.any() and direction[axis] == 1.0:
            return types[axis]
    raise UnsupportedError("Exudyn's kinematic tree has hinges and slides about coordinate axes only")


class Exudyn(Engine):
    """A system with one kinematic tree."""

    def __init__(self, solver: exudyn.DynamicSolverType, model: la.Model, h: float) -> None:
        parts = links(model)
        joints = [joint_type(link) for link in parts]
        self.of = np.array([link.v.start for link in parts])  # ours for each of theirs
        self.h, self.solver = h, solver
        self.container = exudyn.SystemContainer()
        self.system = self.container.AddSystem()
        zero = [0.0] * model.nv
        node = self.system.AddNode(NodeGenericODE2(
            numberOfODE2Coordinates=model.nv, referenceCoordinates=zero, initialCoordinates=zero,
            initialCoordinates_t=zero))
        self.system.AddObject(ObjectKinematicTree(
            nodeNumber=node, gravity=list(model.gravity), jointTypes=joints,
            linkParents=[link.parent for link in parts],
            jointTransformations=exudyn.Matrix3DList([link.rotation for link in parts]),
            jointOffsets=exudyn.Vector3DList([link.position for link in parts]),
            linkInertiasCOM=exudyn.Matrix3DList([link.inertia for link in parts]),
            linkCOMs=exudyn.Vector3DList([link.com for link in parts]), linkMasses=[link.mass for link in parts]))
        self.system.Assemble()
        self.settings = exudyn.SimulationSettings()
        self.settings.solution.file.write = False
        time = self.settings.timeIntegration
        time.verboseMode = 0
        time.adaptiveStep = time.automaticStepSize = False
        time.generalizedAlpha.spectralRadius = 1.0  # no numerical damping

    def start(self, q: Array, v: Array) -> None:
        data, initial = self.system.systemData, exudyn.ConfigurationType.Initial
        q, v = q[self.of], v[self.of]
        data.SetODE2Coordinates(q, initial)
        data.SetODE2Coordinates_t(v, initial)
        data.SetODE2Coordinates(q)
        data.SetODE2Coordinates_t(v)
        self.made = 0

    def step(self, n: int) -> None:
        time = self.settings.timeIntegration
        time.startTime, time.numberOfSteps = self.made * self.h, n
        self.made += n
        time.endTime = self.made * self.h
        self.system.SolveDynamic(self.settings, solverType=self.solver, updateInitialValues=True)

    def state(self) -> tuple[Array, Array]:
        data, back = self.system.systemData, np.argsort(self.of)
        return np.array(data.GetODE2Coordinates())[back], np.array(data.GetODE2Coordinates_t())[back]

    def mass_matrix(self) -> Array:
        back = np.argsort(self.of)
        return np.array(self.system.ComputeLinearizedSystem(self.settings)[0])[np.ix_(back, back)]


METHODS = (
    Method(LIBRARY, "generalized-α", 2, partial(Exudyn, exudyn.DynamicSolverType.GeneralizedAlpha), 200),
    Method(LIBRARY, "RK4", 4, partial(Exudyn, exudyn.DynamicSolverType.RK44), 200),
)
