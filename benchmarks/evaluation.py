"""What an evaluation of forward dynamics costs inside explicit methods: DOP853 beside Runge–Kutta 4.

Both make nothing but evaluations and sums of them. They take turns, so that both see the same machine.
"""

import time
from typing import NamedTuple

import leastaction as la
from leastaction.integrators import Integrator

TOGETHER = 100_000  # evaluations times bodies of each method in a turn, about


class Evaluation(NamedTuple):
    """CPU time of an evaluation on the paper chain of n bodies, s, the fastest of several turns.

    runge_kutta : a quarter of a step of Runge–Kutta 4, with the look at the energy after each
    dormand_prince : of DOP853 at its default tolerance, all its sums and looks included
    a_second : evaluations of DOP853 in a simulated second
    """

    n: int
    runge_kutta: float
    dormand_prince: float
    a_second: float


def evaluations(n: int, turns: int) -> Evaluation:
    """Measure the chain of n bodies, so many times."""
    model, wanted = la.library.paper_chain(n), TOGETHER // n
    chosen, between = la.DormandPrince8(), 0.1 if n < 1000 else 0.01  # s from node to node, several steps apart
    nodes = 2
    while (count := _count(model, chosen, between, nodes)) < wanted:
        nodes *= 2
    fixed, few = la.RungeKutta4(), 1e-5  # s: too short to come to grief
    quarter = own = float("inf")
    for _ in range(turns):
        quarter = min(quarter, _timed(model, fixed, few, count // 4) / (count // 4 * 4))
        own = min(own, _timed(model, chosen, between, nodes) / count)
    return Evaluation(n, quarter, own, count / (nodes * between))


def _count(model: la.Model, integrator: Integrator, dt: float, steps: int) -> int:
    run = la.simulate(model, dt=dt, steps=steps, record_every=steps, integrator=integrator, progress=False)
    return run.tally.evaluations


def _timed(model: la.Model, integrator: Integrator, dt: float, steps: int) -> float:
    """CPU time of these steps, s."""
    sim = la.Simulator(model, dt=dt, integrator=integrator)
    began = time.process_time()
    sim.step(steps)
    return time.process_time() - began
