"""Statistics over members at every node: the same bits however the members were divided into chunks.

Members are the leaves of one fixed binary tree: its node (level, index) covers the members from index · 2^level on and
before (index + 1) · 2^level. Two neighbours are merged by the formulas of Chan, Golub and LeVeque. A chunk stores
the largest whole subtrees within its range of members, and `fold` merges those of all chunks up the same tree. Where a
neighbour has no members, the other one stands for both.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray
BLOCK = 16384  # numbers of a quantity merged at a time, so that what is merged stays in the processor's cache


class Moments(NamedTuple):
    """What is known of one quantity at every node, leading axes included; the count of members is kept beside it.

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
    (nodes, nq) and so on, in the units of the quantity; the variance is in their squares. Each number is taken on its
    own: the mean of quaternions is no unit quaternion, and that of an angle counts whole turns.

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


def partials(first: int, arrays: Mapping[str, Array], made: Array) -> list[Partial]:
    """Return the statistics of the largest whole subtrees within the members of a chunk, in the order of members.

    Parameters
    ----------
    first : number of the chunk's first member
    arrays : quantities by name, (members, nodes, …)
    made : (members,) how many nodes each member made; later ones are not looked at

    Returns
    -------
    list of Partial, one for an aligned chunk whose size is a power of two, two a level at most
    """
    if not arrays:
        raise ValueError("statistics need at least one quantity")
    members, nodes = next(iter(arrays.values())).shape[:2]
    there = np.arange(nodes) < np.asarray(made)[:, None]
    places = subtrees(first, members)
    rows = {place: row for row, place in enumerate(places)}
    count = np.zeros((len(places), nodes), dtype=np.int64)
    moments = {}
    for name, given in arrays.items():
        values = np.asarray(given, dtype=float).reshape(members, nodes, -1)
        room = Moments(*(np.empty((len(places), *values.shape[1:])) for _ in Moments._fields))
        size = max(1, BLOCK // max(1, members * values.shape[2]))
        for start in range(0, nodes, size):
            block = np.s_[:, start : start + size]
            for place, (number, found) in _merge_block(first, there[block], values[block]):
                count[rows[place], start : start + size] = number
                for to, one in zip(room, found, strict=True):
                    to[rows[place], start : start + size] = one
        moments[name] = Moments(*(x.reshape(len(places), *given.shape[1:]) for x in room))
    return [Partial(*place, count[row], {name: Moments(*(x[row] for x in found)) for name, found in moments.items()})
            for place, row in rows.items()]


def subtrees(first: int, count: int) -> list[tuple[int, int]]:
    """Return the largest whole subtrees within a range of members, (level, index), in the order of members."""
    found, level, last = [], 0, first + count
    while first < last:
        found += [(level, first)] * (first % 2) + [(level, last - 1)] * (last % 2)
        level, first, last = level + 1, -(-first // 2), last // 2
    return sorted(found, key=lambda place: place[1] << place[0])


def _merge_block(first: int, there: Array, values: Array) -> Iterator[tuple[tuple[int, int], tuple[Array, Moments]]]:
    """Merge the members of one quantity level by level, all pairs of a level at once.

    Gives the subtrees whose parent is not whole, with their count (nodes,) and moments (nodes, entries).
    """
    count = there.astype(np.int64)
    mean, extreme = values, values + 0.0  # no −0: which zero a minimum takes depends on how it is compiled
    moments = Moments(mean, np.zeros(values.shape), extreme, extreme)
    if not there.all():
        known = there[:, :, None]
        moments = Moments(np.where(known, mean, 0.0), moments.m2, np.where(known, extreme, np.inf),
                          np.where(known, extreme, -np.inf))
    level = 0
    while len(count):
        last = first + len(count)
        for at in [0] * (first % 2) + [-1] * (last % 2):
            yield (level, (first if at == 0 else last - 1)), (count[at], Moments(*(x[at] for x in moments)))
        left, right = slice(first % 2, len(count) - last % 2, 2), slice(first % 2 + 1, len(count) - last % 2, 2)
        count, moments = _merged(count[left], Moments(*(x[left] for x in moments)),
                                 count[right], Moments(*(x[right] for x in moments)))
        level, first = level + 1, -(-first // 2)


def _merged(count_a: Array, a: Moments, count_b: Array, b: Moments) -> tuple[Array, Moments]:
    """Merge neighbours; where one has no members, the result is the other to the last bit."""
    count = count_a + count_b
    n_a, n_b = _number(count_a, a.mean), _number(count_b, a.mean)
    n = np.maximum(n_a + n_b, 1.0)
    with np.errstate(invalid="ignore", over="ignore"):  # numbers that are not finite, or too large, stay visible
        difference = b.mean - a.mean
        mean = a.mean + difference * n_b / n
        m2 = a.m2 + b.m2 + difference * difference * (n_a * n_b / n)
    if not (np.all(n_a) and np.all(n_b)):
        mean = np.where(n_a == 0.0, b.mean, np.where(n_b == 0.0, a.mean, mean))
        m2 = np.where(n_a == 0.0, b.m2, np.where(n_b == 0.0, a.m2, m2))
    return count, Moments(mean, m2, np.minimum(a.minimum, b.minimum), np.maximum(a.maximum, b.maximum))


def _number(count: Array, like: Array) -> Any:
    """Return counts by node so that they go with the entries of a quantity: one number if all are equal."""
    if count.size and count.min() == count.max():
        return float(count.flat[0])
    return count.reshape(*count.shape, *(1,) * (like.ndim - count.ndim)).astype(float)


def merge(a: Partial, b: Partial) -> Partial:
    """Merge two neighbours, left and right, to their parent."""
    merged = {name: _merged(a.count, a.moments[name], b.count, b.moments[name]) for name in a.moments}
    count = next(iter(merged.values()))[0]
    return Partial(a.level + 1, a.index // 2, count, {name: moments for name, (_, moments) in merged.items()})


def fold(parts: Iterable[Partial]) -> Partial | None:
    """Merge the statistics of all chunks up the tree; None if there are none.

    Parameters
    ----------
    parts : in the order of members; where some are missing, the rest is merged as if those had no members

    Members of at most log2(members) levels are held at a time.
    """
    waiting: list[Partial] = []  # each is a left child, and what comes after it is under its right neighbour
    for part in parts:
        _close(waiting, part.index << part.level)
        waiting.append(part)
    _close(waiting, None)
    return waiting[0] if waiting else None


def _close(waiting: list[Partial], start: int | None) -> None:
    """Move the last one up while no member from ``start`` on is under its parent; merge it where neighbours meet."""
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
    """Turn what `fold` returned to what users read.

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
        n = np.broadcast_to(_number(count, moments.mean), shape)
        for kind in ("mean", "minimum", "maximum"):
            getattr(found, kind)[name] = np.where(n == 0, np.nan, getattr(moments, kind))
        found.variance[name] = np.where(n < 2, np.nan, moments.m2 / np.maximum(n - 1, 1))
    return found
