"""The page of a comparison."""

from collections.abc import Iterator
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from leastaction.analysis import Comparison
from leastaction.analysis.comparison import MUJOCO, Entry
from leastaction.pages.page import figure, new_figure, table, write_page
from leastaction.plots.style import PALETTE, QUIET, style
from leastaction.viewers.film import thinned

FLOOR = 1e-17  # below this a logarithm shows nothing of interest


@style()
def write_comparison(comparison: Comparison, path: str | Path) -> Path:
    """Write a comparison as one self-contained page.

    Parameters
    ----------
    comparison : from `leastaction.analysis.compare`
    path : the file to write, ending in .html
    """
    c = comparison
    listed = "".join(f"<li>{escape(note)}</li>" for note in (*c.NOTES, *c.remarks()))
    parts = [f"<section><h2>Side by side</h2>{table(c.HEAD, c.table())}<ul>{listed}</ul></section>",
             _energy(c), _envelope(c), _distance(c)]
    return write_page(path, f"Integrators compared on {c.model.name}",
                      f"{c.duration:g} s at a step of {1e3 * c.dt:g} ms, from the same state", parts)


def _energy(c: Comparison) -> str:
    return figure(partial(_draw_energy, c), "Energy", "The error of the total energy: first the whole range, then a "
                  "close-up of the smaller errors.", "energy")


def _draw_energy(c: Comparison, narrow: bool) -> Figure:
    drawn = new_figure(narrow, 5.6 if narrow else 3.0)
    whole, close = drawn.subplots(2, 1) if narrow else drawn.subplots(1, 2)
    errors = sorted(entry.max_energy_error for entry in c.entries)
    for entry, line in _lines(c):
        curve = thinned(entry.t, 100.0 * entry.energy_error)
        for ax, label in ((whole, entry.label), (close, None)):
            ax.plot(*curve, **line, linewidth=0.9, label=label)
    # With a method that blew up, all others would look like a straight line.
    most = 100.0 * min(1.0, errors[-1])
    whole.set(title="whole range", ylim=(-1.1 * most, 1.1 * most), ylabel="energy error\n(% of peak kinetic energy)")
    fine = 100.0 * errors[len(errors) // 2]
    close.set(title="close-up", ylim=(-1.6 * fine, 1.6 * fine))
    for ax in (whole, close):
        ax.set_xlabel("time (s)")
        ax.margins(x=0)
    drawn.legend(loc="outside upper center", ncols=1 if narrow else 3)
    return drawn


def _envelope(c: Comparison) -> str:
    return figure(partial(_draw_envelope, c), "How the energy error grows",
                  f"The greatest energy error up to a time.{growth(c)}", "envelope")


def growth(c: Comparison) -> str:
    """Say by how much the greatest energy error grew over the second half; empty for very short runs."""
    grown = []
    for entry in c.entries:
        worst = np.maximum.accumulate(np.abs(entry.energy_error))
        half = (len(worst) - 1) // 2
        if not entry.ended and half > 0 and worst[half] > FLOOR:
            grown.append(f"{worst[-1] / worst[half]:.2f} ({entry.label})")
    if not grown:
        return ""
    return (f" Over the second half of the run it grew by these factors: {', '.join(grown)}. A steady drift gives 2, a "
            "bounded error 1; a single jump may give anything, and only a longer run tells it from drift.")


def _draw_envelope(c: Comparison, narrow: bool) -> Figure:
    drawn = new_figure(narrow, 4.2 if narrow else 2.7)
    ax = drawn.add_subplot()
    for entry, line in _lines(c):
        worst = np.maximum.accumulate(np.abs(entry.energy_error[1:]))
        ax.loglog(*_spread(entry.t[1:], np.maximum(worst, FLOOR)), **line, label=entry.label)
    ax.set(xlabel="time (s)", ylabel="greatest energy error so far")
    ax.set_ylim(top=min(ax.get_ylim()[1], 1e2))
    _legend(drawn, ax, narrow)
    return drawn


def _distance(c: Comparison) -> str:
    return figure(partial(_draw_distance, c), "Accuracy of the motion", "Greatest error of a coordinate against a run "
                  "of order 8 at half the step. Above the dashed line a motion is lost. In a chaotic system that "
                  "happens to every method, and conserved energy does not tell when.", "distance")


def _draw_distance(c: Comparison, narrow: bool) -> Figure:
    drawn = new_figure(narrow, 4.2 if narrow else 2.7)
    ax = drawn.add_subplot()
    for entry, line in _lines(c):
        t, error = thinned(entry.t[1:], np.maximum(entry.error[1:], FLOOR))
        ax.semilogy(t, error, **line, linewidth=1.0, label=entry.label)
    ax.axhline(0.1, color=QUIET, linewidth=0.8, linestyle="--")
    ax.set(xlabel="time (s)", ylabel="distance (rad, m)")
    ax.margins(x=0)
    _legend(drawn, ax, narrow)
    return drawn


def _legend(drawn: Figure, ax: Axes, narrow: bool) -> None:
    """Name the methods beside the curves, or above them on a phone."""
    if narrow:
        drawn.legend(loc="outside upper center", ncols=1)
    else:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")


def _lines(c: Comparison) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """The methods, each with its colour; MuJoCo is dashed, as it often coincides with semi-implicit Euler."""
    for entry, colour in zip(c.entries, PALETTE, strict=False):
        yield entry, {"color": colour, "linestyle": (0, (4, 3)) if entry.label == MUJOCO else "-"}


def _spread(t: np.ndarray, y: np.ndarray, points: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """Points of a curve that are evenly spaced on a logarithmic axis."""
    index = np.unique(np.geomspace(1, len(t), points).astype(int)) - 1
    return t[index], y[index]
