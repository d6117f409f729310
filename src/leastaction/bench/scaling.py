"""Cost of a residual evaluation against the number of bodies: the hard chain, RIQN, one thread."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import leastaction as la

METHOD = la.Variational(root_finder=la.RIQN())
DT = 1e-3
SETTLE = 20  # steps before the clock starts: the guess has its history, and nothing is left to compile
# Steps on the clock, whatever the size. Up to here the chain falls and has not begun to whip, so that chains of all
# sizes need about the same number of evaluations a step.
LEAST_STEPS, MOST_STEPS = 20, 400


class Cost(NamedTuple):
    """What a chain of n bodies costs: evaluations a step, CPU time of a step and of an evaluation, s.

    An evaluation is charged its share of the step: the residual, two sweeps, and a part of the factorisation, the guess
    and the bookkeeping done once a step.
    """

    n: int
    evaluations: float
    step: float
    evaluation: float


def cost(n: int, body_steps: int, repeats: int) -> Cost:
    """Time the same steps of a chain of n bodies several times and keep the fastest.

    Parameters
    ----------
    n : number of bodies
    body_steps : about how many steps times bodies to time
    repeats : how often
    """
    model = la.library.chain(n)
    steps = min(max(body_steps // n, LEAST_STEPS), MOST_STEPS)
    whole = SETTLE + steps
    counted = la.simulate(model, dt=DT, steps=whole, integrator=METHOD, record_every=whole, progress=False)
    evaluations = counted.iterations[SETTLE:].sum()
    seconds = min(_timed(model, steps) for _ in range(repeats))
    return Cost(n, float(evaluations / steps), seconds / steps, float(seconds / evaluations))


def _timed(model: la.Model, steps: int) -> float:
    """CPU time of the steps, s; making the simulator and settling are not in it."""
    sim = la.Simulator(model, dt=DT, integrator=METHOD)
    sim.step(SETTLE)
    began = time.process_time()
    sim.step(steps)
    return time.process_time() - began


def slope(costs: Sequence[Cost]) -> float:
    """Exponent k of the power law, cost of an evaluation ~ nᵏ, that fits best on logarithmic axes."""
    n, seconds = np.array([(c.n, c.evaluation) for c in costs]).T
    return float(np.polyfit(np.log(n), np.log(seconds), 1)[0])
