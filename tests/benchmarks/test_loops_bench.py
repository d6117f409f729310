"""Loops beside rivals: all have the same mechanism, and ours errs least; ladders are timed and judged."""

from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest
from benchmarks.loops import four_bar, ladder_rivals, ladders, runs
from benchmarks.loops.mechanisms import four_bar as mechanism
from benchmarks.loops.mechanisms import posts_ladder, rail_ladder, rope_ladder
from benchmarks.loops.rivals import LIBRARIES, rivals
from benchmarks.loops.rivals.points import checked_loops
from benchmarks.peers.engine import MismatchError

import leastaction as la

DURATION = 0.1
MECHANISMS = {"four-bar": mechanism, "posts": partial(posts_ladder, 3), "rail": partial(rail_ladder, 3),
              "rope": partial(rope_ladder, 3)}
NEEDS = pytest.mark.skipif(not any(find_spec(name) for name in LIBRARIES), reason="no other library is installed")


@pytest.fixture(scope="module")
def found():
    pytest.importorskip("mujoco")
    pytest.importorskip("pinocchio")
    return four_bar.work_and_precision(DURATION, (2e-3,), (2, 4))


@NEEDS
@pytest.mark.parametrize("name", MECHANISMS)
def test_rivals_have_our_mechanism(name):
    """Mass matrix and gaps at a state far from the first, and the same motion for a while, as the loops are."""
    ours = MECHANISMS[name]()
    exact = la.simulate(*ours, dt=1e-3, duration=DURATION, integrator=la.Variational(order=6))
    assert np.abs(exact.q[-1] - exact.q[0]).max() > 0.01
    for rival in rivals(ours, 1e-3, 0.02):
        checked_loops(rival.name, rival.make, ours.model, 1e-3)
        states = runs.follow(rival.make, ours, 1e-3, DURATION)
        assert states.q.shape == states.v.shape == (11, ours.model.nv) and states.cpu > 0
        assert np.abs(states.q - exact.q[::10]).max() < 0.02, rival.name
        engine = rival.make(ours.model, 1e-3)
        engine.start(ours.q, ours.v)
        assert engine.gaps().max() < 1e-12


@NEEDS
def test_another_closure_is_found_out():
    ours, other = mechanism(), mechanism().model
    other._loops = ()
    other.add_loop("tip", body="coupler", other="rocker", joint=la.Revolute((0, 0, 1)), position=(2, 0, 0),
                   other_position=(1.4, 0, 0))
    for rival in rivals(ours, 1e-3, 0.02):
        with pytest.raises(MismatchError, match="closes other points of 'four-bar'"):
            checked_loops(rival.name, lambda model, h, make=rival.make: make(other, h), ours.model, 1e-3)


def test_stiffest_is_stable_and_errs_less_than_the_default():
    mujoco = pytest.importorskip("mujoco")
    from benchmarks.loops.rivals.mujoco import IMPEDANCES, Connected, Softness, stiffest

    ours, integrator = mechanism(), mujoco.mjtIntegrator.mjINT_RK4

    def error(softness):
        states = runs.follow(partial(Connected, integrator, softness), ours, 2e-3, 0.5)
        return runs.worst_energy(ours.model, states)

    best = stiffest(integrator, ours, 2e-3, 0.5)
    assert error(best) < 1e-3 * error(None)
    assert best.impedance == IMPEDANCES[-1] and best.time_constant < 0.02
    with pytest.raises(runs.UnfinishedError, match="diverges"):
        error(Softness(best.time_constant / 16, best.impedance))
    with pytest.raises(runs.UnfinishedError, match="would take more than 1e-06 s"):
        runs.follow(partial(Connected, integrator, best), ours, 2e-3, 0.5, patience=1e-6)


def test_what_the_rows_say(found):
    own = {run.name: run for run in found if run.name.startswith(runs.OURS)}
    theirs = [run for run in found if run.name not in own and runs.BASELINE not in run.name]
    assert own["leastaction order 4"].error < 1e-8 and own["leastaction order 4"].gap < 1e-13
    assert all(run.error > own["leastaction order 4"].error and run.cpu > 0 for run in theirs)
    assert all(run.gap > 10 * own["leastaction order 4"].gap for run in theirs)


def made_up(name, error, cpu, h=2e-3):
    return runs.Run(name, h, error, np.zeros(4), 0.0, cpu, 1.0)


def test_who_is_beaten():
    own = [made_up("leastaction order 2", 1e-3, 1.0), made_up("leastaction order 4", 1e-8, 5.0)]
    others = [made_up("A", 1e-2, 2.0), made_up("A", 1e-4, 2.0), made_up("B", 1e-7, 6.0), made_up("B", 1e-2, 0.5)]
    assert four_bar.beaten([*own, *others, made_up("RK4 of leastaction", 1.0, 9.0)]) == (2, 4, 2)
    text = four_bar.section([*own, *others], 2.0, 2.5)
    assert "Of 4 runs of the 2 rivals that came to their end, 2 are beaten" in text
    assert "2.00 times the step of its open tree, and 2.50 times with every node kept" in text


def test_the_tables(found):
    text = four_bar.section(found, four_bar.step_ratio(False, 200, 1), four_bar.step_ratio(True, 200, 1))
    assert text.count("| leastaction order 4 |") == 1 and text.count("| MuJoCo RK4, stiffest (solref ") >= 1


def test_ladders():
    text = ladders.section(ladders.costs((64, 128), loop_steps=128))
    assert text.count("| rope ladder |") == 2 and "At most 3 times the open tree was aimed at: " in text
    found = [ladders.Cost("rail first", n, 1e-6 * n**p, 5e-7 * n) for n, p in ((16, 1), (64, 1), (1024, 1), (4096, 2))]
    assert ladders.slope(found) == pytest.approx(1.0)
    text = ladders.section(found)
    assert "3 of 4 keep to it. Beyond it are rail first of 4096 loops by 8189.00." in text
    assert text.endswith("from 64 to 1024 loops was aimed at: 1 of 1 keep to it.")
    steep = [ladders.Cost("posts first", n, 1e-6 * n**1.2, 1e-6 * n**1.2) for n in (64, 1024)]
    assert ladders.section([*found, *steep]).endswith("1 of 2 keep to it. Beyond it are posts first by 0.08.")


def test_ladders_beside_rivals():
    text = ladder_rivals.section(ladder_rivals.beside((2, 3), (1e-3,), 0.05))
    assert "Ladders of 2 / 3 loops for 0.05 s at 1 ms" in text and text.count("| leastaction order 2 |") == 3
    for module, name in {"mujoco": "MuJoCo RK4, default", "pinocchio": "Pinocchio lcaba, RK4"}.items():
        assert text.count(f"| {name} |") == (3 if find_spec(module) else 0)


def test_verdict_on_ladders_and_what_is_left_out():
    entries = [ladder_rivals.Entry("posts first", n, run.h, run.name, "", run) for n in (16, 64) for run in (
        made_up("leastaction order 2", 1e-3, 1.0), made_up("leastaction order 4", 1e-8, 4.0, 1e-3),
        made_up("A", 1e-4, 2.0 if n == 64 else 8.0), made_up("B", 1e-2, 1.5))]
    entries.append(ladder_rivals.Entry("posts first", 64, 2e-3, "C", "soft", "diverges"))
    text = ladder_rivals.section(entries)
    assert "| posts first | A |" in text and "| posts first | C |" not in text
    assert "Left out: C diverges (posts first 64)." in text
    assert "Of 4 runs of rivals at 2, 1 ms, 3 are beaten" in text
    assert text.endswith("Not beaten: A at 2 ms (posts first 64).")
