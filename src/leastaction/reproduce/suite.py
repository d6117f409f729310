"""All experiments in turn, and the report."""

from pathlib import Path

from leastaction.reproduce import (
    agreement,
    convergence,
    cost,
    energy,
    guesses,
    iterations,
    report,
    step_size,
)
from leastaction.reproduce.errata import errata
from leastaction.reproduce.section import Plan
from leastaction.simulation.judgement import silent

EXPERIMENTS = (energy, cost, convergence, iterations, guesses, step_size, agreement)
FULL = Plan()
QUICK = Plan(sizes=(2, 5, 10, 20, 50, 100), long_sizes=(300, 1000), frames=2000, budget=0.6, repeats=3, long=100.0,
             counted=300, guess_frames=300, step_duration=4.0)


@silent()
def run(plan: Plan, out: Path, root: Path | None = None) -> None:
    """Measure everything, write the report, and publish it in a checkout if one is given."""
    out.mkdir(parents=True, exist_ok=True)
    sections = [experiment.run(plan, out) for experiment in EXPERIMENTS]
    paths = report.write(sections, errata(), out)
    if root is not None:
        report.publish(sections, "leastaction reproduce" + (" --quick" if plan == QUICK else ""), root)
    print(f"wrote {paths[0]}, its figures and {len(paths) - 1} tables of numbers beside it")
