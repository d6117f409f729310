"""The arm against its stops: both libraries follow the same motion, and ours keeps to the stops."""

import numpy as np
import pytest

from benchmarks import limits


@pytest.fixture(scope="module")
def found():
    pytest.importorskip("mujoco")
    return [limits.ours(2, 1e-3, 0.1), *(limits.mujoco(stiff, 1e-3, 0.1) for stiff in (False, True))]


def test_what_the_rows_say(found):
    own, soft, stiff = found
    assert own.beyond < 1e-10 < stiff.beyond < soft.beyond < np.radians(20)
    assert own.missing < 1e-3 * own.taken
    assert stiff.taken == pytest.approx(own.taken, rel=0.15)   # inelastic stops, soft or not, take nearly the same
    assert all(run.cpu > 0 for run in found)


def test_the_table(found):
    text = limits.section(found, 0.1, {10: (1.5, 1.08)})
    assert text.count("| leastaction, order 2 | 1 ms |") == 1 and text.count("| MuJoCo, limits as") == 2
    assert "| 10 | 1.5 | 1.08 |" in text


def test_limits_that_are_far_away():
    cpu, ratio = limits.far_away(10, 500, turns=5)
    assert 0.0 < cpu < 1e3 and 0.5 < ratio < 2.0
