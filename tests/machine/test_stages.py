"""Kernels are compiled in stages with the installed Numba, and in Numba's own way with one that lacks the means."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest

import leastaction as la
from leastaction.kernels.machine import cache, compilers, jit, stages
from leastaction.kernels.maths import so3

JIT = not numba.config.DISABLE_JIT
STAGED = JIT and os.environ.get("LEASTACTION_STAGES", "1") != "0"
OWN_WAY = """
import json
from test_stages import compute
from leastaction.kernels.machine import compilers
print(json.dumps(compute()))
assert compilers.usable_stages() is None
"""


def compute():
    """Numbers of a chain and of a tree that take two small kernels."""
    found = []
    for model in (la.library.chain(3), la.library.tree(2, joint="revolute")):
        q, v = np.linspace(0.1, 1.0, model.nq), np.linspace(1.0, -1.0, model.nv)
        found += [la.poses(model, q).ravel().tolist(), la.inverse_dynamics(model, q, v, v).tolist()]
    return found


@pytest.fixture
def undecided(tmp_path, monkeypatch):
    """As in a new program with an empty cache, whose folder it gives."""
    monkeypatch.setattr(cache, "FOLDER", str(tmp_path))
    monkeypatch.setattr(compilers, "_is_decided", False)
    monkeypatch.setattr(compilers, "_stages", None)
    monkeypatch.setattr(compilers, "_parts", [])
    monkeypatch.delenv("LEASTACTION_STAGES", raising=False)
    return tmp_path


@pytest.mark.skipif(not JIT, reason="compiles")
def test_installed_numba_has_the_means(undecided, monkeypatch):
    """The trial is made once; later programs believe the cache."""
    assert compilers.usable_stages() is stages
    assert (undecided / "stages").read_text() == "yes"
    monkeypatch.setattr(compilers, "_is_decided", False)
    monkeypatch.setattr(compilers, "_try", None)
    assert compilers.usable_stages() is stages


@pytest.mark.skipif(not JIT, reason="compiles")
@pytest.mark.parametrize("what", ["_optimize_final_module", "take_in"])
def test_numba_that_lacks_something_is_noticed_before_a_kernel_is_compiled(undecided, monkeypatch, what):
    """As Numba 0.62, which has all methods that are overridden but not what they use."""
    def fail(self):
        raise AttributeError("'_Whole' object has no attribute '_reload_init'")

    part = SimpleNamespace(targetoptions={})
    monkeypatch.setattr(compilers, "_parts", [part])
    monkeypatch.setattr(stages._Whole, what, fail)

    @numba.njit(**jit.ENTRY)
    def doubled(x):
        return x + x

    assert doubled(2.0) == 4.0
    assert not isinstance(doubled.overloads[numba.float64,].library, stages._Whole)
    assert (undecided / "stages").read_text().startswith("no: AttributeError")
    assert part.targetoptions == {"inline": "always"}
    monkeypatch.undo()
    monkeypatch.setattr(cache, "FOLDER", str(undecided))
    monkeypatch.setattr(compilers, "_is_decided", False)
    monkeypatch.setattr(compilers, "_stages", None)
    monkeypatch.setattr(compilers, "_parts", [])
    assert compilers.usable_stages() is None  # remembered


def test_numba_without_a_module_that_is_imported(undecided, monkeypatch):
    monkeypatch.setitem(sys.modules, "leastaction.kernels.machine.stages", None)
    assert compilers.usable_stages() is None
    assert (undecided / "stages").read_text().startswith("no: ModuleNotFoundError")


def test_interrupted_trial_decides_nothing(undecided, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(compilers, "_try", interrupt)
    with pytest.raises(KeyboardInterrupt):
        compilers.usable_stages()
    assert not compilers._is_decided
    assert not list(undecided.iterdir())


@pytest.mark.skipif(not JIT, reason="compiles")
def test_numbas_own_way_gives_the_same_bits(tmp_path):
    """Of lanes and whole runs it is `make matrix` that runs this way too: they take a minute to compile by it."""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "LEASTACTION_CACHE": str(tmp_path), "LEASTACTION_STAGES": "0", "PYTHONPATH": path}
    run = subprocess.run([sys.executable, "-c", OWN_WAY], env=environment, capture_output=True, check=True)
    assert json.loads(run.stdout) == compute()


@pytest.mark.skipif(not STAGED, reason="is about code that was compiled in stages")
def test_inner_function_serves_others():
    """A function of somebody else can call an inner function, which stopped at intermediate code."""

    @numba.njit
    def other(x):
        return so3.half_angle(x)

    np.testing.assert_allclose(other(0.6), (np.cos(0.3), np.sin(0.3)), rtol=1e-15)
    assert type(so3.half_angle.overloads[numba.float64,].library).__name__ == "_Inner"


@pytest.mark.skipif(not STAGED, reason="is about code that was compiled in stages")
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
def test_linking_keeps_what_is_called_by_inner_functions_only():
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


@pytest.mark.skipif(not STAGED, reason="is about code that was compiled in stages")
@pytest.mark.parametrize("given", [None, 3.0])
def test_one_branch_is_compiled_of_an_argument_that_may_be_none(given):
    """None has no square root and no sum with a number: the other branch would not compile."""

    @numba.njit(**jit.INNER)
    def chosen(c, x):
        if c is None:
            return x if c is None or x < c else math.sqrt(c)
        return (x + c if c is not None else c.nothing) + (c if c is None and c.nothing else 0.0)

    @numba.njit(**jit.ENTRY)
    def outer(c, x):
        return chosen(c, x)

    assert outer(given, 2.0) == (2.0 if given is None else 5.0)
