"""Cost of a residual evaluation against the number of bodies: the hard chain, RIQN, one thread."""

import time
from collections.abc import Iterable, Sequence
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


def costs(sizes: Iterable[int], body_steps: int, repeats: int) -> list[Cost]:
    """Time the same steps of chains of several sizes, several times and in turns, and keep the fastest of each.

    Parameters
    ----------
    sizes : numbers of bodies
    body_steps : about how many steps times bodies to time
    repeats : how often
    """
    models = [la.library.chain(n) for n in sizes]
    steps = [min(max(body_steps // model.nb, LEAST_STEPS), MOST_STEPS) for model in models]
    evaluations = [_evaluations(model, count) for model, count in zip(models, steps, strict=True)]
    turns = [[_timed(model, count) for model, count in zip(models, steps, strict=True)] for _ in range(repeats)]
    return [Cost(model.nb, found / count, seconds / count, seconds / found) for model, count, found, seconds in
            zip(models, steps, evaluations, np.min(turns, axis=0).tolist(), strict=True)]


def _evaluations(model: la.Model, steps: int) -> float:
    """How many the steps on the clock need."""
    counted = [la.simulate(model, dt=DT, steps=count, integrator=METHOD, record_every=count, progress=False)
               for count in (SETTLE, SETTLE + steps)]
    return float(counted[1].tally.evaluations - counted[0].tally.evaluations)


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
