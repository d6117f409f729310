"""Loops as every rival closes them: two points, one on either body, that are to be one."""

from abc import abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import leastaction as la
from benchmarks.peers.engine import AGREEMENT, Engine, Method, MismatchError, checked

Array = np.ndarray


class Point(NamedTuple):
    """A closure: ``at`` (3,) in the frame of a body is ``other_at`` (3,) in that of another, None for the ground, m."""

    body: str
    at: Array
    other: str | None
    other_at: Array


class ClosedEngine(Engine):
    """An engine that closes the loops of its model."""

    @abstractmethod
    def gaps(self) -> Array:
        """Distances of the ends of all loops (loops,) at the present state, as the library has them, m."""


def points(model: la.Model) -> list[Point]:
    """List the closures of a planar mechanism, where a hinge is closed by its point."""
    return [Point(loop.body, loop.position, loop.other, loop.other_position)
            for loop in model.loops if isinstance(loop, la.Loop)]


def checked_loops(name: str, make: Callable[[la.Model, float], Engine], model: la.Model, h: float) -> None:
    """Check at an open configuration that a rival has our tree and closes the same points.

    Raises
    ------
    MismatchError
        When its mass matrix, its state or the distances of its loops' ends are not ours.
    """
    engine = checked(Method("", name, 0, make), model, h)
    assert isinstance(engine, ClosedEngine)
    ours, theirs = la.closure(model, engine.state()[0]), engine.gaps()
    if theirs.shape != ours.shape or not np.abs(theirs - ours).max() <= AGREEMENT * max(1.0, ours.max()):
        raise MismatchError(f"{name} closes other points of '{model.name}'")
