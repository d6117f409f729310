"""A check of the reference: the same motions by another method on another library, SciPy's DOP853 on `pin.aba`."""

from importlib.util import find_spec

import numpy as np

from benchmarks import peers
from benchmarks.peers.engine import INTERVAL
from benchmarks.precision import Motion, truth
from leastaction.analysis.accuracy import distance

TOLERANCE = 1e-13  # relative and absolute, of DOP853


def disagreement(motion: Motion) -> float:
    """Greatest difference of a coordinate or angle, rad or m, while the motion is comparable.

    SciPy and Pinocchio must be installed.
    """
    from scipy.integrate import solve_ivp

    from benchmarks.peers.pinocchio import RungeKutta4

    model = motion.make()
    ours = truth(motion, model, motion.comparable).q
    assert ours is not None
    engine = RungeKutta4(model, INTERVAL)
    engine.start(model.q0, model.v0)
    y0 = np.concatenate([engine.q, engine.v])
    times = INTERVAL * np.arange(len(ours))
    found = solve_ivp(lambda _, y: np.concatenate(engine.rates(y[: model.nq], y[model.nq :])), times[[0, -1]], y0,
                      method="DOP853", t_eval=times, rtol=TOLERANCE, atol=TOLERANCE)
    theirs = found.y[: model.nq].T[:, np.argsort(engine.of_q)]
    return float(distance(model, theirs, ours).max())


def disagreements(motions: tuple[Motion, ...]) -> dict[str, float]:
    """Return this difference for every motion by its name; nothing without SciPy and Pinocchio."""
    possible = "pinocchio" in peers.installed() and find_spec("scipy") is not None
    return {motion.name: disagreement(motion) for motion in motions} if possible else {}
