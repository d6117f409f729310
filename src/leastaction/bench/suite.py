"""All measurements, one after the other."""

from dataclasses import dataclass
from pathlib import Path

from leastaction.bench import report
from leastaction.bench.long_chain import long_chain
from leastaction.bench.scaling import cost
from leastaction.bench.startup import SCRIPT, startup


@dataclass(frozen=True)
class Plan:
    """How much to measure.

    Parameters
    ----------
    sizes : numbers of bodies of the chains, ascending
    body_steps : about how many steps times bodies to time of each
    repeats : how often to time them
    long : number of bodies of the long chain
    long_steps : its number of steps
    starts : how often to start Python for each start-up time
    script : the script whose start is timed
    """

    sizes: tuple[int, ...] = (2, 5, 10, 20, 50, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000)
    body_steps: int = 200_000
    repeats: int = 7
    long: int = 100_000
    long_steps: int = 5
    starts: int = 5
    script: str = SCRIPT


FULL = Plan()
QUICK = Plan(sizes=(2, 10, 100, 300, 1000, 3000), body_steps=60_000, repeats=3, long_steps=2, starts=2)


def run(plan: Plan, out: Path) -> report.Results:
    """Measure, print what was found beside the aims, and write the report to the folder ``out``."""
    print(f"cost of an evaluation, chains of {plan.sizes[0]} to {plan.sizes[-1]} bodies…", flush=True)
    costs = [cost(n, plan.body_steps, plan.repeats) for n in plan.sizes]
    print(f"a chain of {plan.long:,} bodies…", flush=True)
    chain = long_chain(plan.long, plan.long_steps)
    print("start-up, which compiles all kernels anew…", flush=True)
    results = report.Results(costs, chain, startup(plan.starts, plan.script))
    print("", *report.findings(results), "", sep="\n")
    for path in report.write(results, out):
        print(f"wrote {path}")
    return results
