"""Runs that are killed amid their work: the file opens, holds what was committed, and goes on bit for bit."""

import random
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import leastaction as la
from attack.found import Found

STEPS = 150_000


def attack(count: int, seed: int) -> Found:
    """Kill so many runs, or as many runs that go on, and compare with one that was left alone."""
    sys.path[:0] = [str(Path(__file__).parents[1] / "files")]
    from test_kill import EVERY, NAMES, kill_at_random

    warnings.simplefilter("ignore")  # the end is left out, and the energy wanders: both are known
    found = Found("kill -9 amid a run, then resume")
    whole = la.simulate(la.library.chain(10), dt=1e-3, steps=STEPS, record_every=EVERY, progress=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.h5"
        for k in range(count):
            if path.exists() and la.open(path).finished:
                path.unlink()
            committed = kill_at_random(path, STEPS, random.Random(f"{seed} {k}").random())
            traj = la.open(path)
            right = traj.steps >= committed and all(
                np.array_equal(getattr(traj, name), getattr(whole, name)[: traj.steps // EVERY + 1]) for name in NAMES)
            left = [name.name for name in Path(folder).iterdir() if name != path]
            if right and not left:
                found.outcomes["intact" if traj.finished else "intact, and not at its end"] += 1
            else:
                found.failures.append(f"kill {k}: {traj.steps} steps, {committed} committed, left behind: {left}")
        resumed = la.resume(path)
        same = all(np.array_equal(getattr(resumed, name), getattr(whole, name)) for name in NAMES)
        if same and resumed.tally == whole.tally:
            found.outcomes["resumed bit for bit"] += 1
        else:
            found.failures.append("the resumed run differs")
    return found
