"""The kernel cache, damaged as a full disk or another program may: the next run compiles again, and is right."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from attack.found import Found

CODE = "import leastaction as la; print(la.poses(la.library.pendulum()).tolist())"
LIMIT = 300.0  # seconds, of which almost all is compiling


def run(folder: Path) -> subprocess.CompletedProcess:
    """Ask for poses in a fresh process with a cache of its own."""
    environment = {**os.environ, "LEASTACTION_CACHE": str(folder)}
    return subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=False,
                          timeout=LIMIT)


def harm(files: list[Path], rng: random.Random) -> str:
    """Damage some of the files, in one way."""
    chosen = rng.sample(files, rng.choice((1, 2, len(files))))
    way = rng.choice(("cut", "empty", "flip", "swap", "zeros", "remove", "noise"))
    for file in chosen:
        data = bytearray(file.read_bytes())
        match way:
            case "cut":
                data = data[: rng.randrange(len(data) + 1)]
            case "empty":
                data = bytearray()
            case "flip" if data:
                for _ in range(rng.choice((1, 10))):
                    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            case "swap":
                data = bytearray(rng.choice(files).read_bytes())
            case "zeros":
                data = bytearray(len(data))
            case "noise":
                data = bytearray(rng.randbytes(len(data)))
            case "remove":
                file.unlink()
                continue
        file.write_bytes(data)
    return way


def attack(count: int, seed: int) -> Found:
    """Damage a cache so many times."""
    found = Found("damaged kernel cache")
    with tempfile.TemporaryDirectory() as folder:
        sound, used = Path(folder) / "sound", Path(folder) / "used"
        right = run(sound)
        if right.returncode:
            raise RuntimeError(right.stderr)
        for k in range(count):
            shutil.rmtree(used, ignore_errors=True)
            shutil.copytree(sound, used)
            files = sorted(file for file in used.rglob("*") if file.suffix in (".nbi", ".nbc"))
            way = harm(files, random.Random(f"{seed} {k}"))
            done = run(used)
            if done.returncode or done.stdout != right.stdout:
                found.failures.append(f"cache {k}: {way}: ended with {done.returncode}: {done.stderr[-300:]}")
            else:
                found.outcomes["right result"] += 1
    return found
