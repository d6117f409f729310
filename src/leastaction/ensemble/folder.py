"""The folder of an ensemble: the names of its files, and how to write one so that a kill never leaves half of it."""

import hashlib
import json
import os
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from leastaction.errors import FileError
from leastaction.files.container import plain_errors
from leastaction.files.reading import plain_faults

FORMAT = 1
DIGITS = 8
FORGOTTEN = 3600.0  # s after which an unfinished file counts as abandoned, whoever wrote it
PART = re.compile(r"(\d{8,}\.h5|plan\.json|arrays\.npz|ensemble\.h5)\.[\w-]+\.\d+\.\d+\.tmp")  # host, process, thread
WAY_OUT = ("; choose a folder that can be written to, on a disk with room. A second run makes only the chunks that are "
           "missing")


class Stored(NamedTuple):
    """What plan.json holds.

    plan : the plan as data
    digest : of the plan
    fingerprint : of the versions and the processor that decide the bits
    chunk : members to a chunk
    """

    plan: dict[str, Any]
    digest: str
    fingerprint: str
    chunk: int


class Folder:
    """The folder of an ensemble.

    Attributes
    ----------
    path : of the folder
    plan : plan.json, what is computed
    arrays : arrays.npz, the arrays of the plan
    chunks : the folder with one file a chunk
    virtual : ensemble.h5, an HDF5 file over all chunks for other programs
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.plan = self.path / "plan.json"
        self.arrays = self.path / "arrays.npz"
        self.chunks = self.path / "chunks"
        self.virtual = self.path / "ensemble.h5"

    def chunk(self, number: int) -> Path:
        """Name the file of a chunk."""
        return self.chunks / f"{number:0{DIGITS}d}.h5"

    def numbers(self) -> list[int]:
        """List the numbers of the chunks that have a file, in ascending order."""
        with suppress(FileNotFoundError), os.scandir(self.chunks) as entries:
            stems = (entry.name.removesuffix(".h5") for entry in entries if entry.name.endswith(".h5"))
            return sorted(int(stem) for stem in stems if stem.isdecimal() and f"{int(stem):0{DIGITS}d}" == stem)
        return []

    def make(self) -> None:
        """Make the folder, if it is not there."""
        with plain_errors(self.path, WAY_OUT):
            self.chunks.mkdir(parents=True, exist_ok=True)

    def write_plan(self, plan: Mapping[str, Any], chunk: int, fingerprint: str) -> str:
        """Write plan.json, and return the digest of the plan."""
        self.make()
        found = digest(plan)
        content = {"format": FORMAT, "digest": found, "fingerprint": fingerprint, "chunk": chunk, "plan": plan}
        with self.aside(self.plan) as part:
            part.write_text(json.dumps(content, allow_nan=False, indent=1), encoding="utf-8")
        return found

    def read_plan(self) -> Stored:
        """Read plan.json and compare its digest."""
        if not self.plan.is_file():
            there = "has no plan.json, so it is not one of an ensemble" if self.path.is_dir() else "is not there"
            raise FileError(f"the folder {self.path} {there}; `leastaction.Ensemble(...).run(folder)` makes one")
        with plain_faults(self.plan):
            content = json.loads(self.plan.read_bytes())
            if content["format"] != FORMAT:
                raise FileError(f"{self.plan} has the format {content['format']!r}, and this version reads {FORMAT}: "
                                "use the version of leastaction that made it")
            stored = Stored(*(content[name] for name in Stored._fields))
            if digest(stored.plan) != stored.digest:
                raise FileError(f"{self.plan} was damaged or edited: what it says is not what the chunks were made of. "
                                "Take a copy of the file, or make the ensemble again in another folder")
        return stored

    @contextmanager
    def aside(self, path: Path) -> Iterator[Path]:
        """Yield the name of a file to write, which replaces ``path`` once it is on the disk.

        Two writers of one file do not disturb each other: each has a name of its own, and the last one stays.
        """
        part = path.with_name(f"{path.name}.{_host()}.{os.getpid()}.{threading.get_native_id()}.tmp")
        with plain_errors(path, WAY_OUT):
            try:
                yield part
                with part.open("rb+") as file:
                    os.fsync(file.fileno())
                os.replace(part, path)
            except BaseException:
                with suppress(OSError):
                    part.unlink(missing_ok=True)
                raise
            _sync(path.parent)

    def tidy(self) -> list[Path]:
        """Remove unfinished files of writers that died, and return their names."""
        removed = []
        for part in (*self.path.glob("*.tmp"), *self.chunks.glob("*.tmp")):
            with suppress(OSError):
                if PART.fullmatch(part.name) and _left_behind(part):
                    part.unlink()
                    removed.append(part)
        return removed


def digest(plan: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a plan that JSON can hold, whatever the order of its keys."""
    text = json.dumps(plan, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _host() -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in socket.gethostname()) or "host"


def _left_behind(part: Path) -> bool:
    """Tell whether a file is abandoned: its process is gone or, where that is not known, the file is old."""
    host, pid = part.name.split(".")[2:4]
    if host == _host() and os.name == "posix":
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
    return time.time() - part.stat().st_mtime > FORGOTTEN


def _sync(folder: Path) -> None:
    """Make sure that the new name of a file is on the disk, where the system allows it."""
    with suppress(OSError):
        held = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(held)
        finally:
            os.close(held)
