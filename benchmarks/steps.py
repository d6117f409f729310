"""The cost of a step against the number of bodies: the hard chain in motion, every method of every library."""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np

import leastaction as la
from benchmarks.peers import Method, UnsupportedError, checked

DT = 1e-3  # s
BEGIN, END = 1.0, 4.0  # s: the part of the motion that is timed, or as much of it as the budget allows
REPEATS = 7


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


class _Trial:
    """Steps of one method at one size, to be timed again and again; the fastest time counts."""

    def __init__(self, method: Method, n: int, budget: float) -> None:
        self.name, self.n = method.name, n
        model, *self.state = moving_chain(n)
        self.engine = checked(method, model, DT)
        self.engine.start(*self.state)
        self.engine.step(1)  # compiles and allocates
        self.engine.start(*self.state)
        first = self.engine.timed(5) / 5
        self.steps = int(np.clip(budget / REPEATS / first, 5, round((END - BEGIN) / DT)))
        self.repeats = REPEATS if REPEATS * self.steps * first < 2 * budget else 1
        self.seconds = np.inf

    def time(self, turn: int = 0) -> None:
        """Time the steps once more, unless they are too slow."""
        if turn < self.repeats:
            self.engine.start(*self.state)
            self.seconds = min(self.seconds, self.engine.timed(self.steps) / self.steps)

    def cost(self) -> StepCost:
        """Give the fastest."""
        if not np.isfinite(self.engine.state()[0]).all():
            raise RuntimeError(f"{self.name} left the range of finite numbers")
        return StepCost(self.name, self.n, self.seconds)


def step_costs(methods: Iterable[Method], sizes: Iterable[int], budget: float) -> list[StepCost]:
    """Time all methods at all sizes, as far as each goes; a size that would take far too long ends a method's row.

    They take turns, so that all see the same machine: other users of its processor come and go.

    Parameters
    ----------
    methods : whose steps
    sizes : numbers of bodies
    budget : about how long to measure each, s
    """
    trials: list[_Trial] = []
    for method in methods:
        for n in (n for n in sizes if n <= method.most):
            try:
                trials.append(_Trial(method, n, budget))
            except UnsupportedError:
                break
            trials[-1].time()
            if trials[-1].seconds > budget:
                break
    for turn in range(1, REPEATS):
        for trial in trials:
            trial.time(turn)
    return [trial.cost() for trial in trials]
