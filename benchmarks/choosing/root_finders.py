"""What a step costs with every root finder and guess."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from typing import NamedTuple, get_args

import leastaction as la
from leastaction.integrators import Guess
from leastaction.markdown import table

FINDERS: dict[str, la.Newton | la.RIQN] = {
    "Newton, chord": la.Newton(),
    "Newton, full": la.Newton(chord=False),
    "RIQN": la.RIQN(),
}
GUESSES: tuple[Guess, ...] = get_args(Guess)
TROUBLES = {
    la.Status.STRUGGLED: "slow",
    la.Status.BACKTRACKED: "rescued",
    la.Status.LOWERED: "rescued",
    la.Status.CONTINUED: "rescued",
    la.Status.SUBSTEPPED: "divided",
}


class Case(NamedTuple):
    """A motion to measure: a model from its default state, from time ``begin`` (s) on, at step dt (s)."""

    name: str
    make: Callable[[], la.Model]
    begin: float = 1.0
    dt: float = 1e-3
    share: float = 1.0  # of the steps of the plan; less for a large model


CASES = (
    Case("hard chain, 10 links", lambda: la.library.chain(10)),
    Case("hard chain, 100 links", lambda: la.library.chain(100)),
    Case("paper chain, 10 links", lambda: la.library.paper_chain(10)),
    Case("paper chain, 10 links, at 10 ms", lambda: la.library.paper_chain(10), dt=1e-2, share=0.3),
    Case("ragdoll, free and ball joints", la.library.ragdoll),
    Case("tree of 15 ball joints", lambda: la.library.tree(4)),
    Case("stiff chain, 1000 links of 1 cm, from rest", lambda: la.library.chain(1000, 0.01), begin=0.0,
         share=0.05),  # later its whips have to be divided, whatever the root finder
)


class Cost(NamedTuple):
    """What a step cost on average: residual evaluations and CPU time, s; how many steps were in which trouble."""

    evaluations: float
    seconds: float
    troubles: Counter[str]
    failure: la.StepError | None

    def __str__(self) -> str:
        if self.failure:
            return f"fails at {self.failure.time:.3g} s"
        counts = "".join(f", {count} {name}" for name, count in self.troubles.items())
        micro = 1e6 * self.seconds
        return f"{self.evaluations:.2f} · {micro:.{0 if micro >= 100 else 1}f} µs{counts}"


Costs = dict[tuple[Guess, str], Cost]  # by guess and name of the root finder


def measure(case: Case, steps: int, repeats: int) -> Costs:
    """Time the same steps with every guess and root finder, in turns, so that all see the same machine."""
    model = case.make()
    steps = max(int(case.share * steps), 1)
    start = la.simulate(model, dt=case.dt, duration=case.begin, progress=False)
    costs: Costs = {}
    for _ in range(repeats + 1):  # the first may have to compile
        for guess, (name, finder) in product(GUESSES, FINDERS.items()):
            method = la.Variational(root_finder=finder, guess=guess)
            began = time.process_time()
            run = la.simulate(model, start.q[-1], start.v[-1], dt=case.dt, steps=steps, integrator=method,
                              record_every=steps, progress=False, on_failure="truncate")
            seconds = (time.process_time() - began) / steps
            if (guess, name) in costs:
                seconds = min(seconds, costs[guess, name].seconds)
            troubles: Counter[str] = Counter()
            for status, count in run.tally.statuses.items():
                if status in TROUBLES:
                    troubles[TROUBLES[status]] += count
            costs[guess, name] = Cost(run.tally.evaluations / steps, seconds, troubles, run.failure)
    return costs


def fastest(costs: Costs) -> float:
    """Least time of a step, s, of those that made all steps."""
    return min((cost.seconds for cost in costs.values() if not cost.failure), default=math.inf)


def relative_time(measured: Iterable[Costs], guess: Guess, finder: str) -> float:
    """Geometric mean over the cases of the time relative to the fastest; infinite if a case failed."""
    ratios = [math.inf if costs[guess, finder].failure else costs[guess, finder].seconds / fastest(costs)
              for costs in measured]
    return math.prod(ratios) ** (1 / len(ratios))


def section(cases: Iterable[Case], steps: int, repeats: int) -> str:
    """Measure the cases and write what was found."""
    measured: dict[str, Costs] = {}
    for case in cases:
        print(f"root finders: {case.name}…", flush=True)
        measured[case.name] = measure(case, steps, repeats)
    return "\n\n".join([
        "### Root finder and guess",
        "CPU time of a step relative to the fastest of each case, geometric mean over the cases below:",
        _matrix("", lambda guess, name: f"{relative_time(measured.values(), guess, name):.2f}"),
        "Residual evaluations and CPU time of a step, at 1 ms unless it says otherwise, tolerance 1e-12, the fastest "
        "in bold; and how many steps converged *slow*ly, were *rescued* by damped Newton steps or continuation, or had "
        "to be *divided*:",
        *(_matrix(case, partial(_cell, costs)) for case, costs in measured.items()),
    ])


def _matrix(title: str, cell: Callable[[Guess, str], str]) -> str:
    """Write a table of all guesses and root finders."""
    return table([title, *FINDERS], [[f"`{guess}`", *(cell(guess, name) for name in FINDERS)] for guess in GUESSES])


def _cell(costs: Costs, guess: Guess, finder: str) -> str:
    cost = costs[guess, finder]
    return f"**{cost}**" if cost.seconds == fastest(costs) else str(cost)
