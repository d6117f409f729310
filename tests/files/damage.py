"""Damaged result files, and the oracle: reading all of one gives the data that were written, or a FileError.

`attack(count, seed)` needs no pytest; `make attack` calls it with many files, the tests with few.
"""

import random
import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

import leastaction as la
from leastaction.files import writer
from leastaction.files.columns import ROWS

RANGES = ("energy_range", "momentum_range", "peak_kinetic_energy")


RESUMABLE = (0, 1, 2)  # of `make_runs`


class GivenUp(Exception):
    """Raised by the control function of the run that is broken off."""


def make_runs(folder: Path) -> list[Path]:
    """Write the files to be damaged: finished, broken off, left behind by a kill, saved, and driven by an array."""
    model, options = la.library.chain(2), {"dt": 1e-3, "progress": False}
    runs = [folder / f"{name}.h5" for name in ("finished", "broken_off", "killed", "saved", "driven")]
    la.simulate(model, steps=2500, out=runs[0], checkpoint_every=500, **options)
    break_off(model, runs[1], runs[2])
    la.simulate(la.library.pendulum(), steps=300, record_every=2, **options).save(runs[3])
    la.simulate(model, steps=200, control=np.full((200, 2), 0.1), out=runs[4], **options)
    return runs


def idle(_t: float, _q: np.ndarray, _v: np.ndarray) -> np.ndarray:
    return np.zeros(2)


def break_off(model: la.Model, path: Path, killed: Path) -> None:
    """Make a run whose control gives up at 0.9 s, and a copy as it was just before, like a kill leaves it."""
    def law(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if t > 0.9:
            shutil.copyfile(path, killed)
            raise GivenUp
        return idle(t, q, v)

    patience, writer.PATIENCE = writer.PATIENCE, 0.0
    try:
        la.simulate(model, dt=1e-3, steps=1500, record_every=7, control=law, out=path, checkpoint_every=100,
                    progress=False)
    except GivenUp:
        pass
    finally:
        writer.PATIENCE = patience


class Target:
    """The bytes of a file to be damaged, and where its arrays are."""

    def __init__(self, path: Path) -> None:
        self.original = path.read_bytes()
        with h5py.File(path) as file:
            found = [(array.id.get_offset(), array.nbytes) for array in file.values()]
        self.arrays = [(offset, size) for offset, size in found if offset is not None and size]

    def place(self, chance: random.Random) -> int:
        """Choose a byte: anywhere, in one of the arrays, or at the start, where most is that HDF5 itself needs."""
        kind = chance.randrange(4)
        if kind == 0:
            return chance.randrange(len(self.original))
        if kind == 1:
            return chance.randrange(min(8192, len(self.original)))
        offset, size = chance.choice(self.arrays)
        return offset + chance.randrange(size)


def flip_bits(data: bytearray, target: Target, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 1, 1, 2, 8))):
        data[target.place(chance)] ^= 1 << chance.randrange(8)


def zero_block(data: bytearray, target: Target, chance: random.Random) -> None:
    start = target.place(chance)
    end = min(start + chance.choice((8, 64, 512, 4096)), len(data))
    data[start:end] = bytes(end - start)


def spoil_block(data: bytearray, target: Target, chance: random.Random) -> None:
    start = target.place(chance)
    end = min(start + chance.choice((4, 64, 512)), len(data))
    data[start:end] = chance.randbytes(end - start)


def truncate(data: bytearray, target: Target, chance: random.Random) -> None:
    del data[chance.choice((target.place(chance), len(data) - chance.randrange(1, 64))) :]


def drop_block(data: bytearray, target: Target, chance: random.Random) -> None:
    start = target.place(chance)
    del data[start : start + chance.choice((1, 8, 512))]


def exchange_blocks(data: bytearray, target: Target, chance: random.Random) -> None:
    size = chance.choice((8, 512, 4096))
    a, b = (min(target.place(chance) // 8 * 8, len(data) - size) for _ in range(2))
    data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]


DAMAGES: tuple[Callable[[bytearray, Target, random.Random], None], ...] = (
    flip_bits, flip_bits, flip_bits, zero_block, spoil_block, truncate, drop_block, exchange_blocks)


def read_all(path: Path) -> dict[str, object]:
    """Read everything that a file says of a run, and the state that it goes on from."""
    traj = la.open(path)
    found: dict[str, object] = {name: np.array(getattr(traj, name)) for name in ROWS + RANGES}
    found |= {"tally": traj.tally, "planned": traj.planned, "model": traj.model.to_dict(), "dt": traj.dt,
              "integrator": traj.integrator, "record_every": traj.record_every, "failure": str(traj.failure)}
    if traj.origin is not None and traj.origin.control is not None:
        found["control"] = np.array(traj.origin.control)
    if traj.description["checkpoint_every"] <= traj.planned or not traj.finished:  # and no saved trajectory
        sim = la.Simulator.restore(path)
        found |= {"last q": sim.q, "last p": sim.p, "last": (sim.steps, sim.energy)}
    return found


def go_on(path: Path) -> dict[str, object]:
    """Let a run go on to 3000 steps where that is possible, and read it."""
    driven = la.open(path, older=True).description["control"] == "function"
    la.resume(path, steps=3000, control=idle if driven else None, progress=False)
    return read_all(path)


def same(a: dict[str, object], b: dict[str, object]) -> bool:
    return a.keys() == b.keys() and all(
        np.array_equal(a[name], b[name], equal_nan=True) if isinstance(a[name], np.ndarray) else a[name] == b[name]
        for name in a)


def judge(use: Callable[[Path], dict[str, object]], path: Path, expected: dict[str, object]) -> str:
    """Tell what using a damaged file came to: "equal", "refused", or one of the faults "wrong" and "raw"."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that a checkpoint is damaged: what is read tells
            return "equal" if same(use(path), expected) else "wrong"
    except la.FileError:
        return "refused"
    except Exception as error:
        return f"raw {type(error).__name__}"


def attack(count: int, seed: int) -> dict[str, int]:
    """Damage so many files, one after the other, and count what reading them came to; every tenth is to go on, too.

    Every key other than "equal" and "refused" names a fault, with the damage, the run and the number of the trial.
    """
    counts: Counter[str] = Counter(equal=0, refused=0)
    with tempfile.TemporaryDirectory(prefix="leastaction-damage-") as name:
        runs = make_runs(Path(name))
        path = Path(name, "damaged.h5")
        expected, targets = [read_all(run) for run in runs], [Target(run) for run in runs]
        ends = {}
        for run in RESUMABLE:
            shutil.copyfile(runs[run], path)
            ends[run] = go_on(path)
        for trial in range(count):
            chance = random.Random(f"{seed} {trial}")
            run, damage = chance.randrange(len(runs)), chance.choice(DAMAGES)
            data = bytearray(targets[run].original)
            damage(data, targets[run], chance)
            path.unlink(missing_ok=True)  # a new file, so that no mapping of the one before is cut off
            path.write_bytes(data)
            verdict = judge(read_all, path, expected[run])
            if trial % 10 == 0 and run in ends:
                after = judge(go_on, path, ends[run])
                verdict = after if after not in ("equal", "refused") else verdict
            clean = verdict in ("equal", "refused")
            counts[verdict if clean else f"{verdict}: {damage.__name__}, {runs[run].name}, trial {trial}"] += 1
    return dict(counts)
