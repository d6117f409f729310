"""Check sums of rows: made as the rows are written, compared when they are first read."""

import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from leastaction.errors import FileError
from leastaction.files.columns import BLOCK, ROWS


def check_sum(values: np.ndarray, before: int = 0) -> int:
    """Return the CRC-32 of a contiguous array, continued from the sum ``before`` of earlier ones."""
    return zlib.crc32(values.data, before)


class Sums:
    """The running check sums of the rows after the last full block, one for each of ROWS."""

    def __init__(self) -> None:
        self.open = np.zeros(len(ROWS), dtype=np.uint32)

    def take(self, name: str, row: int, values: np.ndarray) -> Iterator[tuple[int, int]]:
        """Add the next complete rows, of which the first is ``row``; yield each block that they fill, and its sum."""
        column, first = ROWS.index(name), 0
        while first < len(values):
            last = min(len(values), first + BLOCK - (row + first) % BLOCK)
            total = check_sum(values[first:last], int(self.open[column]))
            if (row + last) % BLOCK == 0:
                yield (row + last) // BLOCK - 1, total
                total = 0
            self.open[column] = total
            first = last


def check(path: Path, name: str, values: np.ndarray, first: int, last: int, table: np.ndarray, rest: int) -> None:
    """Raise a FileError if the blocks with the rows from ``first`` to ``last`` are not as they were written.

    Parameters
    ----------
    values : all complete rows, of which those in question are read
    first, last : the rows in question, the last excluded
    table : (blocks,) sums of the full blocks
    rest : sum of the rows after them
    """
    good: list[list[int]] = []
    bad: list[list[int]] = []
    for start in range(first - first % BLOCK, last, BLOCK):
        rows = values[start : start + BLOCK]
        expected = table[start // BLOCK] if len(rows) == BLOCK else rest
        ranges = good if check_sum(rows) == expected else bad
        if ranges and ranges[-1][1] == start:
            ranges[-1][1] = start + len(rows)
        else:
            ranges.append([start, start + len(rows)])
    if bad:
        raise FileError(f"{_words(bad)} of {name} in {path}, or their check sums, are damaged; {_way_out(name, good)}")


def _words(ranges: list[list[int]], most: int = 3) -> str:
    """Name ranges of rows."""
    named = ", ".join(f"{start} to {end - 1}" for start, end in ranges[:most])
    more = f" and {len(ranges) - most} further ranges" if len(ranges) > most else ""
    return f"rows {named}{more}"


def _way_out(name: str, good: list[list[int]]) -> str:
    if not good:
        return "none of the rows asked for is intact: take a copy of the file, or make the run again"
    start, end = max(good, key=lambda rows: rows[1] - rows[0])
    return f"{_words(good)} are intact: la.open(path).read('{name}', {start}, {end}) reads them"
