"""What a step costs against the number of bodies: the hard chain in motion, every method of every library."""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np

import leastaction as la
from leastaction.bench.peers import Method, UnsupportedError, checked

DT = 1e-3  # s
BEGIN, END = 1.0, 4.0  # s: the stretch of the motion that is timed, or the first part of it that the budget allows
REPEATS = 5


class StepCost(NamedTuple):
    """CPU time of a step of a chain of n bodies, s."""

    method: str
    n: int
    seconds: float


@cache
def moving_chain(n: int) -> tuple[la.Model, np.ndarray, np.ndarray]:
    """Make a hard chain of n bodies, and where it is when the clock starts."""
    model, steps = la.library.chain(n), round(BEGIN / DT)
    run = la.simulate(model, dt=DT, steps=steps, record_every=steps, progress=False)
    return model, run.q[-1], run.v[-1]


def step_cost(method: Method, n: int, budget: float) -> StepCost:
    """Time the same steps several times and keep the fastest.

    Parameters
    ----------
    method : whose steps
    n : number of bodies
    budget : about how long to measure, s
    """
    model, q, v = moving_chain(n)
    engine = checked(method, model, DT)
    engine.start(q, v)
    engine.step(1)  # compiles and allocates
    engine.start(q, v)
    trial = engine.timed(5) / 5
    steps = int(np.clip(budget / REPEATS / trial, 5, round((END - BEGIN) / DT)))
    seconds = []
    for _ in range(REPEATS if 5 * steps * trial < 2 * budget else 1):
        engine.start(q, v)
        seconds.append(engine.timed(steps) / steps)
    if not np.isfinite(engine.state()[0]).all():
        raise RuntimeError(f"{method.name} left the range of finite numbers")
    return StepCost(method.name, n, min(seconds))


def step_costs(methods: Iterable[Method], sizes: Iterable[int], budget: float) -> list[StepCost]:
    """Time all methods at all sizes, as far as each goes; a size that would take far too long ends a method's row."""
    found: list[StepCost] = []
    for method in methods:
        for n in (n for n in sizes if n <= method.most):
            try:
                found.append(step_cost(method, n, budget))
            except UnsupportedError:
                break
            if found[-1].seconds > budget:
                break
    return found
