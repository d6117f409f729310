"""A second process compiles the search when nothing is compiled yet; whatever becomes of it, runs go on."""

import os
import subprocess
import sys

import numba
import pytest

import leastaction as la
from leastaction.kernels.machine import cache
from leastaction.simulation import ahead

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="compiles")
SCRIPT = "import leastaction as la; print(la.simulate(la.library.chain(2), dt=1e-3, steps=3, progress=False).q[-1])"


@pytest.fixture
def cold(monkeypatch):
    """As if nothing had been compiled yet."""
    monkeypatch.setattr(ahead, "_begun", set())
    monkeypatch.setattr(ahead, "_process", None)
    monkeypatch.setattr(ahead, "_worthwhile", lambda wanted: True)


def simulate():
    return la.simulate(la.library.chain(2), dt=1e-3, steps=3, progress=False)


def test_both_processes_report_and_the_result_is_the_same(tmp_path):
    environment = {**os.environ, "LEASTACTION_CACHE": str(tmp_path), "LEASTACTION_VERBOSE": "1",
                   "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, encoding="utf-8",
                          check=True)
    assert done.stderr.count("compiling kernels") == 1
    for name in ("loop.run", "search.usual_search"):
        assert done.stderr.count(f"compiled leastaction.kernels.{name} in") == 1
    assert done.stdout.strip() == str(simulate().q[-1])


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
