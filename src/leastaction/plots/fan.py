"""How a quantity spreads over the members of an ensemble, against time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from leastaction.files.export import MOMENTA, joint_labels
from leastaction.model import Model
from leastaction.model.names import did_you_mean
from leastaction.plots.coordinates import coordinates
from leastaction.plots.style import BLACK, BLUE, VERMILION, style

if TYPE_CHECKING:
    from leastaction.ensemble.results import EnsembleResults

Array = np.ndarray
MOST_NODES = 500       # nodes of a curve: more cannot be told apart
MOST_NUMBERS = 2**24   # numbers read for the quantiles; of a larger ensemble, evenly chosen members are read
MOST_FAILURES = 300    # crosses
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


class Entry(NamedTuple):
    """One number at every node: where it is, and how an axis calls it."""

    quantity: str
    at: tuple[int, ...]
    label: str


@style()
def fan(results: EnsembleResults, what: str = "energy", ax: Axes | None = None, examples: int = 3) -> Axes:
    """Draw the median of a quantity over the members of an ensemble, bands with 50 % and 90 % of them, and extremes.

    Some members are drawn as thin lines, and crosses show where members failed: such a member counts as long as it ran.
    If no nodes of single members were kept, the mean and the standard deviation are drawn instead.

    Parameters
    ----------
    results : EnsembleResults
        What `open_ensemble` returned.
    what : str
        "energy"; "elbow" or "q:elbow" for the coordinate of the joint of the body elbow; "v:elbow" for its velocity,
        "p:elbow" for its momentum; "momentum:linear z". Of a joint with several numbers, name one: "base[2]".
    ax : Axes, optional
        Where to draw; a new figure by default.
    examples : int
        How many single members to draw.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    entry = find_entry(results.model, results.quantities, what)
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 3.6))
    statistics = results.statistics
    column: Any = (..., *entry.at)
    low, high = (values[entry.quantity][column] for values in (statistics.minimum, statistics.maximum))
    # Drawn in the order of the legend; zorder says what lies on top.
    if results.keeps_nodes and len(results.t) > 1:
        singles = _draw_quantiles(results, entry, ax, examples)
    else:
        mean, spread = (values[entry.quantity][column] for values in (statistics.mean, statistics.std))
        ax.plot(statistics.t, mean, color=BLUE, linewidth=1.8, label="mean", zorder=2.4)
        ax.fill_between(statistics.t, mean - spread, mean + spread, color=BLUE, alpha=0.25, linewidth=0,
                        label="± standard deviation")
        singles = {}
    for edge, label in ((low, "extremes"), (high, None)):
        ax.plot(statistics.t, edge, color=BLUE, linewidth=0.5, alpha=0.7, label=label, zorder=2.1)
    for k, (t, values) in enumerate(singles.values()):
        ax.plot(t, values, color=BLACK, linewidth=0.5, alpha=0.6, zorder=2.2,
                label=None if k else f"{len(singles)} single member{'s' * (len(singles) > 1)}")
    _draw_failures(results, entry, ax)
    gone = sum(map(len, results.missing))
    ax.set(xlabel="time (s)", ylabel=entry.label,
           title=f"{results.model.name}: {results.members - gone} members{f', {gone} missing' if gone else ''}")
    ax.margins(x=0)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    return ax


def find_entry(model: Model, quantities: Sequence[str], what: str) -> Entry:
    """Find which number a name means in an ensemble of these quantities; a ValueError lists the near ones."""
    in_q, in_v = joint_labels(model)
    units = [[unit for body in model.bodies for _, unit in coordinates(body.joint)[which]] for which in (0, 1)]
    known = {"energy": Entry("energy", (), "total energy (J)")}
    for quantity, labels, unit in (("q", in_q, units[0]), ("v", in_v, units[1]), ("p", in_v, None)):
        for k, label in enumerate(labels):
            shown = f"{quantity} of {label} ({unit[k]})" if unit else f"p of {label} (SI units)"
            known[f"{quantity}:{label}"] = Entry(quantity, (k,), shown)
            if quantity == "q" and label != "energy":
                known[label] = known[f"q:{label}"]
    for k, label in enumerate(MOMENTA):
        known[f"momentum:{label}"] = Entry("momentum", (k,), f"{label} momentum ({'kg m²/s' if k < 3 else 'kg m/s'})")
    entry = known.get(what) or known.get(_by_joint(model, what))
    if entry is None:
        several = [name for name in known if name.startswith(f"{what}[")]
        hint = f"; name one of {', '.join(several)}" if several else did_you_mean(what, known)
        raise ValueError(f"there is no single number {what!r} at a node{hint}")
    if entry.quantity not in quantities:
        raise ValueError(f"{entry.quantity} was not kept: this ensemble has {', '.join(quantities)}")
    return entry


def _by_joint(model: Model, what: str) -> str:
    """Replace the name of a joint by that of its body."""
    quantity, colon, name = what.rpartition(":")
    plain, bracket, number = name.partition("[")
    body = next((body.name for body in model.bodies if body.joint.name and body.joint.name == plain), plain)
    return f"{quantity}{colon}{body}{bracket}{number}"


def _draw_quantiles(results: EnsembleResults, entry: Entry, ax: Axes, examples: int) -> dict[int, tuple[Array, Array]]:
    """Draw median and bands; return time and values of some single members by their number."""
    nodes = _even(len(results.t), MOST_NODES)
    members = _even(results.members, max(1, MOST_NUMBERS // len(nodes)))
    t, values = results.t[nodes], getattr(results, entry.quantity)[(members, slice(None), *entry.at)][:, nodes]
    level = quantiles(values, LEVELS)
    ax.plot(t, level[2], color=BLUE, linewidth=1.8, label="median", zorder=2.4)
    # Bands do not overlap, so that they look as in the legend, and the grid is seen through them.
    bands = (1, 3, 0.4, "50 % of members"), (0, 1, 0.16, "90 % of members"), (3, 4, 0.16, None)
    for low, high, alpha, label in bands:
        ax.fill_between(t, level[low], level[high], color=BLUE, alpha=alpha, linewidth=0, label=label)
    return {int(members[k]): (t, values[k]) for k in _even(len(members), examples)}


def _even(count: int, most: int) -> Array:
    """Choose at most ``most`` of the numbers below ``count``, evenly, with both ends."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def quantiles(values: Array, levels: Sequence[float]) -> Array:
    """Return the quantiles (levels, nodes) over the members of values (members, nodes), without NaN."""
    ordered = np.sort(values, axis=0)  # NaN last
    last = np.maximum(np.count_nonzero(~np.isnan(ordered), axis=0) - 1, 0)
    found = np.empty((len(levels), values.shape[1]))
    for row, level in enumerate(levels):
        at = level * last
        below = np.floor(at).astype(int)
        lower, upper = (np.take_along_axis(ordered, k[None], axis=0)[0] for k in (below, np.minimum(below + 1, last)))
        found[row] = lower + (at - below) * (upper - lower)
    return found


def _draw_failures(results: EnsembleResults, entry: Entry, ax: Axes) -> None:
    """Mark where members failed: at their last value, or on the time axis if that value is not stored."""
    failures = results.failures
    shown = [failures[k] for k in _even(len(failures), MOST_FAILURES)]
    if not shown:
        return
    known = entry.quantity in ("q", "v")
    heights = [getattr(failure, entry.quantity)[entry.at] if known else 0.0 for failure in shown]
    ax.plot([failure.t for failure in shown], heights, color=VERMILION, marker="x", markersize=4.5, linestyle="none",
            clip_on=False, zorder=2.6, label=f"{len(failures)} failed",
            transform=ax.transData if known else ax.get_xaxis_transform())
