"""The measurements drawn: cost against the number of bodies, work against precision, throughput against threads."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from benchmarks.batch import Batch
from benchmarks.findings import FIT_FROM, by_method, fitted
from benchmarks.precision import Run
from benchmarks.scaling import Cost, slope
from benchmarks.steps import StepCost
from leastaction.plots.picture import save
from leastaction.plots.style import BLACK, BLUE, GREEN, ORANGE, PALETTE, PURPLE, QUIET, SKY, VERMILION, style

# A colour a library, a line and a mark an integrator; the thick blue ones are ours
COLOURS = {"leastaction": BLUE, "MuJoCo": VERMILION, "Pinocchio": GREEN, "DART": PURPLE, "Drake": ORANGE,
           "Exudyn": BLACK}
LOOKS: dict[str, tuple[str, str]] = {
    "order 2": ("-", "o"), "order 2, RIQN": ("--", "o"), "order 4": ("-", "s"), "order 6": ("-", "^"),
    "order 8": ("-", "D"), "order 2, exp": ("-.", "o"), "DOP853": ("-", "x"),
    "RK4": (":", "x"), "aba, RK4": (":", "x"), "RK3": (":", "+"), "generalized-α": ("--", "."),
    "implicitfast": ("--", "."),
}
SHOWN = 1e-13  # errors below are round-off
# Six curves a panel can be told apart; the tables have all methods.
STEPS_DRAWN = ("leastaction order 2", "leastaction order 4", "MuJoCo implicitfast", "Pinocchio aba, Euler",
               "DART Euler", "Drake discrete")
PRECISION_DRAWN = ("leastaction order 2", "leastaction order 4", "leastaction order 8", "leastaction DOP853",
                   "MuJoCo RK4", "Drake RK3")


def look(method: str) -> dict[str, Any]:
    """Say how the line of a method is drawn."""
    library, _, integrator = method.partition(" ")
    line, mark = LOOKS.get(integrator, ("-", "."))
    explicit_of_ours = library == "leastaction" and integrator in ("RK4", "Euler", "DOP853")
    return {"color": SKY if explicit_of_ours else COLOURS.get(library, QUIET), "linestyle": line, "marker": mark,
            "linewidth": 1.8 if library == "leastaction" and not explicit_of_ours else 1.0, "markersize": 4}


@style()
def draw_cost(costs: Sequence[Cost], path: Path) -> None:
    """Draw the cost of an evaluation against the number of bodies, with the line of exact proportionality."""
    large = fitted(costs)
    n = np.array([c.n for c in costs])
    figure, ax = plt.subplots(figsize=(6.4, 3.8))
    ax.loglog(n, n * (1e6 * large[0].evaluation / large[0].n), color=QUIET, linestyle="--", label="proportional to n")
    ax.loglog(n, [1e6 * c.evaluation for c in costs], "o-", markersize=4,
              label=f"measured, slope {slope(large):.2f} from n = {FIT_FROM}")
    ax.set(xlabel="bodies", ylabel="cost of an evaluation (µs)", title="Hard chain, RIQN, one thread")
    ax.legend()
    save(figure, path)
    plt.close(figure)


@style()
def draw_steps(steps: Sequence[StepCost], path: Path) -> None:
    """Draw the cost of a step against the number of bodies."""
    figure, ax = plt.subplots(figsize=(8.4, 4.6))
    for method in (name for name in STEPS_DRAWN if any(s.method == name for s in steps)):
        own = [(s.n, 1e6 * s.seconds) for s in steps if s.method == method]
        ax.loglog(*zip(*own, strict=True), label=method, **look(method))
    ax.set(xlabel="bodies", ylabel="CPU time of a step (µs)", title="Hard chain, 1 ms, one thread")
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    save(figure, path)
    plt.close(figure)


@style()
def draw_precision(runs: Sequence[Run], path: Path) -> None:
    """Draw CPU time against error, a panel each motion and duration: of the motion where known, or of the energy."""
    panels = [(motion, duration, "error" if known else "energy") for motion, duration, known in
              dict.fromkeys((r.motion, r.duration, not np.isnan(r.error)) for r in runs)]
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(4.0 * columns, 3.4 * rows + 0.9), squeeze=False)
    names = [name for name in PRECISION_DRAWN if any(r.method == name for r in runs)]
    for ax, (motion, duration, what) in zip(axes.flat, panels, strict=False):
        methods = {name: own for name, own in by_method(runs, motion, duration).items() if name in names}
        for name in methods:
            points = [(max(getattr(r, what), SHOWN), r.seconds) for r in methods[name]]
            ax.loglog(*zip(*points, strict=True), **look(name))
        ax.set(xlabel="greatest energy error" if what == "energy" else "greatest error of the motion (rad or m)",
               ylabel="CPU time (s)", title=f"{motion}, {duration:g} s")
        least = min(max(getattr(r, what), SHOWN) for own in methods.values() for r in own)
        ax.set_xlim(2.0, min(least / 2, 1e-4))
    for ax in axes.flat[len(panels):]:
        ax.set_axis_off()
    handles = [Line2D([], [], label=name, **look(name)) for name in names]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(3, len(names)), fontsize="small")
    save(figure, path, dpi=100)
    plt.close(figure)


@style()
def draw_batches(batches: Sequence[Batch], path: Path) -> None:
    """Draw the throughput against the number of threads."""
    figure, ax = plt.subplots(figsize=(4.8, 3.2))
    labels = ["one by one" if b.threads == 0 else f"{b.threads} thread{'s' * (b.threads > 1)}" for b in batches]
    ax.bar(labels, [1e-6 * b.rate for b in batches], color=[QUIET, *[PALETTE[0]] * (len(batches) - 1)], width=0.6)
    ax.set(ylabel="million body-steps a second", title="Many chains at once, 1 ms")
    save(figure, path)
    plt.close(figure)
