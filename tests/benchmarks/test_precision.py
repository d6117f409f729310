"""Work and precision: runs are judged rightly, and the reference is right."""

import math

import numpy as np
import pytest
from benchmarks.peers.ours import BY_TOLERANCE, EXPLICIT, VARIATIONAL, Ours
from benchmarks.precision import MOTIONS, Motion, Run, sweep, time_to_reach, truth
from benchmarks.reference import disagreement

import leastaction as la

PENDULUM = Motion("double pendulum", la.library.double_pendulum, 1.0, 5e-3)


def runs(errors, seconds):
    return [Run("", 1.0, "", 1.0 / k, t, e, e) for k, (e, t) in enumerate(zip(errors, seconds, strict=True), 1)]


def test_time_to_reach_is_interpolated_on_logarithmic_axes():
    found = runs((1e-2, 1e-4), (1.0, 100.0))
    assert time_to_reach(found, 1e-3) == pytest.approx(10.0)
    assert time_to_reach(found, 1e-1) == 1.0  # the cheapest that was tried
    assert time_to_reach(found, 1e-4) == pytest.approx(100.0)
    assert time_to_reach(found, 1e-5) == math.inf
    assert time_to_reach([], 1.0) == math.inf
    assert time_to_reach(runs((1e-2, 0.0), (1.0, 2.0)), 1e-3) == 2.0


def test_runs_are_judged_against_what_our_own_trajectories_say():
    found = sweep(PENDULUM, 1.0, [VARIATIONAL[0]], budget=0.05)
    steps = [run.step for run in found]
    assert steps == sorted(steps, reverse=True) and len(steps) > 2
    for run in found:
        own = la.simulate(la.library.double_pendulum(), dt=1e-3 * run.step, duration=1.0,
                          record_every=round(100 / run.step))
        exact = truth(PENDULUM, la.library.double_pendulum(), 1.0)
        error = np.abs(own.energy - own.energy[0]).max() / exact.scale
        assert run.energy == pytest.approx(error, rel=1e-6)
        assert run.error == pytest.approx(np.abs(own.q - exact.q).max(), rel=1e-6)
        assert run.seconds > 0
    slopes = np.diff(np.log([r.error for r in found])) / np.diff(np.log(steps))
    assert abs(slopes[-1] - 2.0) < 0.2


def test_no_comparison_once_the_motion_is_lost():
    found = sweep(PENDULUM, 1.5, [EXPLICIT[0]], budget=0.01)
    assert found and all(math.isnan(run.error) for run in found)


def test_runs_that_fail_or_blow_up_are_left_out():
    class Wild(Ours):
        def state(self):
            q, v = super().state()
            return (q, v) if self.h < 0.01 or self.sim.t == 0 else (q, np.full_like(v, np.nan))

        def step(self, n):
            if self.h > 0.03:
                raise RuntimeError("cannot")
            super().step(n)

    method = VARIATIONAL[0]._replace(make=lambda model, h: Wild(la.Variational(), model, h))
    assert max(run.step for run in sweep(PENDULUM, 0.2, [method], budget=0.01)) == 5.0


@pytest.mark.parametrize("motion", MOTIONS, ids=lambda m: m.name)
def test_reference_is_confirmed_by_an_independent_one(motion):
    pytest.importorskip("pinocchio")    # the independent one is by its accelerations
    assert disagreement(motion) < 1e-9


def test_a_method_that_chooses_its_steps_is_followed_over_its_tolerances():
    found = sweep(PENDULUM, 1.0, BY_TOLERANCE, budget=0.2)
    assert [run.step for run in found] == sorted((run.step for run in found), reverse=True) and len(found) > 5
    assert found[-1].error < 1e-9 < 1e-5 < found[0].error
    own = la.simulate(la.library.double_pendulum(), dt=0.1, duration=1.0, integrator=la.DormandPrince8(found[2].step))
    exact = truth(PENDULUM, la.library.double_pendulum(), 1.0)
    assert found[2].error == pytest.approx(np.abs(own.q - exact.q).max(), rel=1e-6)
