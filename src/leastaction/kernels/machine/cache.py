"""The folder that keeps machine code between runs, and how it is read back; a file that is damaged is compiled anew.

Numba keeps a compiled function as pickles, an index (.nbi) and data (.nbc). Here each file begins with a check sum of
the rest, so that a damaged file is noticed before it is unpickled. Whatever else goes wrong in reading leads to a
compilation, never to an error. A check sum is no signature: whoever can write into the folder can run code as the user.
"""

import hashlib
import os
import pickle
import stat
import sys
import tempfile
from pathlib import Path

import numba
import numpy
from numba.core.caching import FunctionCache, IndexDataCacheFile

_DIGEST = 32  # bytes of a SHA-256


def _key() -> str:
    """Hash of all that machine code depends on: all kernel files, in whatever folder, versions and options. Numba
    itself checks only the file of the function, so it would run old code after an edit in another file. Kernels import
    no other module of the package."""
    digest = hashlib.sha256()
    folder = Path(__file__).parent.parent  # kernels/
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    options = [os.environ.get(name, "1") for name in ("LEASTACTION_SIMD", "LEASTACTION_STAGES")]
    llvm = numba.core.codegen.ll.llvm_version_info
    for version in (sys.version, numpy.__version__, numba.__version__, llvm, *options):
        digest.update(f"{version}\n".encode())
    return digest.hexdigest()[:16]


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "leastaction"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "leastaction"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "leastaction"


def _is_mine(found: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or found.st_uid == os.getuid()


def _usual_root() -> Path | None:
    """The folder that LEASTACTION_CACHE names, which is trusted; else the one in the user's caches, unless it belongs
    to another user, as when a program runs as root in somebody's home."""
    named = os.environ.get("LEASTACTION_CACHE")
    if named:
        return Path(named)
    root = _user_cache()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    return root if _is_mine(root.stat()) else None


def _temporary_root() -> Path | None:
    """A temporary folder that nobody else can write into or replace. Others can guess its name and make it first, so
    it must belong to this user; on systems that do not tell the owner there is no such folder."""
    if not hasattr(os, "getuid"):
        return None
    root = Path(tempfile.gettempdir()) / f"leastaction-{os.getuid()}"
    root.mkdir(mode=0o700, exist_ok=True)
    found, above = os.lstat(root), root.parent.stat()
    is_private = stat.S_ISDIR(found.st_mode) and _is_mine(found) and not found.st_mode & 0o077
    may_be_moved = above.st_mode & 0o022 and not above.st_mode & stat.S_ISVTX
    return root if is_private and not may_be_moved else None


def _find_folder() -> str:
    """The first folder that can be written and trusted; "" if there is none, and then no code is kept."""
    for find_root in (_usual_root, _temporary_root):
        try:
            root = find_root()
            if root is not None:
                folder = root / _key()
                folder.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=folder):
                    return str(folder)
        except (OSError, RuntimeError):  # RuntimeError: no home folder
            continue
    return ""


FOLDER = _find_folder()


def _report(what: str) -> None:
    print(f"leastaction: {what}", file=sys.stderr, flush=True)


class _CheckedFile(IndexDataCacheFile):
    """The files of one function. A damaged file is removed and counts as missing."""

    def save(self, key, data):
        """Store the key with the data: two processes that save at once may give two keys the same file."""
        super().save(key, (key, data))

    def load(self, key):
        found = super().load(key)
        return found[1] if found is not None and found[0] == key else None

    def _load_index(self):
        try:
            stamp, overloads = self._read(self._index_path)
        except OSError:
            return {}
        return overloads if stamp == self._source_stamp else {}

    def _save_index(self, overloads):
        self._write(self._index_path, (self._source_stamp, overloads))

    def _load_data(self, name):
        return self._read(self._data_path(name))

    def _save_data(self, name, data):
        self._write(self._data_path(name), data)

    def _read(self, path):
        contents = Path(path).read_bytes()
        digest, pickled = contents[:_DIGEST], contents[_DIGEST:]
        try:
            if hashlib.sha256(pickled).digest() != digest:
                raise ValueError("its check sum is wrong")
            return pickle.loads(pickled)
        except Exception as trouble:
            _report(f"a kernel in the cache cannot be used and is compiled anew: {trouble}; {path}")
            os.unlink(path)
            raise FileNotFoundError(path) from trouble

    def _write(self, path, thing):
        pickled = self._dump(thing)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(pickled).digest() + pickled)


class KernelCache(FunctionCache):
    """The machine code of one function in our folder; if it cannot be read, the function is compiled."""

    def __init__(self, function):
        theirs = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = FOLDER
        try:
            super().__init__(function)
        finally:
            numba.config.CACHE_DIR = theirs
        self._cache_file = _CheckedFile(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp())

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception as trouble:
            _report(f"a kernel in the cache cannot be used and is compiled anew: {trouble!r}; {self._name}")
            return None

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except OSError as trouble:
            _report(f"a compiled kernel cannot be kept for next time: {trouble}")


def is_kept(function) -> bool:
    """Whether the cache has machine code of a function."""
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
    return bool(FOLDER) and any(Path(FOLDER).rglob(f"{name}-*.nbc"))
