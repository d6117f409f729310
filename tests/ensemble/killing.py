"""An ensemble to be disturbed, what disturbs it, and the comparison with one that was not.

Run as a script, ``python killing.py FOLDER [SECONDS A MEMBER]``, it makes the ensemble under threads.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil

import leastaction as la
from leastaction.ensemble.pool import SERVE

MEMBERS = 50
PAUSE = "KILLING_PAUSE"  # environment: s that drawing a member takes, so that there is time to kill


def sometimes_damped(rng):
    """Zero for half of the members, who need another kernel than the rest."""
    time.sleep(float(os.environ.get(PAUSE, "0")))
    return max(0.0, rng.normal(0.0, 0.1))


def some_failures(rng):
    """A mass that is negative now and then, which fails that member."""
    return 1.0 - (2.0 if rng.random() < 0.1 else 0.0)


def study(members=MEMBERS, chunk=7, model="chain:3", **options):
    vary = {"q": la.Uniform(around=1.0), "mass:*1": la.Normal(relative=0.1), "mass:link2": some_failures,
            "damping:link3": sometimes_damped, "gravity": la.Normal(std=(0.0, 0.0, 0.1))}
    given = {"dt": 5e-3, "steps": 60, "record_every": 10, "seed": 5, **options}
    return la.Ensemble(model, members, vary, chunk=chunk, **given)


def content(results):
    """All numbers of an ensemble by name, as bytes, so that every bit counts."""
    found = {f"drawn {name}": values for name, values in results.parameters.items()}
    if results.keeps_nodes:
        found |= {name: np.asarray(getattr(results, name)) for name in results.quantities}
    found |= {"steps": results.steps, "warned": results.warned, "count": results.statistics.count}
    for kind in ("mean", "variance", "minimum", "maximum"):
        found |= {f"{kind} {name}": values for name, values in getattr(results.statistics, kind).items()}
    said = [(one.member, one.reason, one.t, one.q.tobytes(), one.v.tobytes()) for one in results.failures]
    return {name: (values.shape, values.tobytes()) for name, values in found.items()}, said


def assert_same(results, expected):
    """Compare two ensembles bit for bit, whatever their chunks."""
    assert not results.missing and not expected.missing
    (arrays, failures), (theirs, their_failures) = content(results), content(expected)
    assert arrays.keys() == theirs.keys()
    assert [name for name in arrays if arrays[name] != theirs[name]] == []
    assert failures == their_failures
    leftovers = [path.name for path in Path(results.path).rglob("*.tmp")]
    assert not leftovers


def chunks(folder):
    """How many chunks a folder has."""
    return len(list(Path(folder).glob("chunks/*.h5")))


def files(folder):
    """The chunks of a folder: the time of writing, and the bytes."""
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in Path(folder).glob("chunks/*.h5")}


def begin(folder, pause=0.02, **environment):
    """Start a process that makes the ensemble under threads."""
    places = os.pathsep.join([str(Path(la.__file__).parents[1]), str(Path(__file__).parent)])
    return subprocess.Popen([sys.executable, __file__, str(folder)], stderr=subprocess.PIPE, text=True, env={
        **os.environ, "PYTHONPATH": places, PAUSE: str(pause), **environment})


def wait_for(condition, seconds=60.0):
    """Wait until something is the case, and return it."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.002)
    return found


def end_after(process, folder, more, how=signal.SIGKILL):
    """Send a signal to a process once it has made so many more chunks, and return what it said."""
    last = chunks(folder)
    wait_for(lambda: chunks(folder) >= last + more or process.poll() is not None)
    process.send_signal(how)
    return process.communicate(timeout=60)[1]


def own_workers():
    """Process ids of the workers that ensembles of this process have."""
    found = []
    for child in psutil.Process().children():
        try:
            if SERVE in child.cmdline():
                found.append(child.pid)
        except psutil.Error:
            continue
    return found


def dask_workers(client):
    """Process ids of the workers that a Dask cluster knows of: Dask gives up one that is killed before."""
    return [pid for pid in client.run(os.getpid, on_error="return").values() if isinstance(pid, int)]


class Killer(threading.Thread):
    """Kills one of the workers again and again: whenever so many more chunks are there.

    Parameters
    ----------
    folder : of the ensemble
    workers : returns the process ids
    times : how often
    more : chunks to wait for each time
    """

    def __init__(self, folder, workers, times, more=1):
        super().__init__(daemon=True)
        self.folder, self.workers, self.times, self.more = folder, workers, times, more
        self.killed = []

    def run(self):
        while len(self.killed) < self.times:
            last = chunks(self.folder)
            while chunks(self.folder) < last + self.more:
                time.sleep(0.002)
            alive = [pid for pid in self.workers() if pid not in self.killed]
            if alive:
                os.kill(alive[len(self.killed) % len(alive)], signal.SIGKILL)
                self.killed.append(alive[len(self.killed) % len(alive)])


if __name__ == "__main__":
    study().run(sys.argv[1], progress=False)
