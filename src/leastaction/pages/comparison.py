"""The page of a comparison."""

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

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
    notes = [*c.NOTES, *(f"{name} is left out: {why}" for name, why in c.left_out.items())]
    if c.energy_reason:
        notes.append(f"the energy is not meant to be constant: {c.energy_reason}")
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    parts = [f"<section><h2>Side by side</h2>{table(c.HEAD, c.table())}<ul>{listed}</ul></section>",
             _energy(c), _envelope(c), _distance(c)]
    return write_page(path, f"Integrators compared on {c.model.name}",
                      f"{c.duration:g} s at a step of {1e3 * c.dt:g} ms, from the same state", parts)


def _energy(c: Comparison) -> str:
    drawn = new_figure(3.0)
    whole, close = drawn.subplots(1, 2)
    errors = sorted(entry.max_energy_error for entry in c.entries)
    for entry, line in _lines(c):
        curve = thinned(entry.t, 100.0 * entry.energy_error)
        for ax, label in ((whole, entry.label), (close, None)):
            ax.plot(*curve, **line, linewidth=0.9, label=label)
    # A method that blew up would leave the others a straight line.
    most = 100.0 * min(1.0, errors[-1])
    whole.set(title="whole range", ylim=(-1.1 * most, 1.1 * most), ylabel="energy error\n(% of peak kinetic energy)")
    fine = 100.0 * errors[len(errors) // 2]
    close.set(title="close-up", ylim=(-1.6 * fine, 1.6 * fine))
    for ax in (whole, close):
        ax.set_xlabel("time (s)")
        ax.margins(x=0)
    drawn.legend(loc="outside upper center", ncols=3)
    return figure(drawn, "Energy", "The error of the total energy, and the smaller errors again.", "energy")


def _envelope(c: Comparison) -> str:
    drawn = new_figure()
    ax = drawn.add_subplot()
    for entry, line in _lines(c):
        worst = np.maximum.accumulate(np.abs(entry.energy_error[1:]))
        ax.loglog(*_spread(entry.t[1:], np.maximum(worst, FLOOR)), **line, label=entry.label)
    ax.set(xlabel="time (s)", ylabel="greatest energy error so far")
    ax.set_ylim(top=min(ax.get_ylim()[1], 1e2))
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    return figure(drawn, "How the energy error grows", "The greatest energy error up to a time. A curve that levels "
                  "off is bounded; one that goes on rising drifts.", "envelope")


def _distance(c: Comparison) -> str:
    drawn = new_figure()
    ax = drawn.add_subplot()
    for entry, line in _lines(c):
        t, error = thinned(entry.t[1:], np.maximum(entry.error[1:], FLOOR))
        ax.semilogy(t, error, **line, linewidth=1.0, label=entry.label)
    ax.axhline(0.1, color=QUIET, linewidth=0.8, linestyle="--")
    ax.set(xlabel="time (s)", ylabel="distance (rad, m)")
    ax.margins(x=0)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    return figure(drawn, "Accuracy of the motion", "Greatest error of a coordinate against a run of order 8 at half "
                  "the step. Above the dashed line a motion is lost; how soon that happens in a chaotic system, no "
                  "conserved quantity tells.", "distance")


def _lines(c: Comparison) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """The methods, each with its colour; MuJoCo is dashed, as it often goes where semi-implicit Euler goes."""
    for entry, colour in zip(c.entries, PALETTE, strict=False):
        yield entry, {"color": colour, "linestyle": (0, (4, 3)) if entry.label == MUJOCO else "-"}


def _spread(t: np.ndarray, y: np.ndarray, points: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """Points of a curve that are evenly spaced on a logarithmic axis."""
    index = np.unique(np.geomspace(1, len(t), points).astype(int)) - 1
    return t[index], y[index]
