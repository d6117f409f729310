"""Files that cannot be written or read, and runs that end early: clear words, and nothing is lost."""

import os
import resource
import signal
import subprocess
import sys
import textwrap

import h5py
import numpy as np
import pytest
from runs import NODES, RANGES, broken_off, pair, same, step_law

import leastaction as la
from leastaction.files import checkpoint, reading, writer


@pytest.mark.parametrize("save", [False, True])
def test_a_step_that_fails_ends_the_file(path, save):
    whole = la.Variational(rescue=la.Rescue(max_substeps=1))
    options = {"steps": 1000, "integrator": whole, "on_failure": "truncate", "record_every": 3}
    memory = la.simulate(la.library.chain(10), dt=0.05, **options)
    if save:
        memory.save(path)
    else:
        la.simulate(la.library.chain(10), dt=0.05, out=path, **options)
    stored = la.open(path)
    same(memory, stored, NODES + RANGES)
    assert str(stored.failure) == str(memory.failure) and stored.tally == memory.tally
    np.testing.assert_array_equal(stored.failure.q, memory.failure.q)
    if not save:
        with pytest.raises(la.StepError, match=f"step {memory.failure.step} "):
            la.resume(path)


def test_two_writers_keep_out_of_each_others_way(path):
    broken_off(path)
    first = la.Simulator.restore(path)
    with writer.Writer(path, first, 7, 100), pytest.raises(la.FileError, match="written by another process"):
        la.resume(path, control=step_law)


def test_files_that_are_none_of_ours(path, tmp_path):
    with pytest.raises(la.FileError, match="there is no file"):
        la.open(path)
    path.write_text("not HDF5")
    with pytest.raises(la.FileError, match="not a file that leastaction wrote"):
        la.open(path)
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1
    with pytest.raises(la.FileError, match="not one of leastaction"):
        la.open(tmp_path / "other.h5")


def test_other_formats_and_layouts(path, monkeypatch):
    memory, _ = pair(path)
    monkeypatch.setattr(checkpoint, "layout_key", lambda: "another")
    same(memory, la.open(path), NODES)   # results can always be read
    with pytest.raises(la.FileError, match="only that version can go on"):
        la.Simulator.restore(path)
    monkeypatch.setattr(reading, "FORMAT", 99)
    with pytest.raises(la.FileError, match=r"has the format 2, made by leastaction .* reads format 99"):
        la.open(path)


@pytest.mark.skipif(sys.platform == "win32", reason="folders of other users")
def test_folder_that_may_not_be_written(tmp_path):
    model = la.library.chain(5)
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        for parent in (tmp_path, *tmp_path.parents[:3]):
            parent.chmod(parent.stat().st_mode | 0o055)
        os.seteuid(65534)   # root may write anywhere
    try:
        with pytest.raises(la.FileError, match=r"run\.h5: Permission denied; choose a folder"):
            la.simulate(model, steps=10, out=folder / "run.h5")
    finally:
        if root:
            os.seteuid(0)
    with pytest.raises(la.FileError, match="No such file or directory; choose a folder"):
        la.simulate(model, steps=10, out=tmp_path / "none" / "run.h5")


def test_full_disk_keeps_what_was_committed(path, monkeypatch):
    """After a while nothing more can be written, as on a full disk; when there is room again the run goes on."""
    monkeypatch.setattr(writer, "PATIENCE", 0.0)
    put, count = writer.Writer._put, 0

    def full(self, offset, data):
        nonlocal count
        count += 1
        if count > 200:
            raise OSError(28, "No space left on device")
        put(self, offset, data)

    monkeypatch.setattr(writer.Writer, "_put", full)
    with pytest.raises(la.FileError, match=r"No space left on device; what was committed, \d+ steps") as caught:
        la.simulate(la.library.chain(5), steps=20_000, dt=1e-3, record_every=7, out=path)
    part = la.open(path)
    assert 0 < part.steps < 20_000 and f"{part.steps} steps" in str(caught.value)
    monkeypatch.setattr(writer.Writer, "_put", put)
    same(la.resume(path), la.simulate(la.library.chain(5), steps=20_000, dt=1e-3, record_every=7), NODES)


def test_limit_on_the_size_of_files(path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(la.FileError, match=r"run\.h5: File too large"):
            la.simulate(la.library.chain(5), steps=100_000, out=path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(path.parent.iterdir()) == []


def test_ctrl_c_commits_first(path):
    code = textwrap.dedent(f"""
        import os, signal, sys
        import leastaction as la
        def law(t, q, v):
            if abs(t - 0.3) < 1e-9:
                os.kill(os.getpid(), signal.SIGINT)
            return 0.0 * v
        la.simulate(la.library.chain(5), dt=1e-3, steps=1000000, control=law, out={str(path)!r})
    """)
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in process.stderr
    assert 301 <= la.open(path).steps < 1_000_000


@pytest.mark.parametrize("every", [0, -1, 1.5])
def test_checkpoint_every_is_checked(path, every):
    with pytest.raises(ValueError, match="checkpoint_every must be a whole number"):
        la.simulate(la.library.pendulum(), steps=10, out=path, checkpoint_every=every)
    assert not path.exists()
