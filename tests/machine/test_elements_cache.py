"""Compiled code of forces that somebody else wrote: it is kept, never stale, and in nobody's way.

The energy stands for all loops: it is compiled in two seconds, and the classes, digests and indices are the same.
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
ASK = """
import leastaction as la
plain, model = la.library.pendulum(), la.library.pendulum()
model.add_force("magnet", Magnet(10.0))
print(round(la.energy(model) - -5.300365620566452, 9))
"""
PLAIN = "import leastaction as la; print(la.energy(la.library.pendulum()))"


def edited(strength):
    return PLUGIN.replace("STRENGTH = 2.0", f"STRENGTH = {strength}")


def said(process, energy, compiled):
    """Whether it printed this energy, and whether it had to compile; nothing else is on stderr."""
    assert float(process.stdout) == energy
    assert process.stderr.strip() == (ANNOUNCEMENT if compiled else "")


def test_plugin_in_a_file(tmp_path):
    """Kept for the next process, compiled anew when edited, found again when the edit is undone; and a process that
    cannot import the file goes on as if there were no such thing, though the index of the cache names its class."""
    cache, outside = tmp_path / "cache", tmp_path / "outside"
    outside.mkdir()
    path = os.pathsep.join([str(SOURCE.parent), str(outside)])
    ask = "from magnets import Magnet" + ASK

    def run(strength, code=ask):
        (outside / "magnets.py").write_text(edited(strength), encoding="utf-8")
        return python(code, cache, path)

    said(run(2.0), 20.0, True)
    said(run(2.0), 20.0, False)
    said(run(3.0), 30.0, True)
    (outside / "magnets.py").write_text("# a comment" + edited(2.0), encoding="utf-8")
    said(python(ask, cache, path), 20.0, False)
    (outside / "magnets.py").unlink()
    said(python(PLAIN, cache), -5.300365620566452, True)
    said(python(PLAIN, cache), -5.300365620566452, False)


def test_class_in_main_and_in_a_notebook(tmp_path):
    """A script is kept like a file. Definitions that follow each other in one process are each their own, and going
    back to the first compiles nothing."""
    script = PLUGIN + ASK
    said(python(script, tmp_path), 20.0, True)
    said(python(script, tmp_path), 20.0, False)
    said(python(edited(3.0) + ASK, tmp_path), 30.0, True)
    cells = [edited(strength) for strength in (2.0, 3.0, 5.0, 2.0)]
    verbs_only = "STRENGTH = 7.0\nelement(Magnets, impulse, potential)\nprint(la.energy(model) - la.energy(plain))"
    notebook = f"for cell in {cells}:\n    exec(cell + {ASK!r})\nexec({verbs_only!r})"
    process = python(notebook, tmp_path)
    assert [float(line) for line in process.stdout.split()] == pytest.approx([20.0, 30.0, 50.0, 20.0, 70.0])
    files = [re.search(r"energy_momentum-\d+", path.name) for path in tmp_path.rglob("*.nbc")]
    assert sum(map(bool, files)) == 5  # strengths 2, 3, 5, 7 and without elements


@pytest.mark.soak
def test_plugin_in_all_loops(tmp_path):
    """The same for the loop, the rescue and lanes, which take a minute to compile."""
    outside = tmp_path / "outside"
    outside.mkdir()
    path = os.pathsep.join([str(SOURCE.parent), str(outside)])
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
