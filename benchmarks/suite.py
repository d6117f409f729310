"""All measurements, one after the other."""

import time
from dataclasses import dataclass
from pathlib import Path

import leastaction as la
from benchmarks import peers, report
from benchmarks.anatomy import anatomy
from benchmarks.batch import batches
from benchmarks.calls import calls
from benchmarks.evaluation import evaluations
from benchmarks.findings import Results, findings
from benchmarks.humanoid import humanoids
from benchmarks.long_chain import long_chain
from benchmarks.peers.ours import BY_TOLERANCE
from benchmarks.precision import MOTIONS, Motion, sweep
from benchmarks.reference import disagreements
from benchmarks.scaling import costs
from benchmarks.startup import SCRIPT, startup
from benchmarks.steps import step_costs
from leastaction.simulation.judgement import silent

ANATOMY_BODY_STEPS = 30_000
LONG = 50.0  # s: methods of first order, which lose all energy over such times, follow no longer motions


@dataclass(frozen=True)
class Plan:
    """How much to measure.

    Parameters
    ----------
    sizes : numbers of bodies of the chains of which an evaluation is timed, ascending
    body_steps : about how many steps times bodies to time of each
    repeats : how often to time them
    long : number of bodies of the long chain
    long_steps : its number of steps
    starts : how often to start Python for each start-up time
    script : the script whose start is timed
    step_sizes : numbers of bodies of the chains of which a step is timed, against the peers
    step_budget : about how long to time each, s
    motions : to follow with every method, until they are no more comparable, and for longer
    durations : how long, s
    budgets : longest time of a run, s, for the first and for each of the durations
    batch : simulations, bodies and steps of each, repeats
    humanoid : whether to follow a humanoid too, if a file of one is at hand, but not for the last of the durations
    anatomy_sizes : numbers of bodies of the chains whose steps are taken apart
    explicit_sizes : numbers of bodies of the chains on which evaluations of explicit methods are timed
    """

    sizes: tuple[int, ...] = (2, 5, 10, 20, 50, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000)
    body_steps: int = 100_000
    repeats: int = 40
    long: int = 100_000
    long_steps: int = 5
    starts: int = 5
    script: str = SCRIPT
    step_sizes: tuple[int, ...] = (2, 5, 10, 20, 50, 100, 200, 500, 1000)
    step_budget: float = 0.2
    motions: tuple[Motion, ...] = MOTIONS
    durations: tuple[float, ...] = (10.0, 100.0)
    budgets: tuple[float, ...] = (0.3, 0.7, 3.5)
    batch: tuple[int, int, int, int] = (64, 10, 3000, 24)
    humanoid: bool = True
    anatomy_sizes: tuple[int, ...] = (10, 100, 1000)
    explicit_sizes: tuple[int, ...] = (10, 100, 1000)


FULL = Plan()
QUICK = Plan(sizes=(2, 10, 50, 100, 300, 1000, 5000), body_steps=60_000, repeats=3, long_steps=2, starts=2,
             step_sizes=(2, 10, 100), step_budget=0.05, motions=MOTIONS[:1], durations=(10.0,), budgets=(0.05, 0.1),
             batch=(64, 10, 200, 1), humanoid=False, anatomy_sizes=(10,), explicit_sizes=(10,))


@silent()
def run(plan: Plan, out: Path, root: Path | None = None) -> Results:
    """Measure, print what was found beside the targets, and write the report to the folder ``out``.

    Parameters
    ----------
    plan : how much to measure
    out : folder for the report
    root : folder of a checkout whose README is to show the tables; None to leave it alone
    """
    methods = peers.methods()
    _say("against " + ", ".join(f"{name} {version}" for name, version in peers.versions().items()))
    if peers.missing():
        _say(f"not installed, so left out: {', '.join(peers.missing())} (pip install 'leastaction[peers]')")
    _say(f"cost of a step, chains of {plan.step_sizes[0]} to {plan.step_sizes[-1]} bodies…")
    steps = step_costs(methods, plan.step_sizes, plan.step_budget)
    runs = []
    loaded = humanoids() if plan.humanoid else ()
    for motion in plan.motions + loaded:
        durations = (motion.comparable, *(plan.durations[:-1] if motion in loaded else plan.durations))
        for duration, budget in zip(durations, plan.budgets, strict=False):
            _say(f"work and precision, {motion.name}, {duration:g} s…")
            runs += sweep(motion, duration, [m for m in (*methods, *BY_TOLERANCE) if m.order > 1 or duration < LONG],
                          budget)
    _say("the reference, by other means…")
    reference = disagreements(plan.motions + loaded)
    _say("where the time of a step goes…")
    anatomies = [anatomy(finder, n, max(ANATOMY_BODY_STEPS // n, 20)) for n in plan.anatomy_sizes
                 for finder in (la.Newton, la.RIQN)]
    _say("an evaluation of DOP853 beside a quarter of a step of Runge–Kutta 4…")
    explicit = [evaluations(n, plan.repeats) for n in plan.explicit_sizes]
    _say("calls from Python…")
    called = calls(plan.repeats)
    many = batches(*plan.batch)
    _say("batches: this version has no simulate_many, so left out" if not many else "batches measured")
    _say(f"cost of an evaluation, chains of {plan.sizes[0]} to {plan.sizes[-1]} bodies…")
    found = costs(plan.sizes, plan.body_steps, plan.repeats)
    _say(f"a chain of {plan.long:,} bodies…")
    chain = long_chain(plan.long, plan.long_steps)
    _say("start-up, which compiles all kernels anew…")
    results = Results(found, chain, startup(plan.starts, plan.script), steps, runs, reference, many,
                      anatomies, explicit, called)
    print("", *findings(results), "", sep="\n")
    written = report.write(results, out)
    for path in written + (report.publish(results, root, out) if root is not None else []):
        print(f"wrote {path}")
    return results


def _say(what: str) -> None:
    """Print what comes next, and when."""
    print(f"{time.strftime('%H:%M:%S')} {what}", flush=True)
