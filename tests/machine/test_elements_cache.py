"""Compiled code of forces that somebody else wrote: it is kept, never stale, and in nobody's way.

The energy of the forces alone stands for all loops: it is compiled in a moment, and the classes, digests and indices
are the same.
"""

import os
import re

import numba
import pytest
from test_cache import ANNOUNCEMENT, SOURCE, python

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="compiles")

PLUGIN = """
from dataclasses import dataclass
from typing import NamedTuple
import leastaction as la
from leastaction.kernels.elements import Link, Real, element
from leastaction.kernels.machine.simd import number

STRENGTH = 2.0

class Magnets(NamedTuple):
    link: Link
    size: Real

def impulse(magnets, tree, w, h):
    pass

def potential(magnets, tree, w):
    energy = number(w, 0.0)
    for k in range(len(magnets.link)):
        energy += STRENGTH * magnets.size[k]
    return energy

element(Magnets, impulse, potential)

@dataclass(frozen=True, eq=False)
class Magnet(la.Force):
    size: float

    def tables(self, places):
        yield Magnets([0], [self.size])
"""
# In a file that nobody edits: Numba itself would notice an edit in the file of the function that Python calls.
STORED = """
from leastaction.compiled import compile_model
from leastaction.kernels.elements import with_potentials
from leastaction.kernels.machine.jit import entry
from leastaction.kernels.machine.memory import system_as_views
from leastaction.kernels.machine.simd import numbers

@entry
def stored(system, w):
    system = system_as_views(system)
    return with_potentials(1.0, system.elements, system.tree, numbers(w))

def energy(model):
    c = compile_model(model)
    return stored(c.system, c.workspace()) - 1.0
"""
ASK = """
import leastaction as la
from stored import energy
plain, model = la.library.pendulum(), la.library.pendulum()
model.add_force("magnet", Magnet(10.0))
print(energy(model))
"""
PLAIN = "import leastaction as la; from stored import energy; print(energy(la.library.pendulum()))"


def edited(strength):
    return PLUGIN.replace("STRENGTH = 2.0", f"STRENGTH = {strength}")


def said(process, energy, compiled):
    """Whether it printed this energy, and whether it had to compile; nothing else is on stderr."""
    assert float(process.stdout) == energy
    assert process.stderr.strip() == (ANNOUNCEMENT if compiled else "")


@pytest.fixture
def outside(tmp_path):
    """A folder from which processes import; the cache is another one."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "stored.py").write_text(STORED, encoding="utf-8")
    return folder


def path_to(folder):
    return os.pathsep.join([str(SOURCE.parent), str(folder)])


def test_plugin_in_a_file(tmp_path, outside):
    """Kept for the next process, compiled anew when edited, found again when the edit is undone; and a process that
    cannot import the file goes on as if there were no such thing, though the index of the cache names its class."""
    cache, path = tmp_path / "cache", path_to(outside)
    ask = "from magnets import Magnet" + ASK

    def run(strength, comment=""):
        (outside / "magnets.py").write_text(comment + edited(strength), encoding="utf-8")
        return python(ask, cache, path)

    said(run(2.0), 20.0, True)
    said(run(3.0), 30.0, True)
    said(run(2.0, "# a comment"), 20.0, False)
    (outside / "magnets.py").unlink()
    said(python(PLAIN, cache, path), 0.0, True)
    said(python(PLAIN, cache, path), 0.0, False)


def test_class_in_main_and_in_a_notebook(tmp_path, outside):
    """A script is kept like a file. Definitions that follow each other in one process are each their own, and going
    back to the first compiles nothing."""
    cache, path, script = tmp_path / "cache", path_to(outside), PLUGIN + ASK
    said(python(script, cache, path), 20.0, True)
    said(python(script, cache, path), 20.0, False)
    said(python(edited(3.0) + ASK, cache, path), 30.0, True)
    cells = [edited(strength) for strength in (2.0, 3.0, 5.0, 2.0)]
    verbs_only = "STRENGTH = 7.0\nelement(Magnets, impulse, potential)\nprint(energy(model) - energy(plain))"
    notebook = f"for cell in {cells}:\n    exec(cell + {ASK!r})\nexec({verbs_only!r})"
    process = python(notebook, cache, path)
    assert [float(line) for line in process.stdout.split()] == pytest.approx([20.0, 30.0, 50.0, 20.0, 70.0])
    files = [re.search(r"stored\.stored-\d+", path.name) for path in cache.rglob("*.nbc")]
    assert sum(map(bool, files)) == 5  # strengths 2, 3, 5, 7 and without elements


@pytest.mark.soak
def test_plugin_in_all_loops(tmp_path, outside):
    """The same for the loop, the rescue and lanes, which take a minute to compile."""
    path = path_to(outside)
    ask = """
import numpy as np
import leastaction as la
from magnets import Magnet
model = la.library.chain(10)
model.add_force("magnet", Magnet(10.0))
run = la.simulate(model, dt=1e-2, steps=300)
many = la.simulate_many(model, v=np.zeros((2, 10)), dt=1e-2, steps=5)
assert (run.substeps > 1).any()
print(run.energy[0], many.energy[0, 0])
"""
    first = []
    for strength, compiled in ((2.0, True), (2.0, False), (3.0, True), (2.0, False)):
        (outside / "magnets.py").write_text(edited(strength), encoding="utf-8")
        process = python(ask, tmp_path / "cache", path)
        assert (ANNOUNCEMENT in process.stderr) == compiled
        first.append([float(energy) for energy in process.stdout.split()])
    assert first == [[20.0, 20.0], [20.0, 20.0], [30.0, 30.0], [20.0, 20.0]]
