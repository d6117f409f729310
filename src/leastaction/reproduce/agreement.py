"""Whether the methods agree: all root finders on one residual, and the two residuals as the step shrinks."""

from itertools import pairwise
from pathlib import Path

import numpy as np

import leastaction as la
from leastaction.integrators.root_finders import RootFinder
from leastaction.reproduce.method import Residual, as_published
from leastaction.reproduce.section import Plan, Section, Table, bar
from leastaction.reproduce.timing import FINDERS, RESIDUALS

DT, STEPS, HALVINGS, DURATION = 1e-3, 1000, 4, 1.0
BODIES = 5


def follow(residual: Residual, finder: RootFinder, dt: float, steps: int) -> np.ndarray:
    """Configurations (steps + 1, nv) of a gently moving chain, rad."""
    return la.simulate(la.library.paper_chain(BODIES), dt=dt, steps=steps, progress=False,
                       integrator=as_published(finder, residual=residual)).q


def differences(residual: Residual) -> dict[str, float]:
    """How far the trajectories of the root finders, each at its round-off floor, are from that of RIQN, rad."""
    finders: dict[str, RootFinder] = {name: finder(tol=1e-15) for name, finder in FINDERS.items()}
    found = {name: follow(residual, finder, DT, STEPS) for name, finder in finders.items()}
    return {name: float(np.abs(q - found["RIQN"]).max()) for name, q in found.items() if name != "RIQN"}


def halvings() -> list[tuple[float, float]]:
    """Step (s) and difference of SVI and DRNEA at the end (rad), for ever smaller steps."""
    rows = []
    for k in range(HALVINGS):
        steps = 50 * 2**k
        ends = [follow(residual, la.RIQN(), DURATION / steps, steps)[-1] for residual in RESIDUALS]
        rows.append((DURATION / steps, float(np.abs(ends[0] - ends[1]).max())))
    return rows


def run(_plan: Plan, _out: Path) -> Section:
    """Compare, and say what was found."""
    found = {residual: differences(residual) for residual in bar(list(RESIDUALS), "agreement")}
    rows = halvings()
    orders = ["", *(f"{np.log2(a[1] / b[1]):.2f}" for a, b in pairwise(rows))]
    text = (
        f"The paper's chain of {BODIES} bodies under gravity. All root finders, run to the round-off floor, follow "
        f"the same trajectory over {STEPS:,} steps. SVI (midpoint, generalized coordinates) and DRNEA (trapezoid, on "
        "the group) are different discretisations of second order, so their trajectories approach each other at "
        "order 2."
    )
    return Section("Do the methods agree?", text, [], [
        Table("agreement", ("residual", "root finder", "greatest difference from RIQN, rad"),
              [(RESIDUALS[r], name, f"{d:.1e}") for r, names in found.items() for name, d in names.items()]),
        Table("residuals", ("step, ms", "SVI less DRNEA after 1 s, rad", "observed order"),
              [(f"{1e3 * h:g}", f"{d:.3e}", order) for (h, d), order in zip(rows, orders, strict=True)])])
