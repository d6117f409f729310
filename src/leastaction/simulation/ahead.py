"""Compilation on two cores: a second process compiles the search for the root while this one compiles the rest.

This process reads the search from the cache of kernels. If the other process fails, this one compiles the search, too.
"""

import atexit
import os
import subprocess
import sys
from pathlib import Path
from threading import Lock
from typing import Any

from numba import typeof

from leastaction.kernels import search
from leastaction.kernels.machine import cache, jit
from leastaction.kernels.machine.simd import COMPILED
from leastaction.kernels.settings import Settings

PATIENCE = 120.0  # s
_CODE = """\
import sys
sys.path[:] = {path!r}
from leastaction.kernels import search
from leastaction.kernels.machine import jit
jit.announcer.announced = True
search.address(search.{name})
"""
_lock = Lock()
_begun: set[str] = set()
_process: subprocess.Popen[bytes] | None = None


def begin(settings: Settings) -> None:
    """Start the other process, once for each search, unless the search is in the cache."""
    global _process
    wanted = search.chosen(settings)
    with _lock:
        if wanted.__name__ in _begun or (_process is not None and _process.poll() is None):
            return
        _begun.add(wanted.__name__)
        if not _worthwhile(wanted):
            return
        try:
            _process = subprocess.Popen(
                [sys.executable, "-c", _CODE.format(path=sys.path, name=wanted.__name__)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=None if jit.announcer.verbose else subprocess.DEVNULL,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError:
            return
        atexit.register(_end)


def search_address(settings: Settings, loop: Any, *args: object) -> int:
    """Return the address of the compiled search for these settings.

    While the other process compiles it, this one compiles the loop for these arguments, and then waits.
    """
    process = _process
    if process is not None and process.poll() is None:
        loop.compile(tuple(typeof(arg) for arg in args))
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            _end()
    return search.address(search.chosen(settings))


def _end() -> None:
    if _process is not None:
        _process.kill()
        _process.wait()


def _worthwhile(wanted: Any) -> bool:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # A program with Python in it would start itself again
    is_python = bool(sys.executable) and Path(sys.executable).stem.lower().startswith("python")
    return COMPILED and cores > 1 and is_python and bool(cache.FOLDER) and not cache.is_kept(wanted)
