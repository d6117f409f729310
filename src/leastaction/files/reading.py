"""HDF5 files that anybody may have made or damaged: what is read of them, and what is refused.

Nothing that a file claims is believed before it is compared: only arrays stored inside the file itself are opened, and
an array is mapped only when all of it lies within the file. So reading needs no more memory than the largest
description, whatever the file says, and shows nothing of other files.
"""

import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from leastaction._version import __version__
from leastaction.errors import FileError, NotDefinedError
from leastaction.files.columns import CHECKPOINTS, DESCRIPTION, FORCES, ROWS, Column
from leastaction.files.container import FORMAT, LARGEST, need_h5py

ARRAYS = (*ROWS, *FORCES, CHECKPOINTS, "sums", "committed", "commits")
SMALL = 64  # bytes of an attribute
EXPORT = "a run: it looks like what to_xarray() gave, which xarray.open_dataset reads; traj.save() writes runs"


class Place(NamedTuple):
    """Where the numbers of an array are in a file; the offset of an empty one is 0."""

    offset: int
    dtype: np.dtype
    shape: tuple[int, ...]


@contextmanager
def plain_faults(path: Path) -> Iterator[None]:
    """Turn any error in reading into a FileError that names the file."""
    try:
        yield
    except (FileError, ImportError):
        raise
    except NotDefinedError as error:
        raise FileError(f"{path} cannot be read here: {error}") from error
    except PermissionError:
        raise FileError(f"{path} may not be read") from None
    except KeyError as error:
        raise FileError(f"{path} is damaged or not a file that leastaction wrote: it has no {error}") from error
    except Exception as error:  # h5py, JSON and the model raise errors of their own kinds; all mean the same
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise FileError(f"{path} is damaged or not a file that leastaction wrote: {reason}") from error


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a file to read, also while it is written: what HDF5 reads of it never changes."""
    h5py = need_h5py()
    if path.is_dir():
        raise FileError(f"{path} is a folder, and a run is in a file; la.open_ensemble reads the folder of an ensemble")
    if not path.is_file():
        raise FileError(f"there is no file {path}")
    with plain_faults(path), path.open("rb") as head:
        if head.read(3) == b"CDF":  # the older netCDF, as xarray writes it with SciPy
            raise FileError(f"{path} is not {EXPORT}")
    with plain_faults(path), h5py.File(path, "r", locking=False) as file:
        number = _attribute(file.id, "format")
        if number is None or not file.id.links.exists(DESCRIPTION.encode()):
            raise FileError(f"{path} is an HDF5 file, but not {_other(path, file)}")
        if number != FORMAT:
            made = _attribute(file.id, "leastaction")
            by = f"leastaction {made.decode()}" if isinstance(made, bytes) else "another version of leastaction"
            raise FileError(f"{path} has the format {number}, made by {by}; this is {__version__}, which reads format "
                            f"{FORMAT}: use that version")
        yield file


def _other(path: Path, file: Any) -> str:
    """Say what a file that is not of a run is, after "not"."""
    if _attribute(file.id, "description") is not None:
        return EXPORT
    if _attribute(file.id, "members_missing") is not None:
        return f"a run: it shows the results of an ensemble, which la.open_ensemble({str(path.parent)!r}) reads"
    if file.id.links.exists(b"statistics_count"):
        return f"a run: it is a part of an ensemble, which la.open_ensemble({str(path.parent.parent)!r}) reads"
    return "one of leastaction"


def describe(path: Path) -> dict[str, Any]:
    """Read the description of a file."""
    with opened(path) as file:
        h5py = need_h5py()
        found = _dataset(path, file, DESCRIPTION)
        plan = found.get_create_plist()
        chunked = plan.get_layout() == h5py.h5d.CHUNKED
        filters = {plan.get_filter(k)[0] for k in range(plan.get_nfilters())} if chunked else set()
        if found.dtype != np.uint8 or len(found.shape) != 1 or filters - {h5py.h5z.FILTER_DEFLATE}:
            raise FileError(f"the description in {path} is not the text that leastaction writes")
        if max(found.shape[0], *(plan.get_chunk() if chunked else (0,))) > LARGEST:
            raise FileError(f"the description in {path} claims {found.shape[0]} bytes; leastaction writes at most "
                            f"{LARGEST}, so it is damaged or not a file that leastaction wrote")
        text = h5py.Dataset(found)[()].tobytes()
        if zlib.crc32(text) != _attribute(found, "check"):
            raise FileError(f"the description in {path} is damaged, so it is not known what its numbers mean: take a "
                            "copy of the file, or make the run again")
        description = json.loads(text)
        if not isinstance(description, dict):
            raise FileError(f"the description in {path} is not the one that leastaction writes")
        return description


def places(path: Path, names: Iterable[str] = ARRAYS) -> dict[str, Place]:
    """Return the place of each array that the file has; each lies within the file."""
    with opened(path) as file:
        size = path.stat().st_size
        return {name: _place(path, file, name, size) for name in names if file.id.links.exists(name.encode())}


def mapped(path: Path, name: str, column: Column, rows: int, mode: Any = "r") -> np.ndarray:
    """Map the first rows of an array into memory: the system reads them from the disk when they are used.

    Parameters
    ----------
    column : shape and type that the array must have, except that it may have any number of rows from ``rows`` on
    mode : "r", or "c" for memory that may be written without changing the file
    """
    place = places(path, (name,)).get(name)
    if place is None:
        raise FileError(f"{path} is damaged or not a file that leastaction wrote: it has no '{name}'")
    shape = rows, *column.shape[1:]
    if place.dtype != column.dtype or place.shape[1:] != shape[1:] or place.shape[0] < rows:
        raise mismatch(path, name, place, Column(shape, column.dtype, ""))
    if 0 in shape:
        return np.empty(shape, column.dtype)
    with plain_faults(path):
        return np.asarray(np.memmap(path, place.dtype, mode, place.offset, shape))


def mismatch(path: Path, name: str, place: Place, column: Column) -> FileError:
    """Say that an array is not what the description of its file calls for."""
    kinds = [str(np.dtype(kind)) if np.dtype(kind).names is None else "records" for kind in (place.dtype, column.dtype)]
    return FileError(f"'{name}' in {path} has shape {place.shape} of {kinds[0]}, and by the description it must be "
                     f"{column.shape} of {kinds[1]}: the file is damaged or not one that leastaction wrote")


def _dataset(path: Path, file: Any, name: str) -> Any:
    """Open an array that is stored in the file itself."""
    h5py = need_h5py()
    if file.id.links.get_info(name.encode()).type != h5py.h5l.TYPE_HARD:
        raise FileError(f"'{name}' in {path} is a link to another place; leastaction reads only what a file itself "
                        "holds")
    found = h5py.h5d.open(file.id, name.encode())
    plan = found.get_create_plist()
    if plan.get_layout() == h5py.h5d.VIRTUAL or plan.get_external_count():
        raise FileError(f"'{name}' in {path} is stored in other files; leastaction reads only what a file itself holds")
    return found


def _place(path: Path, file: Any, name: str, size: int) -> Place:
    found = _dataset(path, file, name)
    layout, shape, dtype = found.get_create_plist().get_layout(), found.shape, found.dtype
    if layout != need_h5py().h5d.CONTIGUOUS:
        raise FileError(f"'{name}' in {path} was compressed or divided by another program; leastaction reads arrays in "
                        "one piece, as h5repack -f NONE -l CONTI old new makes them")
    length = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if length == 0:
        return Place(0, dtype, shape)
    offset = found.get_offset()
    if offset is None or offset + length > size:
        raise FileError(f"'{name}' in {path} goes beyond the end of the file, which was cut off or not copied whole")
    return Place(offset, dtype, shape)


def _attribute(place: Any, name: str) -> Any:
    """Return a number or a short text, None if there is none."""
    h5a = need_h5py().h5a
    if not h5a.exists(place, name.encode()):
        return None
    found = h5a.open(place, name.encode())
    if found.get_storage_size() > SMALL or found.shape != () or found.dtype.kind not in "iuS":
        return "unknown"
    value = np.empty((), found.dtype)
    found.read(value)
    return value[()]
