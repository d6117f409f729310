"""The parts of a step's time, measured from outside.

The same steps are made to ever tighter tolerances, from a good and from a poor guess, so that the number of evaluations
varies. A straight line is fitted to their times: its slope is the cost of an evaluation, its intercept the cost of all
that is done once a step.
"""

import time
from typing import NamedTuple

import numpy as np

import leastaction as la
from benchmarks.steps import DT, moving_chain
from leastaction.integrators import Guess

TOLERANCES = tuple(10.0**-k for k in range(2, 14, 2))
GUESSES: tuple[Guess, ...] = ("extrapolated", "current")
REPEATS = 5


class Anatomy(NamedTuple):
    """Parts of a step of a chain of n bodies with a root finder, CPU time.

    evaluations : a step, at the default tolerance
    step : all of it, s
    evaluation : one residual with the two sweeps that turn it into an update, s
    rest : done once a step: placing and factoring at the new node, momenta, energy and, for Newton's method, the
        Jacobian, s
    """

    finder: str
    n: int
    evaluations: float
    step: float
    evaluation: float
    rest: float


def anatomy(finder: type[la.Newton] | type[la.RIQN], n: int, steps: int) -> Anatomy:
    """Take the steps of a hard chain in motion apart.

    Parameters
    ----------
    finder : Newton or RIQN
    n : number of bodies
    steps : how many to time with each tolerance
    """
    methods = [la.Variational(root_finder=finder(tol=tol), guess=guess) for tol in TOLERANCES for guess in GUESSES]
    evaluations, seconds = zip(*(_measured(method, n, steps) for method in methods), strict=True)
    evaluation, rest = np.polyfit(evaluations, seconds, 1)
    usual, step = _measured(la.Variational(root_finder=finder()), n, steps)
    return Anatomy(finder.__name__, n, usual, step, float(evaluation), float(rest))


def _measured(method: la.Variational, n: int, steps: int) -> tuple[float, float]:
    """Evaluations a step, and its CPU time, s, fastest of several runs."""
    model, q, v = moving_chain(n)
    counted = la.simulate(model, q, v, dt=DT, steps=steps, integrator=method, record_every=steps, progress=False)
    seconds = []
    for _ in range(REPEATS):
        sim = la.Simulator(model, q, v, dt=DT, integrator=method)
        began = time.process_time()
        sim.step(steps)
        seconds.append(time.process_time() - began)
    return counted.tally.evaluations / steps, min(seconds) / steps
