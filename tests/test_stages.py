"""Kernels are compiled in stages with the installed Numba, and in Numba's own way with one that lacks the means."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

import leastaction as la
from leastaction.kernels import jit, so3

JIT = not numba.config.DISABLE_JIT
POSE = "import leastaction as la; print(*la.poses(la.library.pendulum(), [0.3]).ravel().tolist())"
LACKING = """
import sys
import numba.core.codegen
del numba.core.codegen.CPUCodeLibrary._optimize_functions
from leastaction.kernels import jit
assert "pipeline_class" not in jit.INNER and "pipeline_class" not in jit.ENTRY
numba.core.codegen.CPUCodeLibrary._optimize_functions = lambda self, module: None
"""


def test_installed_numba_has_the_means():
    assert "pipeline_class" in jit.INNER
    assert "pipeline_class" in jit.ENTRY


@pytest.mark.skipif(not JIT, reason="compiles")
def test_without_the_means_numbas_own_way(tmp_path):
    environment = {**os.environ, "LEASTACTION_CACHE": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", LACKING + POSE], env=environment, capture_output=True, check=True)
    expected = la.poses(la.library.pendulum(), [0.3]).ravel()
    np.testing.assert_allclose([float(x) for x in run.stdout.split()], expected, rtol=0, atol=1e-15)


@pytest.mark.skipif(not JIT, reason="compiles")
def test_inner_function_serves_others():
    """A function of somebody else can call an inner function, which stopped at intermediate code."""

    @numba.njit
    def other(x):
        return so3.half_angle(x)

    np.testing.assert_allclose(other(0.6), (np.cos(0.3), np.sin(0.3)), rtol=1e-15)
    assert type(so3.half_angle.overloads[numba.float64,].library).__name__ == "_Inner"


@pytest.mark.skipif(not JIT, reason="compiles")
def test_what_an_entry_takes_in_cannot_be_found_by_others():
    """An internal symbol would be found by its name when other code is linked, and called in place of its own."""

    @numba.njit(**jit.INNER)
    def rabbits(n):
        return n if n < 2.0 else rabbits(n - 1.0) + rabbits(n - 2.0)  # cannot be put in place entirely

    @numba.njit(**jit.ENTRY)
    def pairs(n):
        return rabbits(n)

    assert pairs(10.0) == 55.0
    functions = pairs.overloads[numba.float64,].library._final_module.functions
    linkages = {f.linkage.name for f in functions if "rabbits" in f.name and not f.is_declaration}
    assert linkages == {"private"}


@pytest.mark.skipif(not JIT, reason="compiles")
def test_callers_are_linked_before_what_they_call():
    """Else LLVM leaves out a function that is called by another alone, and calling it is a jump to nowhere."""

    @numba.njit(**jit.INNER)
    def twice(x):
        return x + x

    @numba.njit(**jit.INNER)
    def thrice(x):
        return x + twice(x)

    @numba.njit(**jit.ENTRY)
    def some(x):
        if x > 0.0:
            return thrice(x) if x > 0.0 else twice(x)  # LLVM finds that the entry itself never calls the latter
        return x

    some.compile((numba.float64,))
    functions = some.overloads[numba.float64,].library._final_module.functions
    assert not [f.name for f in functions if f.is_declaration and "twice" in f.name]
    assert some(2.0) == 6.0
