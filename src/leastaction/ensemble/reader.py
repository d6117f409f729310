"""Arrays over all members, read chunk by chunk when they are used; the first reading compares check sums."""

from functools import cached_property
from typing import Any, Literal

import numpy as np

from leastaction.ensemble.chunk_file import divided, partials_of, survey
from leastaction.ensemble.folder import Folder
from leastaction.ensemble.index import REASON, REMAKE, Index, Summary, opened, read_array, read_index
from leastaction.ensemble.layout import Layout
from leastaction.ensemble.statistics import Partial, subtrees
from leastaction.errors import FileError
from leastaction.files.reading import plain_faults

Array = np.ndarray
Missing = Literal["error", "nan"]
MOST_RANGES = 3  # ranges that a message names


class Reader:
    """Reads the chunks of a folder.

    Attributes
    ----------
    folder : where they are
    stored : what plan.json holds
    layout : the sizes that it asks for
    missing : "error", or "nan" to read NaN for members whose chunk is missing
    """

    def __init__(self, folder: Folder, missing: Missing) -> None:
        if missing not in ("error", "nan"):
            raise ValueError(f"missing must be 'error' or 'nan', not {missing!r}")
        self.folder, self.missing, self.stored = folder, missing, folder.read_plan()
        with plain_faults(folder.plan):
            self.layout = Layout.of(self.stored.plan, self.stored.chunk)
        self._drawn: list[Any] | None = None  # names and sizes of parameters, the same in all chunks
        self._checked: set[tuple[int, str, int]] = set()  # chunk, array and check sum

    @cached_property
    def survey(self) -> tuple[dict[int, Summary], dict[int, str]]:
        """The chunks that are there and whole, and what is wrong with the others that have a file, by number."""
        return survey(self.folder, self.stored)

    @cached_property
    def gaps(self) -> list[range]:
        """The members whose chunk is missing, in ranges."""
        found, first = [], 0
        for number in sorted(self.survey[0]):
            start, count = self.layout.range(number)
            if start > first:
                found.append(range(first, start))
            first = start + count
        if first < self.layout.members:
            found.append(range(first, self.layout.members))
        return found

    def read(self, number: int, *names: str, rows: slice | None = None) -> dict[str, Array] | None:
        """Read arrays of a chunk, all rows or some; None if the chunk is missing and that is allowed.

        A name that ends with an underscore stands for all names that begin with it; without names, all are read.
        """
        path = self.folder.chunk(number)
        if not path.exists():
            if self.missing == "nan":
                return None
            raise FileError(self.complaint())
        with opened(path) as file, plain_faults(path):
            try:
                index = read_index(file, path, number, self.stored)
                self._check_shapes(index)
            except FileError:
                if self.missing == "nan":
                    return None
                raise
            found = {}
            for name in (one for given in names or ("",) for one in _matching(index, given)):
                key = number, name, index.arrays[name][3] if name in index.arrays else 0
                if rows is None or key not in self._checked:
                    values = read_array(file, path, index, name)
                    self._checked.add(key)
                    found[name] = values if rows is None else values[rows]
                else:
                    found[name] = read_array(file, path, index, name, rows)
            return found

    def statistics(self, number: int) -> list[Partial]:
        """Read the statistics of a chunk; none if it is missing and that is allowed."""
        found = self.read(number, "statistics_")
        if found is None:
            return []
        places = zip(found["statistics_level"].tolist(), found["statistics_index"].tolist(), strict=True)
        if list(places) != subtrees(*self.layout.range(number)):
            raise FileError(f"the statistics in {self.folder.chunk(number)} are not of its members: {REMAKE}")
        return partials_of(found)

    def failures(self, number: int) -> dict[str, Array]:
        """Read member, t, q, v and reason of the members of a chunk that failed, each in ascending order of members."""
        found = self.read(number, "failures_")
        if found is None:
            return {}
        first, count = self.layout.range(number)
        members = found["failures_member"]
        if np.any(np.diff(members, prepend=first - 1, append=first + count) <= 0):
            raise FileError(f"the failures in {self.folder.chunk(number)} are not of its members: {REMAKE}")
        return {name.removeprefix("failures_"): values for name, values in found.items()}

    @cached_property
    def drawn(self) -> list[tuple[str, int | None]]:
        """Names of what was drawn, and how many numbers each has, None for one that is no list; none without chunks."""
        for number in self.survey[0]:
            self.read(number, "steps")
            break
        return [(name, size) for name, size in self._drawn or ()]

    def parameters(self) -> dict[str, Array]:
        """Read what was drawn, by name: (members,) or (members, size)."""
        return divided(self.drawn, self.column("parameters", float, np.nan, _width(self.drawn)))

    def column(self, name: str, dtype: Any, fill: Any, *width: int) -> Array:
        """Read one number of every member, or several: (members,) or (members, width)."""
        values = np.full((self.layout.members, *width), fill, dtype)
        for number in range(self.layout.chunks):
            found = self.read(number, name)
            if found is not None:
                first, count = self.layout.range(number)
                values[first : first + count] = found[name]
        return values

    def complaint(self) -> str:
        """Say which members are missing, and what to do."""
        gaps, (whole, faults) = self.gaps, self.survey
        if not gaps:
            return f"a chunk of {self.folder.path} was removed while it was read: open the ensemble again"
        named = ", ".join(f"{gap.start} to {gap.stop - 1}" for gap in gaps[:MOST_RANGES])
        more = f" and {len(gaps) - MOST_RANGES} further ranges" if len(gaps) > MOST_RANGES else ""
        bad = f"; {next(iter(faults.values()))}" if faults else ""
        return (f"members {named}{more} are missing in {self.folder.path}, which has {len(whole)} of "
                f"{self.layout.chunks} chunks: run the ensemble again, which makes only what is missing, or read NaN "
                f"for them with open_ensemble(folder, missing='nan'){bad}")

    def _check_shapes(self, index: Index) -> None:
        """Compare the arrays that a chunk has with those that the plan asks for."""
        layout, count, failed = self.layout, index.count, index.failed
        parts = index.arrays["statistics_level"][1][0]
        expected: dict[str, tuple[str, list[int]]] = {
            "parameters": ("<f8", [count, _width(index.parameters)]),
            "steps": ("<i8", [count]), "warned": ("|u1", [count]), "failures_member": ("<i8", [failed]),
            "failures_reason": (f"|S{REASON}", [failed]),
            "failures_t": ("<f8", [failed]), "failures_q": ("<f8", [failed, layout.model.nq]),
            "failures_v": ("<f8", [failed, layout.model.nv]), "statistics_index": ("<i8", [parts]),
            "statistics_count": ("<i8", [parts, len(layout.recorded)]),
        }
        for name in layout.quantities:
            if layout.keep != "statistics":
                expected[name] = "<f8", [count, len(layout.kept), *layout.entries(name)]
            for kind in ("mean", "m2", "minimum", "maximum"):
                expected[f"statistics_{kind}_{name}"] = "<f8", [parts, *layout.nodes(name)]
        self._drawn = index.parameters if self._drawn is None else self._drawn
        if index.parameters != self._drawn:
            raise FileError(f"{self.folder.chunk(index.number)} has other parameters than other chunks: {REMAKE}")
        for name, wanted in expected.items():
            if (*index.arrays.get(name, ())[:2],) != wanted:
                raise FileError(f"{self.folder.chunk(index.number)} has '{name}' in another shape than the plan asks "
                                f"for, or has it not: {REMAKE}")


def _matching(index: Index, name: str) -> list[str]:
    return [one for one in index.arrays if one.startswith(name)] if name[-1:] in ("_", "") else [name]


def _width(parameters: Any) -> int:
    """Count the columns of the table of parameters."""
    return sum(1 if size is None else size for _, size in parameters)
