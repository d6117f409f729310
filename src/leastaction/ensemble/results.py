"""Results of an ensemble: what `open_ensemble` returns."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from leastaction.ensemble import export, virtual
from leastaction.ensemble.folder import Folder
from leastaction.ensemble.index import Summary
from leastaction.ensemble.lazy import LazyArray
from leastaction.ensemble.reader import Missing, Reader
from leastaction.ensemble.statistics import Statistics, finished, fold
from leastaction.errors import FileError
from leastaction.model import Model

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.axes import Axes

Array = np.ndarray


class Failure(NamedTuple):
    """A member that did not go to its end.

    member : its number
    reason : in words
    t : time of its last good state, s
    q, v : (nq,), (nv,) that state
    """

    member: int
    reason: str
    t: float
    q: Array
    v: Array


class EnsembleResults:
    """The results of an ensemble, which stay in their folder until they are used.

    Arrays of nodes, ``results.q``, are lazy: index them as NumPy's, or read all with ``np.asarray(results.q)``. The
    values of a member that failed are NaN after its last node.

    Attributes
    ----------
    path : of the folder
    model : the system that the members vary
    plan : what was computed, as plain data
    members : number of members
    chunk : members to a file
    dt : time step, s
    t : (nodes,) times of the kept nodes, s
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        layout = reader.layout
        self.path, self.plan = reader.folder.path, reader.stored.plan
        self.model: Model = layout.model
        self.members, self.chunk, self.dt, self.t = layout.members, layout.chunk, layout.dt, layout.t

    @property
    def q(self) -> LazyArray:
        """(members, nodes, nq) configurations, rad, m, unit quaternions."""
        return self._nodes("q")

    @property
    def v(self) -> LazyArray:
        """(members, nodes, nv) velocities, body axes for ball and free joints, rad/s, m/s."""
        return self._nodes("v")

    @property
    def p(self) -> LazyArray:
        """(members, nodes, nv) momenta conjugate to v, kg m²/s, kg m/s."""
        return self._nodes("p")

    @property
    def energy(self) -> LazyArray:
        """(members, nodes) total energy, J."""
        return self._nodes("energy")

    @property
    def momentum(self) -> LazyArray:
        """(members, nodes, 6) total momentum about the world's origin, angular then linear, world axes."""
        return self._nodes("momentum")

    @property
    def digest(self) -> str:
        """SHA-256 of the plan."""
        return self._reader.stored.digest

    @property
    def summaries(self) -> dict[int, Summary]:
        """The summary of each complete chunk, by its number."""
        return self._reader.survey[0]

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of the arrays of nodes, and of those that there are statistics of."""
        return self._reader.layout.quantities

    @property
    def keeps_nodes(self) -> bool:
        """Whether nodes of every member were kept; if not, there are statistics only."""
        return self._reader.layout.keep != "statistics"

    @property
    def missing(self) -> list[range]:
        """The members that are not there, or whose file is damaged, in ranges; empty if the ensemble is complete."""
        return self._reader.gaps

    @property
    def drawn(self) -> list[tuple[str, int | None]]:
        """Names of what was drawn, and how many numbers a member has of each, None for one that is no list."""
        return self._reader.drawn

    @cached_property
    def parameters(self) -> dict[str, Array]:
        """What was drawn for every member, by name: (members,), or (members, size)."""
        return self._reader.parameters()

    @cached_property
    def steps(self) -> Array:
        """(members,) steps that each member made; −1 where a member is missing and that is allowed."""
        return self._reader.column("steps", np.int64, -1)

    @cached_property
    def failures(self) -> list[Failure]:
        """The members that failed, of those that are there."""
        found: list[Failure] = []
        for number, summary in sorted(self.summaries.items()):
            if summary.failed and (one := self._reader.failures(number)):
                reasons = [text.decode(errors="replace") for text in one["reason"].tolist()]
                found += map(Failure, one["member"].tolist(), reasons, one["t"].tolist(), one["q"], one["v"])
        return found

    @cached_property
    def warned(self) -> Array:
        """(…,) numbers of the members whose energy was judged untrustworthy, of those that are there."""
        found = [np.arange(0)]
        for number, summary in sorted(self.summaries.items()):
            arrays = self._reader.read(number, "warned") if summary.warned else None
            if arrays is not None:
                found.append(summary.first + np.flatnonzero(arrays["warned"]))
        return np.concatenate(found)

    @cached_property
    def statistics(self) -> Statistics:
        """Count, mean, variance and extremes over the members at every recorded node, whichever nodes were kept.

        Their bits do not depend on how the members were divided into chunks, nor on what computed them.
        """
        layout = self._reader.layout
        total = fold(part for number in range(layout.chunks) for part in self._reader.statistics(number))
        return finished(total, layout.recorded, {name: layout.nodes(name) for name in layout.quantities})

    def verify(self) -> None:
        """Read everything and compare the check sums; a FileError names what is missing or damaged."""
        if self.missing:
            raise FileError(self._reader.complaint())
        for number in range(self._reader.layout.chunks):
            self._reader.read(number)

    def hdf5_file(self) -> Path:
        """Write ensemble.h5, one HDF5 file over all chunks for other programs, and return its path; see docs/files.md.

        `Ensemble.run` writes it at its end. Members that are missing are NaN there, and ``missing`` in it lists them.
        """
        tolerant = self if self._reader.missing == "nan" else open_ensemble(self.path, "nan")
        return virtual.write_virtual(tolerant)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a table by member: what was drawn, the steps that it made, why it failed ("" if not)."""
        return export.to_pandas(self)

    def to_xarray(self) -> xarray.Dataset:
        """Return a Dataset over member and t, with named joints and units; read lazily if dask is installed."""
        return export.to_xarray(self)

    def plot_fan(self, what: str = "energy", ax: Axes | None = None, examples: int = 3) -> Axes:
        """Draw how a quantity spreads over the members; see `leastaction.plots.fan`.

        Parameters
        ----------
        what : "energy", the name of a joint's body for its coordinate, or "v:name" for its velocity
        ax : where to draw; a new figure by default
        examples : how many single members to draw as thin lines
        """
        from leastaction import plots

        return plots.fan(self, what, ax, examples)

    def __len__(self) -> int:
        return self.members

    def __repr__(self) -> str:
        whole, faults = self._reader.survey
        gone = sum(map(len, self.missing))
        failed = sum(summary.failed for summary in whole.values())
        kept = f"{len(self.t)} kept node{'s' * (len(self.t) > 1)}" if self.keeps_nodes else "statistics only"
        notes = [f"{self.members} members", kept]
        notes += [f"{failed} failed"] if failed else []
        notes += [f"{gone} MISSING"] if gone else []
        notes += [f"{len(faults)} damaged files"] if faults else []
        return f"<EnsembleResults of '{self.model.name}': {', '.join(notes)}>"

    def _nodes(self, name: str) -> LazyArray:
        if name not in self.quantities:
            raise AttributeError(f"{name} was not kept: this ensemble has {', '.join(self.quantities)}; name it in "
                                 "quantities= of another one")
        if not self.keeps_nodes:
            raise AttributeError(f"{name} of single members was not kept (keep='statistics'): see .statistics")
        return LazyArray(self._reader, name)


def open_ensemble(folder: str | Path, missing: Missing = "error") -> EnsembleResults:
    """Open the results of an ensemble; only its plan is read at once, everything else when it is used.

    Parameters
    ----------
    folder : what `Ensemble.run` wrote to; it may still be growing: open it again to see more
    missing : "error" to refuse to read members that are not there, "nan" to read NaN for them and to make the
        statistics of the others

    Raises
    ------
    FileError
        If the folder is not one of an ensemble; later, when something is read that is missing or damaged.
    """
    path = Path(folder)
    if path.is_file():
        raise FileError(f"{path} is a file, and an ensemble is in a folder; la.open reads the file of a run")
    return EnsembleResults(Reader(Folder(path), missing))
