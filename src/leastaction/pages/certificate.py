"""The page of a certificate."""

from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from leastaction.analysis import Accuracy, Certificate
from leastaction.pages.page import figure, new_figure, table, verdict, write_page
from leastaction.plots.style import BLUE, PALETTE, QUIET, VERMILION, style
from leastaction.viewers.film import thinned


@style()
def write_certificate(certificate: Certificate, path: str | Path) -> Path:
    """Write a certificate as one self-contained page.

    Parameters
    ----------
    certificate : from `leastaction.audit`
    path : the file to write, ending in .html
    """
    c, run = certificate, certificate.run
    parts = [
        verdict(c.kept, c.verdict),
        f"<section class='facts'><h2>Findings</h2>{table((), c.rows())}</section>",
        _energy(c),
    ]
    if c.momenta:
        parts.append(_momenta(c))
    if c.accuracy is not None:
        parts.append(_accuracy(c.accuracy))
    if c.evaluations:
        parts.append(_solver(c))
    subtitle = f"{c.steps} steps of {run.dt:g} s, {run.integrator.label}"
    return write_page(path, f"Conservation certificate of {run.model.name}", subtitle, parts)


def _energy(c: Certificate) -> str:
    words = c.energy_reason and f" It is not meant to be constant: {c.energy_reason}."
    return figure(partial(_draw_energy, c), "Energy", "The error of the total energy, and a line through the means of "
                  f"twenty blocks with the 95 % interval of its slope.{words}", "energy")


def _draw_energy(c: Certificate, narrow: bool) -> Figure:
    drawn = new_figure(narrow)
    ax = drawn.add_subplot()
    run, line = c.run, c.energy_trend
    ax.plot(*thinned(run.t, run.energy_error), color=BLUE, linewidth=0.9, label="energy error")
    if line is not None:
        t = np.linspace(run.t[0], run.t[-1], 51)
        offset, level = t - t[25], float(run.energy_error.mean())
        low, high = (level + slope * offset for slope in line.interval)
        ax.fill_between(t, np.minimum(low, high), np.maximum(low, high), color=VERMILION, alpha=0.22, linewidth=0,
                        label="trend, 95 %")
        ax.plot(t, level + line.slope * offset, color=VERMILION, linewidth=1.1)
    ax.set(xlabel="time (s)", ylabel="(E − E₀) / peak kinetic energy")
    ax.margins(x=0)
    drawn.legend(loc="outside upper right", ncols=2)
    return drawn


def _momenta(c: Certificate) -> str:
    return figure(partial(_draw_momenta, c), "Momentum",
                  "Changes of the momenta that gravity and the joints on the ground leave conserved.", "momentum")


def _draw_momenta(c: Certificate, narrow: bool) -> Figure:
    drawn = new_figure(narrow, 3.2 if narrow else 2.4)
    ax = drawn.add_subplot()
    for kept, colour in zip(c.momenta, PALETTE, strict=False):
        values = c.run.momentum @ kept.symmetry.screw
        label = f"{kept.symmetry.name} ({kept.symmetry.unit})"
        ax.plot(*thinned(c.run.t, values - values[0]), color=colour, linewidth=0.9, label=label)
    ax.set(xlabel="time (s)", ylabel="change since the start")
    ax.margins(x=0)
    if narrow:
        drawn.legend(loc="outside upper center", ncols=1)
    else:
        ax.legend(fontsize="small")
    return drawn


def _accuracy(accuracy: Accuracy) -> str:
    return figure(partial(_draw_accuracy, accuracy), "Accuracy of the motion", "Greatest error of a coordinate, "
                  "estimated by the same run at half the step. Above the dashed line the two go separate ways, and the "
                  "estimate says no more than that.", "accuracy")


def _draw_accuracy(accuracy: Accuracy, narrow: bool) -> Figure:
    drawn = new_figure(narrow, 2.4)
    ax = drawn.add_subplot()
    t, error = thinned(accuracy.t[1:], np.maximum(accuracy.error[1:], 1e-17))
    ax.semilogy(t, error, color=BLUE, linewidth=0.9)
    ax.axhline(0.1, color=QUIET, linewidth=0.8, linestyle="--")
    ax.set(xlabel="time (s)", ylabel="estimated error (rad, m)")
    ax.set_ylim(top=min(ax.get_ylim()[1], 10.0))
    ax.margins(x=0)
    return drawn


def _solver(c: Certificate) -> str:
    words = "; ".join(f"{count} {status.meaning}" for status, count in sorted(c.statuses.items()))
    return figure(partial(_draw_solver, c), "Solver", f"How many evaluations steps needed. Steps: {words}.", "solver")


def _draw_solver(c: Certificate, narrow: bool) -> Figure:
    drawn = new_figure(narrow, 2.2)
    ax = drawn.add_subplot()
    # if not every step is kept, there are only sums between the kept ones: take their mean
    kinds, counts = np.unique(np.rint(c.run.iterations * (len(c.run.iterations) / max(c.steps, 1))), return_counts=True)
    ax.bar(kinds, counts, color=BLUE, width=0.7)
    ax.set(xlabel="residual evaluations", ylabel="steps", yscale="log")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(axis="x", visible=False)
    return drawn
