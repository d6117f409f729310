"""The tables behind docs/choosing.md: which order, step, retraction, root finder and guess for which problem."""

from dataclasses import dataclass
from pathlib import Path

from benchmarks.choosing import forced_orders, orders, retractions, root_finders
from leastaction.files.environment import machine
from leastaction.markdown import fill
from leastaction.simulation.judgement import silent


@dataclass(frozen=True)
class Plan:
    """How much to measure.

    Parameters
    ----------
    cases : for the root finders
    steps : to time in each
    motions : for the orders
    methods : to follow them by
    finest : step, ms; methods are not tried at smaller ones
    repeats : how often to time everything
    retracted : motions to follow under each retraction
    forces : under which to observe the order
    """

    cases: tuple[root_finders.Case, ...] = root_finders.CASES
    steps: int = 3000
    motions: tuple[orders.Motion, ...] = orders.MOTIONS
    methods: tuple[str, ...] = tuple(orders.METHODS)
    finest: float = 0.0
    repeats: int = 3
    retracted: tuple[orders.Motion, ...] = retractions.MOTIONS
    forces: tuple[str, ...] = tuple(forced_orders.CASES)


FULL = Plan()
QUICK = Plan(steps=200, finest=1.0, repeats=1)


@silent()
def run(plan: Plan, page: Path) -> None:
    """Measure, and write the tables to a page, between its marks."""
    text = "\n\n".join([
        "Measured by `make choose`: " + "; ".join(f"{name} {value}" for name, value in machine().items()) + ".",
        root_finders.section(plan.cases, plan.steps, plan.repeats),
        orders.section(plan.motions, plan.methods, plan.repeats, plan.finest),
        retractions.section(plan.retracted),
        forced_orders.section(plan.forces),
    ])
    fill(page, text)
    print(f"wrote {page}")
