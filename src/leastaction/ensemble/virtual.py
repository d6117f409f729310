"""One HDF5 file over all chunks for other programs: its arrays are virtual, with relative names in the same folder.

leastaction never reads this file. It has dimension scales, so that xarray and netCDF tools know the axes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leastaction._version import __version__
from leastaction.ensemble.export import ENTRIES, axes, meanings, parameter_labels
from leastaction.ensemble.folder import FORMAT, Folder
from leastaction.ensemble.index import REASON
from leastaction.files.container import need_h5py

if TYPE_CHECKING:
    from leastaction.ensemble.results import EnsembleResults

Array = np.ndarray
NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable."


def write_virtual(results: EnsembleResults) -> Path:
    """Write ensemble.h5 into the folder of an ensemble, over the chunks that are there, and return its path.

    Parameters
    ----------
    results : opened with missing="nan" if there are chunks missing
    """
    h5py = need_h5py()
    with h5py.File(f"ensemble {id(results)}", "w", driver="core", backing_store=False,
                   libver=("v110", "v110")) as file:
        _fill(file, results)
        file.flush()
        image = file.id.get_file_image()
    folder = Folder(results.path)
    with folder.aside(folder.virtual) as part:
        part.write_bytes(image)
    return folder.virtual


def _fill(file: Any, results: EnsembleResults) -> None:
    gaps, members = results.missing, results.members
    drawn = parameter_labels(results.drawn)
    file.attrs.update({"leastaction": __version__, "format": FORMAT, "members": members,
                       "members_missing": sum(map(len, gaps)), "digest": results.digest})
    scale = _Scales(file)
    scale("member", np.empty(0), members)
    for name, values in (axes(results) | {"t_recorded": results.statistics.t, "parameter": drawn}).items():
        scale(name, values)
    meaning = meanings(results)
    chunks = sorted(results.summaries.items())
    rows = [(number, slice(summary.first, summary.first + summary.count)) for number, summary in chunks]
    if results.keeps_nodes:
        for name in results.quantities:
            lazy = getattr(results, name)
            _virtual(file, name, lazy.shape, "<f8", rows, np.nan)
            scale.attach(name, meaning[name] + "; NaN after a failure, and of members that are missing", "member", "t",
                         *ENTRIES[name])
    _virtual(file, "parameters", (members, len(drawn)), "<f8", rows, np.nan)
    scale.attach("parameters", "what was drawn", "member", "parameter")
    _virtual(file, "steps", (members,), "<i8", rows, -1)
    scale.attach("steps", "steps that each member made; -1 of members that are missing", "member")
    _virtual(file, "warned", (members,), "|u1", rows, 0)
    scale.attach("warned", "1 where the energy of a member was judged untrustworthy", "member")
    _failures(file, results, scale)
    scale("gap", np.empty(0), len(gaps))
    scale("bound", np.empty(0), 2)
    file["missing"] = np.array([(gap.start, gap.stop) for gap in gaps], dtype=np.int64).reshape(-1, 2)
    scale.attach("missing", "members that are missing: the first, and the first after them", "gap", "bound")
    _statistics(file, results, scale, meaning)


def _failures(file: Any, results: EnsembleResults, scale: _Scales) -> None:
    """Join the members that failed, which are a different number in every chunk."""
    h5py, model = need_h5py(), results.model
    rows, last = [], 0
    for number, summary in sorted(results.summaries.items()):
        if summary.failed:
            rows.append((number, slice(last, last + summary.failed)))
            last += summary.failed
    scale("failure", np.empty(0), last)
    text = h5py.string_dtype("utf-8", REASON)
    for name, size, dtype, meaning in (
            ("member", (), "<i8", "number of a member that failed"), ("t", (), "<f8", "time of its last good state, s"),
            ("q", (model.nq,), "<f8", "configuration of that state, rad, m, unit quaternions"),
            ("v", (model.nv,), "<f8", "velocity of that state, rad/s, m/s"), ("reason", (), text, "why it failed")):
        _virtual(file, f"failures_{name}", (last, *size), dtype, rows, None)
        scale.attach(f"failures_{name}", meaning, "failure", *ENTRIES.get(name, ()))


def _statistics(file: Any, results: EnsembleResults, scale: _Scales, meaning: dict[str, str]) -> None:
    """Write the statistics of the members that are there: these are numbers of this file itself."""
    statistics = results.statistics
    file["count"] = statistics.count
    scale.attach("count", "members that made the node", "t_recorded")
    for name in results.quantities:
        for kind in ("mean", "variance", "minimum", "maximum"):
            file[f"{name}_{kind}"] = getattr(statistics, kind)[name]
            scale.attach(f"{name}_{kind}", f"{kind} over members: {meaning[name]}", "t_recorded", *ENTRIES[name])


def _virtual(file: Any, name: str, shape: tuple[int, ...], dtype: Any, rows: list[tuple[int, slice]], fill: Any
             ) -> None:
    """Make an array of the rows of all chunks, each of which has an array of the same name with all of its own."""
    h5py = need_h5py()
    if not rows or 0 in shape:
        file.create_dataset(name, shape, dtype, fillvalue=fill)
        return
    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if fill is not None:
        plan.set_fill_value(np.array(fill, dtype))
    folder = Folder(".")
    for number, place in rows:
        count = place.stop - place.start
        space = h5py.h5s.create_simple(shape)
        space.select_hyperslab((place.start, *(0,) * (len(shape) - 1)), (count, *shape[1:]))
        source = h5py.h5s.create_simple((count, *shape[1:]))
        plan.set_virtual(space, folder.chunk(number).as_posix().encode(), name.encode(), source)
    kind = h5py.h5t.py_create(np.dtype(dtype), logical=True)
    h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create_simple(shape), plan)


class _Scales:
    """The axes of a file by name."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def __call__(self, name: str, values: Any, size: int | None = None) -> None:
        """Make an axis: of numbers, of names, or of a size alone."""
        h5py = need_h5py()
        if size is not None:
            made = self.file.create_dataset(name, (size,), "<f4")
            made.make_scale(f"{NO_VARIABLE}{size:10d}")
            return
        if isinstance(values, list):
            made = self.file.create_dataset(name, data=np.array(values, dtype=object), dtype=h5py.string_dtype())
        else:
            made = self.file.create_dataset(name, data=values)
            made.attrs["units"] = "s"
        made.make_scale(name)

    def attach(self, name: str, meaning: str, *along: str) -> None:
        """Say what an array holds, and what its axes are."""
        array = self.file[name]
        array.attrs["meaning"] = meaning
        for axis, one in enumerate(along):
            array.dims[axis].attach_scale(self.file[one])
