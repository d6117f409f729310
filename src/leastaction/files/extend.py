"""Room for more steps in the file of a run."""

from pathlib import Path

import numpy as np

from leastaction.errors import FileError
from leastaction.files.columns import BLOCK, CHECKPOINTS, ROWS, Column, columns
from leastaction.files.container import create, written_aside
from leastaction.files.contents import MEANING
from leastaction.files.reading import mapped, places
from leastaction.files.stored import StoredTrajectory

HELD = {"control": 1, "wrench": 2, "command": 1}  # dimensions of forces that do not change from step to step
PIECE = 64_000_000  # bytes copied at a time


def extend(path: Path, traj: StoredTrajectory, steps: int) -> None:
    """Copy a run to a file with room for ``steps`` steps in all, which then replaces the old file."""
    description, source = traj.description, traj._contents
    given = {name: np.asarray(values) for name, values in zip(HELD, traj.origin or (), strict=False)
             if description[name] == "array"}
    if any(values.ndim > HELD[name] for name, values in given.items()):
        raise ValueError(f"the run in {path} was given forces for {traj.planned} steps, so it cannot be extended")
    if "w" not in (source.record.names or ()):
        raise FileError(f"{path} holds a saved trajectory and nothing to go on from")
    room = columns(traj.model, steps, traj.record_every, source.ledger)
    with written_aside(path, overwrite=True) as part:
        old = source.places[CHECKPOINTS].shape[0]
        room[CHECKPOINTS] = Column((2 + steps // description["checkpoint_every"],), source.record, MEANING)
        rows = {name: getattr(traj, name) for name in ROWS}
        rows |= {name: mapped(path, name, room[name], count)
                 for name, count in (("sums", len(traj) // BLOCK), (CHECKPOINTS, old))}
        rows |= {"committed": np.array(len(traj)), "commits": np.array(traj._last["commit"])}
        create(part, {**description, "steps": steps}, given, room)
        with part.open("rb+") as file:
            for name, place in places(part).items():
                if name not in rows:
                    continue
                file.seek(place.offset)
                values = rows[name].reshape(-1).astype(place.dtype, copy=False)
                count = max(1, PIECE // place.dtype.itemsize)
                for first in range(0, len(values), count):
                    file.write(values[first : first + count].tobytes())
