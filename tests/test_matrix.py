"""What `make matrix` reads from pyproject.toml and from pip, and which interpreters it believes."""

import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def matrix(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import matrix

    return matrix


def test_bounds_of_the_project_and_of_extras_in_extras(matrix):
    bounds = matrix.requirements(PROJECT)
    assert {"numpy", "numba", "matplotlib", "mujoco", "h5py", "typer", "viser"} < set(bounds)
    assert all(bounds.values())
    sample = {"name": "x", "dependencies": ["a>=1.2"],
              "optional-dependencies": {"all": ["x[b,c]"], "b": ["b-b>=2"], "c": ["x[b]", "c>=3.1"]}}
    assert matrix.requirements(sample) == {"a": "1.2", "b-b": "2", "c": "3.1"}


@pytest.mark.parametrize(("bound", "listed", "expected"), [
    ("1.26", ["1.25.2", "1.26.0", "2.0"], "1.26.0"),
    ("1.26", ["2.2.0", "2.10.0", "2.1.0rc1", "2.1.0"], "2.1.0"),
    ("0.9.1", ["0.10.0", "0.9.10", "0.9.2"], "0.9.2"),
    ("1.26", [], "1.26"),
])
def test_lowest_version_with_a_wheel(matrix, bound, listed, expected):
    assert matrix.lowest(bound, listed) == expected


def test_a_shim_is_no_interpreter(matrix, monkeypatch, tmp_path):
    """pyenv puts a python3.x on the path for versions that cannot be run."""
    shim = tmp_path / "shim"
    shim.write_text("#!/bin/sh\necho not installed\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    monkeypatch.setattr("shutil.which", lambda name: str(shim))
    assert matrix.find_python(version) is None
    monkeypatch.setattr("shutil.which", lambda name: sys.executable)
    assert matrix.find_python(version) is not None
    assert matrix.find_python("3.99") is None


def test_tests_that_are_chosen_exist(matrix):
    assert [path for path in matrix.TESTS if not (ROOT / path).exists()] == []


def test_failure_and_success_in_the_table(matrix):
    rows = [matrix.Row("3.11", "lowest", {"numba": "0.63.0"}, "5 passed", True),
            matrix.Row("3.12", "numba", {}, "cannot be installed: no wheel", False)]
    first, second = matrix.as_table(rows).splitlines()[2:]
    assert first.startswith("| 3.11 | lowest | 0.63.0 | – |") and first.endswith("| 5 passed |")
    assert second.startswith("| 3.12 | newest, Numba's own way | – |") and "no wheel" in second
