"""A four-bar for 100 s: error of the energy, gap of the loop and CPU time, ours and of other libraries."""

import time

import numpy as np

import leastaction as la
from benchmarks.loops.mechanisms import Mechanism, four_bar, open_four_bar
from benchmarks.loops.rivals import rivals
from benchmarks.loops.rivals.points import checked_loops
from benchmarks.loops.runs import LOOK, OURS, Run, States, UnfinishedError, beaten_by, duels, follow, judged
from leastaction.integrators import Integrator
from leastaction.markdown import table
from leastaction.simulation.judgement import silent

STEPS = (5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2)  # s
ORDERS = (2, 4, 6, 8)
SHOWN = 2e-3  # s, the step of the table
TOLERANCES = (1e-6, 1e-9, 1e-12)  # of DOP853, which chooses its steps: its nodes are where the others are looked at
TRIAL = 5.0  # s, for which settings of rivals are tried
BAR = 3.0  # a step relative to one of the open tree, aimed at


@silent()
def ours(name: str, integrator: Integrator, h: float, duration: float, mechanism: Mechanism) -> Run:
    """Follow it by an integrator of ours."""
    dt, every = (h * LOOK, 1) if integrator.chooses_steps else (h, LOOK)
    la.simulate(*mechanism, dt=dt, steps=2 * LOOK, integrator=integrator)  # compiles
    began = time.process_time()
    traj = la.simulate(*mechanism, dt=dt, steps=round(duration / dt), record_every=every, integrator=integrator)
    states = States(traj.q, traj.v, time.process_time() - began)
    return judged(name, h, duration, states, mechanism)


def integrators(h: float, orders: tuple[int, ...]) -> dict[str, Integrator]:
    """Return all of ours that are run with the step h, by name."""
    found: dict[str, Integrator] = {f"{OURS} {order}": la.Variational(order=order) for order in orders}
    found["RK4 of leastaction"] = la.RungeKutta4()
    if h == SHOWN:
        found |= {f"DOP853 of leastaction, tol {tol:.0e}": la.DormandPrince8(tol) for tol in TOLERANCES}
    return found


def work_and_precision(duration: float = 100.0, steps: tuple[float, ...] = STEPS,
                       orders: tuple[int, ...] = ORDERS) -> list[Run]:
    """Follow the four-bar by all methods at all steps; runs that fail are left out."""
    mechanism, runs = four_bar(), []
    for h in steps:
        for name, integrator in integrators(h, orders).items():
            try:
                runs.append(ours(name, integrator, h, duration, mechanism))
            except la.StepError:
                continue
        for rival in rivals(mechanism, h, min(TRIAL, duration)):
            checked_loops(rival.name, rival.make, mechanism.model, h)
            try:
                states = follow(rival.make, mechanism, h, duration)
            except UnfinishedError:
                continue
            runs.append(judged(rival.name, h, duration, states, mechanism, rival.note))
    return runs


@silent()
def step_ratio(kept: bool, steps: int = 200_000, repeats: int = 7) -> float:
    """CPU time of a step of the four-bar over one of its open tree, of order 2 at 2 ms: medians of runs in turns.

    Parameters
    ----------
    kept : whether every node is kept, with its velocity and energy; else only the last
    """
    closed, tree = four_bar(), open_four_bar()
    times: tuple[list[float], list[float]] = [], []
    for repeat in range(repeats + 1):
        for model, taken in ((closed.model, times[0]), (tree, times[1])):
            count = steps // 10 if repeat == 0 else steps
            sim = la.Simulator(model, closed.q, closed.v, dt=SHOWN)
            sim.step(LOOK)
            began = time.process_time()
            if kept:
                la.simulate(model, closed.q, closed.v, dt=SHOWN, steps=count, progress=False)
            else:
                sim.step(count)
            if repeat:
                taken.append(time.process_time() - began)
    return float(np.median(times[0]) / np.median(times[1]))


def beaten(runs: list[Run]) -> tuple[int, int, int]:
    """Count the runs of other libraries that ours beat in error at no more CPU time; all of them; their methods."""
    fought = duels(runs)
    return sum(won for _, won in fought), len(fought), len({rival.name for rival, _ in fought})


def section(runs: list[Run], ratio: float, kept: float) -> str:
    """Write the tables down.

    Parameters
    ----------
    ratio, kept : of `step_ratio`, with the last node kept and with all of them
    """
    rows = [(run.label, f"{run.error:.2g}", " ".join(f"{mean:.1g}" for mean in run.quarters), f"{run.gap:.1g}",
             f"{1e6 * run.step_time:.3g}") for run in runs if run.h == SHOWN]
    won, count, methods = beaten(runs)
    best: dict[str, tuple[Run, Run]] = {}
    for rival, own in beaten_by(runs):
        if own is not None and (rival.name not in best or rival.error < best[rival.name][0].error):
            best[rival.name] = rival, own
    equal = [(rival.label, f"{1e3 * rival.h:g} ms", f"{rival.error:.2g}", f"{own.name}, {1e3 * own.h:g} ms",
              f"{own.error:.2g}", f"{rival.cpu / own.cpu:.2g}") for rival, own in best.values()]
    return "\n\n".join([
        f"A four-bar (crank 1, coupler 2, rocker 1.5, base 2.2 m, rods of 1 kg) for {runs[0].duration:g} s at "
        f"{1e3 * SHOWN:g} ms:",
        table(("method", "greatest error of the energy, J", "its mean in the quarters of the run, J", "greatest gap, m",
               "µs a step"), rows),
        "The stiffest constraints of MuJoCo are the result of a search, at each step, for the least error of the "
        f"energy over {min(TRIAL, runs[0].duration):g} s: with solimp at 0.95, 0.99, 0.999 and 0.9999 the time "
        "constant of solref is halved from 20 ms until the run diverges or its error no longer falls, below two steps "
        "too (`refsafe` is off).",
        "RK4 and DOP853 of leastaction are baselines: they project after every step. DOP853 chooses its steps, and "
        f"gives states every {1e3 * LOOK * SHOWN:g} ms.",
        "Each method at its most accurate step of those tried, beside the best variational run of ours that takes no "
        "more CPU time:",
        table(("method", "step", "its error, J", "ours", "our error, J", "its time / ours"), equal),
        f"Of {count} runs of the {methods} rivals that came to their end, {won} are beaten: a variational run of ours "
        "errs less in no more CPU time.",
        f"A step of the four-bar takes {ratio:.2f} times the step of its open tree, and {kept:.2f} times with every "
        f"node kept, its energy too; {BAR:g} was aimed at.",
    ])
