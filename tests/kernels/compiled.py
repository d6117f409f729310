"""How tests reach kernels: compiled, as the library runs them, or as plain Python on numbers of any type."""

import importlib.util
import sys
from functools import cache
from pathlib import Path

import numba

from leastaction import kernels
from leastaction.kernels.machine.memory import link
from leastaction.kernels.machine.simd import numbers

EPS = 2.0**-52
JIT = not numba.config.DISABLE_JIT


@cache
def call(kernel):
    """Give a kernel a Python entry point; compiled kernels have none of their own."""
    if not JIT:
        return kernel

    @numba.njit
    def enter(*args):
        return kernel(*args)

    return enter


@cache
def call_with_link(kernel):
    """The same for a kernel whose first argument is a link: give it the memory of one."""

    def enter(w, *args):
        return kernel(link(numbers(w), 0), *args)

    return numba.njit(enter) if JIT else enter


@cache
def plain(module):
    """A second copy of a kernel module, not compiled even where the library is."""
    name, folder = "plain_kernels", Path(kernels.__file__).parent
    before, numba.config.DISABLE_JIT = numba.config.DISABLE_JIT, 1
    try:
        if name not in sys.modules:
            spec = importlib.util.spec_from_file_location(
                name, folder / "__init__.py", submodule_search_locations=[str(folder)])
            sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules[name])
        return importlib.import_module(f"{name}.{module}")
    finally:
        numba.config.DISABLE_JIT = before
