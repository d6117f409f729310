"""The HDF5 file of a chunk, with an index of its arrays; the same data always give the same bytes."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from leastaction.ensemble.folder import Folder, Stored
from leastaction.ensemble.index import PAGE, REASON, Index, Summary, opened, read_array, read_index, title
from leastaction.ensemble.statistics import Moments, Partial
from leastaction.errors import FileError
from leastaction.files.container import need_h5py
from leastaction.files.reading import plain_faults
from leastaction.files.sums import check_sum

Array = np.ndarray
NUMBER = re.compile(r"(?<![\w'.])[-+]?(\d+(\.\d*)?(e[-+]?\d+)?|nan|inf)(?![\w'])")
COMMONEST = 5  # reasons of failures that a summary names


class ChunkData(NamedTuple):
    """What a chunk holds; all arrays have its members first.

    first : number of its first member
    parameters : drawn values by name, (members,) or (members, size)
    nodes : kept nodes by quantity: q (members, kept, nq), energy (members, kept) and so on; NaN after a failure
    steps : (members,) steps that each member made
    warned : (members,) whether its energy was judged untrustworthy
    reasons : (members) "" for a member that went to its end, else why it did not
    failed_t, last_q, last_v : (members,), (members, nq), (members, nv) time and last good state of members that failed;
        those of the others are not stored, and read as NaN
    statistics : of the members at the recorded nodes
    """

    first: int
    parameters: dict[str, Array]
    nodes: dict[str, Array]
    steps: Array
    warned: Array
    reasons: list[str]
    failed_t: Array
    last_q: Array
    last_v: Array
    statistics: list[Partial]


def write_chunk(folder: Folder, number: int, data: ChunkData, fingerprint: str, digest: str) -> Summary:
    """Write the file of a chunk, and put it in its place once it is on the disk.

    Parameters
    ----------
    fingerprint : of the versions and the processor that decide the bits
    digest : of the plan
    """
    h5py = need_h5py()
    data = data._replace(reasons=[reason.encode()[:REASON].decode(errors="ignore") for reason in data.reasons])
    arrays, reasons = _arrays(data), Counter(map(_kind, filter(None, data.reasons)))
    parameters = [(name, None if values.ndim == 1 else values.shape[1]) for name, values in data.parameters.items()]
    index = Index(number, data.first, len(data.steps), digest, fingerprint, 0, reasons.total(), int(data.warned.sum()),
                  sorted(reasons.items(), key=lambda item: (-item[1], item[0]))[:COMMONEST], parameters,
                  {name: (values.dtype.str, list(values.shape), 2**48, 2**32) for name, values in arrays.items()})
    room = PAGE
    while room < len(title(replace(index, size=2**48))):
        room *= 2
    # Made in memory, so that only one plain write meets a full disk. From 1.8 on, HDF5 adds its own check sums.
    with h5py.File(f"chunk {number} {os.getpid()}", "w", driver="core", backing_store=False, userblock_size=room,
                   libver=("v108", "v108"), alignment_threshold=1, alignment_interval=64) as file:
        for name, values in arrays.items():
            text = h5py.string_dtype("utf-8", REASON)
            file.create_dataset(name, data=values.view(text) if values.dtype.kind == "S" else values)
        file.flush()
        places = {name: (file[name].id.get_offset() or 0) if values.size else 0 for name, values in arrays.items()}
        image = file.id.get_file_image()  # without the room before it, which the places count
    index = replace(index, size=room + len(image), arrays={
        name: (values.dtype.str, list(values.shape), places[name], check_sum(values) if values.size else 0)
        for name, values in arrays.items()})
    with folder.aside(folder.chunk(number)) as part, part.open("wb") as to:
        to.write(title(index).ljust(room, b"\0"))
        to.write(image)
    return index.summary()


def _kind(reason: str) -> str:
    """Remove from a reason the numbers that differ between members which fail alike, but not those in names."""
    return NUMBER.sub("…", reason)


def check_chunk(folder: Folder, number: int, stored: Stored, deep: bool = False) -> Summary:
    """Return the index of a chunk's file if the file is whole; else a FileError says what is wrong with it.

    Parameters
    ----------
    stored : what plan.json holds, to which the chunk must belong
    deep : whether to read all of it and compare the check sums of its arrays, too
    """
    path = folder.chunk(number)
    with opened(path) as file, plain_faults(path):
        index = read_index(file, path, number, stored)
        if deep:
            for name in index.arrays:
                read_array(file, path, index, name)
        return index.summary()


def survey(folder: Folder, stored: Stored) -> tuple[dict[int, Summary], dict[int, str]]:
    """Return the chunks that are there and whole, and what is wrong with the others that have a file, by number."""
    whole, faults = {}, {}
    for number in folder.numbers():
        try:
            whole[number] = check_chunk(folder, number, stored)
        except FileError as error:
            faults[number] = str(error)
    return whole, faults


def divided(parameters: Iterable[tuple[str, int | None]], table: Array) -> dict[str, Array]:
    """Divide the table of parameters, (members, columns), by name."""
    found, start = {}, 0
    for name, size in parameters:
        width = 1 if size is None else size
        found[name] = table[:, start] if size is None else table[:, start : start + width]
        start += width
    return found


def partials_of(arrays: Mapping[str, Array]) -> list[Partial]:
    """Put together the statistics of a chunk from its arrays."""
    names = [name.removeprefix("statistics_mean_") for name in arrays if name.startswith("statistics_mean_")]
    moments = {name: [arrays[f"statistics_{kind}_{name}"] for kind in Moments._fields] for name in names}
    return [Partial(int(level), int(at), arrays["statistics_count"][row],
                    {name: Moments(*(values[row] for values in found)) for name, found in moments.items()})
            for row, (level, at) in enumerate(zip(arrays["statistics_level"], arrays["statistics_index"], strict=True))]


def _arrays(data: ChunkData) -> dict[str, Array]:
    """Lay out a chunk as arrays of the kinds that files hold."""
    count = len(data.steps)
    failed = np.flatnonzero([bool(reason) for reason in data.reasons])
    columns = [np.asarray(values, dtype=float).reshape(count, -1) for values in data.parameters.values()]
    found: dict[str, Any] = {
        **{name: np.asarray(values, dtype="<f8") for name, values in data.nodes.items()},
        "parameters": np.concatenate([np.empty((count, 0)), *columns], axis=1),
        "steps": np.asarray(data.steps, dtype="<i8"),
        "warned": np.asarray(data.warned, dtype="|u1"),
        "failures_member": data.first + failed.astype("<i8"),
        "failures_t": np.asarray(data.failed_t, dtype="<f8")[failed],
        "failures_q": np.asarray(data.last_q, dtype="<f8")[failed],
        "failures_v": np.asarray(data.last_v, dtype="<f8")[failed],
        "failures_reason": np.array([data.reasons[b].encode() for b in failed], dtype=f"|S{REASON}"),
        "statistics_level": np.array([part.level for part in data.statistics], dtype="<i8"),
        "statistics_index": np.array([part.index for part in data.statistics], dtype="<i8"),
        "statistics_count": np.array([part.count for part in data.statistics], dtype="<i8"),
    }
    for name in data.statistics[0].moments if data.statistics else ():
        for kind in Moments._fields:
            found[f"statistics_{kind}_{name}"] = np.array(
                [getattr(part.moments[name], kind) for part in data.statistics], dtype="<f8")
    return {name: np.ascontiguousarray(values) for name, values in found.items()}
