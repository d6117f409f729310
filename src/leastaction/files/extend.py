"""Room for more steps in the file of a run."""

from pathlib import Path
from typing import Any

import numpy as np

from leastaction.errors import FileError
from leastaction.files import checkpoint
from leastaction.files.container import Column, create, places, read, written_aside
from leastaction.files.stored import StoredTrajectory
from leastaction.files.writer import columns, lock

HELD = {"control": 1, "wrench": 2}  # dimensions of forces that do not change from step to step
BLOCK = 64_000_000  # bytes copied at a time


def extend(path: Path, traj: StoredTrajectory, steps: int) -> None:
    """Copy a run to a file with room for so many steps in all, which takes the place of the old one when complete."""
    description: dict[str, Any] = traj.description
    given = {name: read(path, name) for name in HELD if description[name] == "array"}
    if any(values.ndim > HELD[name] for name, values in given.items()):
        raise ValueError(f"the run in {path} was given forces for {traj.planned} steps, so it cannot be extended")
    states = read(path, checkpoint.NAME)
    if "w" not in (states.dtype.names or ()):
        raise FileError(f"{path} holds a saved trajectory and nothing to go on from")
    room = columns(traj.model, steps, traj.record_every)
    rows = {name: getattr(traj, name) for name, column in room.items() if column.shape}
    rows |= {"committed": np.array(len(traj)), checkpoint.NAME: states}
    count = 2 + steps // description["checkpoint_every"]
    with path.open("rb+") as old, written_aside(path, overwrite=True) as part:
        lock(old, path)
        create(part, {**description, "steps": steps}, given,
               {**room, checkpoint.NAME: Column((count,), states.dtype, checkpoint.MEANING)})
        with part.open("rb+") as file:
            for name, place in places(part).items():
                if name not in rows:
                    continue
                file.seek(place.offset)
                values = rows[name].reshape(-1).astype(place.dtype, copy=False)
                block = max(1, BLOCK // place.dtype.itemsize)
                for first in range(0, len(values), block):
                    file.write(values[first : first + block].tobytes())
