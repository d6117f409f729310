"""Every example runs; its assertions are its own."""

import importlib.metadata
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)   # what they draw goes there
    yield tmp_path
    plt.close("all")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path):
    runpy.run_path(str(path), run_name="__main__")


def test_the_arm_runs_without_the_panda(monkeypatch, capsys):
    """Where its package is not installed, an arm built in its place passes the same assertions, and that is said."""
    def missing(package):
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(importlib.metadata, "files", missing)
    (path,) = (path for path in EXAMPLES if path.stem == "20_arm_with_payload")
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.startswith("The package example-robot-data is not installed")


def test_there_are_examples():
    assert len(EXAMPLES) >= 10

