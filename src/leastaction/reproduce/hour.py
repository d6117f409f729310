"""An hour of the hard chain: what each method keeps of its energy, and what that costs.

The chain is released horizontally and whips for an hour. Every method follows it for a horizon, and the energy is taken
once a second. `demo` shows a few methods from one start; `publish` gives bounds over eight starts that differ
by 1e-3 rad.
"""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import NamedTuple

import numpy as np

import leastaction as la
from leastaction import markdown
from leastaction.integrators import Integrator

Array = np.ndarray

STARTS = 8
OFFSET = 1e-3  # rad
LOST = 1.0  # of the peak kinetic energy before: a run that gains more within a second has blown up


class Method(NamedTuple):
    """A method: its name; the step, s, or the time between two looks if it chooses its steps; and the integrator."""

    name: str
    step: float
    integrator: Integrator

    @property
    def setting(self) -> str:
        """The step, or the tolerance by which it is chosen, in words."""
        tolerance = self.integrator.label.partition(", ")[2]
        return tolerance if self.integrator.chooses_steps else f"{1e3 * self.step:.3g} ms"


class Ran(NamedTuple):
    """One run.

    method, horizon : which, and for how long it was asked to go, s
    t : (N,) times of the looks, s, one a second; fewer than asked for if it broke down
    error : (N,) (E − E₀) / peak kinetic energy at them
    greatest : greatest error, at any step that was looked at
    cpu : CPU time, s
    """

    method: Method
    horizon: float
    t: Array
    error: Array
    greatest: float
    cpu: float

    @property
    def level(self) -> float:
        """Median of the error over the last tenth of the run."""
        return float(np.median(self.error[-max(len(self.error) // 10, 1) :]))


ORDER_2 = Method("variational, order 2", 0.5e-3, la.Variational())
ORDER_4 = Method("variational, order 4", 1e-3, la.Variational(order=4))
COARSE_RK4 = Method("Runge–Kutta 4", 1e-3, la.RungeKutta4())
FINE_RK4 = Method("Runge–Kutta 4", 1e-3 / 3, la.RungeKutta4())
EULER = Method("semi-implicit Euler", 1e-3, la.SemiImplicitEuler())
LOOSE_DOP853 = Method("DOP853", 1.0, la.DormandPrince8(1e-6))
TIGHT_DOP853 = Method("DOP853", 1.0, la.DormandPrince8(1e-9))

PUBLISHED = (ORDER_2, ORDER_4, COARSE_RK4, FINE_RK4, EULER, LOOSE_DOP853, TIGHT_DOP853)


def starts(model: la.Model, count: int) -> Array:
    """Return (count, nq) configurations that differ from the model's own by 1e-3 rad."""
    rng = np.random.default_rng(0)
    return np.stack([la.increment(model, model.q0, OFFSET * rng.standard_normal(model.nv)) for _ in range(count)])


def follow(model: la.Model, q: Array, method: Method, horizon: float, stop: Event) -> Ran:
    """Run a method for so many seconds from q (nq,), or until told to stop."""
    sim = la.Simulator(model, q, dt=method.step, integrator=method.integrator)
    a_second, start, energies = round(1.0 / method.step), time.thread_time(), [sim.energy]
    first, seen = energies[0] - sim._engine.compiled.ground_energy, sim._engine.extremes
    (least, greatest), kinetic = seen.energy, seen.kinetic
    while len(energies) <= horizon and not stop.is_set():
        try:
            sim.step(a_second)
        except la.StepError:
            break
        seen = sim._engine.extremes
        if len(energies) > 1 and seen.energy[1] - first > LOST * kinetic:
            break
        energies.append(sim.energy)
        (least, greatest), kinetic = seen.energy, seen.kinetic
    return Ran(method, horizon, np.arange(len(energies), dtype=float), (np.array(energies) - energies[0]) / kinetic,
               float(max(first - least, greatest - first) / kinetic), time.thread_time() - start)


def follow_all(
    model: la.Model, tasks: Sequence[tuple[Array, Method, float]], say: Callable[[Ran], None],
    threads: int | None = None,
) -> list[Ran]:
    """Make runs (start, method, horizon) side by side, each on a thread of its own, and tell each as it ends."""
    for horizon in {task[2] for task in tasks}:
        if not 1.0 <= horizon < np.inf:
            raise ValueError("duration must be a second or more, as the energy is taken once a second, not "
                             f"{horizon:g}")
    for method in {task[1] for task in tasks}:  # so that no compiling is timed
        la.Simulator(model, dt=method.step, integrator=method.integrator).step(10)
    stop, done = Event(), []
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        futures = [pool.submit(follow, model, q, method, horizon, stop) for q, method, horizon in tasks]
        try:
            for future in futures:
                done.append(future.result())
                say(done[-1])
        finally:  # also on Ctrl-C
            stop.set()
            pool.shutdown(cancel_futures=True)
    return done


def table(runs: Sequence[Ran]) -> list[tuple[str, ...]]:
    """Return a row for each method: bounds over its runs, CPU time the median."""
    rows: list[tuple[str, ...]] = []
    shown = sorted({(run.method, run.horizon) for run in runs}, key=lambda pair: PUBLISHED.index(pair[0]))
    for method, horizon in shown:
        own = [run for run in runs if (run.method, run.horizon) == (method, horizon)]
        levels = [run.level for run in own]
        broken = [run.t[-1] for run in own if run.t[-1] < horizon]
        rows.append((method.name, method.setting, f"{horizon:g} s",
                     f"{np.median([run.cpu for run in own]):.3g} s", percent(max(run.greatest for run in own)),
                     " to ".join(dict.fromkeys(percent(level, "+") for level in (min(levels), max(levels))))
                     + (f", lost after {min(broken):g} s" if broken else "")))
    return rows


HEAD = ("method", "step", "simulated", "CPU time", "greatest energy error", "level at the end")


def percent(value: float, sign: str = "") -> str:
    """Write a part of the peak kinetic energy as percent."""
    return f"{100 * value:{sign}.{'0f' if abs(value) >= 0.1 else '2g'}} %"


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Write rows under HEAD for a terminal."""
    lines = [HEAD, *rows]
    widths = [max(len(line[k]) for line in lines) for k in range(len(HEAD))]
    return "\n".join("  ".join(f"{text:{'<' if k == 0 else '>'}{width}}" for k, (text, width) in
                               enumerate(zip(line, widths, strict=True))).rstrip() for line in lines)


def demo(horizon: float, say: Callable[[Ran], None]) -> list[Ran]:
    """Follow the chain from its own start by a few methods."""
    model = la.library.chain(10)
    # The longest first, so that no processor waits for it at the end.
    return follow_all(model, [(model.q0, method, horizon) for method in (COARSE_RK4, ORDER_2, EULER)], say)


def publish(page: Path, picture: Path, hour: float, count: int, say: Callable[[Ran], None]) -> list[Ran]:
    """Follow the chain from several starts by every method; write the bounds to a page and draw the first start."""
    model = la.library.chain(10)
    tasks = [(q, method, hour) for q in starts(model, count) for method in PUBLISHED]
    runs = follow_all(model, tasks, say)
    rows = table(runs)
    note = (f"The hard chain of 10 links from {count} starts that differ by {OFFSET:g} rad: error of the energy, in "
            "parts of the peak kinetic energy, at most over all starts; its median over the last tenth of the run; CPU "
            "time on one core, the median. Made by `leastaction hour`.")
    markdown.fill(page, f"{markdown.table(HEAD, rows)}\n\n{note}", "hour")
    draw([run for run in runs[: len(PUBLISHED)] if run.method is not EULER], picture)
    return runs


def draw(runs: Sequence[Ran], path: Path) -> Path:
    """Draw the energy errors over the run, and the small ones again, larger."""
    import matplotlib.pyplot as plt

    from leastaction.plots.picture import save
    from leastaction.plots.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, QUIET, SKY, VERMILION, style

    colours = {ORDER_2: BLUE, ORDER_4: GREEN, COARSE_RK4: VERMILION, FINE_RK4: ORANGE, EULER: PURPLE, LOOSE_DOP853: SKY,
               TIGHT_DOP853: QUIET}
    with style():
        figure, panels = plt.subplots(1, 2, figsize=(9.6, 3.5), width_ratios=(3, 2))
        for panel in panels:
            panel.axhline(0.0, color=BLACK, linewidth=0.6)
            shown = [run for run in runs if panel is panels[0] or run.method is not EULER]
            for run in sorted(shown, key=lambda run: -abs(run.level)):
                panel.plot(run.t / 60, 100 * run.error, color=colours[run.method],
                           label=f"{run.method.name}, {run.method.setting}: {run.cpu:.0f} s of CPU")
            panel.set(xlabel="simulated time (min)")
            panel.margins(x=0)
        panels[0].set(ylabel="energy error\n(% of peak kinetic energy)", title="an hour of a whipping chain")
        panels[1].set(ylim=(-3, 3), title="close-up")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2)
        path.parent.mkdir(parents=True, exist_ok=True)
        save(figure, path, dpi=130)
        plt.close(figure)
    return path
