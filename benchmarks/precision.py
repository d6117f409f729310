"""Work and precision: what a method costs, and how far off it is, over a range of steps.

All methods start from the same state. Every tenth of a second their states are compared, and our own function computes
the energy of each state. The hard chain is chaotic, so its motion can be compared only for a short time, until small
errors have grown to the size of the motion itself; its energy can be compared at any time.
"""

import time
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

import leastaction as la
from benchmarks.peers import Engine, Method, UnsupportedError, checked, quiet
from benchmarks.peers.engine import INTERVAL
from leastaction.analysis.accuracy import distance

STEPS = (50.0, 20.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02)  # ms; all divide INTERVAL
ENOUGH = 1e-11  # energy error, and error of the motion, below which there is only round-off
LOST = 1.0  # errors above mean that the run has nothing to do with the motion
LOOK = 5e-4  # s: runs that are shorter, for each look, are timed again without looking
REPEATS = 2
TRIAL = 20  # steps from which the time of a run is estimated
SANE = 1e6  # rad, m and their rates
PATIENCE = 1.2  # budgets that a run may really take

Array = np.ndarray


class Motion(NamedTuple):
    """A motion to follow.

    name : in titles
    make : the model, whose default state is where the motion starts
    comparable : until when a trajectory can be told right from wrong, s
    step : with which our order 8 is right to 1e-10 until then, s
    """

    name: str
    make: Callable[[], la.Model]
    comparable: float
    step: float


def weightless_ragdoll() -> la.Model:
    """Make a ragdoll tumbling in space: with gravity it would only fall faster and faster."""
    model = la.library.ragdoll()
    model.gravity = (0.0, 0.0, 0.0)
    return model


MOTIONS = (
    Motion("paper chain", lambda: la.library.paper_chain(10), 3.0, 1e-3),
    Motion("hard chain", lambda: la.library.chain(10), 1.0, 5e-4),
    Motion("ragdoll", weightless_ragdoll, 3.0, 1e-3),
)


class Run(NamedTuple):
    """One run.

    motion, duration : what was followed, and for how many s
    method, step : by what, ms; or the tolerance of a method that chooses its steps
    seconds : CPU time, s
    energy : greatest |E − E₀| over the peak kinetic energy
    error : greatest error of a coordinate or angle, rad or m; NaN where the motion was not compared
    """

    motion: str
    duration: float
    method: str
    step: float
    seconds: float
    energy: float
    error: float


class Truth(NamedTuple):
    """What runs are compared with.

    motion : its name
    scale : peak kinetic energy, J
    q : (looks + 1, nq) configurations at every look, rad, m, unit quaternions; None where they cannot be known
    """

    motion: str
    scale: float
    q: Array | None


def truth(motion: Motion, model: la.Model, duration: float) -> Truth:
    """Follow a motion ourselves; its configurations are of use only as long as it is comparable."""
    if duration > motion.comparable:
        run = la.simulate(model, dt=2e-3, duration=duration, record_every=100, integrator=la.Variational(order=4),
                          progress=False)
        return Truth(motion.name, run.peak_kinetic_energy, None)
    run = la.simulate(model, dt=motion.step, duration=duration, record_every=round(INTERVAL / motion.step),
                      integrator=la.Variational(order=8), progress=False)
    return Truth(motion.name, run.peak_kinetic_energy, run.q)


def follow(engine: Engine, model: la.Model, per_look: int, looks: int, limit: float) -> tuple[float, Array, Array]:
    """Make a run with a look every so many steps: CPU time, s, configurations (looks + 1, nq), and energies, J.

    It is given up when it has taken longer than the limit, s, or does not stay within bounds.
    """
    began = time.process_time()
    engine.start(model.q0, model.v0)
    seconds, states = 0.0, [engine.state()]
    for _ in range(looks):
        seconds += engine.timed(per_look)
        states.append(engine.state())
        if not all(np.abs(part).max() < SANE for part in states[-1]) or time.process_time() - began > limit:
            raise ArithmeticError("the run blew up, or takes too long")
    q = np.array([q for q, _ in states])
    entries = model.layout.quaternions[:, None] + np.arange(4)
    q[:, entries] /= np.linalg.norm(q[:, entries], axis=2, keepdims=True)
    return seconds, q, np.array([la.energy(model, q, v) for q, (_, v) in zip(q, states, strict=True)])


def affordable(engine: Engine, model: la.Model, steps: int, budget: float) -> bool:
    """Tell from a few steps whether so many are likely to take less than the budget, s."""
    engine.start(model.q0, model.v0)
    engine.step(1)  # compiles and allocates
    began = time.process_time()  # not `timed`: here Pinocchio's Python counts, too
    engine.step(TRIAL)
    return (time.process_time() - began) / TRIAL * steps <= budget


def attempt(method: Method, model: la.Model, truth: Truth, step: float, looks: int, budget: float) -> Run | None:
    """Make a run, or None if it would take too long; raises when it fails."""
    per_look = 1 if method.tolerances else round(1e3 * INTERVAL / step)
    engine, steps = checked(method, model, step if method.tolerances else 1e-3 * step), per_look * looks
    if not affordable(engine, model, steps, budget):
        return None
    seconds, q, energies = follow(engine, model, per_look, looks, PATIENCE * budget)
    if seconds < looks * LOOK:
        for _ in range(REPEATS):
            engine.start(model.q0, model.v0)
            seconds = min(seconds, engine.timed(steps))
    energy = float(np.abs(energies - energies[0]).max()) / truth.scale
    error = float("nan") if truth.q is None else float(distance(model, q, truth.q).max())
    return Run(truth.motion, round(looks * INTERVAL, 9), method.name, step, seconds, energy, error)


def sweep(motion: Motion, duration: float, methods: Iterable[Method], budget: float) -> list[Run]:
    """Follow a motion by each method with ever smaller steps or tolerances, a run taking no longer than the budget, s.

    Runs that fail or blow up are left out: that is what large steps do.
    """
    model, looks = motion.make(), round(duration / INTERVAL)
    right = truth(motion, model, duration)
    found: list[Run] = []
    for method in methods:
        for step in method.tolerances or STEPS:
            try:
                with quiet():
                    run = attempt(method, model, right, step, looks, budget)
            except UnsupportedError:
                break
            except (RuntimeError, ValueError, ArithmeticError):  # among them StepError, and what the peers raise
                continue
            if run is None:  # smaller steps may be cheaper: large ones can be trouble
                continue
            worst = max(run.energy, np.nan_to_num(run.error))
            if worst <= LOST:
                found.append(run)
            if worst < ENOUGH:
                break
    return found


def time_to_reach(runs: Iterable[Run], target: float, what: str = "energy") -> float:
    """CPU time, s, at which a method's runs reach an error, between the steps tried; infinite if none does.

    Parameters
    ----------
    runs : of one method and motion
    target : the error
    what : "energy" or "error"
    """
    points = sorted((r.step, r.seconds, getattr(r, what)) for r in runs)[::-1]  # from the largest step on
    best = min((seconds for _, seconds, error in points if error <= target), default=float("inf"))
    for (_, t0, e0), (_, t1, e1) in pairwise(points):
        if e0 > target >= e1 > 0.0:
            share = np.log(target / e0) / np.log(e1 / e0)
            best = min(best, float(t0 * (t1 / t0) ** share))
    return best
