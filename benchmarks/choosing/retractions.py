"""The error of the motion under each retraction: what flies, and what hangs from the ground."""

from collections.abc import Iterable
from typing import Literal

import numpy as np

import leastaction as la
from benchmarks.choosing.orders import MOTIONS as FOLLOWED
from benchmarks.choosing.orders import Motion
from benchmarks.humanoid import humanoids
from leastaction.analysis.accuracy import LOST
from leastaction.markdown import table
from leastaction.reproduce.hour import OFFSET, STARTS, starts

Retraction = Literal["split", "exp"]
RETRACTIONS: tuple[Retraction, ...] = ("split", "exp")
METHODS = ((2, 1.0), (4, 5.0))  # order, and step, ms
MOTIONS = (
    *FOLLOWED,
    Motion("tree on ball joints", la.library.tree, 1.0),
    Motion("hard chain, 10 links", lambda: la.library.chain(10), 1.0),
    Motion("hard chain, 100 links", lambda: la.library.chain(100), 0.5),
    Motion("paper chain, 100 links", lambda: la.library.paper_chain(100), 2.0),
    Motion("double pendulum", la.library.double_pendulum, 3.0),
    Motion("spinning top", la.library.spinning_top, 2.0),
    *(Motion(f"{motion.name}, tumbling", motion.make, motion.comparable) for motion in humanoids()),
)


def error(motion: Motion, retraction: Retraction, order: int, step: float) -> float:
    """Greatest error of a motion, rad or m, as estimated by a run at half the step (ms): the median of eight starts."""
    model = motion.make()
    runs = la.simulate_many(model, starts(model, STARTS), dt=1e-3 * step, duration=motion.duration, progress=False,
                            integrator=la.Variational(order=order, retraction=retraction))
    return float(np.median([np.inf if run.failure else run.accuracy().max_error for run in runs]))


def section(motions: Iterable[Motion]) -> str:
    """Follow the motions under each retraction and write what was found."""
    rows = []
    for motion in motions:
        print(f"retractions: {motion.name}…", flush=True)
        row = [f"{motion.name}, {motion.duration:g} s"]
        for method in METHODS:
            errors = [error(motion, retraction, *method) for retraction in RETRACTIONS]
            row += [f"{e:.1e}" if e < LOST else "lost" for e in errors]
        rows.append(row)
    head = [f"order {order}, {step:g} ms: `{name}`" for order, step in METHODS for name in RETRACTIONS]
    return "\n\n".join([
        "### Retraction",
        f"Greatest error of the motion as estimated by `traj.accuracy()`, rad or m; the median of {STARTS} starts that "
        f"differ by {OFFSET:g} rad or m.",
        table(("motion", *head), rows),
    ])
