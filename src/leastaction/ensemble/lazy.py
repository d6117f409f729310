"""Arrays (members, nodes, …) that stay in the chunks until they are indexed."""

from typing import Any

import numpy as np

from leastaction.ensemble.reader import Reader

Array = np.ndarray


class LazyArray:
    """An array (members, nodes, …) that stays in the chunks until it is indexed, as NumPy's are: ``array[:10, -1]``.

    ``np.asarray(array)`` reads all of it. Members may be given by a list or a mask too; nodes and entries by numbers,
    slices, or one list. Every number is read from the disk each time.
    """

    def __init__(self, reader: Reader, name: str) -> None:
        layout = reader.layout
        self._reader, self.name = reader, name
        self.shape = layout.members, len(layout.kept), *layout.entries(name)
        self.dtype = np.dtype(float)

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: int(np.prod(self.shape, dtype=object)))
    nbytes = property(lambda self: 8 * self.size)

    def __getattr__(self, name: str) -> Any:
        said = f"the array {self.__dict__.get('name')} is on the disk and has no '{name}'"
        if hasattr(np.ndarray, name):
            said += f": read it first, as in array[...].{name}, or the part of it that you need"
        raise AttributeError(said)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<LazyArray {self.name} {self.shape}, {self.nbytes / 1e6:.3g} MB; read it with [...] or np.asarray>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("the numbers are in files: an array of them is always a copy")
        return np.asarray(self[:], dtype=dtype)

    def __getitem__(self, key: Any) -> Any:
        members, *rest = self._full(key)
        if isinstance(members, int | np.integer) and not isinstance(members, bool):
            at = int(members) + len(self) * (members < 0)
            if not 0 <= at < len(self):
                raise IndexError(f"there is no member {members} of {len(self)}")
            return _others(self._rows(np.array([at])), rest)[0]
        return self._gather(self._chosen(members), rest)

    def _full(self, key: Any) -> list[Any]:
        """Return one index for each axis."""
        given = list(key) if isinstance(key, tuple) else [key]
        if any(one is None for one in given):
            raise IndexError("new axes cannot be made while reading: index first, then add them")
        dots = [at for at, one in enumerate(given) if one is Ellipsis]
        if len(dots) > 1 or len(given) - len(dots) > self.ndim:
            raise IndexError(f"{self.name} has {self.ndim} axes, and more were indexed")
        at = dots[0] if dots else len(given)
        full = [*given[:at], *[slice(None)] * (self.ndim - len(given) + len(dots)), *given[at + len(dots) :]]
        full = [one if isinstance(one, slice) or np.ndim(one) == 0 else np.asarray(one) for one in full]
        if sum(isinstance(one, np.ndarray) for one in full) > 1:
            raise IndexError("only one axis can be indexed by a list: index members first, array[members][:, nodes]")
        return full

    def _chosen(self, members: Any) -> Array:
        """Return the numbers of the members, (chosen,)."""
        if isinstance(members, slice):
            return np.arange(*members.indices(len(self)))
        if members.dtype == bool:
            if members.shape != (len(self),):
                raise IndexError(f"a mask of members must have the shape ({len(self)},), not {members.shape}")
            return np.flatnonzero(members)
        if members.ndim != 1 or (members.size and members.dtype.kind not in "iu"):
            raise IndexError("members are chosen by whole numbers, a slice, or a mask")
        chosen: Array = np.where(members < 0, members + len(self), members).astype(np.int64)
        if np.any((chosen < 0) | (chosen >= len(self))):
            raise IndexError(f"there is no member {members[(chosen < 0) | (chosen >= len(self))][0]} of {len(self)}")
        return chosen

    def _gather(self, chosen: Array, rest: list[Any]) -> Array:
        """Read members chunk by chunk."""
        shape = _others(np.broadcast_to(np.nan, (1, *self.shape[1:])), rest).shape
        out = np.empty((len(chosen), *shape[1:]))
        numbers = chosen // self._reader.layout.chunk
        order = np.argsort(numbers, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1) if len(order) else ():
            out[rows] = _others(self._rows(chosen[rows]), rest)
        return out

    def _rows(self, chosen: Array) -> Array:
        """Read members of one chunk, (chosen, nodes, …)."""
        number = int(chosen[0]) // self._reader.layout.chunk
        local = chosen - self._reader.layout.range(number)[0]
        lo, hi = int(local.min()), int(local.max()) + 1
        found = self._reader.read(number, self.name, rows=slice(lo, hi))
        if found is None:
            return np.full((len(chosen), *self.shape[1:]), np.nan)
        values = found[self.name]
        return values if np.array_equal(local, np.arange(lo, hi)) else values[local - lo]


def _others(part: Array, rest: list[Any]) -> Array:
    """Index each of the axes after the members by itself."""
    for axis in range(len(rest), 0, -1):
        part = part[(slice(None),) * axis + (rest[axis - 1],)]
    return part
