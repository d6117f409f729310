"""Quantities of a trajectory against time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from leastaction.plots.coordinates import coordinates
from leastaction.plots.style import BLACK, style

if TYPE_CHECKING:
    from leastaction.trajectory import Trajectory

DWARFED = 5.0   # a curve this many times smaller than the largest one needs a panel of its own
LEGEND_ROWS = 16


@style()
def energy(traj: Trajectory, ax: Axes | None = None, label: str | None = None, **line: Any) -> Axes:
    """Draw the energy error of a run, in percent of its peak kinetic energy, against time.

    Where energy has left the mechanism by the ledger, and neither a label nor a style is given, draw instead where it
    went, J: what is left of it, and on top what each entry of `Trajectory.dissipated` has taken. The dashed line is the
    energy at the start: the stack misses it by the step's own error.

    Parameters
    ----------
    traj : Trajectory
        What `simulate` returned.
    ax : Axes, optional
        Where to draw; a new figure by default.
    label : str, optional
        The curve's name in a legend.
    **line
        Passed on to matplotlib's ``plot``.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 3.2))
    if traj.loses_energy and label is None and not line:
        return _where_it_went(traj, ax)
    ax.plot(traj.t, 100.0 * traj.energy_error, label=label, **line)
    ax.set(xlabel="time (s)", ylabel="energy error\n(% of peak kinetic energy)")
    ax.margins(x=0)
    if label is not None:
        ax.legend()
    return ax


def _where_it_went(traj: Trajectory, ax: Axes) -> Axes:
    """Stack what is left of the energy and what each entry of the ledger has taken, J; below zero what was given."""
    least = float(traj.energy.min())
    entries = {name.replace("_", " "): lost for name, lost in traj.dissipated.items() if np.any(lost)}
    taken = {name: np.maximum(lost, 0.0) for name, lost in entries.items() if lost.max() > 0.0}
    given = {name: np.minimum(lost, 0.0) for name, lost in entries.items() if lost.min() < 0.0}
    ax.stackplot(traj.t, traj.energy - least, *taken.values(), labels=["in the mechanism", *taken], alpha=0.85)
    if given:
        ax.stackplot(traj.t, *given.values(), labels=[f"given by {name}" for name in given], alpha=0.85)
    ax.axhline(traj.energy[0] - least, color=BLACK, linestyle="--", linewidth=0.8)
    ax.set(xlabel="time (s)", ylabel="energy (J)")
    ax.margins(x=0)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


@style()
def compare_energy(runs: Mapping[str, Trajectory], ax: Axes | None = None) -> tuple[Axes, ...]:
    """Draw the energy errors of several runs together, and the small ones again where large ones dwarf them.

    Parameters
    ----------
    runs : mapping of str to Trajectory
        The runs by the name each gets in the legend.
    ax : Axes, optional
        Where to draw; by default a new figure, with a second, zoomed panel when one is needed.

    Returns
    -------
    tuple of Axes
        The axes drawn on, one or two.
    """
    largest = {name: float(np.max(np.abs(run.energy_error))) for name, run in runs.items()}
    small = [name for name in runs if DWARFED * largest[name] < max(largest.values())]
    panels: list[tuple[Axes, Iterable[str]]]
    if ax is not None or not small:
        panels = [(ax or plt.subplots(figsize=(6.4, 3.2))[1], runs)]
    else:
        _, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.4))
        panels = [(left, runs), (right, small)]
    colours = dict(zip(runs, mpl.rcParams["axes.prop_cycle"].by_key()["color"] * len(runs), strict=False))
    for panel, names in panels:
        panel.axhline(0.0, color=BLACK, linewidth=0.6)
        # The smallest error on top: it is the one that would be covered.
        for name in sorted(names, key=lambda name: -largest[name]):
            energy(runs[name], panel, color=colours[name])
    first = panels[0][0]
    handles = [mpl.lines.Line2D([], [], color=colours[name], linewidth=2.0, label=name) for name in runs]
    if ax is None:
        first.figure.legend(handles=handles, loc="outside upper center", ncols=len(runs))
    else:
        first.legend(handles=handles)
    if len(panels) == 2:
        first.set_title("whole range")
        panels[1][0].set(title="close-up", ylabel="")
    return tuple(panel for panel, _ in panels)


@style()
def momentum(traj: Trajectory, ax: tuple[Axes, Axes] | None = None, **line: Any) -> tuple[Axes, Axes]:
    """Draw the total momentum about the world's origin, angular above linear, in world axes.

    Parameters
    ----------
    traj : Trajectory
        What `simulate` returned.
    ax : pair of Axes, optional
        Where to draw the angular and the linear part; a new figure by default.
    **line
        Passed on to matplotlib's ``plot``.

    Returns
    -------
    pair of Axes
        The axes drawn on.
    """
    upper, lower = ax if ax is not None else _stacked()
    for panel, part in ((upper, traj.momentum[:, :3]), (lower, traj.momentum[:, 3:])):
        for axis, component in zip("xyz", part.T, strict=True):
            panel.plot(traj.t, component, label=axis, **line)
        panel.margins(x=0)
    upper.legend(ncols=3, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    upper.set_ylabel("angular momentum\n(kg m²/s)")
    lower.set(xlabel="time (s)", ylabel="linear momentum\n(kg m/s)")
    return upper, lower


@style()
def state(traj: Trajectory, ax: tuple[Axes, Axes] | None = None, joints: Iterable[str] | None = None,
          **line: Any) -> tuple[Axes, Axes]:
    """Draw the joints' configurations above their velocities.

    Parameters
    ----------
    traj : Trajectory
        What `simulate` returned.
    ax : pair of Axes, optional
        Where to draw q and v; a new figure by default.
    joints : iterable of str, optional
        Names of the bodies whose joints to draw; all by default.
    **line
        Passed on to matplotlib's ``plot``.

    Returns
    -------
    pair of Axes
        The axes drawn on.
    """
    model = traj.model
    indices = range(model.nb) if joints is None else [model.body_index(name) for name in joints]
    shown = [model.bodies[i] for i in indices if model.bodies[i].joint.nv > 0]
    upper, lower = ax if ax is not None else _stacked()
    named: list[str] = []
    for panel, values, where, which in ((upper, traj.q, model.q_slice, 0), (lower, traj.v, model.v_slice, 1)):
        labels = [f"{body.name} {name}".strip() for body in shown for name, _ in coordinates(body.joint)[which]]
        curves = [curve for body in shown for curve in values[:, where(body.name)].T]
        # Neighbours in the tree get neighbouring colours, so a long chain reads as a gradient.
        colours = mpl.colormaps["viridis"](np.linspace(0.0, 0.88, len(curves)))
        for label, curve, colour in zip(labels, curves, colours, strict=True):
            panel.plot(traj.t, curve, **{"color": colour, "label": label, **line})
        panel.margins(x=0)
        units = dict.fromkeys(unit for body in shown for _, unit in coordinates(body.joint)[which])
        panel.set_ylabel(f"{'qv'[which]} ({', '.join(units)})")
        if len(labels) <= LEGEND_ROWS and labels != named:
            panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small", labelspacing=0.2)
        named = labels
    lower.set_xlabel("time (s)")
    return upper, lower


def _stacked() -> tuple[Axes, Axes]:
    _, (upper, lower) = plt.subplots(2, 1, sharex=True, figsize=(6.4, 4.8))
    return upper, lower
