"""HDF5 files that stay valid whenever their writer is killed: how they are made.

All arrays are laid out at their final size when the file is made (the file is sparse: what is not written yet takes no
disk), and after that only numbers are written in their places. So nothing that HDF5 itself needs to read the file ever
changes, and there is no moment at which it is half changed. What HDF5 keeps about the arrays has its own check sums.
"""

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from leastaction._version import __version__
from leastaction.errors import FileError
from leastaction.files.columns import DESCRIPTION, Column

FORMAT = 2
LARGEST = 128_000_000  # bytes of a description, so that no file can ask for more memory than a description is worth


def need_h5py() -> Any:
    """Import h5py, or say how to get it."""
    try:
        import h5py
    except ImportError:
        raise ImportError("files of results need h5py: pip install 'leastaction[files]'") from None
    return h5py


@contextmanager
def plain_errors(path: Path, kept: str = "") -> Iterator[None]:
    """Turn an OSError into a FileError that names the file and what of it is safe."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileError(f"cannot write {path}: {reason}{kept}") from error


def lock(file: IO[bytes], path: Path) -> None:
    """Lock a file against a second writer, where the system has locks; the lock ends with the process."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise FileError(f"{path} is being written by another process; wait for it or stop it") from None
    except OSError:
        return  # a file system without locks


@contextmanager
def written_aside(path: Path, overwrite: bool) -> Iterator[Path]:
    """Yield the name of a file beside ``path``, which replaces ``path`` once it is complete and on the disk.

    An older file is locked until then, so none that is being written is replaced.
    """
    if path.exists() and not overwrite:
        raise FileError(f"{path} exists: choose another name, or replace the file with overwrite=True in Python, "
                        "--overwrite on the command line")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with ExitStack() as held, plain_errors(
            path, "; choose a folder that is there and can be written to, on a disk with room"):
        if fcntl is not None and path.is_file():  # Windows replaces no file that is open
            with suppress(PermissionError):  # the owner of the folder may replace a file that nobody may read
                lock(held.enter_context(path.open("rb")), path)
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
    """Make a file with its description and the forces that were given as arrays, and room for the columns."""
    h5py = need_h5py()
    given = {name: np.ascontiguousarray(values, dtype=float) for name, values in given.items()}
    sums = {name: zlib.crc32(values.data) for name, values in given.items()}
    text = json.dumps({**description, "sums": sums}, allow_nan=False).encode()
    if len(text) > LARGEST:
        raise FileError(f"the description of the model takes {len(text) / 1e6:.0f} MB, and files hold at most "
                        f"{LARGEST / 1e6:.0f} MB of it: simplify its meshes")
    os.truncate(path, sum(column.size for column in columns.values()))  # so that a limit on the size of files is met
    # here, with its own error
    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plan.set_layout(h5py.h5d.CONTIGUOUS)
    plan.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    plan.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    # From HDF5 1.8 on what the library itself writes has check sums.
    with h5py.File(path, "w", libver=("v108", "v108"), alignment_threshold=1, alignment_interval=64) as file:
        file.attrs["format"], file.attrs["leastaction"] = np.int64(FORMAT), np.bytes_(__version__)
        written = file.create_dataset(DESCRIPTION, data=np.frombuffer(text, dtype=np.uint8), compression="gzip")
        written.attrs["check"] = np.int64(zlib.crc32(text))
        for name, values in given.items():
            file.create_dataset(name, data=values)
        for name, column in columns.items():
            kind, space = h5py.h5t.py_create(np.dtype(column.dtype), logical=True), h5py.h5s.create_simple(column.shape)
            h5py.h5d.create(file.id, name.encode(), kind, space, plan)
            file[name].attrs["meaning"] = column.meaning
