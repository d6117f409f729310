"""How functions become kernels, and how the user learns that they are being compiled."""

import gc
import os
import sys
import time
from functools import partial

import numba
from numba.core import event

from . import cache
from .compilers import ENTRY, INNER, note_part
from .verbs import VerbError


def kernel(function):
    """Compile a function that only other kernels call; without a wrapper for Python it compiles in half the time."""
    return numba.njit(function, **INNER)


def formula(function):
    """Compile a small formula that LLVM must inline; by its own estimate it would not, because of the long tuples."""
    return numba.njit(function, forceinline=True, **INNER)


def part(function):
    """Compile a part of a larger function; compilers.note_part says how that differs from `kernel`."""
    return note_part(kernel(function))


def cached(decorate, function):
    """Decorate a function by Numba's ``decorate(function)``, and keep its machine code in our cache."""
    made = decorate(function)
    if cache.FOLDER and not numba.config.DISABLE_JIT:
        made._cache = cache.KernelCache(function)
    if not numba.config.DISABLE_JIT:
        made.compile = partial(_compile_plainly, made.compile)
    return made


def _compile_plainly(compile_for, kinds):
    """Compile for these types; a verb's mistake is raised without the frames of the compiler, as Numba's own errors."""
    try:
        return compile_for(kinds)
    except VerbError as error:
        raise error.with_traceback(None) from error.__cause__


def entry(function):
    """Compile a kernel that Python calls; it releases the GIL, so that other threads go on."""
    return cached(partial(numba.njit, **ENTRY), function)


def exact_entry(function):
    """Compile a kernel that Python calls; each operation is rounded by itself, as in NumPy."""
    return cached(partial(numba.njit, **{**ENTRY, "fastmath": False}), function)


def apart(function):
    """Compile a kernel that other kernels call by its address, so that it is not compiled anew with each of them."""
    return cached(partial(numba.njit, no_cpython_wrapper=True, **ENTRY), function)


def bound(function, *arguments):
    """The machine code of an entry for arguments of these types. Calling it skips Numba's search for the types, which
    takes 5 µs for tuples of arrays. The caller must give arguments of just these types, layout included."""
    if numba.config.DISABLE_JIT:
        return function
    kinds = tuple(map(numba.typeof, arguments))
    function.compile(kinds)
    return function.overloads[kinds].entry_point


class _Announcer(event.Listener):
    """Says once that kernels are being compiled; with LEASTACTION_VERBOSE=1, also which ones and how long each took.

    During a compilation garbage is collected less often: a compiler makes many objects that stay, and each collection
    looks through all of them.
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
            future = "kept for next time" if cache.FOLDER else "anew at each start: set LEASTACTION_CACHE to a folder"
            print(f"leastaction: compiling kernels for this kind of run, {future}…", file=sys.stderr, flush=True)
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
