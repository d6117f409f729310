"""The first run says that it compiles, the second does not; a cache never serves another kernel; imports stay light."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import leastaction

SOURCE = Path(leastaction.__file__).parent
ANNOUNCEMENT = "leastaction: compiling kernels for this kind of run, kept for next time…"
POSES = "import leastaction as la; la.poses(la.library.pendulum())"
FOLDER = "from leastaction.kernels import jit; print(jit.CACHE_FOLDER)"


def python(code, cache, source=SOURCE.parent, **environment):
    """Run code in a fresh interpreter with a cache folder of its own."""
    passed = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "LEASTACTION_"))}
    passed |= {"LEASTACTION_CACHE": str(cache), "PYTHONPATH": str(source), "PYTHONIOENCODING": "utf-8", **environment}
    return subprocess.run(
        [sys.executable, "-c", code], env=passed, capture_output=True, encoding="utf-8", check=True)


def test_compiling_is_announced_on_the_first_run_only(tmp_path):
    assert python(POSES, tmp_path).stderr.count(ANNOUNCEMENT) == 1
    assert list(tmp_path.rglob("*.nbi"))
    assert ANNOUNCEMENT not in python(POSES, tmp_path).stderr


@pytest.mark.parametrize("name", ["vec3.py", "drnea.py"])
def test_cache_folder_follows_the_source_of_every_kernel(tmp_path, name):
    shutil.copytree(SOURCE, tmp_path / "leastaction", ignore=shutil.ignore_patterns("__pycache__"))
    before = python(FOLDER, tmp_path / "cache", tmp_path).stdout
    assert python(FOLDER, tmp_path / "cache", tmp_path).stdout == before
    edited = tmp_path / "leastaction" / "kernels" / name
    edited.write_text(edited.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")
    assert python(FOLDER, tmp_path / "cache", tmp_path).stdout != before


def test_unwritable_cache_folder_falls_back(tmp_path):
    """A file where the folder should be cannot be written into, whoever runs the test."""
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    folder = python(FOLDER, blocked, TMPDIR=str(tmp_path)).stdout.strip()
    assert Path(folder).is_dir()
    assert Path(folder).is_relative_to(tmp_path)


@pytest.mark.parametrize(("code", "heavy"), [
    ("import leastaction", {"numpy", "numba"}),
    ("import leastaction; leastaction.simulate", {"matplotlib", "mujoco", "h5py", "typer", "tqdm"}),
], ids=["import", "simulate"])
def test_import_is_light(tmp_path, code, heavy):
    assert python(f"import sys; {code}; print({heavy} & set(sys.modules))", tmp_path).stdout.strip() == "set()"


@pytest.mark.parametrize("arguments", [["--help"], ["simulate", "--help"], ["simulate", "chian"],
                                       ["doctor", "--help"]], ids=" ".join)
def test_the_command_answers_without_importing_the_world(tmp_path, arguments):
    code = f"""
import atexit, sys
atexit.register(lambda: print({{"numba", "matplotlib", "mujoco", "h5py"}} & set(sys.modules)))
sys.argv[1:] = {arguments}
from leastaction.cli import main
try:
    main()
except SystemExit:
    pass
"""
    assert python(code, tmp_path).stdout.splitlines()[-1] == "set()"
