"""What closes loops in a tree, and what couples joints."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from leastaction.errors import ModelError
from leastaction.model.arrays import ByValue, as_array, nearly_unit
from leastaction.model.joint import Joint
from leastaction.model.joints import (
    Ball,
    Cylindrical,
    Fixed,
    Planar,
    Prismatic,
    Revolute,
    Universal,
)

MOST_COEFFICIENTS = 5
ROWS: dict[type, int] = {Ball: 3, Fixed: 6, Revolute: 5, Prismatic: 5, Universal: 4, Cylindrical: 4, Planar: 3}


@dataclass(frozen=True)
class Rod:
    """A closure by a massless rod with a ball at either end: it keeps the distance of two points. One row.

    Parameters
    ----------
    length : distance of the two markers, m, positive
    """

    length: Any

    def __post_init__(self) -> None:
        if isinstance(self.length, Real) and not isinstance(self.length, bool):  # NumPy's numbers, too
            object.__setattr__(self, "length", float(self.length))

    def faults(self) -> list[str]:
        """List everything wrong with this rod."""
        if isinstance(self.length, float) and 0 < self.length < math.inf:
            return []
        return [f"length must be a positive number of metres, not {self.length!r}"]


@dataclass(frozen=True, eq=False)
class Loop(ByValue):
    """A joint that was cut out of the tree: it joins a frame on ``body`` to a frame on ``other``.

    The frame on ``other`` is to that on ``body`` what a joint's placement in the parent is to the body: at the joint's
    zero both are the same frame, and axes of the joint are given in either.

    Parameters
    ----------
    name : unique among the loops and couplings of the model
    body : name of a body
    other : name of another body, None for the ground
    joint : Ball, Fixed, Revolute, Prismatic, Universal, Cylindrical, Planar, or a Rod
    position : (3,) origin of the frame on ``body``, body frame, m
    quaternion : (4,) unit quaternion of its axes, body frame
    other_position : (3,) origin of the frame on ``other``, its body frame or the world, m
    other_quaternion : (4,) unit quaternion of its axes, its body frame or the world
    """

    name: str
    body: str
    other: str | None
    joint: Joint | Rod
    position: np.ndarray
    quaternion: np.ndarray
    other_position: np.ndarray
    other_quaternion: np.ndarray

    @property
    def rows(self) -> int:
        """Number of equations."""
        return ROWS.get(type(self.joint), 1)

    def __str__(self) -> str:
        return f"{type(self.joint).__name__.lower()} '{self.body}' to {ground_or(self.other)}"


@dataclass(frozen=True)
class Coupling:
    """One joint that follows another: (q − ref) = Σ c_k (q_to − ref_to)^k.

    Parameters
    ----------
    name : unique among the loops and couplings of the model
    joint : name of a joint of one degree of freedom, or of the body it carries
    to : name of another, None if the joint is to keep the place ref + c_0
    coefficients : (c_0, …), at most five, rad or m over powers of rad or m
    reference : (ref, ref_to), rad or m
    """

    name: str
    joint: str
    to: str | None
    coefficients: tuple[float, ...]
    reference: tuple[float, float]

    rows: ClassVar[int] = 1

    def __str__(self) -> str:
        (own, other), variable = self.reference, f"'{self.to}'"
        if other:
            variable = f"({variable} {_signed(-other)})"
        terms = [_signed(own)] if own else []
        for k, c in enumerate(self.coefficients):
            power = "" if k == 0 else f" {variable}" + (f"^{k}" if k > 1 else "")
            if c:
                terms.append(_signed(c) + power)
        total = " ".join(terms) or "+ 0"
        return f"'{self.joint}' = {'-' * total.startswith('-')}{total[2:]}"


def _signed(number: float) -> str:
    """Write a term of a sum with its sign before it: "- 0.3"."""
    return f"{'-' if number < 0 else '+'} {abs(number):g}"


def closed_by(
    name: str, body: str, other: str | None, joint: Joint | Rod, frame: tuple[ArrayLike, ArrayLike],
    other_frame: tuple[ArrayLike, ArrayLike],
) -> Loop:
    """Make a loop; each frame is a position (3,), m, and a quaternion (4,) on its body."""
    if not all(isinstance(text, str) for text in (name, body)) or not isinstance(other, str | None):
        raise ModelError(f"names of loops and bodies must be text, not {name!r} from {body!r} to {other!r}")
    what = f"of loop '{name}'"
    return Loop(
        name, body, other, joint,
        as_array(frame[0], (3,), f"the position {what}"),
        nearly_unit(as_array(frame[1], (4,), f"the quaternion {what}")),
        as_array(other_frame[0], (3,), f"the other_position {what}"),
        nearly_unit(as_array(other_frame[1], (4,), f"the other_quaternion {what}")),
    )


def coupled(name: str, joint: str, to: str | None, coefficients: ArrayLike, reference: ArrayLike) -> Coupling:
    """Make a coupling."""
    if not all(isinstance(text, str) for text in (name, joint)) or not isinstance(to, str | None):
        raise ModelError(f"names of couplings and joints must be text, not {name!r} of {joint!r} to {to!r}")
    given = np.atleast_1d(as_array(coefficients, np.shape(coefficients), f"the coefficients of coupling '{name}'"))
    if given.ndim > 1:
        raise ModelError(f"the coefficients of coupling '{name}' must be one row of numbers, not {given.tolist()}")
    own, other = as_array(reference, (2,), f"the reference of coupling '{name}'").tolist()
    return Coupling(name, joint, to, tuple(given.tolist()), (own, other))


def ground_or(name: str | None) -> str:
    """Quote the name of a body, or say that it is the ground."""
    return "the ground" if name is None else f"'{name}'"


def listed(loops: tuple[Loop | Coupling, ...]) -> str:
    """Say how many loops and couplings there are: "2 loops and 1 coupling (11 rows)"."""
    couplings = sum(isinstance(loop, Coupling) for loop in loops)
    counts = {"loop": len(loops) - couplings, "coupling": couplings}
    parts = [f"{count} {word}{'s' if count > 1 else ''}" for word, count in counts.items() if count]
    rows = sum(loop.rows for loop in loops)
    return f"{' and '.join(parts)} ({rows} row{'s' if rows > 1 else ''})"
