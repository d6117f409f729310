"""A second process compiles the search when nothing is compiled yet; whatever becomes of it, runs go on."""

import os
import re
import subprocess
import sys

import numba
import pytest

import leastaction as la
from leastaction.kernels import methods
from leastaction.kernels.constraints.step import Constrained
from leastaction.kernels.machine import cache
from leastaction.kernels.step import Variational
from leastaction.simulation import ahead
from reference.mechanisms import four_bar

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="compiles")
SCRIPT = """
import sys
from leastaction.kernels import search
assert not [name for name in sys.modules if ".constraints" in name or ".limits" in name]
from numba.core import event
import leastaction as la
compiled = set()
class Watch(event.Listener):
    def on_start(self, found):
        compiled.add(found.data["dispatcher"].py_func.__module__)
    def on_end(self, found):
        pass
with event.install_listener("numba:compile", Watch()):
    print(la.simulate(la.library.chain(2), dt=1e-3, steps=3, progress=False).q[-1])
print(*compiled)
"""


@pytest.fixture
def cold(monkeypatch):
    """As if nothing had been compiled yet."""
    monkeypatch.setattr(ahead, "_begun", set())
    monkeypatch.setattr(ahead, "_process", None)
    monkeypatch.setattr(ahead, "_worthwhile", lambda wanted: True)


def simulate():
    return la.simulate(la.library.chain(2), dt=1e-3, steps=3, progress=False)


def test_both_processes_report_and_the_result_is_the_same(tmp_path):
    """And nothing of loops, limits or the rescue is compiled for a tree: neither here, where the kernels call none of
    them, nor in the other process, which compiles the search, whose module imports none of them."""
    environment = {**os.environ, "LEASTACTION_CACHE": str(tmp_path), "LEASTACTION_VERBOSE": "1",
                   "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, encoding="utf-8",
                          check=True)
    assert done.stderr.count("compiling kernels") == 1
    for name in ("loop.run", "search.usual_search"):
        assert done.stderr.count(f"compiled leastaction.kernels.{name} in") == 1
    end, compiled = done.stdout.strip().rsplit("\n", 1)
    assert end == str(simulate().q[-1])
    assert {f"leastaction.kernels.{name}" for name in ("loop", "step", "sweep", "rnea")} <= set(compiled.split())
    assert not [name for name in compiled.split() if re.search(r"\.(constraints|limits|rescue)\b", name)]


def test_a_tree_is_stepped_by_the_method_without_rows():
    """With rows the loop is compiled for another class of methods; a model whose loops are gone has the plain one."""
    closed = four_bar()
    tree = la.Model.from_dict({key: value for key, value in closed.to_dict().items() if key != "loops"})
    for model, kind in ((closed, Constrained), (tree, Variational)):
        assert type(la.Simulator(model, dt=1e-3)._engine.method) is methods._known_as[kind]


def test_nothing_to_do_when_the_search_is_compiled():
    simulate()
    assert cache.is_kept(ahead.search.usual_search)
    assert not ahead._worthwhile(ahead.search.usual_search)


def test_no_process_can_be_started(cold, monkeypatch):
    def refuse(*args, **options):
        raise OSError("no more processes")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert len(simulate()) == 4


@pytest.mark.parametrize("code", ["raise SystemExit(1)", "import time; time.sleep(1000)"])
def test_process_that_fails_or_hangs(cold, monkeypatch, code):
    monkeypatch.setattr(ahead, "_CODE", code)
    monkeypatch.setattr(ahead, "PATIENCE", 0.5)
    assert len(simulate()) == 4
    assert ahead._process.poll() is not None


def test_program_with_python_in_it_is_not_started_again(monkeypatch):
    monkeypatch.setattr(cache, "is_kept", lambda function: False)
    monkeypatch.setattr(sys, "executable", "/opt/editor/editor")
    assert not ahead._worthwhile(ahead.search.search)
