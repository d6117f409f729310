"""The choice between two compilers: the stages of stages.py, which take a third of the time, and Numba's own pipeline.

stages.py uses parts of Numba that are not public, so a trial decides before the first kernel is compiled whether it
works. The file "stages" in the cache's folder holds the outcome. LEASTACTION_STAGES=0 selects Numba's own pipeline.
"""

import importlib
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
from numba.core.compiler import Compiler

from . import cache

_FILE = "stages"
_stages: ModuleType | None = None
_is_decided = False
_parts: list[Any] = []  # functions that Numba's own pipeline compiles inline in their callers


class _Deciding(Compiler):
    """Numba's compiler, with its last stage replaced if stages.py works."""

    lowering = ""

    def define_pipelines(self):
        pipelines = super().define_pipelines()
        stages = usable_stages()
        if stages is not None:
            stages.rearrange(self.state, pipelines, getattr(stages, self.lowering))
        return pipelines


class InnerCompiler(_Deciding):
    """Compiler of functions that only kernels call."""

    lowering = "InnerLowering"


class EntryCompiler(_Deciding):
    """Compiler of functions that Python calls."""

    lowering = "EntryLowering"


# FMA contraction is worth 10 % and more; the unsafe flags are worth nothing (measured), so they stay off.
OPTIONS = {"error_model": "numpy", "fastmath": {"contract", "nsz"}}
# Functions that only kernels call need no wrapper for Python, and count no references.
INNER: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": InnerCompiler, **OPTIONS}
ENTRY: Any = {"no_cfunc_wrapper": True, "nogil": True, "pipeline_class": EntryCompiler, **OPTIONS}


def note_part(function):
    """Note a function that is a part of a larger one. Numba's own pipeline would optimise it again in every caller, so
    there it is compiled inline."""
    _parts.append(function)
    return function


def usable_stages() -> ModuleType | None:
    """stages.py, or None if it does not work with this Numba. The first call decides, under Numba's compiler lock."""
    global _stages, _is_decided
    if _is_decided:
        return _stages
    known = _remembered()
    if known is not False:
        try:
            _stages = importlib.import_module(f"{__package__}.stages")
            if known is None:
                _is_decided = True  # so that the functions of the trial are compiled in stages
                _try()
                _remember("yes")
        except Exception as trouble:
            _stages = None
            _remember(f"no: {trouble!r}")
        except BaseException:  # interrupted: the trial says nothing
            _stages, _is_decided = None, False
            raise
    _is_decided = True
    if _stages is None:
        for function in _parts:
            function.targetoptions["inline"] = "always"
    return _stages


def _remembered() -> bool | None:
    """Whether stages.py works according to the cache; None if the cache does not say."""
    if os.environ.get("LEASTACTION_STAGES", "1") == "0":
        return False
    try:
        text = Path(cache.FOLDER, _FILE).read_text(encoding="utf-8") if cache.FOLDER else ""
    except (OSError, ValueError):
        return None
    return {"yes": True, "no": False}.get(text.partition(":")[0])


def _remember(text: str) -> None:
    if not cache.FOLDER:
        return
    path = Path(cache.FOLDER, _FILE)
    try:
        with open(path.with_suffix(f".{os.getpid()}"), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(file.name, path)
    except OSError:
        pass  # the next process makes the trial again


def _try() -> None:
    """Compile functions in stages that have all the properties of kernels, run them, and pickle them as the cache does.
    """

    @numba.njit(**INNER)
    def rabbits(n):
        return n if n < 2.0 else rabbits(n - 1.0) + rabbits(n - 2.0)

    @numba.njit(**INNER)
    def fill(x):
        for i in range(len(x)):
            x[i] = rabbits(x[i])

    @numba.njit(**ENTRY)
    def count(x):
        fill(x)
        return x.sum()

    ages = np.arange(10.0)
    if count(ages) != 88.0 or ages.tolist() != [0.0, 1.0, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0]:
        raise ArithmeticError("a kernel that was compiled in stages returned wrong numbers")
    made, = count.overloads.values()
    made._reduce()
