"""When nothing is compiled yet: the search for the root is compiled by a second process while this one does the rest.

The two meet in the cache of kernels. Whatever becomes of the other process, this one can do without it.
"""

import atexit
import os
import subprocess
import sys
from pathlib import Path
from threading import Lock
from typing import Any

from numba import typeof

from leastaction.kernels import jit, search
from leastaction.kernels.simd import COMPILED

PATIENCE = 120.0  # s
_CODE = """\
import sys
sys.path[:] = {path!r}
from leastaction.kernels import jit, search
jit.announcer.announced = True
search.address()
"""
_lock = Lock()
_begun = False
_process: subprocess.Popen | None = None


def begin() -> None:
    """Start the other process, once, if there is something for it to do."""
    global _begun, _process
    with _lock:
        if _begun:
            return
        _begun = True
        if not _worthwhile():
            return
        try:
            _process = subprocess.Popen(
                [sys.executable, "-c", _CODE.format(path=sys.path)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=None if jit.announcer.verbose else subprocess.DEVNULL,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError:
            return
        atexit.register(_end)


def search_address(loop: Any, *args: object) -> int:
    """Where the compiled search is in memory.

    If the other process is at it, the loop that is to be called with these arguments and the address after them is
    compiled before waiting.
    """
    process = _process
    if process is not None and process.poll() is None:
        loop.compile(tuple(typeof(arg) for arg in (*args, 0)))
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            _end()
    return search.address()


def _end() -> None:
    if _process is not None:
        _process.kill()
        _process.wait()


def _worthwhile() -> bool:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # A program with Python in it would start itself again
    is_python = bool(sys.executable) and Path(sys.executable).stem.lower().startswith("python")
    return COMPILED and cores > 1 and is_python and bool(jit.CACHE_FOLDER) and not jit.is_kept(search.search)
