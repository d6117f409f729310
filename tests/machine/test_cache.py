"""The first run says that it compiles, the second does not; a cache never serves another kernel; imports stay light."""

import ast
import os
import shutil
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest

import leastaction
from leastaction.kernels.machine import cache, jit

SOURCE = Path(leastaction.__file__).parent
ANNOUNCEMENT = "leastaction: compiling kernels for this kind of run, kept for next time…"
POSES = "import leastaction as la; print(la.poses(la.library.pendulum()).tolist())"
FOLDER = "from leastaction.kernels.machine import cache; print(cache.FOLDER)"


def python(code, cache, source=SOURCE.parent, **environment):
    """Run code in a fresh interpreter with a cache folder of its own."""
    passed = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "LEASTACTION_"))}
    passed |= {"LEASTACTION_CACHE": str(cache), "PYTHONPATH": str(source), "PYTHONIOENCODING": "utf-8", **environment}
    return subprocess.run(
        [sys.executable, "-c", code], env=passed, capture_output=True, encoding="utf-8", check=True)


def test_compiling_is_announced_on_the_first_run_only(tmp_path):
    first = python(POSES, tmp_path)
    assert first.stderr.count(ANNOUNCEMENT) == 1
    files = [file for file in sorted(tmp_path.rglob("*")) if file.is_file()]
    assert {file.suffix for file in files} == {".nbi", ".nbc", ""}
    for k, file in enumerate(files):  # every file at once, as after a power cut
        file.write_bytes(file.read_bytes()[:k])
    damaged = python(POSES, tmp_path)
    assert damaged.stdout == first.stdout
    assert damaged.stderr.count(ANNOUNCEMENT) == 1
    again = python(POSES, tmp_path)
    assert (again.stdout, again.stderr) == (first.stdout, "")


def test_kernels_read_nothing_of_the_package_that_is_not_in_the_key():
    for path in (SOURCE / "kernels").rglob("*.py"):
        depth = len(path.relative_to(SOURCE / "kernels").parts)  # so many dots are the folder of kernels
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level <= depth, path
                assert node.level or node.module.partition(".")[0] != "leastaction", path
            elif isinstance(node, ast.Import):
                assert all(name.name.partition(".")[0] != "leastaction" for name in node.names), path


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="the temporary folder is not used there")
def test_unwritable_cache_folder_falls_back(tmp_path):
    """A file where the folder should be cannot be written into, whoever runs the test."""
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    folder = python(FOLDER, blocked, TMPDIR=str(tmp_path)).stdout.strip()
    assert Path(folder).is_dir()
    assert Path(folder).is_relative_to(tmp_path)
    assert stat.S_IMODE(Path(folder).parent.stat().st_mode) == 0o700


TOO_OPEN, SYMLINK, ANOTHERS, NOT_STICKY = "writable by others", "symlink", "another user's", "in a folder of all"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="the temporary folder is not used there")
@pytest.mark.parametrize("why", [TOO_OPEN, SYMLINK, ANOTHERS, NOT_STICKY])
def test_temporary_folder_that_somebody_else_may_fill_is_not_used(tmp_path, monkeypatch, why):
    """Its name can be guessed, and what is in it is run."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    planted = tmp_path / f"leastaction-{os.getuid()}"
    if why == SYMLINK:
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        planted.symlink_to(tmp_path / "elsewhere")
    else:
        planted.mkdir(mode=0o700)
        assert cache._temporary_root() == planted
    if why == TOO_OPEN:
        planted.chmod(0o770)
    elif why == ANOTHERS:
        monkeypatch.setattr(cache, "_is_mine", lambda found: False)
    elif why == NOT_STICKY:
        tmp_path.chmod(0o777)
    assert cache._temporary_root() is None


def test_cache_of_another_user_is_not_used(tmp_path, monkeypatch):
    """As when a program runs as root and the home folder is still somebody's."""
    monkeypatch.delenv("LEASTACTION_CACHE", raising=False)
    monkeypatch.setattr(cache, "_user_cache", lambda: tmp_path)
    assert cache._usual_root() == tmp_path
    monkeypatch.setattr(cache, "_is_mine", lambda found: False)
    assert cache._usual_root() is None


def cubed(x):
    return x * x * x


def kept_anew():
    """The kernel as a fresh program has it: decorated, nothing in memory yet."""
    return jit.cached(partial(numba.njit, **jit.ENTRY), cubed)


def flipped(contents, where):
    return contents[:where] + bytes([contents[where] ^ 0xFF]) + contents[where + 1:]


DAMAGES = {
    "truncated": lambda contents: contents[:len(contents) // 2],
    "emptied": lambda contents: b"",
    "flipped": lambda contents: flipped(contents, len(contents) // 2),
    "flipped at the end": lambda contents: flipped(contents, len(contents) - 1),
    "of Numba": lambda contents: contents[32:],
}


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="compiles")
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_kernel_is_compiled_anew(tmp_path, monkeypatch, capfd, damage, suffix):
    monkeypatch.setattr(cache, "FOLDER", str(tmp_path))
    assert kept_anew()(2.0) == 8.0
    path, = tmp_path.rglob(f"*{suffix}")
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    after = kept_anew()
    assert after(2.0) == 8.0
    assert not after.stats.cache_hits
    assert str(path) in capfd.readouterr().err
    healed = kept_anew()
    assert healed(2.0) == 8.0
    assert healed.stats.cache_hits
    assert not capfd.readouterr().err


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="compiles")
def test_whatever_goes_wrong_while_loading(tmp_path, monkeypatch, capfd):
    def fail(self, target_context, payload):
        raise RuntimeError("no such symbol")

    monkeypatch.setattr(cache, "FOLDER", str(tmp_path))
    kept_anew()(2.0)
    monkeypatch.setattr(cache.KernelCache._impl_class, "rebuild", fail)
    assert kept_anew()(2.0) == 8.0
    assert "no such symbol" in capfd.readouterr().err


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="compiles")
def test_kernel_under_the_name_of_another_is_not_run(tmp_path, monkeypatch):
    """Two processes that save kernels for other arguments at the same time may choose the same file."""
    monkeypatch.setattr(cache, "FOLDER", str(tmp_path))
    both = kept_anew()
    assert (both(2.0), both(2)) == (8.0, 8)
    one, other = sorted(tmp_path.rglob("*.nbc"))
    shutil.copy(one, other)
    after = kept_anew()
    assert (after(2.0), after(2)) == (8.0, 8)
    assert sum(after.stats.cache_hits.values()) == 1


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="compiles")
def test_disk_that_is_full(tmp_path, monkeypatch, capfd):
    def refuse(self, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache, "FOLDER", str(tmp_path))
    monkeypatch.setattr(cache._CheckedFile, "_open_for_write", refuse)
    assert kept_anew()(2.0) == 8.0
    assert "cannot be kept for next time: [Errno 28] No space left" in capfd.readouterr().err


def test_announcement_when_nothing_can_be_kept(monkeypatch, capsys):
    monkeypatch.setattr(cache, "FOLDER", "")
    dispatcher = SimpleNamespace(py_func=jit.cached)
    announcer = jit._Announcer()
    announcer.on_start(SimpleNamespace(data={"dispatcher": dispatcher}))
    announcer.on_end(SimpleNamespace(data={"dispatcher": dispatcher}))
    assert "anew at each start: set LEASTACTION_CACHE to a folder" in capsys.readouterr().err


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
