"""Ensembles under fire: workers and processes killed all the time, and a million members. `make soak` prints with -s.

The small versions of these tests are in tests/ensemble. Run as a script, ``python test_ensembles.py FOLDER CHUNK``,
this makes the ensemble that is disturbed under threads.
"""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import psutil
import pytest

sys.path.append(str(Path(__file__).parents[1] / "ensemble"))
import killing
from killing import assert_same, chunks, wait_for

import leastaction as la
from leastaction.ensemble.pool import SERVE

pytestmark = [pytest.mark.soak, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

MEMBERS, MODEL, STEPS = 10_000, "chain:10", 500
FEW = {7: 8, 64: 8, 1000: 4}     # kills for each size of chunks, where each kill ends all that runs
MANY = {7: 20, 64: 20, 1000: 5}  # where it ends one worker of two; each waits for another chunk, and 1000 makes ten
MILLION = 1_000_000


def study(chunk):
    return killing.study(MEMBERS, chunk, MODEL, dt=2e-3, steps=STEPS, record_every=25)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The ensemble undisturbed, in chunks of 256."""
    began = time.perf_counter()
    results = study(256).run(tmp_path_factory.mktemp("expected") / "e", progress=False)
    print(f"\nundisturbed: {time.perf_counter() - began:.0f} s, {len(results.failures)} members failed")
    assert 0 < len(results.failures) < MEMBERS // 5
    assert 0 < (results.parameters["damping:link3"] == 0).sum() < MEMBERS
    return results


def moments(chunk, seed):
    """Give times to wait, s, so that some kills find a chunk half made, and some between two."""
    rng = random.Random(seed)
    while True:
        yield rng.random() * min(1.0, 5e-4 * chunk + 0.02)


def children(text):
    """Process ids of the processes under this one whose command has a text, those that have computed most first."""
    found = []
    for child in psutil.Process().children(recursive=True):
        try:
            if text in " ".join(child.cmdline()):
                found.append((child.cpu_times().user, child.pid))
        except psutil.Error:
            continue
    return [pid for _, pid in sorted(found, reverse=True)]


class Killer(threading.Thread):
    """Kills the worker that has computed most, whenever another chunk is there.

    One that is still starting is spared: Dask gives it up, and three of them would be blamed on their chunk.

    Parameters
    ----------
    folder : of the ensemble
    workers : returns the process ids, in the order in which to kill
    times : how often
    waits : gives times to wait after each chunk, s
    """

    def __init__(self, folder, workers, times, waits):
        super().__init__(daemon=True)
        self.folder, self.workers, self.times, self.waits, self.killed = folder, workers, times, waits, []

    def run(self):
        while len(self.killed) < self.times:
            last = chunks(self.folder)
            while chunks(self.folder) <= last:
                time.sleep(0.002)
            time.sleep(next(self.waits))
            alive = [pid for pid in self.workers() if pid not in self.killed]
            if alive:
                os.kill(alive[0], signal.SIGKILL)
                self.killed.append(alive[0])


def report(name, chunk, kills, began):
    print(f"{name}, chunks of {chunk}: {kills} kills, {time.perf_counter() - began:.0f} s, bit-identical")


@pytest.mark.parametrize("chunk", FEW)
def test_threads_whose_process_is_killed(tmp_path, expected, chunk):
    began, waits = time.perf_counter(), moments(chunk, 1)
    places = os.pathsep.join([str(Path(la.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    for _ in range(FEW[chunk]):
        last = chunks(tmp_path / "e")
        process = subprocess.Popen([sys.executable, __file__, str(tmp_path / "e"), str(chunk)],
                                   env={**os.environ, "PYTHONPATH": places})
        wait_for(lambda last=last, process=process: chunks(tmp_path / "e") > last or process.poll() is not None, 600.0)
        time.sleep(next(waits))
        process.kill()
        assert process.wait(60) == -signal.SIGKILL
    assert chunks(tmp_path / "e") < -(-MEMBERS // chunk)
    assert_same(study(chunk).run(tmp_path / "e", progress=False), expected)
    report("threads, the process killed", chunk, FEW[chunk], began)


@pytest.mark.parametrize("chunk", MANY)
def test_processes_of_which_some_are_killed(tmp_path, expected, chunk):
    began = time.perf_counter()
    killer = Killer(tmp_path / "e", lambda: children(SERVE), MANY[chunk], moments(chunk, 2))
    killer.start()
    results = study(chunk).run(tmp_path / "e", 2, progress=False)
    assert len(killer.killed) == MANY[chunk]
    assert_same(results, expected)
    report("processes, workers killed", chunk, MANY[chunk], began)


@pytest.mark.parametrize("chunk", MANY)
def test_dask_whose_workers_are_killed(tmp_path, expected, chunk):
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    began = time.perf_counter()
    # By default LocalCluster gives a worker up that is away, killed again, 15 s after it was killed
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}), \
            distributed.LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
                                     silence_logs=50) as cluster, distributed.Client(cluster) as client:
        killer = Killer(tmp_path / "e", lambda: children("spawn_main"), MANY[chunk], moments(chunk, 3))
        killer.start()
        results = study(chunk).run(tmp_path / "e", client, progress=False)
    assert len(killer.killed) == MANY[chunk]
    assert_same(results, expected)
    report("Dask, workers killed", chunk, MANY[chunk], began)


@pytest.mark.parametrize("chunk", FEW)
def test_an_executor_of_the_user_that_breaks(tmp_path, expected, chunk):
    began, waits = time.perf_counter(), moments(chunk, 4)
    for _ in range(FEW[chunk]):
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
            killer = Killer(tmp_path / "e", lambda: children("spawn_main"), 1, waits)
            killer.start()
            with pytest.raises(BrokenProcessPool) as caught:
                study(chunk).run(tmp_path / "e", executor, progress=False)
        assert "the same call makes the rest" in caught.value.__notes__[-1]
    assert chunks(tmp_path / "e") < -(-MEMBERS // chunk)
    assert_same(study(chunk).run(tmp_path / "e", progress=False), expected)
    report("the user's executor, broken", chunk, FEW[chunk], began)


def test_a_million_members(tmp_path):
    """A million pendulums for a second, their start and end, and the statistics; memory stays where it was."""
    vary = {"q": la.Uniform(around=1.0), "mass:*": la.Normal(relative=0.05)}
    options = {"dt": 1e-2, "steps": 100, "record_every": 100}
    la.Ensemble("pendulum", 64, vary, **options).run(tmp_path / "warm", 2, progress=False)
    memory, done = [], threading.Event()

    def look():
        while not done.wait(0.5):
            workers = [psutil.Process(pid).memory_info().rss for pid in children(SERVE)]
            if len(workers) == 2:  # before and after, the plan and the file over all chunks are written
                memory.append((psutil.Process().memory_info().rss, sum(workers)))

    watch = threading.Thread(target=look, daemon=True)
    watch.start()
    began = time.perf_counter()
    results = la.Ensemble("pendulum", MILLION, vary, **options).run(tmp_path / "e", 2, progress=False)
    seconds = time.perf_counter() - began
    done.set()
    watch.join()
    statistics = results.statistics
    size = sum(path.stat().st_size for path in (tmp_path / "e").rglob("*") if path.is_file())
    (here, workers), (here_later, workers_later) = (
        (max(column) for column in zip(*part, strict=True))
        for part in (memory[len(memory) // 10 : len(memory) // 4], memory[-len(memory) // 4 :]))
    print(f"\n{MILLION} members: {seconds:.0f} s in chunks of {results.chunk}, {size / 1e6:.0f} MB; this process "
          f"{here / 1e6:.0f} MB, later {here_later / 1e6:.0f} MB; two workers {workers / 1e6:.0f} MB, later "
          f"{workers_later / 1e6:.0f} MB; mean energy {statistics.mean['energy']} J")
    assert not results.missing and not results.failures
    assert (statistics.count == MILLION).all()
    # What is drawn about 1 rad has the moments of the uniform distribution
    assert abs(statistics.mean["q"][0, 0] - results.model.q0[0]) < 5 / (3 * MILLION) ** 0.5
    assert abs(statistics.variance["q"][0, 0] - 1 / 3) < 5 * (4 / 45 / MILLION) ** 0.5
    assert here_later - here < 30e6 and workers_later - workers < 30e6


if __name__ == "__main__":
    study(int(sys.argv[2])).run(sys.argv[1], progress=False)
