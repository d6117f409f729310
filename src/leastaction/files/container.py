"""HDF5 files that stay valid whenever their writer is killed.

All arrays are laid out at their final size when the file is made (the file is sparse: what is not written yet takes no
disk), and after that only numbers are written in their places. So nothing that HDF5 itself needs to read the file ever
changes, and there is no moment at which it is half changed.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from leastaction._version import __version__
from leastaction.errors import FileError

FORMAT = 1


class Column(NamedTuple):
    """An array of a file: its shape and type, and what it holds, with the unit."""

    shape: tuple[int, ...]
    dtype: Any
    meaning: str


def need_h5py() -> Any:
    """Import h5py, or say how to get it."""
    try:
        import h5py
    except ImportError:
        raise ImportError("files of results need h5py: pip install 'leastaction[files]'") from None
    return h5py


def opened(path: Path) -> Any:
    """Open a file to read, also while it is written: what HDF5 reads of it never changes."""
    return need_h5py().File(path, "r", locking=False)


@contextmanager
def plain_errors(path: Path, kept: str = "") -> Iterator[None]:
    """Say of what the system refuses which file it was, and what is kept."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileError(f"cannot write {path}: {reason}{kept}") from error


@contextmanager
def written_aside(path: Path, overwrite: bool) -> Iterator[Path]:
    """Give the name of a file beside ``path`` that takes its place once it is complete and on the disk."""
    if path.exists() and not overwrite:
        raise FileError(f"{path} exists: choose another name, or replace the file with overwrite=True in Python, "
                        "--overwrite on the command line")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with plain_errors(path, "; choose a folder that is there and can be written to, on a disk with room"):
        try:
            part.touch(exist_ok=False)
            yield part
            with part.open("rb+") as file:
                os.fsync(file.fileno())
            os.replace(part, path)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)


def create(path: Path, description: Mapping[str, Any], given: Mapping[str, np.ndarray],
           columns: Mapping[str, Column]) -> None:
    """Make a file with its description and what is known from the start, and room for the columns."""
    h5py = need_h5py()
    size = sum(int(np.prod(column.shape)) * np.dtype(column.dtype).itemsize for column in columns.values())
    os.truncate(path, size)  # so that a limit on the size of files is met here, with its own error
    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plan.set_layout(h5py.h5d.CONTIGUOUS)
    plan.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    plan.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    with h5py.File(path, "w", alignment_threshold=1, alignment_interval=64) as file:
        file.attrs.update({"format": FORMAT, "leastaction": __version__})
        text = json.dumps(description, allow_nan=False).encode()
        file.create_dataset("description", data=np.frombuffer(text, dtype=np.uint8), compression="gzip")
        for name, values in given.items():
            file.create_dataset(name, data=values)
        for name, column in columns.items():
            kind, space = h5py.h5t.py_create(np.dtype(column.dtype), logical=True), h5py.h5s.create_simple(column.shape)
            h5py.h5d.create(file.id, name.encode(), kind, space, plan)
            file[name].attrs["meaning"] = column.meaning


class Places(NamedTuple):
    """Where the numbers of an array are in a file."""

    offset: int
    dtype: np.dtype
    shape: tuple[int, ...]


def places(path: Path) -> dict[str, Places]:
    """Tell where the arrays of a file are, of those that can be written in place."""
    with opened(path) as file:
        return {name: Places(found.id.get_offset(), found.dtype, found.shape)
                for name, found in file.items() if found.id.get_offset() is not None}


def read(path: Path, name: str, rows: int | None = None) -> np.ndarray:
    """Return an array of a file: through memory that the system fills as it is looked at, or if compressed, read."""
    with opened(path) as file:
        found = file[name]
        rows = found.shape[0] if rows is None else rows
        offset, dtype, shape = found.id.get_offset(), found.dtype, (rows, *found.shape[1:])
        if offset is None or 0 in shape:
            return found[:rows]
    return np.asarray(np.memmap(path, dtype, "r", offset, shape))


def describe(path: Path) -> tuple[dict[str, Any], set[str]]:
    """Read the description of a file and the names of its arrays, or say why that is not possible."""
    if not path.is_file():
        raise FileError(f"there is no file {path}")
    try:
        with opened(path) as file:
            number = file.attrs.get("format")
            if number is None or "description" not in file:
                raise FileError(f"{path} is an HDF5 file, but not one of leastaction")
            if number != FORMAT:
                raise FileError(f"{path} has the format {number}, made by leastaction {file.attrs.get('leastaction')}; "
                                f"this is {__version__}, which reads format {FORMAT}: use that version")
            return json.loads(file["description"][()].tobytes()), set(file)
    except FileError:
        raise
    except PermissionError:
        raise FileError(f"{path} may not be read") from None
    except OSError as error:
        raise FileError(f"{path} is not a file that leastaction wrote: {str(error).splitlines()[0]}") from error
