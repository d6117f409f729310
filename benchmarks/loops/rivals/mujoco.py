"""MuJoCo with connect constraints, which are springs and dampers: default ones, or the stiffest that stay stable."""

import math
from functools import partial
from itertools import count
from typing import NamedTuple

import mujoco
import numpy as np

import leastaction as la
from benchmarks.loops.mechanisms import Mechanism
from benchmarks.loops.rivals.points import Array, ClosedEngine, points
from benchmarks.loops.runs import UnfinishedError, follow, worst_energy
from benchmarks.peers.links import Link
from benchmarks.peers.mujoco import Mujoco

LONGEST = 0.02  # s, time constant of a constraint: MuJoCo's default, from which the search halves
IMPEDANCES = (0.95, 0.99, 0.999, 0.9999)  # from the default to the greatest that MuJoCo takes
WIDTH = 0.001  # m, over which the impedance would change, were it not constant: MuJoCo's default
TRIAL = 3  # steps from which the quicker form of the matrices is told


class Softness(NamedTuple):
    """How a constraint gives way.

    time_constant : of its spring, critically damped, s
    impedance : which part of the spring's acceleration it imposes, below 1
    """

    time_constant: float
    impedance: float

    def __str__(self) -> str:
        return f"solref {1e3 * self.time_constant:.3g} ms, solimp {self.impedance:g}"


class Connected(Mujoco, ClosedEngine):
    """A model whose loops are connect constraints, at MuJoCo's default softness or another one.

    Its solver is the default, Newton's method, with dense or sparse matrices, whichever is quicker on this model.
    """

    def __init__(self, integrator: mujoco.mjtIntegrator, softness: Softness | None, model: la.Model, h: float) -> None:
        super().__init__(integrator, model, h)
        for anchors, point in zip(self.model.eq_data, points(model), strict=True):
            # MuJoCo works the second anchor out of a configuration in which the loops are open
            anchors[:6] = *point.at, *point.other_at
        self.chosen = False
        if softness is not None:
            self.model.eq_solref[:] = softness.time_constant, 1.0
            self.model.eq_solimp[:, :3] = softness.impedance, softness.impedance, WIDTH
            # Else time constants below two steps would count as two
            self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_REFSAFE

    def specified(self, model: la.Model, parts: list[Link]) -> mujoco.MjSpec:
        spec = super().specified(model, parts)
        for point in points(model):
            connect = spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_BODY)
            connect.name1, connect.name2 = point.body, point.other or "world"
            connect.data[:3] = point.at
        return spec

    def start(self, q: Array, v: Array) -> None:
        super().start(q, v)
        if self.chosen:
            return
        taken = {}
        for form in (mujoco.mjtJacobian.mjJAC_DENSE, mujoco.mjtJacobian.mjJAC_SPARSE):
            self.model.opt.jacobian = form
            self.timed(1)
            taken[form] = min(self.timed(1) for _ in range(TRIAL))
        self.model.opt.jacobian = min(taken, key=lambda form: taken[form])
        self.chosen = True
        super().start(q, v)

    def gaps(self) -> Array:
        squares, rows = np.zeros(self.model.neq), slice(self.data.ne)
        np.add.at(squares, self.data.efc_id[rows], self.data.efc_pos[rows] ** 2)
        distances: Array = np.sqrt(squares)
        return distances


def stiffest(integrator: mujoco.mjtIntegrator, mechanism: Mechanism, h: float, duration: float) -> Softness:
    """Search for the softness with the least error of the energy over a time, s.

    At every impedance the time constant is halved until the run diverges or its error no longer falls.
    """
    best, least = Softness(LONGEST, IMPEDANCES[0]), math.inf
    for impedance in IMPEDANCES:
        before = math.inf
        for halvings in count():
            tried = Softness(LONGEST / 2**halvings, impedance)
            try:
                states = follow(partial(Connected, integrator, tried), mechanism, h, duration)
            except UnfinishedError:
                break
            error = worst_energy(mechanism.model, states)
            if error >= before:
                break
            before = error
            if error < least:
                best, least = tried, error
    return best
