"""Statistics over members at every node: the same bits however the members were divided into chunks.

Members are the leaves of one fixed binary tree: its node (level, index) covers the members from index · 2^level on and
before (index + 1) · 2^level. Two neighbours are merged by the formulas of Chan, Golub and LeVeque. A chunk stores
the largest whole subtrees within its range of members, and `fold` merges those of all chunks up the same tree. If one
of two neighbours has no members, the other is the result.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from leastaction.kernels.fold import fold_members

Array = np.ndarray
BLOCK = 16384  # numbers of a quantity merged at a time, so that what is merged stays in the processor's cache


class Moments(NamedTuple):
    """The moments of one quantity at every node; the count of members is stored beside them.

    mean, m2 : (…, nodes, …) the mean, and the sum of the squares of the differences from it; 0 where there is none
    minimum, maximum : (…, nodes, …) the extremes; inf and −inf where there is none
    """

    mean: Array
    m2: Array
    minimum: Array
    maximum: Array


@dataclass(frozen=True)
class Partial:
    """The statistics of the members under one node of the tree.

    level, index : the members from index · 2^level on and before (index + 1) · 2^level
    count : (nodes,) how many of them made each node
    moments : by quantity, arrays (nodes, …)
    """

    level: int
    index: int
    count: Array
    moments: dict[str, Moments]


@dataclass(frozen=True)
class Statistics:
    """Statistics over the members of an ensemble at every recorded node, whichever nodes were kept.

    A member that failed counts at the nodes that it made. The four quantities are by name, ``mean["q"]``, with shapes
    (nodes, nq) and so on, in the units of the quantity; the variance is in their squares. Each number has its own
    statistics: the mean of quaternions is no unit quaternion, and that of an angle counts whole turns.

    Attributes
    ----------
    t : (nodes,) time, s
    count : (nodes,) number of members that made the node
    mean, minimum, maximum : NaN where no member made the node
    variance : the unbiased estimate, with count − 1; NaN where fewer than two members made the node
    """

    t: Array
    count: Array
    mean: dict[str, Array]
    variance: dict[str, Array]
    minimum: dict[str, Array]
    maximum: dict[str, Array]

    @property
    def std(self) -> dict[str, Array]:
        """The square root of the variance, in the units of the quantity."""
        return {name: np.sqrt(values) for name, values in self.variance.items()}

    def __repr__(self) -> str:
        least, most = (int(self.count.min()), int(self.count.max())) if len(self.count) else (0, 0)
        members = f"{most}" if least == most else f"{least} to {most}"
        return f"<Statistics of {', '.join(self.mean)} at {len(self.t)} nodes, over {members} members>"


def partials(first: int, arrays: Mapping[str, Array], made: Array, threads: int = 1) -> list[Partial]:
    """Return the statistics of the largest whole subtrees within the members of a chunk, in the order of members.

    Parameters
    ----------
    first : number of the chunk's first member
    arrays : quantities by name, (members, nodes, …)
    made : (members,) how many nodes each member made; later ones are not looked at
    threads : how many to use; the bits do not depend on it

    Returns
    -------
    list of Partial, one for an aligned chunk whose size is a power of two, two a level at most
    """
    if not arrays:
        raise ValueError("statistics need at least one quantity")
    members, nodes = next(iter(arrays.values())).shape[:2]
    places = subtrees(first, members)
    count = np.zeros((len(places), nodes), dtype=np.int64)
    made, moments = np.asarray(made, dtype=np.int64), {}
    ends = [nodes * part // threads for part in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        for name, given in arrays.items():
            values = np.require(given, float, ["C", "W"]).reshape(members, -1)  # what the kernel is compiled for
            room = np.empty((4, len(places), values.shape[1]))
            list(pool.map(partial(_fold_nodes, values, made, first, count, room), ends, ends[1:]))
            moments[name] = room.reshape(4, len(places), *given.shape[1:])
    return [Partial(*place, count[row], {name: Moments(*found[:, row]) for name, found in moments.items()})
            for row, place in enumerate(places)]


def _fold_nodes(values: Array, made: Array, first: int, count: Array, room: Array, start: int, end: int) -> None:
    """Fold the nodes from ``start`` to ``end``, some at a time."""
    members, entries = len(values), values.shape[1] // max(count.shape[1], 1)
    size = max(1, BLOCK // max(1, members * entries))
    numbers, work = np.empty((members, size)), np.empty((4, members, size * entries))
    for node in range(start, end, size):
        fold_members(values, made, first, node, min(node + size, end), count, room, numbers, work)


def subtrees(first: int, count: int) -> list[tuple[int, int]]:
    """Return the largest whole subtrees within a range of members, (level, index), in the order of members."""
    found, level, last = [], 0, first + count
    while first < last:
        found += [(level, first)] * (first % 2) + [(level, last - 1)] * (last % 2)
        level, first, last = level + 1, -(-first // 2), last // 2
    return sorted(found, key=lambda place: place[1] << place[0])


def merge(a: Partial, b: Partial) -> Partial:
    """Merge two neighbours, left and right, to their parent: the same operations as those of `fold_members`.

    Where one has no members its mean and m2 are 0, and the result is the other to the last bit.
    """
    n_a, n_b = a.count.astype(float), b.count.astype(float)
    n = np.maximum(n_a + n_b, 1.0)
    merged = {}
    for name, (mean, m2, low, high) in a.moments.items():
        other = b.moments[name]
        over = (len(n), *(1,) * (mean.ndim - 1))
        weight, product = (x.reshape(over) for x in (n_b / n, n_a * n_b / n))
        with np.errstate(invalid="ignore", over="ignore"):  # numbers that are not finite, or too large, stay visible
            difference = other.mean - mean
            merged[name] = Moments(difference * weight + mean, m2 + other.m2 + difference * difference * product,
                                   np.minimum(low, other.minimum), np.maximum(high, other.maximum))
    return Partial(a.level + 1, a.index // 2, a.count + b.count, merged)


def fold(parts: Iterable[Partial]) -> Partial | None:
    """Merge the statistics of all chunks up the tree; None if there are none.

    Parameters
    ----------
    parts : in the order of members; where some are missing, the rest is merged as if those had no members

    At most log2(members) of them are held at a time.
    """
    waiting: list[Partial] = []  # subtrees that wait for their right neighbours
    for part in parts:
        _close(waiting, part.index << part.level)
        waiting.append(part)
    _close(waiting, None)
    return waiting[0] if waiting else None


def _close(waiting: list[Partial], start: int | None) -> None:
    """Move the last subtree up while no member from ``start`` on is under its parent; merge neighbours on the way."""
    while waiting:
        last = waiting[-1]
        parent = last.index // 2
        if start is not None and (parent + 1) << (last.level + 1) > start:
            return
        if start is None and len(waiting) == 1:
            return
        if len(waiting) > 1 and (waiting[-2].level, waiting[-2].index) == (last.level, last.index - 1):
            waiting[-2:] = [merge(waiting[-2], last)]
        else:
            waiting[-1] = replace(last, level=last.level + 1, index=parent)


def finished(total: Partial | None, t: Array, shapes: Mapping[str, Sequence[int]]) -> Statistics:
    """Turn the result of `fold` into the statistics that users read.

    Parameters
    ----------
    total : over all members; None if there are none
    t : (nodes,) time, s
    shapes : of one member's array by quantity, (nodes, …)
    """
    count = np.zeros(len(t), dtype=np.int64) if total is None else total.count
    found = Statistics(t, count, {}, {}, {}, {})
    for name, shape in shapes.items():
        moments = Moments(*np.zeros((4, *shape))) if total is None else total.moments[name]
        n = np.broadcast_to(count.reshape(-1, *(1,) * (len(shape) - 1)), shape)
        for kind in ("mean", "minimum", "maximum"):
            getattr(found, kind)[name] = np.where(n == 0, np.nan, getattr(moments, kind))
        found.variance[name] = np.where(n < 2, np.nan, moments.m2 / np.maximum(n - 1, 1))
    return found
