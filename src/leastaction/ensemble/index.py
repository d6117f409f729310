"""The index of a chunk's file: its first bytes, which HDF5 leaves to its users.

It says which members the file has, how long the file is, where its arrays are, and their check sums. So a file that was
cut off, damaged or exchanged is told from a whole one by reading a few kilobytes, and its numbers are read without
following anything that a file may point to.
"""

import json
import math
import os
import zlib
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

import numpy as np

from leastaction.ensemble.folder import Stored
from leastaction.errors import FileError
from leastaction.files.sums import check_sum

Array = np.ndarray
MAGIC = b"leastaction chunk 1 "
TITLE = len(MAGIC) + 8 + 1 + 8 + 1  # with the length and the check sum of the index in hexadecimal digits
PAGE = 4096
LARGEST = 2**24  # bytes of an index
REASON = 200  # bytes of the reason of a failure; what is longer is cut
KINDS = {"<f8": 8, "<i8": 8, "|u1": 1, f"|S{REASON}": REASON}  # bytes of a number
REMAKE = "delete it and run the ensemble again, which makes only what is missing"


@dataclass(frozen=True)
class Summary:
    """The summary of a chunk: members, failures with their commonest reasons, time in s."""

    number: int
    first: int
    count: int
    failed: int
    warned: int
    seconds: float
    fingerprint: str
    reasons: Counter[str]


@dataclass(frozen=True)
class Index:
    """The index in the first bytes of a chunk's file.

    arrays : by name the type, the shape, where it begins in the file and its CRC-32
    parameters : name and size of what was drawn, size None for single numbers
    """

    number: int
    first: int
    count: int
    digest: str
    fingerprint: str
    size: int
    failed: int
    warned: int
    reasons: list[tuple[str, int]]
    parameters: list[tuple[str, int | None]]
    arrays: dict[str, tuple[str, list[int], int, int]]

    def summary(self) -> Summary:
        """Sum up a chunk; the time it took is not kept."""
        return Summary(self.number, self.first, self.count, self.failed, self.warned, 0.0, self.fingerprint,
                       Counter(dict(self.reasons)))


def title(index: Index) -> bytes:
    """Write the first bytes of a file."""
    text = json.dumps(asdict(index), allow_nan=False, separators=(",", ":")).encode()
    if len(text) > LARGEST:
        raise FileError(f"the names of what was drawn take {len(text) / 1e6:.0f} MB, and files hold at most "
                        f"{LARGEST / 1e6:.0f} MB of them: vary fewer names")
    return MAGIC + b"%08x %08x\n" % (len(text), zlib.crc32(text)) + text + b"\n"


def opened(path: Path) -> IO[bytes]:
    """Open the file of a chunk to read."""
    try:
        return path.open("rb", buffering=0)
    except FileNotFoundError:
        raise FileError(f"there is no file {path}: run the ensemble again, which makes only what is missing") from None
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}") from error


def read_index(file: IO[bytes], path: Path, number: int, stored: Stored) -> Index:
    """Read the index of a chunk's file and check all of it; a FileError names what is wrong."""
    start = file.read(PAGE)
    length, expected = _sizes(start, path)
    text = (start + file.read(max(0, TITLE + length - PAGE)))[TITLE : TITLE + length]
    if zlib.crc32(text) != expected:
        raise FileError(f"the index of {path} is damaged: {REMAKE}")
    index = Index(**json.loads(text))
    size = os.fstat(file.fileno()).st_size
    if size != index.size:
        raise FileError(f"{path} has {size} bytes and was written with {index.size}, so it was cut off or not copied "
                        f"whole: {REMAKE}")
    if index.digest != stored.digest:
        raise FileError(f"{path} belongs to another ensemble, whose plan is another: move it away, and run the "
                        "ensemble again, which makes only what is missing")
    if index.number != number:
        raise FileError(f"{path} is a copy or a renamed file of chunk {index.number}: {REMAKE}")
    if index.fingerprint != stored.fingerprint:
        raise FileError(f"{path} was made by another version or on another kind of processor, so its bits may differ "
                        f"from those of the other chunks: {REMAKE}")
    first = number * stored.chunk
    if (index.first, index.count) != (first, min(stored.chunk, stored.plan["members"] - first)):
        raise FileError(f"{path} has {index.count} members from {index.first} on, and the plan now divides members "
                        f"otherwise: {REMAKE}")
    counts = (index.failed, index.warned, *(count for _, count in index.reasons))
    if not all(type(number) is int for number in counts):
        raise FileError(f"the index of {path} is not one that leastaction writes: {REMAKE}")
    for name, (kind, shape, offset, _) in index.arrays.items():
        _check_place(path, name, kind, shape, offset, size)
    return index


def read_array(file: IO[bytes], path: Path, index: Index, name: str, rows: slice | None = None) -> Array:
    """Read an array of a chunk's file: all of it, and compare its check sum; or some rows, which are not checked."""
    if name not in index.arrays:
        raise FileError(f"{path} has no '{name}', so it is damaged or not one that leastaction wrote: {REMAKE}")
    kind, shape, offset, expected = index.arrays[name]
    whole = tuple(shape)
    if rows is not None:
        offset += rows.start * math.prod(whole[1:]) * KINDS[kind]
        whole = rows.stop - rows.start, *whole[1:]
    values = np.empty(whole, kind)
    if values.size == 0:
        return values
    file.seek(offset)
    view, got = memoryview(values.reshape(-1).view(np.uint8).data), 0
    while got < len(view):
        more = file.readinto(view[got:])  # type: ignore[attr-defined]
        if not more:
            raise FileError(f"{path} was cut off while it was read: {REMAKE}")
        got += more
    if rows is None and check_sum(values) != expected:
        raise FileError(f"'{name}' of the members {index.first} to {index.first + index.count - 1} in {path} is "
                        f"damaged: {REMAKE}")
    return values


def _sizes(start: bytes, path: Path) -> tuple[int, int]:
    """Return the length and the check sum of an index, from the first bytes of a file."""
    try:
        if not start.startswith(MAGIC):
            raise ValueError
        length, expected = (int(digits, 16) for digits in start[len(MAGIC) : TITLE].split())
    except ValueError:
        raise FileError(f"{path} is not a chunk of an ensemble that this version wrote, or its first bytes are "
                        f"damaged: {REMAKE}") from None
    if length > LARGEST:
        raise FileError(f"the index of {path} is damaged: {REMAKE}")
    return length, expected


def _check_place(path: Path, name: str, kind: str, shape: list[int], offset: int, size: int) -> None:
    """Make sure that an array is of a known kind, and lies within its file."""
    numbers = (*shape, offset)
    if kind not in KINDS or any(type(number) is not int or number < 0 for number in numbers):
        raise FileError(f"'{name}' in {path} is of no kind that leastaction writes: {REMAKE}")
    if offset + math.prod(shape) * KINDS[kind] > size:
        raise FileError(f"'{name}' in {path} goes beyond the end of the file: {REMAKE}")
