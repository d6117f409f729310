"""Files damaged after they were written: the same data, or a FileError that says what is damaged and what to do."""

import os
import time

import h5py
import numpy as np
import pytest
from damage import GivenUp, attack, break_off
from runs import NODES, STEPS, pair, same

import leastaction as la
from leastaction.files import checkpoint, contents, reading
from leastaction.files.columns import BLOCK, CHECKPOINTS, ROWS

FULL = [name for name in ROWS if name not in ("ledger", "impulse")]   # a chain has neither


def spoil(path, name, index, data=b"torn"):
    """Overwrite bytes of an array, from a byte on."""
    with path.open("rb+") as file:
        file.seek(reading.places(path)[name].offset + index)
        file.write(data)


def test_random_damage():
    counts = attack(60, seed=1)
    assert set(counts) == {"equal", "refused"} and min(counts.values()) > 5, counts


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(3))
def test_much_random_damage(seed):
    assert set(attack(700, seed)) == {"equal", "refused"}


@pytest.mark.parametrize("name", FULL)
def test_rows_are_checked_when_they_are_read(path, name):
    memory, _ = pair(path, steps=3000)
    width = reading.places(path)[name].dtype.itemsize * int(np.prod(getattr(memory, name).shape[1:]))
    spoil(path, name, 1500 * width, b"\x55")
    traj = la.open(path)   # which reads no rows
    for other in set(ROWS) - {name}:
        np.testing.assert_array_equal(getattr(traj, other), getattr(memory, other))
    rows = len(getattr(memory, name))
    for read in (lambda: getattr(traj, name), traj.verify, lambda: traj.read(name, 1100, 1101)):
        with pytest.raises(la.FileError, match=rf"rows 1024 to 2047 of {name} in .*run\.h5, or their check sums, are"):
            read()
    with pytest.raises(la.FileError, match=rf"rows 0 to 1023, 2048 to {rows - 1} are intact: .*'{name}', 0, 1024\)"):
        getattr(traj, name)
    np.testing.assert_array_equal(traj.read(name, 0, BLOCK), getattr(memory, name)[:BLOCK])
    np.testing.assert_array_equal(traj.read(name, 2 * BLOCK), getattr(memory, name)[2 * BLOCK :])


def test_read_takes_rows_that_are_there(path):
    _, traj = pair(path, steps=20)
    assert traj.read("q", 3, 5).shape == (2, 5) and traj.read("iterations").shape == (20,)
    with pytest.raises(ValueError, match="from 0 to 21, not 3 and 22"):
        traj.read("q", 3, 22)
    with pytest.raises(ValueError, match="there is no array 'x'"):
        traj.read("x")


@pytest.mark.parametrize("every", [1, 7])
def test_check_sums_go_on_where_a_run_is_resumed_or_made_longer(path, tmp_path, every):
    """However a run was cut, its check sums are those of one that was not."""
    la.simulate(la.library.chain(2), dt=1e-3, steps=1000 * every, record_every=every, out=path)
    for steps in (1023, 1024, 1025, 3000):
        la.resume(path, steps=steps * every + every // 2).verify()
    whole = la.simulate(la.library.chain(2), dt=1e-3, steps=3000 * every + every // 2, record_every=every,
                        out=tmp_path / "whole.h5")
    same(la.open(path), whole, NODES + STEPS)
    with h5py.File(path) as a, h5py.File(tmp_path / "whole.h5") as b:
        np.testing.assert_array_equal(a["sums"], b["sums"])
        assert a["sums"].shape == (2, len(ROWS))
        assert np.all(a["sums"][:, [ROWS.index(name) for name in FULL]] != 0)


def test_the_last_statistics_stay_while_the_run_goes_on(path):
    """What an open trajectory shows is of one moment, even if the writer goes on with the same row."""
    before = la.simulate(la.library.chain(2), dt=1e-3, steps=10, record_every=7, out=path)
    la.resume(path, steps=20)
    assert before.iterations.shape == (2,)
    assert before.iterations.sum() == before.tally.evaluations
    with pytest.raises(ValueError, match="read-only"):
        before.iterations[0] = 1


def test_either_checkpoint_of_a_closed_file_will_do(path):
    memory, _ = pair(path, record_every=7)
    size = reading.places(path)[CHECKPOINTS].dtype.itemsize
    spoil(path, CHECKPOINTS, size + 100)
    same(memory, la.open(path), NODES)
    assert la.Simulator.restore(path).steps == 500
    spoil(path, CHECKPOINTS, 100)
    with pytest.raises(la.FileError, match="no complete checkpoint"):
        la.open(path)


def test_a_damaged_latest_checkpoint_is_told(tmp_path, path):
    """After a kill the two differ: with the newer one gone, the run is shorter, and that is said."""
    break_off(la.library.chain(2), tmp_path / "broken_off.h5", path)
    whole, source = la.open(path), contents.contents(path)
    newest = 1 - checkpoint.spare(source, checkpoint.latest(source))
    spoil(path, CHECKPOINTS, newest * source.record.itemsize + 100)
    with pytest.raises(la.FileError, match=r"latest checkpoint .* is damaged; .* \d+ of 1500 steps, is intact: "
                                           r"la.open\(path, older=True\)"):
        la.open(path)
    with pytest.warns(UserWarning, match="latest checkpoint"):
        part = la.open(path, older=True)
    assert part.steps < whole.steps
    same_rows = np.array(whole.q[: len(part)])
    np.testing.assert_array_equal(part.q, same_rows)
    with pytest.warns(UserWarning, match="latest checkpoint"):
        resumed = la.resume(path, control=lambda t, q, v: np.zeros(2))
    same(resumed, la.simulate(la.library.chain(2), dt=1e-3, steps=1500, record_every=7, control=np.zeros(2)), NODES)
    la.open(path).verify()   # and all is well again


def test_a_half_written_checkpoint_is_no_damage(tmp_path, path):
    """A kill amid a commit leaves the older record torn; what was committed is there, without a word."""
    break_off(la.library.chain(2), tmp_path / "broken_off.h5", path)
    whole, source = la.open(path), contents.contents(path)
    spoil(path, CHECKPOINTS, checkpoint.spare(source, checkpoint.latest(source)) * source.record.itemsize + 100)
    assert la.open(path).steps == whole.steps


def test_damaged_forces(path):
    la.simulate(la.library.chain(2), dt=1e-3, steps=100, control=np.ones((100, 2)), record_every=7, out=path)
    spoil(path, "control", 400)
    traj = la.open(path)
    assert len(traj.q) == 15
    with pytest.raises(la.FileError, match=r"the control in .* is damaged"):
        traj.at(0.01)


def test_damaged_regular_checkpoints_cost_time_only(path):
    memory, _ = pair(path, record_every=500, checkpoint_every=100)
    size, node = reading.places(path)[CHECKPOINTS].dtype.itemsize, memory.at(0.31 * 2)
    spoil(path, CHECKPOINTS, 4 * size + 50)
    traj = la.open(path)
    assert traj._nearest(310).steps == 200
    np.testing.assert_array_equal(traj.at(0.31 * 2).q, node.q)


def test_damaged_checkpoint_of_a_simulator(tmp_path):
    sim = la.Simulator(la.library.pendulum(), dt=1e-3)
    path = sim.checkpoint(tmp_path / "state.h5")
    spoil(path, CHECKPOINTS, 64)
    with pytest.raises(la.FileError, match="no complete checkpoint"):
        la.Simulator.restore(path)


def test_a_large_file_opens_at_once(path):
    """12 GB of which nearly all is still to be written: nothing is read but the description and a checkpoint."""
    def law(t, q, v):
        if t > 0.01:
            raise GivenUp
        return 0.0 * v

    with pytest.raises(GivenUp):
        la.simulate(la.library.chain(10), dt=1e-3, steps=35_000_000, control=law, out=path, progress=False)
    assert path.stat().st_size > 10e9 > 1000 * os.stat(path).st_blocks
    la.open(path)
    began = time.process_time()
    traj = la.open(path)
    assert len(traj) == traj.steps + 1 == 12
    assert traj.q.shape == (12, 10) and time.process_time() - began < 1.0
