"""Pinocchio, which has the dynamics but no integrator: semi-implicit Euler and Runge–Kutta 4 are made here on its aba.

They are charged the calls of `aba` alone, each at the price of the call less the price of a call on a model without
joints, which is what crossing from Python to C++ and back costs. A program in C++ could not be faster.
"""

import time
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin

import leastaction as la
from benchmarks.peers.engine import Array, Engine, Method
from benchmarks.peers.links import Link, links
from leastaction.model import BALL, SCREW
from leastaction.model.arrays import rotated

LIBRARY = "Pinocchio"
BLOCK, REPEATS = 0.002, 15  # s of calls timed at once, and how often: the fastest counts
MOST = 300  # joints: beyond, the tables of its Data, O(n³), do not fit into memory


def joint(link: Link) -> pin.JointModel:
    """Pinocchio's joint."""
    part = link.part
    if part.kind != SCREW:
        return pin.JointModelSpherical() if part.kind == BALL else pin.JointModelFreeFlyer()
    if not part.turn.any():
        return pin.JointModelPrismaticUnaligned(part.slide)
    if not part.slide.any():
        axis = int(np.argmax(part.turn))
        aligned = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)[axis]
        return aligned() if part.turn[axis] == 1.0 else pin.JointModelRevoluteUnaligned(part.turn)
    return pin.JointModelHelicalUnaligned(part.turn, float(part.slide @ part.turn))


def call_cost(call: Callable[[], object]) -> float:
    """CPU time of one call from Python, s."""
    count = 1
    seconds: list[float] = []
    while len(seconds) < REPEATS:
        began = time.process_time()
        for _ in range(count):
            call()
        taken = time.process_time() - began
        if taken < BLOCK:
            count *= 2
        else:
            seconds.append(taken / count)
    return min(seconds)


def aba_cost(model: la.Model, q: Array, v: Array) -> float:
    """CPU time of one `pin.aba` at a state of ours, net of the call from Python, s."""
    engine = SemiImplicitEuler(model, 1e-3)
    engine.start(q, v)
    return engine.net


class Pinocchio(Engine):
    """A pin.Model; quaternions are (x, y, z, w) and a free joint's velocity is (v, ω), both in body axes."""

    calls: int  # of the law a step
    law: Callable[..., Array] = staticmethod(pin.aba)  # gives accelerations
    settings: tuple[Any, ...] = ()  # its arguments after the torques

    def __init__(self, model: la.Model, h: float) -> None:
        self.h = h
        self.model = pin.Model()
        self.model.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
        of_q: list[int] = []  # ours for each of theirs
        of_v: list[int] = []
        plain: list[tuple[int, int]] = []  # where coordinates, quaternions and free joints are in their q and v
        turning: list[tuple[int, int]] = []
        self.free: list[tuple[int, int]] = []
        for i, link in enumerate(links(model)):
            place = pin.SE3(link.rotation, link.position)
            self.model.addJoint(link.parent + 1, joint(link), place, f"{i}")
            self.model.appendBodyToJoint(i + 1, pin.Inertia(link.mass, link.com, link.inertia), pin.SE3.Identity())
            iq = np.arange(link.q.start, link.q.stop)
            at, kind = (len(of_q), len(of_v)), link.part.kind
            if kind == SCREW:
                plain.append(at)
            elif kind == BALL:
                turning.append(at)
            else:
                self.free.append(at)
                turning.append((at[0] + 3, at[1] + 3))
            of_q += list(iq if kind == SCREW else np.r_[iq[:-4], iq[-3:], iq[-4]])
            of_v += list(np.roll(np.arange(link.v.start, link.v.stop), 3))  # of no effect but on free joints
        self.of_q, self.of_v = np.array(of_q), np.array(of_v)
        self.plain_q, self.plain_v = np.array(plain, dtype=int).reshape(-1, 2).T
        starts = np.array(turning, dtype=int).reshape(-1, 2, 1)
        self.turning, self.spins = starts[:, 0] + np.arange(4), starts[:, 1] + np.arange(3)
        self.data, self.tau, self.net = self.model.createData(), np.zeros(model.nv), 0.0

    def start(self, q: Array, v: Array) -> None:
        self.q, self.v = q[self.of_q], v[self.of_v]
        if not self.net:
            self.net = call_cost(partial(self.acceleration, self.q, self.v)) - call_cost(self.idle())

    def state(self) -> tuple[Array, Array]:
        return self.q[np.argsort(self.of_q)], self.v[np.argsort(self.of_v)]

    def mass_matrix(self) -> Array:
        M = np.triu(pin.crba(self.model, self.data, self.q))
        back = np.argsort(self.of_v)
        ours: Array = (M + np.triu(M, 1).T)[np.ix_(back, back)]
        return ours

    def acceleration(self, q: Array, v: Array) -> Array:
        """Rates of v (nv,), rad/s², m/s²."""
        return self.law(self.model, self.data, q, v, self.tau, *self.settings)

    def idle(self) -> Callable[[], object]:
        """Return a call of the law on a model without joints."""
        empty = type(self)(la.Model(), self.h)
        return partial(empty.acceleration, np.zeros(0), np.zeros(0))

    def timed(self, n: int) -> float:
        self.step(n)
        return n * self.calls * self.net

    @abstractmethod
    def step(self, n: int) -> None:
        """Make n steps."""


class SemiImplicitEuler(Pinocchio):
    """v₁ = v₀ + h a(q₀, v₀), q₁ = q₀ ⊕ h v₁."""

    calls = 1

    def step(self, n: int) -> None:
        for _ in range(n):
            self.v = self.v + self.h * self.acceleration(self.q, self.v)
            self.q = pin.integrate(self.model, self.q, self.h * self.v)


class RungeKutta4(Pinocchio):
    """The classical method on q and v as they are; quaternions are made unit again at every stage."""

    calls = 4

    def step(self, n: int) -> None:
        h = self.h
        for _ in range(n):
            q, v = self.q, self.v
            k1, a1 = self.rates(q, v)
            k2, a2 = self.rates(q + h / 2 * k1, v + h / 2 * a1)
            k3, a3 = self.rates(q + h / 2 * k2, v + h / 2 * a2)
            k4, a4 = self.rates(q + h * k3, v + h * a3)
            self.q = self._unit(q + h / 6 * (k1 + 2 * (k2 + k3) + k4))
            self.v = v + h / 6 * (a1 + 2 * (a2 + a3) + a4)

    def _unit(self, q: Array) -> Array:
        return q if self.model.nq == self.model.nv else pin.normalize(self.model, q)

    def rates(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Rates of q (nq,) and of v (nv,), rad/s, m/s, 1/s for quaternions; rad/s², m/s²."""
        q = self._unit(q)
        a = self.acceleration(q, v)
        if self.model.nq == self.model.nv:
            return v, a
        rate = np.empty(self.model.nq)
        rate[self.plain_q] = v[self.plain_v]
        vector, scalar, omega = q[self.turning[:, :3]], q[self.turning[:, 3:]], v[self.spins]
        rate[self.turning[:, :3]] = (scalar * omega + np.cross(vector, omega)) / 2
        rate[self.turning[:, 3]] = -(vector * omega).sum(axis=1) / 2
        for at_q, at_v in self.free:
            x, y, z, w = q[at_q + 3 : at_q + 7]
            rate[at_q : at_q + 3] = rotated((w, x, y, z), v[at_v : at_v + 3])
        return rate, a


METHODS = (
    Method(LIBRARY, "aba, RK4", 4, RungeKutta4, MOST),
    Method(LIBRARY, "aba, Euler", 1, SemiImplicitEuler, MOST),
)
