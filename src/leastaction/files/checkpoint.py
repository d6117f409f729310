"""Checkpoints: all that the next step reads, as records of fixed size, each with a check sum."""

import hashlib
import time
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from leastaction.errors import FileError, warn_user
from leastaction.files import environment
from leastaction.files.columns import CHECKPOINTS, Column
from leastaction.files.container import create, written_aside
from leastaction.files.contents import MEANING, Contents, contents, record_type, type_to_list
from leastaction.files.describe import integrator_to_dict
from leastaction.files.reading import places, plain_faults
from leastaction.integrators import Status
from leastaction.kernels import layout
from leastaction.kernels.constraints.step import EVENTS
from leastaction.kernels.guess import PAST
from leastaction.kernels.record import EXTREMES, LOOK
from leastaction.model.unhonoured import settled
from leastaction.simulation.simulator import Simulator

TRIES, PAUSE = 3, 0.02  # attempts to read a file that another process may be writing, and the seconds between them


@cache
def layout_key() -> str:
    """Return a hash of all addresses and sizes of the kernels' memory: a checkpoint fits only the same layout."""
    rows = sorted((name, value) for name, value in vars(layout).items() if name.isupper() and isinstance(value, int))
    rows += [("PAST", PAST), ("EXTREMES", EXTREMES), ("EVENTS", EVENTS)]
    return hashlib.sha256(repr(rows).encode()).hexdigest()[:16]


def pack(content: Mapping[str, Any]) -> bytes:
    """Return the bytes of a record, its check sum last."""
    record = np.zeros((), record_type(content))
    for name, value in content.items():
        record[name] = value
    data = record.tobytes()[:-4]
    return data + np.uint32(zlib.crc32(data)).tobytes()


def valid(record: Any) -> bool:
    """Tell whether the check sum of a record is right; a record that was never or not fully written is not valid."""
    data = record.tobytes()
    return any(data[-4:]) and zlib.crc32(data[:-4]) == int.from_bytes(data[-4:], "little")


def read_record(source: Contents, index: int) -> Any:
    """Read one record, None if it is not valid."""
    place = source.places[CHECKPOINTS]
    with plain_faults(source.path), source.path.open("rb") as file:
        file.seek(place.offset + index * source.record.itemsize)
        record = np.frombuffer(file.read(source.record.itemsize), source.record)[0]
    return record if valid(record) else None


def commits(source: Contents) -> int:
    """Read the number of the latest commit."""
    with plain_faults(source.path), source.path.open("rb") as file:
        file.seek(source.places["commits"].offset)
        return int.from_bytes(file.read(8), "little", signed=True)


def latest(source: Contents, older: bool = False) -> Any:
    """Return the latest record of a file.

    A process that is killed may leave one of the two records half written; then the other is the latest commit. If the
    commit that the file counts is missing, a record was damaged later, and that is an error.

    Parameters
    ----------
    older : whether to take the commit before, if the latest is damaged
    """
    for attempt in range(TRIES):
        if attempt:
            time.sleep(PAUSE)  # the file may be written just now
        promised = commits(source) if source.is_run else 0  # before the records, since a writer counts after them
        found = [record for k in range(2 if source.is_run else 1) if (record := read_record(source, k)) is not None]
        newest = max(found, key=lambda record: int(record["commit"]), default=None)
        if newest is not None and newest["commit"] >= promised:
            break
    if newest is None:
        raise FileError(f"{source.path} holds no complete checkpoint: it was damaged after it was written. Take a copy "
                        "of the file, or make the run again; other HDF5 programs can read the arrays")
    if source.is_run:
        _check_counts(source, newest)
    if newest["commit"] < promised:
        text = (f"the latest checkpoint of {source.path}, or the count of its commits, is damaged; the one before it, "
                f"after {newest['steps']} of {source.description['steps']} steps, is intact")
        if not older:
            raise FileError(f"{text}: la.open(path, older=True) reads the run up to there, and la.resume(path) makes "
                            "the rest again")
        warn_user(text)
    return newest


def _check_counts(source: Contents, record: Any) -> None:
    """Compare the counts of a record with the description."""
    steps, planned = int(record["steps"]), source.description["steps"]
    if not (0 <= steps <= planned and 1 <= record["looked"] <= steps // LOOK + 1):
        raise FileError(f"the checkpoint of {source.path} is after {steps} steps, and the run has {planned}: the file "
                        "is damaged or not one that leastaction wrote")
    status, body = int(record["failed_status"]), int(record["failed_body"])
    if status not in set(Status) or (status and not -1 <= body < source.model.nb):
        raise FileError(f"the checkpoint of {source.path} tells of a failure that cannot be: the file is damaged or "
                        "not one that leastaction wrote")


def spare(source: Contents, last: Any) -> int:
    """Tell which of the two records is not the latest, and so may be written."""
    first = read_record(source, 0)
    return int(first is not None and last is not None and first["commit"] == last["commit"])


def before(source: Contents, step: int) -> Any:
    """Return the last regular record not after a step, None if there is none; damaged ones are skipped."""
    spacing = source.description["checkpoint_every"]
    for index in range(min(step // spacing, source.places[CHECKPOINTS].shape[0] - 2), 0, -1):
        record = read_record(source, 1 + index)
        if record is not None and record["steps"] == index * spacing:
            return record
    return None


def origin(sim: Simulator, record: np.dtype) -> dict[str, Any]:
    """Describe what a simulator simulates, and the records of its state."""
    return {"model": sim.model.to_dict(), "integrator": integrator_to_dict(sim.integrator), "dt": sim.dt,
            "layout": layout_key(), "made_by": environment.here(), "record": type_to_list(record)}


def restored(source: Contents, record: Any) -> Simulator:
    """Make the simulator of a record."""
    path = source.path
    if "w" not in (source.record.names or ()):
        raise FileError(f"{path} holds a saved trajectory and nothing to go on from; only files written while a run "
                        "was made do: la.simulate(..., out=path)")
    if source.description["layout"] != layout_key():
        raise FileError(f"{path} was written by a version of leastaction with another layout of memory; its results "
                        "can be read, but only that version can go on with it")
    settled(source.model)  # the start of the run has warned of what does not act
    with plain_faults(path):
        model = source.model
        for name, size in (("q", model.nq), ("v", model.nv), ("p", model.nv)):
            if record.dtype[name] != np.dtype((float, (size,))):
                raise ValueError(f"its checkpoints do not fit its model: '{name}' has {record.dtype[name]}")
            if not np.isfinite(record[name]).all():
                raise ValueError(f"{name} of its checkpoint is not finite")
        # At its own state: that of the model may be one in which loops are open
        sim = Simulator._at(model, source.description["dt"], source.integrator, record["q"], record["v"])
        expected = record_type(sim._engine.snapshot())
        for name in sim._engine.snapshot():
            if record.dtype[name] != expected[name]:
                raise ValueError(f"its checkpoints do not fit its model: '{name}' has {record.dtype[name]}")
        if not 0 <= record["known"] <= PAST or record["parts"] < 1 or record["steps"] < 0:
            raise ValueError("the counts of its checkpoint cannot be")
        sim._engine.restore({name: record[name] for name in record.dtype.names})
    return sim


def save_checkpoint(sim: Simulator, path: Path) -> Path:
    """Write the state of a simulator to a file; once complete, it replaces an older file of that name."""
    content = {**sim._engine.snapshot(), "commit": 1}
    kind = record_type(content)
    with written_aside(path, overwrite=True) as part:
        create(part, origin(sim, kind), {}, {CHECKPOINTS: Column((1,), kind, MEANING)})
        with part.open("rb+") as file:
            file.seek(places(part)[CHECKPOINTS].offset)
            file.write(pack(content))
    return path


def load_checkpoint(path: Path) -> Simulator:
    """Make the simulator of a checkpoint, or one at the last step that a run's file holds."""
    source = contents(path)
    sim = restored(source, latest(source))
    differs = environment.differences(source.description["made_by"])
    if differs:
        warn_user(f"{path} was written elsewhere: {differs}. The simulation goes on to within round-off, not bit for "
                  "bit")
    return sim
