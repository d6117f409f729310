"""A writer killed at random moments, again and again: the file opens, has all that was committed, and can go on."""

import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import leastaction as la
from leastaction.files import checkpoint
from leastaction.files.contents import contents

EVERY = 7
NAMES = ("t", "q", "v", "p", "energy", "momentum")
REST = ("iterations", "residual", "status", "substeps", "energy_range", "momentum_range")
WORKER = Path(__file__).with_name("worker.py")


def committed_steps(path):
    return int(checkpoint.latest(contents(path))["steps"])


def kill_at_random(path, steps, seed):
    """Start the run, or let it go on, and kill it after a while; gives what had been committed just before."""
    process = subprocess.Popen([sys.executable, str(WORKER), str(path), str(steps)])
    before = committed_steps(path) if path.exists() else -1
    while process.poll() is None and (not path.exists() or committed_steps(path) <= before):
        time.sleep(0.01)   # until it has got on
    time.sleep(random.Random(seed).uniform(0.0, 0.2))
    committed = committed_steps(path)
    process.kill()
    process.wait()
    return committed


def check_kills(tmp_path, steps, kills):
    whole = la.simulate(la.library.chain(10), dt=1e-3, steps=steps, record_every=EVERY)
    path = tmp_path / "run.h5"
    reached = []
    for seed in range(kills):
        committed = kill_at_random(path, steps, seed)
        traj = la.open(path)
        assert traj.steps >= committed
        for name in NAMES:
            np.testing.assert_array_equal(getattr(traj, name), getattr(whole, name)[: traj.steps // EVERY + 1], name)
        reached.append(traj.steps)
    assert len({*reached, 0}) > kills // 2   # they did get on, and were not done at once
    resumed = la.resume(path)
    straight = la.simulate(la.library.chain(10), dt=1e-3, steps=steps, record_every=EVERY, out=tmp_path / "straight.h5")
    for name in NAMES:
        np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name), name)
    for name in NAMES + REST:
        np.testing.assert_array_equal(getattr(resumed, name), getattr(straight, name), name)
    assert resumed.tally == straight.tally == whole.tally
    assert resumed.judgement == straight.judgement == whole.judgement and not whole.judgement.kept
    assert list(tmp_path.glob(".*")) == []   # nothing is left lying about


def test_five_kills(tmp_path):
    check_kills(tmp_path, 150_000, 5)


@pytest.mark.soak
def test_thirty_kills(tmp_path):
    check_kills(tmp_path, 1_000_000, 30)
