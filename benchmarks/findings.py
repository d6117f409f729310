"""The measurements, and those of them that have a target."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from benchmarks.anatomy import Anatomy
from benchmarks.batch import Batch
from benchmarks.calls import BODIES, Calls
from benchmarks.evaluation import Evaluation
from benchmarks.long_chain import LongChain
from benchmarks.peers.ours import VARIATIONAL
from benchmarks.precision import Run, time_to_reach
from benchmarks.scaling import Cost, slope
from benchmarks.startup import Startup
from benchmarks.steps import StepCost

FIT_FROM = 50  # bodies; in smaller chains the cost of a step that does not depend on the size still counts
STEP, ABA = "leastaction order 2", "Pinocchio aba, Euler"
RIVALS = ("MuJoCo RK4", "Drake RK3")
LEVELS = tuple(10.0**-k for k in range(2, 9))  # errors at which work is compared
LONG = ("paper chain", 100.0)  # motion and duration of the target on work and precision


@dataclass(frozen=True)
class Results:
    """All that the suite measured; lists of what was left out are empty.

    costs : of an evaluation, against the number of bodies
    long_chain, startup : see there
    steps : of every method, against the number of bodies
    runs : of every method, motion, duration and step
    reference : of every motion, how far ours is from an independent one, rad or m
    batches : throughput
    anatomies : where the time of a step goes
    explicit : of evaluations of explicit methods
    calls : of calls from Python
    """

    costs: list[Cost]
    long_chain: LongChain
    startup: Startup
    steps: list[StepCost] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    reference: dict[str, float] = field(default_factory=dict)
    batches: list[Batch] = field(default_factory=list)
    anatomies: list[Anatomy] = field(default_factory=list)
    explicit: list[Evaluation] = field(default_factory=list)
    calls: Calls = field(default_factory=Calls)


class Finding(NamedTuple):
    """One number, and the one it should not exceed, or should reach."""

    what: str
    value: float
    unit: str
    target: float
    at_least: bool = False

    @property
    def bound(self) -> str:
        """The target in a few characters."""
        return f"{'≥' if self.at_least else '≤'} {quantity(self.target, self.unit)}"

    @property
    def verdict(self) -> str:
        """Whether the target is met."""
        if math.isnan(self.value):
            return "not measured"
        return "met" if (self.value >= self.target if self.at_least else self.value <= self.target) else "**not met**"

    def __str__(self) -> str:
        return f"{self.what}: {quantity(self.value, self.unit)} ({self.bound}: {self.verdict.strip('*')})"


def quantity(value: float, unit: str) -> str:
    """Write a number to three digits, and its unit."""
    return "–" if math.isnan(value) else f"{value:.3g} {unit}".rstrip()


def fitted(costs: Iterable[Cost]) -> list[Cost]:
    """Those of the costs that the slope is fitted to."""
    return [c for c in costs if c.n >= FIT_FROM]


def findings(results: Results) -> list[Finding]:
    """List the measurements that have a target, each with it."""
    large, chain, start = fitted(results.costs), results.long_chain, results.startup
    threads = {b.threads: b.rate for b in results.batches}
    none = math.nan
    return [
        *(Finding(f"a variational step relative to one pin.aba, n = {n}", step_ratio(results.steps, n), "×", 0.5)
          for n in (10, 100)),
        Finding(f"slope of the cost of an evaluation, n = {large[0].n}…{large[-1].n}", slope(large), "", 1.05),
        Finding("CPU time relative to the better of MuJoCo RK4 and Drake RK3, paper chain, 100 s, at the worst energy "
                "error of 1e-2…1e-8", worst_ratio(results.runs), "×", 1.0),
        *(Finding(f"an evaluation of DOP853 relative to a quarter of a step of RK4, n = {e.n}",
                  e.dormand_prince / e.runge_kutta, "×", 1.15) for e in results.explicit),
        Finding("simulate_many, one thread, relative to simulate one by one", threads.get(1, none) /
                threads.get(0, none), "×", 1.9, True),
        Finding("simulate_many, two threads relative to one", threads.get(2, none) / threads.get(1, none), "×", 1.7,
                True),
        Finding("a script of three lines, nothing compiled yet", start.cold, "s", 12.0),
        Finding("the same script again", start.warm, "s", 0.9),
        Finding("the same script again, SciPy being installed, which Numba imports", start.beside_scipy, "s", 0.9),
        *(Finding(f"{what}, n = {BODIES}", 1e6 * seconds, "µs", target) for what, seconds, target in (
            ("Simulator.step(), beyond the step itself", results.calls.step, 6.0),
            ("a control in Python, a step, beyond the step itself", results.calls.control, 8.0),
            ("a call of forward_dynamics", results.calls.forward_dynamics, 6.0),
            ("a call of poses", results.calls.poses, 6.0))),
        Finding(f"a step of a chain of {chain.n:,} bodies", chain.step, "s", 1.0),
        Finding(f"peak memory with {chain.n:,} bodies", 1e-9 * chain.memory, "GB", 1.0),
        Finding("import leastaction, beyond import numba", start.imported, "s", 0.15),
        Finding(f"large libraries imported along ({', '.join(start.heavy) or 'none'})", len(start.heavy), "", 0),
    ]


def step_ratio(steps: Iterable[StepCost], n: int) -> float:
    """CPU time of our default step over that of one pin.aba, at n bodies; NaN if either was not measured."""
    seconds = {s.method: s.seconds for s in steps if s.n == n}
    return seconds.get(STEP, math.nan) / seconds.get(ABA, math.nan)


def by_method(runs: Iterable[Run], motion: str, duration: float) -> dict[str, list[Run]]:
    """Sort the runs of one motion and duration by method."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        if (run.motion, run.duration) == (motion, duration):
            found.setdefault(run.method, []).append(run)
    return found


class Duel(NamedTuple):
    """The cheapest of our variational methods and of the rivals within an error, and their CPU times, s."""

    level: float
    ours: str
    our_time: float
    theirs: str
    their_time: float

    @property
    def ratio(self) -> float:
        """Our time over theirs."""
        return self.our_time / self.their_time


def duels(runs: Iterable[Run]) -> list[Duel]:
    """Compare at every level of the energy error that one of the rivals reached."""
    methods = by_method(runs, *LONG)
    found = []
    for level in LEVELS:
        (ours, name), (theirs, rival) = (min((time_to_reach(methods.get(name, ()), level), name) for name in names)
                                         for names in ([m.name for m in VARIATIONAL], RIVALS))
        if math.isfinite(theirs):
            found.append(Duel(level, name, ours, rival, theirs))
    return found


def worst_ratio(runs: Iterable[Run]) -> float:
    """Our time over the rivals' at the energy error where this is worst for us; NaN if they reached none."""
    return max((duel.ratio for duel in duels(runs)), default=math.nan)
