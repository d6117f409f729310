"""Checkpoints: all that the next step reads, as records of fixed size, each with a check sum."""

import hashlib
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from leastaction.errors import FileError
from leastaction.files.container import Column, create, describe, places, read, written_aside
from leastaction.files.describe import integrator_from_dict, integrator_to_dict
from leastaction.kernels import layout
from leastaction.kernels.guess import PAST
from leastaction.kernels.record import EXTREMES
from leastaction.model import Model
from leastaction.model.unhonoured import DAMPING, settled
from leastaction.simulator import Simulator

NAME = "checkpoints"
MEANING = "state of the simulation: two that take turns as the latest, then one every checkpoint_every steps"


@cache
def layout_key() -> str:
    """Return what tells whether the kernels' memory means the same: a hash of all its addresses and sizes."""
    rows = sorted((name, value) for name, value in vars(layout).items() if name.isupper() and isinstance(value, int))
    rows += [("PAST", PAST), ("EXTREMES", EXTREMES)]
    return hashlib.sha256(repr(rows).encode()).hexdigest()[:16]


def record_type(content: Mapping[str, Any]) -> np.dtype:
    """Return the type of a record with this content."""
    return np.dtype([(name, np.asarray(value).dtype, np.shape(value)) for name, value in content.items()]
                    + [("check", np.uint32)])


def pack(content: Mapping[str, Any]) -> bytes:
    """Return the bytes of a record, its check sum last."""
    record = np.zeros((), record_type(content))
    for name, value in content.items():
        record[name] = value
    data = record.tobytes()[:-4]
    return data + np.uint32(zlib.crc32(data)).tobytes()


def valid(record: Any) -> bool:
    """Tell whether a record was written to its end; one that was never written was not."""
    data = record.tobytes()
    return any(data[-4:]) and zlib.crc32(data[:-4]) == int.from_bytes(data[-4:], "little")


def latest(path: Path) -> Any:
    """Return the latest complete record of a file."""
    found = [record for record in read(path, NAME)[:2] if valid(record)]
    if not found:
        raise FileError(f"{path} holds no complete checkpoint: it was damaged after it was written")
    return max(found, key=lambda record: int(record["steps"]))


def spare(path: Path) -> int:
    """Tell which of the two records is not the latest, and so may be written."""
    first, second = read(path, NAME)[:2]
    return int(valid(first) and not (valid(second) and second["steps"] > first["steps"]))


def before(path: Path, step: int, spacing: int) -> Any:
    """Return the last regular record not after a step, None if there is none."""
    records = read(path, NAME)
    for index in range(min(step // spacing, len(records) - 2), 0, -1):
        if valid(records[1 + index]) and records[1 + index]["steps"] == index * spacing:
            return records[1 + index]
    return None


def origin(sim: Simulator) -> dict[str, Any]:
    """Describe what a simulator simulates."""
    return {"model": sim.model.to_dict(), "integrator": integrator_to_dict(sim.integrator), "dt": sim.dt,
            "layout": layout_key()}


def restored(path: Path, description: Mapping[str, Any], model: Model, record: Any) -> Simulator:
    """Make the simulator of a record."""
    if "w" not in record.dtype.names:
        raise FileError(f"{path} holds a saved trajectory and nothing to go on from; only files written while a run "
                        "was made do: la.simulate(..., out=path)")
    if description["layout"] != layout_key():
        raise FileError(f"{path} was written by a version of leastaction with another layout of memory; its results "
                        "can be read, but only that version can go on with it")
    settled(model)  # when the run began, it was said what of the model does not act
    integrator = integrator_from_dict(description["integrator"])
    sim = Simulator(model, dt=description["dt"], integrator=integrator, ignore=DAMPING)
    sim._restore({name: record[name] for name in record.dtype.names})
    return sim


def save_checkpoint(sim: Simulator, path: Path) -> Path:
    """Write the state of a simulator to a file of its own, which takes the place of an older one at once."""
    data = pack(sim._snapshot())
    with written_aside(path, overwrite=True) as part:
        create(part, origin(sim), {}, {NAME: Column((1,), record_type(sim._snapshot()), MEANING)})
        with part.open("rb+") as file:
            file.seek(places(part)[NAME].offset)
            file.write(data)
    return path


def load_checkpoint(path: Path) -> Simulator:
    """Make the simulator of a checkpoint, or one at the last step that a run's file holds."""
    description, _ = describe(path)
    return restored(path, description, Model.from_dict(description["model"]), latest(path))
