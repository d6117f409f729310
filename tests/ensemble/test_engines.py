"""Every engine makes the same bits for every chunk size, whoever is killed meanwhile."""

import errno
import os
import signal
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor

import killing
import pytest
from killing import assert_same, begin, chunks, end_after, files, own_workers, study, wait_for

import leastaction as la
from leastaction.ensemble import engines, folder, pool


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The ensemble in one chunk, on one thread."""
    results = study(chunk=64).run(tmp_path_factory.mktemp("expected") / "e", progress=False, threads=1)
    assert 0 < len(results.failures) < 20
    assert 0 < (results.parameters["damping:link3"] == 0).sum() < killing.MEMBERS
    return results


@pytest.mark.parametrize("chunk", [7, 16])
def test_threads(tmp_path, expected, chunk):
    assert_same(study(chunk=chunk).run(tmp_path / "e", progress=False, threads=3), expected)


def test_default_chunk(tmp_path, expected):
    results = study(chunk=None).run(tmp_path / "e", progress=False)
    assert results.chunk & (results.chunk - 1) == 0
    assert_same(results, expected)


def test_processes_of_which_one_is_killed(tmp_path, expected, monkeypatch):
    monkeypatch.setenv(killing.PAUSE, "0.02")
    killer = killing.Killer(tmp_path / "e", own_workers, times=1)
    killer.start()
    results = study().run(tmp_path / "e", 2, progress=False)
    killer.join(0)
    assert len(killer.killed) == 1
    assert_same(results, expected)
    wait_for(lambda: not own_workers())


def test_executor_of_the_user(tmp_path, expected):
    with ThreadPoolExecutor(2) as executor:
        assert_same(study().run(tmp_path / "e", executor, progress=False), expected)
        assert executor.submit(abs, -1).result() == 1  # it is still the user's


def test_what_a_dead_worker_left_is_removed(tmp_path, monkeypatch):
    make, ended = engines.Threads.make, subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / "e" / "chunks" / f"00000002.h5.{folder._host()}.{ended.pid}.1.tmp"

    def leaving(self, task, numbers):
        for summary in make(self, task, numbers):
            left.touch()
            yield summary

    monkeypatch.setattr(engines.Threads, "make", leaving)
    study(members=8).run(tmp_path / "e", progress=False)
    assert not left.exists()


class Broken(ThreadPoolExecutor):
    """An executor that loses its fourth chunk."""

    calls = 0

    def submit(self, *given):
        self.calls += 1
        if self.calls != 4:
            return super().submit(*given)
        future = Future()
        future.set_exception(BrokenPipeError("the line is dead"))
        return future


def test_what_an_executor_raises_is_raised_and_the_folder_goes_on(tmp_path, expected):
    with Broken(1) as executor, pytest.raises(BrokenPipeError, match="the line is dead") as caught:
        study().run(tmp_path / "e", executor, progress=False)
    assert "members are in" in caught.value.__notes__[-1]
    assert "the same call makes the rest" in caught.value.__notes__[-1]
    assert 1 <= chunks(tmp_path / "e") < 8
    assert_same(study().run(tmp_path / "e", progress=False), expected)


def test_the_process_is_killed(tmp_path, expected):
    for _ in range(2):
        process = begin(tmp_path / "e")
        end_after(process, tmp_path / "e", 1)
        assert process.returncode == -signal.SIGKILL
    made = files(tmp_path / "e")
    assert 2 <= len(made) < 8
    results = study().run(tmp_path / "e", progress=False)
    assert_same(results, expected)
    assert made.items() <= files(tmp_path / "e").items()  # nothing is made twice


def test_ctrl_c(tmp_path, expected):
    process = begin(tmp_path / "e")
    said = end_after(process, tmp_path / "e", 2, signal.SIGINT)
    assert process.returncode == -signal.SIGINT or process.returncode == 130
    assert f"of 50 members are in {tmp_path / 'e'}: the same call makes the rest" in said.splitlines()[-1]
    assert 2 <= chunks(tmp_path / "e") < 8
    assert not list((tmp_path / "e").rglob("*.tmp"))
    assert_same(study().run(tmp_path / "e", progress=False), expected)


def test_full_disk(tmp_path, expected, monkeypatch):
    calls, sync = [], os.fsync

    def full(file):
        calls.append(file)
        if len(calls) > 8:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(file)

    monkeypatch.setattr(folder.os, "fsync", full)
    with pytest.raises(la.FileError, match=r"cannot write .*: No space left on device; choose .* A second run"):
        study().run(tmp_path / "e", progress=False)
    monkeypatch.undo()
    assert 1 <= chunks(tmp_path / "e") < 8
    assert_same(study().run(tmp_path / "e", progress=False), expected)


@pytest.mark.parametrize("damage", ["delete", "truncate"])
def test_a_damaged_chunk_is_remade_and_nothing_else(tmp_path, expected, damage):
    study().run(tmp_path / "e", progress=False)
    before, bad = files(tmp_path / "e"), tmp_path / "e" / "chunks" / "00000003.h5"
    if damage == "delete":
        bad.unlink()
    else:
        os.truncate(bad, bad.stat().st_size - 1)
    assert_same(study().run(tmp_path / "e", progress=False), expected)
    after = files(tmp_path / "e")
    assert after[bad.name][1] == before[bad.name][1]
    assert [name for name in before if before[name] != after[name]] == [bad.name]


def deadly(_rng):
    os._exit(3)


def test_a_chunk_that_ends_its_workers_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "DEATHS", 2)
    ensemble = la.Ensemble("chain:2", 8, {"mass:link1": deadly}, dt=1e-2, steps=4, chunk=8)
    with pytest.raises(RuntimeError, match=r"chunk 0 ended 2 worker processes \(exit code 3, exit code 3\)"):
        ensemble.run(tmp_path / "e", 1, progress=False)
    wait_for(lambda: not own_workers())


def test_errors_of_a_worker_are_raised(tmp_path):
    ensemble = la.Ensemble("chain:2", 8, {"mass:link1": lambda rng: 1 / 0}, dt=1e-2, steps=4, chunk=8)
    with pytest.raises(ZeroDivisionError) as caught:
        ensemble.run(tmp_path / "e", 1, progress=False)
    assert "raised by the function that vary has for 'mass:link1', for member 0" in caught.value.__notes__


def test_what_is_no_executor():
    with pytest.raises(ValueError, match="executor must be None, a number of processes"):
        engines.engine_of("dask", None)
    with pytest.raises(ValueError, match="executor must be a whole number of at least 1"):
        engines.engine_of(0, None)
