"""Every robot of a package whose joints are damped beyond what a step of 1 ms resolves: none rings. `make soak`."""

import numpy as np
import pytest

import leastaction as la
from leastaction.formats import zoo
from leastaction.model.unhonoured import WORDS

# Some files have inertias that no rigid body has, and say so
pytestmark = [pytest.mark.soak, pytest.mark.filterwarnings("ignore::leastaction.ModelWarning")]
DT, FINE, STEPS = 1e-3, 1e-5, 20
SMALL = 1e-6  # rad/s, m/s: rates below it have no sign


def greatest_rate(model):
    """Greatest eigenvalue of M⁻¹D, 1/s, by dense matrices."""
    D = np.zeros(model.nv)
    for k, body in enumerate(model.bodies):
        at = model.layout.v_slice(k)
        D[at] = np.broadcast_to(np.ravel(getattr(body.joint, "damping", 0.0)), at.stop - at.start)
    if not D.any():
        return 0.0
    root = np.sqrt(D)
    return float(np.linalg.eigvalsh(root[:, None] * np.linalg.solve(la.mass_matrix(model), np.diag(root))).max())


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
        stiff = 0.5 * DT * greatest_rate(model)
        if stiff <= 1.0:
            continue
        tried += 1
        v = model.v0 + np.random.default_rng(0).normal(size=model.nv)
        q, v = la.assemble(model, model.q0, v) if model.loops else (model.q0, v)
        run = la.simulate(model, q, v, dt=DT, steps=STEPS, ignore=WORDS)
        fine = la.simulate(model, q, v, dt=FINE, duration=STEPS * DT, ignore=WORDS)
        nodes = fine.v[:: round(DT / FINE)]
        off = np.abs(run.v[5] - nodes[5]).max() / np.abs(nodes[1:6]).max()
        rings = [(j, t) for j in range(model.nv) for t in alternating(run, j)
                 if np.abs(changes(fine, j) - t).min(initial=np.inf) > 1.5 * DT]
        print(f"{path.name}: h λ/2 = {stiff:.3g}, rates after five steps off by {100 * off:.2g} %, {len(rings)} rings")
        assert not rings and off < 0.05, path.name
    assert tried > 10
