"""Model files, damaged at random and crafted with intent, while what is opened is watched."""

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from attack.found import Found

TESTS = Path(__file__).parents[1]
BATCH = 500


def environment() -> dict[str, str]:
    """Let another process find the tests as pytest does."""
    path = [str(TESTS), str(TESTS / "formats"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}


def attack(count: int, seed: int) -> Found:
    """Load so many damaged files; each loads, or is a ModelError, in time, and nothing outside its folder is opened."""
    sys.path[:0] = [str(TESTS / "formats")]
    from test_fuzz import WORKER, fill_folder

    found = Found("damaged URDF and MJCF files, openings watched")
    begin = random.Random(seed).randrange(10**12)
    for first in range(begin, begin + count, BATCH):
        batch = min(BATCH, begin + count - first)
        with tempfile.TemporaryDirectory() as folder:
            fill_folder(Path(folder))
            done = subprocess.run([sys.executable, "-X", "faulthandler", str(WORKER), folder, str(first), str(batch)],
                                  capture_output=True, text=True, check=False, cwd=folder)
        lines = done.stdout.splitlines()
        if done.returncode == 0:
            loaded = int(lines[-1].split()[0])
            found.outcomes["loaded"] += loaded
            found.outcomes["ModelError"] += batch - loaded
        else:
            found.failures.append(f"file {lines[-1] if lines else first}: {done.stderr[-1500:]}")
    return found


def attack_crafted(_count: int, seed: int) -> Found:
    """Load files that try to read elsewhere, to grow without bound or to run something."""
    found = Found("crafted model and mesh files, openings watched")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-X", "faulthandler", "-m", "attack.crafted", folder, str(seed)],
                              env=environment(), capture_output=True, text=True, check=False, timeout=600)
    for line in done.stdout.splitlines():
        verdict, _, words = line.partition(" ")
        if verdict == "clean":
            found.outcomes[words] += 1
        else:
            found.failures.append(words)
    if done.returncode:
        found.failures.append(f"the process ended with {done.returncode}: {done.stderr[-1500:]}")
    return found
