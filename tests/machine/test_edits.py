"""An edited kernel is never run from old code, whichever file of which folder was edited."""

import shutil
from pathlib import Path

import numba
import pytest
from test_cache import SOURCE, python

from leastaction.kernels.machine import cache

# What is run: of each folder of kernels a tiny entry that is compiled in a fraction of a second, and of the kernels
# themselves a question about a model. The entries are in a file that nobody edits: Numba itself would notice an edit in
# the file of the function that Python calls.
ENTRIES = """
from collections import namedtuple
import numpy as np
import leastaction as la
from leastaction.kernels.constraints import filling
from leastaction.kernels.constraints.kinds import markers
from leastaction.kernels.elements import damper
from leastaction.kernels.explicit import dormand_prince_error
from leastaction.kernels.joints import screw
from leastaction.kernels.limits import events
from leastaction.kernels.machine import cache
from leastaction.kernels.machine.jit import entry
from leastaction.kernels.machine.simd import numbers
from leastaction.kernels.maths import vec3
from leastaction.kernels.peers import linear
from leastaction.kernels.retractions import split

Link = namedtuple("Link", "axis_turn axis_move damping")
LINK, ONES = Link((1.0, 2.0, 3.0), (4.0, 5.0, 6.0), 7.0), np.ones(9)

@entry
def constraints(x):
    return filling.way(x)

@entry
def kinds(x):
    return markers.width(numbers(x), 0)

@entry
def elements(L):
    return damper.force(L, 2.0)

@entry
def explicit(x):
    return dormand_prince_error.mean_square(numbers(x), numbers(x), 4)

@entry
def joints(L, x):
    return screw.twist(L, numbers(x), 0)

@entry
def limits(x):
    return events.first_trial(x, -1.0, 2.0, 3.0)

@entry
def product(x, count):
    return linear.dot_row(numbers(x), 0, numbers(x), count)

@entry
def maths(x):
    return vec3.sym_commutator(x, (*x, *x))

@entry
def retractions(x):
    return split.rotation_derivative(x, 0.1)

def energy():
    model = la.library.pendulum()
    model.add_force("tie", la.Spring(*model.names, point=(1, 0, 0), other_point=(3, 0, 0), stiffness=10.0, rest=0.5))
    return la.energy(model, [0.1], [1.0])
"""

# In each folder of kernels, something on which what is printed depends: what is run, file, text, other text. No other
# call prints another number by this edit.
CONSTANTS = {
    ".": ("energy()", "rnea.py", "return 0.5 * twice", "return 0.75 * twice"),
    "constraints": ("constraints((1.0, 2.0, 3.0))", "filling.py", "return abs(x[0]) + abs(x[1]) + abs(x[2])",
                    "return abs(x[0]) + abs(x[1])"),
    "constraints/kinds": ("kinds(ONES)", "markers.py", "return abs(x) + abs(y) + abs(z)", "return abs(x) + abs(y)"),
    "elements": ("elements(LINK)", "damper.py", "return L.damping * rate", "return 2.0 * L.damping * rate"),
    "explicit": ("explicit(ONES)", "dormand_prince_error.py", "return total / width", "return 2.0 * total / width"),
    "joints": ("joints(LINK, ONES)", "screw.py", "scale(rates[k], L.axis_move)",
               "scale(2.0 * rates[k], L.axis_move)"),
    "limits": ("limits(1.0)", "events.py", "return one * hi", "return 0.5 * one * hi"),
    "machine": ("product(ONES, 8)", "float4.py", "builder.fadd(builder.fadd(a, b), builder.fadd(c, d))",
                "builder.fadd(a, builder.fadd(c, d))"),
    "maths": ("maths((1.0, 2.0, 3.0))", "vec3.py", "return (y - z, z - x, x - y,", "return (y + z, z - x, x - y,"),
    "peers": ("product(ONES, 3)", "linear.py", "result, done = 0.0, 0", "result, done = 1.0, 0"),
    "retractions": ("retractions((1.0, 2.0, 3.0))", "split.py", "mat_scale(-0.5, hat(turn))",
                    "mat_scale(0.5, hat(turn))"),
}


def test_every_folder_of_kernels_has_a_constant():
    kernels = SOURCE / "kernels"
    folders = {path.parent.relative_to(kernels).as_posix() for path in kernels.rglob("*.py")}
    assert folders == set(CONSTANTS)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="compiles")
def test_an_edit_in_any_folder_is_never_run_from_old_code(tmp_path, monkeypatch):
    """Each edit changes the key, and the first key comes back with the text. With all edits, each call prints another
    number. Numba itself checks the file of the function that Python calls, and no other."""
    package = tmp_path / "leastaction"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "entries.py").write_text(ENTRIES, encoding="utf-8")
    for name in ("LEASTACTION_SIMD", "LEASTACTION_STAGES"):
        monkeypatch.delenv(name, raising=False)  # as python() does
    monkeypatch.setattr(cache, "__file__", str(package / "kernels" / "machine" / "cache.py"))

    calls = [call for call, *_ in CONSTANTS.values()]
    code = "from entries import *\n" + "\n".join(f"print({call})" for call in (*calls, "cache.FOLDER"))

    def run():
        """What a fresh process prints: a line for each call, then the cache folder, whose name is the key."""
        process = python(code, tmp_path / "cache", tmp_path)
        *numbers, folder = process.stdout.splitlines()
        assert Path(folder).name == cache._key()
        return process, numbers

    first, before = run()
    keys, texts = {cache._key()}, {}
    for folder, (_, name, old, new) in CONSTANTS.items():
        edited = package / "kernels" / folder / name
        texts[edited] = text = edited.read_text(encoding="utf-8")
        assert text.count(old) == 1, folder
        edited.write_text(text.replace(old, new), encoding="utf-8")
        keys.add(cache._key())
        edited.write_text(text, encoding="utf-8")
    assert len(keys) == 1 + len(CONSTANTS) == 1 + len(texts)
    for (_, _, old, new), (edited, text) in zip(CONSTANTS.values(), texts.items(), strict=True):
        edited.write_text(text.replace(old, new), encoding="utf-8")
    for folder, number, other in zip(CONSTANTS, before, run()[1], strict=True):
        assert number != other, folder
    for edited, text in texts.items():
        edited.write_text(text, encoding="utf-8")
    saved = count_of_kernels(tmp_path)
    again, _ = run()
    assert (again.stdout, again.stderr) == (first.stdout, "")
    assert count_of_kernels(tmp_path) == saved


def count_of_kernels(path):
    return len(list(path.rglob("*.nbc")))
