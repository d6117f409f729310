"""The library's own integrators, run by the same rules as the others."""

from functools import partial

import numpy as np

import leastaction as la
from benchmarks.peers.engine import INTERVAL, Array, Engine, Method
from leastaction.integrators import Integrator

LIBRARY = "leastaction"


class Ours(Engine):
    """A Simulator."""

    def __init__(self, integrator: Integrator, model: la.Model, h: float) -> None:
        self.integrator, self.model, self.h = integrator, model, h

    def start(self, q: Array, v: Array) -> None:
        self.sim = la.Simulator(self.model, q, v, dt=self.h, integrator=self.integrator)

    def step(self, n: int) -> None:
        self.sim.step(n)

    def state(self) -> tuple[Array, Array]:
        return self.sim.q, self.sim.v

    def mass_matrix(self) -> Array:
        return np.array(la.mass_matrix(self.model, self.sim.q))


VARIATIONAL = tuple(
    Method(LIBRARY, name, integrator.order, partial(Ours, integrator), 10_000)
    for name, integrator in {
        "order 2": la.Variational(),
        "order 2, RIQN": la.Variational(root_finder=la.RIQN()),
        "order 4": la.Variational(order=4),
        "order 6": la.Variational(order=6),
        "order 8": la.Variational(order=8),
        "order 2, exp": la.Variational(retraction="exp"),
    }.items()
)
EXPLICIT = (
    Method(LIBRARY, "RK4", 4, partial(Ours, la.RungeKutta4()), 10_000),
    Method(LIBRARY, "Euler", 1, partial(Ours, la.SemiImplicitEuler()), 10_000),
)
METHODS = VARIATIONAL + EXPLICIT
# A step of these is of no length of its own: they stand beside the others where work is set against precision
BY_TOLERANCE = (
    Method(LIBRARY, "DOP853", 8, lambda model, tol: Ours(la.DormandPrince8(tol), model, INTERVAL), 10_000,
           tuple(10.0**-k for k in range(2, 14))),
)
