"""The shapes of an ensemble: its chunks, the nodes that are kept and their times, the arrays of a chunk."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from leastaction.model import Model

Array = np.ndarray
QUANTITIES = ("q", "v", "p", "energy", "momentum")
MOST = 2**53  # members and steps, so that every count is exact in double precision


def kept_nodes(recorded: int, keep: int | str) -> Array:
    """Return which of the recorded nodes are kept of every member, (kept,).

    Parameters
    ----------
    recorded : number of recorded nodes, the start included
    keep : "all", k for every k-th and the last, "last", or "statistics" for none
    """
    if keep == "statistics":
        return np.arange(0)
    if keep == "last":
        return np.array([recorded - 1])
    every = 1 if keep == "all" else int(keep)
    return np.unique([*range(0, recorded, every), recorded - 1])


@dataclass(frozen=True)
class Layout:
    """Sizes of an ensemble.

    Attributes
    ----------
    model : the system that the members vary
    members : how many there are
    chunk : members to a file; the last file may have fewer
    dt : time step, s
    steps : steps of a member
    record_every : steps between two recorded nodes
    keep : which of these are kept of every member, see `kept_nodes`
    quantities : names of the arrays of nodes
    """

    model: Model
    members: int
    chunk: int
    dt: float
    steps: int
    record_every: int
    keep: int | str
    quantities: tuple[str, ...]

    @classmethod
    def of(cls, plan: Mapping[str, Any], chunk: int) -> Self:
        """Take the sizes from a plan as data; a ValueError names what is not valid."""
        for name, value, least in (("members", plan["members"], 1), ("steps", plan["steps"], 0),
                                   ("record_every", plan["record_every"], 1), ("chunk", chunk, 1)):
            if not (type(value) is int and least <= value <= MOST):
                raise ValueError(f"its {name} is {value!r}")
        dt, keep, quantities = plan["dt"], plan["keep"], plan["quantities"]
        if not (isinstance(dt, float | int) and np.isfinite(dt) and dt > 0):
            raise ValueError(f"its dt is {dt!r}")
        if keep not in ("all", "last", "statistics") and not (type(keep) is int and keep >= 1):
            raise ValueError(f"its keep is {keep!r}")
        if not quantities or any(name not in QUANTITIES for name in quantities):
            raise ValueError(f"its quantities are {quantities!r}")
        model = Model.from_dict(plan["model"])
        return cls(model, plan["members"], chunk, float(dt), plan["steps"], plan["record_every"], keep,
                   tuple(quantities))

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return -(-self.members // self.chunk)

    def range(self, number: int) -> tuple[int, int]:
        """Return the first member of a chunk, and how many it has."""
        first = number * self.chunk
        return first, min(self.chunk, self.members - first)

    @cached_property
    def recorded(self) -> Array:
        """(recorded,) times of the recorded nodes, over which statistics are made, s."""
        return np.arange(self.steps // self.record_every + 1) * self.record_every * self.dt

    @cached_property
    def kept(self) -> Array:
        """(kept,) which of the recorded nodes are kept of every member."""
        return kept_nodes(len(self.recorded), self.keep)

    @cached_property
    def t(self) -> Array:
        """(kept,) times of the kept nodes, s."""
        times: Array = self.recorded[self.kept]
        return times

    def entries(self, quantity: str) -> tuple[int, ...]:
        """Return the shape of a quantity at one node of one member."""
        model = self.model
        return {"q": (model.nq,), "v": (model.nv,), "p": (model.nv,), "energy": (), "momentum": (6,)}[quantity]

    def nodes(self, quantity: str) -> tuple[int, ...]:
        """Return the shape of a quantity of one member at the recorded nodes, (recorded, …)."""
        return len(self.recorded), *self.entries(quantity)
