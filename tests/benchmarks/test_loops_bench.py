"""The four-bar beside its rivals: all have the same mechanism, and ours errs least; ladders are timed and judged."""

import numpy as np
import pytest
from benchmarks.loops import four_bar, ladders, rivals
from benchmarks.loops.mechanisms import four_bar as mechanism

import leastaction as la

DURATION = 0.1


@pytest.fixture(scope="module")
def runs():
    pytest.importorskip("mujoco")
    pytest.importorskip("pinocchio")
    return four_bar.work_and_precision(DURATION, (2e-3,), (2, 4))


def test_rivals_have_our_mechanism():
    """Mass matrix of the open tree at a state far from the first, and the same motion for a while, as the loop is."""
    pytest.importorskip("mujoco")
    ours = mechanism()
    q = np.array([0.3, -1.1, 2.0])
    M = la.mass_matrix(ours.model, q)
    known = list(rivals.rivals())
    assert len(known) >= 5  # Drake is not everywhere
    exact = la.simulate(*ours, dt=1e-3, duration=DURATION, integrator=la.Variational(order=6))
    for rival in known:
        np.testing.assert_allclose(rival.mass_matrix(q), M, rtol=0, atol=1e-12, err_msg=rival.name)
        there, rates, cpu = rival.run(ours.q, ours.v, 1e-3, 100)
        assert there.shape == rates.shape == (11, 3) and cpu > 0
        assert np.abs(there - exact.q[::10]).max() < 0.02 and np.abs(exact.q[-1] - exact.q[0]).max() > 0.1


def test_what_the_rows_say(runs):
    own = {run.name: run for run in runs if run.name.startswith(four_bar.OURS)}
    theirs = [run for run in runs if run.name not in own and four_bar.BASELINE not in run.name]
    assert own["leastaction order 4"].error < 1e-8 and own["leastaction order 4"].gap < 1e-13
    assert all(run.error > own["leastaction order 4"].error and run.cpu > 0 for run in theirs)
    assert all(run.gap > 10 * own["leastaction order 4"].gap for run in theirs)


def made_up(name, error, cpu):
    return four_bar.Run(name, 2e-3, error, np.zeros(4), 0.0, cpu, 1.0)


def test_who_is_beaten():
    own = [made_up("leastaction order 2", 1e-3, 1.0), made_up("leastaction order 4", 1e-8, 5.0)]
    others = [made_up("A", 1e-2, 2.0), made_up("A", 1e-4, 2.0), made_up("B", 1e-7, 6.0), made_up("B", 1e-2, 0.5)]
    assert four_bar.beaten([*own, *others, made_up("RK4 of leastaction", 1.0, 9.0)]) == (2, 4, 2)
    text = four_bar.section([*own, *others], 2.0, 2.5)
    assert "Of 4 runs of the 2 rivals that came to their end, 2 are beaten" in text
    assert "2.00 times the step of its open tree, and 2.50 times with every node kept" in text


def test_the_tables(runs):
    text = four_bar.section(runs, four_bar.step_ratio(False, 200, 1), four_bar.step_ratio(True, 200, 1))
    assert text.count("| leastaction order 4 |") == 1 and text.count("| MuJoCo RK4, stiffest |") >= 1


def test_ladders():
    text = ladders.section(ladders.costs((64, 128), loop_steps=128))
    assert text.count("| rope ladder |") == 2 and "At most 3 times the open tree was aimed at: " in text
    found = [ladders.Cost("rail first", n, 1e-6 * n**p, 5e-7 * n) for n, p in ((16, 1), (64, 1), (1024, 1), (4096, 2))]
    assert ladders.slope(found) == pytest.approx(1.0)
    assert "3 of 4 keep to it" in ladders.section(found)
