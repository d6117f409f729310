"""How kernels are compiled, where the machine code is kept, and how the user learns that it is being made."""

import gc
import hashlib
import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numba
from numba.core import event

try:
    from .stages import EntryCompiler, InnerCompiler

    _INNER, _ENTRY, _PART = {"pipeline_class": InnerCompiler}, {"pipeline_class": EntryCompiler}, {}
except (ImportError, AttributeError):  # a Numba that stages.py does not know: its own way, which takes longer
    _INNER, _ENTRY, _PART = {}, {}, {"inline": "always"}

# FMA contraction is worth 10 % and more; the unsafe flags are worth nothing (measured), so they stay off.
OPTIONS = {"error_model": "numpy", "fastmath": {"contract", "nsz"}}
# Functions that only kernels call need no way in from Python, and count no references.
INNER: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **_INNER, **OPTIONS}
ENTRY: Any = {"no_cfunc_wrapper": True, "nogil": True, **_ENTRY, **OPTIONS}


def _key() -> str:
    """Hash of all that machine code depends on. Numba checks only the file of the function itself, so an edit in
    another kernel file would silently run old code if the key did not cover them all."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    simd = os.environ.get("LEASTACTION_SIMD", "1")
    for version in (sys.version, numba.__version__, numba.core.codegen.ll.llvm_version_info, simd):
        digest.update(str(version).encode())
    return digest.hexdigest()[:16]


def _user_cache() -> Path:
    if "LEASTACTION_CACHE" in os.environ:
        return Path(os.environ["LEASTACTION_CACHE"])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "leastaction"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "leastaction"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "leastaction"


def _cache_folder() -> str:
    """The first folder that can be written: the user's cache, else a temporary one."""
    user = os.getuid() if hasattr(os, "getuid") else ""
    for root in (_user_cache(), Path(tempfile.gettempdir()) / f"leastaction-{user}"):
        folder = root / _key()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return str(folder)
        except OSError:
            continue
    return ""


CACHE_FOLDER = _cache_folder()


def kernel(function):
    """Compile a function that is called by other kernels only (no Python entry point: half the compile time)."""
    return numba.njit(function, **INNER)


def formula(function):
    """Compile a small formula that LLVM must put in place where it is used; its own estimate is against long tuples."""
    return numba.njit(function, forceinline=True, **INNER)


def part(function):
    """Compile a stretch of a loop. Numba's own way optimises large functions at every level, so there it is compiled as
    if it stood in its caller."""
    return numba.njit(function, **_PART, **INNER)


def kept(decorate, function):
    """Decorate a function by Numba's ``decorate(function, cache=...)``, its machine code being kept in our cache."""
    theirs = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = CACHE_FOLDER
    try:
        return decorate(function, cache=bool(CACHE_FOLDER))
    finally:
        numba.config.CACHE_DIR = theirs


def entry(function):
    """Compile a kernel that Python calls, other threads going on meanwhile."""
    return kept(partial(numba.njit, **ENTRY), function)


def apart(function):
    """Compile a kernel that other kernels call by its address, so that it is not compiled anew with each of them."""
    return kept(partial(numba.njit, no_cpython_wrapper=True, **ENTRY), function)


def is_kept(function) -> bool:
    """Whether the cache has machine code of an entry, or of a kernel apart."""
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
    return any(Path(CACHE_FOLDER).rglob(f"{name}-*.nbc"))


class _Announcer(event.Listener):
    """Says once that kernels are being compiled; with LEASTACTION_VERBOSE=1, which ones and how long each took.

    Meanwhile garbage is collected less often: a compiler remembers much, and looking through it all takes time.
    """

    def __init__(self) -> None:
        self.verbose = os.environ.get("LEASTACTION_VERBOSE", "") not in ("", "0")
        self.announced = False
        self.depth = 0
        self.started = 0.0
        self.thresholds = gc.get_threshold()

    def _ours(self, event_) -> bool:
        return event_.data["dispatcher"].py_func.__module__.startswith("leastaction.")

    def on_start(self, event_) -> None:
        if not self._ours(event_):
            return
        if not self.announced:
            print("leastaction: compiling kernels for this kind of run, kept for next time…", file=sys.stderr,
                  flush=True)
            self.announced = True
        if self.depth == 0:
            self.started, self.thresholds = time.perf_counter(), gc.get_threshold()
            if self.thresholds[0]:
                gc.set_threshold(100_000, 20, 20)
        self.depth += 1

    def on_end(self, event_) -> None:
        if not self._ours(event_):
            return
        self.depth -= 1
        if self.depth == 0:
            gc.set_threshold(*self.thresholds)
        if self.verbose and self.depth == 0:
            function = event_.data["dispatcher"].py_func
            name, seconds = f"{function.__module__}.{function.__name__}", time.perf_counter() - self.started
            print(f"leastaction: compiled {name} in {seconds:.1f} s", file=sys.stderr)


announcer = _Announcer()
if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    event.register("numba:compile", announcer)
