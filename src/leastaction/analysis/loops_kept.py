"""How well the loops of a run stayed closed, in numbers and in words."""

from typing import Any, NamedTuple

import numpy as np

from leastaction.analysis.reactions import openings
from leastaction.analysis.singular import redundant_rows, times
from leastaction.closures import size
from leastaction.compiled import compile_model
from leastaction.trajectory import Trajectory

KEPT = 1e-10  # of the model's size and speed: closures and rates that are round-off


class LoopsKept(NamedTuple):
    """What was found of the loops at the kept nodes of a run.

    closure : greatest row, m
    rate : greatest rate A v, m/s
    kept : whether both are round-off
    rows, redundant : number of rows, and of those that follow from others at the start
    changed : times, s, of the kept nodes at which another number of rows is redundant than at the start, or was since
        the node kept before
    """

    closure: float
    rate: float
    kept: bool
    rows: int
    redundant: int
    changed: list[float]

    def row(self) -> tuple[str, str]:
        """Return the findings as a name and a text."""
        spare = f"; {self.redundant} of {self.rows} rows redundant" if self.redundant else f"; {self.rows} rows"
        return "loops", f"closed to {self.closure:.1e} m, opening at {self.rate:.1e} m/s at most{spare}"

    def sentences(self) -> list[str]:
        """Return the findings in words."""
        found = ["Loops stay closed." if self.kept else
                 f"Loops do not stay closed: they open by up to {self.closure:.1e} m."]
        if self.changed:
            found.append(f"At {len(self.changed)} kept nodes or in the steps before them, the first at "
                         f"{self.changed[0]:.4g} s, another number of their rows is redundant than at the start: there "
                         "the mechanism is singular, and round-off may decide how it goes on.")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything under plain names, as JSON can hold it."""
        return self._asdict()


def loops_kept(run: Trajectory) -> LoopsKept | None:
    """Examine the loops of a run; None if its model has none."""
    c = compile_model(run.model)
    if c.rows is None:
        return None
    g, rate = openings(run)
    redundant = redundant_rows(run)
    length = size(c)
    kept = g.max() <= KEPT * length and rate.max() <= KEPT * length * max(float(np.abs(run.v).max()), 1.0)
    return LoopsKept(float(g.max()), float(rate.max()), bool(kept), len(c.rows.kind), int(redundant[0]),
                     times(run, redundant))
