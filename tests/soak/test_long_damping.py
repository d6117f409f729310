"""Every robot of a package whose joints are damped beyond what a step of 1 ms resolves: none rings. `make soak`."""

import numpy as np
import pytest

import leastaction as la
from leastaction.formats import zoo
from leastaction.kernels.elements.lookahead import RESOLVED
from leastaction.model.unhonoured import WORDS
from reference.damped import decay_rates, lag

# Some files have inertias that no rigid body has, and say so
pytestmark = [pytest.mark.soak, pytest.mark.filterwarnings("ignore::leastaction.ModelWarning")]
DT, FINE, STEPS = 1e-3, 1e-5, 20
SMALL = 1e-6  # rad/s, m/s: rates below it have no sign
# After five steps 7.4 and 7.7 % of the greatest rate then: tests/simulation/test_damping.py says why
LATE = ("allegro_left_hand.urdf", "allegro_right_hand.urdf")


def changes(run, j):
    """Times at which a rate changes its sign, s."""
    v = np.where(np.abs(run.v[:, j]) > SMALL, run.v[:, j], 0.0)
    return run.t[1:][v[1:] * v[:-1] < 0]


def alternating(run, j):
    """Times at which a rate changes its sign for the second time in a row, s."""
    times = changes(run, j)
    return times[1:][np.diff(times) < 1.5 * DT]


def test_no_robot_rings():
    paths = zoo.paths("example-robot-data")
    if not paths:
        pytest.skip("example-robot-data is not installed")
    tried = 0
    for path in paths:
        entry = zoo.survey(path)
        if entry.model is None:
            continue
        model = entry.load()
        rates = decay_rates(model)
        stiff = 0.5 * DT * rates.max(initial=0.0)
        if stiff <= 1.0:
            continue
        tried += 1
        v = model.v0 + np.random.default_rng(0).normal(size=model.nv)
        q, v = la.assemble(model, model.q0, v) if model.loops else (model.q0, v)
        run = la.simulate(model, q, v, dt=DT, steps=STEPS, ignore=WORDS)
        fine = la.simulate(model, q, v, dt=FINE, duration=STEPS * DT, ignore=WORDS)
        every = round(DT / FINE)
        off, moved_off = 0.0, 0.0
        for k in (5, 10, 20):
            v_k, q_k = fine.v[k * every], fine.q[k * every]
            late = np.abs(run.v[k] - v_k).max() / np.abs(v_k).max()
            if path.name in LATE and k == 5:
                lost = lag(DT * rates, RESOLVED, k).max() * np.abs(v).max() / np.abs(v_k).max()
                assert late < min(0.08, lost + 0.005), path.name
            else:
                off = max(off, late)
            moved_off = max(moved_off, np.abs(run.q[k] - q_k).max() / np.abs(q_k - q).max())
        rings = [(j, t) for j in range(model.nv) for t in alternating(run, j)
                 if np.abs(changes(fine, j) - t).min(initial=np.inf) > 1.5 * DT]
        print(f"{path.name}: h λ/2 = {stiff:.3g}, rates off by {100 * off:.2g} %, "
              f"way by {100 * moved_off:.2g} %, {len(rings)} rings")
        assert not rings and off < 0.05 and moved_off < 0.05, path.name
        assert (np.diff(run.energy) < 0).all(), path.name
    assert tried > 10
