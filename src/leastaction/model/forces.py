"""Forces between bodies and on them: springs, fields, thrusters. Descriptions; what they do is in kernels/elements."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leastaction.errors import ModelError
from leastaction.model.force import ANY, Fixed, Force, Line, Vector, rotations_about

ORIGIN = (0.0, 0.0, 0.0)
FOREVER = 1e300  # s


@dataclass(frozen=True, eq=False)
class Spring(Force):
    """A linear spring, and a damper beside it, between points of two bodies: a pull of k (r − rest) + c ṙ.

    The spring acts by the trapezoidal rule in the action: symplectic, of second order, stable while dt ω < 2, which is
    checked before the first step. The damper is solved exactly, so it never rings, however strong.

    Parameters
    ----------
    body : name of a body
    other : name of the other body, None for the ground
    point : (3,) where it is fastened to the body, body frame, m
    other_point : (3,) where it is fastened to the other body, its frame (world for the ground), m
    stiffness : k, N/m
    rest : length at which it does not pull, m
    damping : c, N s/m
    """

    body: str
    other: str | None = None
    point: Any = ORIGIN
    other_point: Any = ORIGIN
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        self._numbers(point=(3,), other_point=(3,), stiffness=(), rest=(), damping=())

    @property
    def keeps_energy(self) -> bool:
        """Whether it has no damping."""
        return self.damping == 0.0

    def faults(self) -> list[str]:
        """List what is wrong with its numbers."""
        found = self._not_finite()
        if self.body == self.other:
            found.append(f"both ends are on the body '{self.body}': give other= another body, or None, the ground")
        for name, unit in (("stiffness", "N/m"), ("rest", "m"), ("damping", "N s/m")):
            if getattr(self, name) < 0:
                found.append(f"{name} is negative: {getattr(self, name):g} {unit}")
        if self.stiffness == 0.0 == self.damping:
            found.append("it has neither stiffness nor damping, so it does nothing: give stiffness=, N/m")
        return found

    def symmetries(self, fixed: Fixed) -> Sequence[np.ndarray]:
        """Return all motions if both ends move, rotations about the end that does not otherwise."""
        ends = (fixed(self.body, self.point), fixed(self.other, self.other_point))
        return [rotations_about(place) for place in ends if place is not None] or [ANY]

    def summary(self) -> str:
        """Say what it joins, and its numbers."""
        other = "the ground" if self.other is None else f"'{self.other}'"
        damping = f", {self.damping:.4g} N s/m" if self.damping else ""
        return f"'{self.body}' to {other}, {self.stiffness:.4g} N/m, rest {self.rest:.4g} m{damping}"

    def lines(self) -> Sequence[Line]:
        """Return the line from end to end."""
        return (Line("spring", (self.body, self.point), (self.other, self.other_point)),)


@dataclass(frozen=True, eq=False)
class Field(Force):
    """What fills space around: the gravity of a central mass, a magnetic field.

    ``mu`` attracts every body towards ``center``, with the gradient of gravity over the body, which turns it; set the
    model's own ``gravity`` to zero then. A magnet of the given ``moment`` in ``body`` feels the magnetic field, the sum
    of ``uniform`` and that of a ``dipole`` at ``center``. A planet has both: ``mu`` and ``dipole``.

    Parameters
    ----------
    mu : gravitational parameter G M of the central mass, m³/s²; 3.986004418e14 for the Earth
    center : (3,) where the central mass and the dipole are, world, m
    body : name of the body that has the magnet
    moment : (3,) magnetic moment of the magnet, body frame, A m²
    point : (3,) where in the body the magnet is, body frame, m
    uniform : (3,) flux density of the uniform field, world, T
    dipole : (3,) magnetic moment of the dipole, world, A m²; about (0, 0, -7.7e22) for the Earth
    """

    mu: float = 0.0
    center: Any = ORIGIN
    body: str | None = None
    moment: Any = ORIGIN
    point: Any = ORIGIN
    uniform: Any = ORIGIN
    dipole: Any = ORIGIN

    def __post_init__(self) -> None:
        self._numbers(mu=(), center=(3,), moment=(3,), point=(3,), uniform=(3,), dipole=(3,))

    @property
    def has_magnet(self) -> bool:
        """Whether it acts on a magnet."""
        return self.body is not None

    def faults(self) -> list[str]:
        """List what is wrong with its numbers."""
        found = self._not_finite()
        if self.mu < 0:
            found.append(f"mu is negative: {self.mu:g} m³/s²")
        magnetic = any(self.uniform) or any(self.dipole)
        if any(self.moment) and self.body is None:
            found.append("the magnet of this moment is in no body: give body=")
        elif self.body is not None and not (any(self.moment) and magnetic):
            found.append(f"body '{self.body}' has no magnet in a magnetic field: give moment=, and uniform= or "
                         "dipole=; mu acts on all bodies and needs no body=")
        elif self.mu == 0.0 and self.body is None:
            found.append("it does nothing: give mu=, or body=, moment= and uniform= or dipole=")
        return found

    def symmetries(self, fixed: Fixed) -> Sequence[np.ndarray]:
        """Return rotations about the centre, the dipole's axis or the uniform field, and translations in the last."""
        found, center = [], np.array(self.center)
        if self.mu:
            found.append(rotations_about(center))
        if self.has_magnet and any(self.uniform):
            found.append(np.array([[*self.uniform, 0.0, 0.0, 0.0], *ANY[3:]]))
        if self.has_magnet and any(self.dipole):
            found.append(np.array([[*self.dipole, *np.cross(center, self.dipole)]]) / np.linalg.norm(self.dipole))
        return found

    def summary(self) -> str:
        """Say who feels what."""
        found = [f"gravity of {self.mu:.4g} m³/s² at {_written(self.center)} m on all bodies"] if self.mu else []
        if self.has_magnet:
            found.append(f"magnet {_written(self.moment)} A m² in '{self.body}'")
        return "; ".join(found)


@dataclass(frozen=True, eq=False)
class Thruster(Force):
    """A force that is fixed in a body: it turns with it. No mass is lost.

    The impulse in a step is the exact integral of the thrust, so a burn has its full impulse wherever between steps it
    begins and ends.

    Parameters
    ----------
    body : name of the body
    direction : (3,) in which it pushes the body, body frame; any length but zero
    thrust : N; or rows (time s, thrust N), between which it is linear and outside of which it is zero: two rows of the
        same time are a jump
    point : (3,) where it acts, body frame, m
    burns : rows (start, stop), s, in which a thrust that is one number acts; None for always
    """

    body: str
    direction: Any
    thrust: Any
    point: Any = ORIGIN
    burns: Any = None

    conservative = False

    def __post_init__(self) -> None:
        self._numbers(direction=(3,), point=(3,))
        for name in ("thrust", "burns"):
            given = getattr(self, name)
            if name == "thrust" and np.ndim(given) == 0:
                self._numbers(thrust=())
            elif given is not None:
                what, rows = f"{name} of a Thruster", ("time, thrust" if name == "thrust" else "start, stop")
                try:
                    array = np.array(given, dtype=float)
                except (TypeError, ValueError):
                    array = np.zeros(0)
                if array.ndim != 2 or array.shape[1] != 2 or not len(array):
                    one = "a number, or " * (name == "thrust")
                    more = f"; one burn is [{given!r}]" if name == "burns" and array.shape == (2,) else ""
                    raise ModelError(f"{what} must be {one}rows ({rows}), not {given!r}{more}")
                object.__setattr__(self, name, tuple(map(tuple, array.tolist())))

    def faults(self) -> list[str]:
        """List what is wrong with its numbers."""
        found = [fault for fault in self._not_finite() if not fault.startswith("burns")]
        if not any(self.direction):
            found.append("direction is zero: give where it pushes the body, such as (0, 0, 1)")
        if isinstance(self.thrust, tuple):
            if self.burns is not None:
                found.append("burns are for a thrust of one number: a schedule has its own times")
            if len(self.thrust) == 1:
                found.append("a schedule of one row acts at no time: give a second row (time, thrust), or a number "
                             "with burns=")
            if (np.diff([time for time, _ in self.thrust]) < 0).any():
                found.append("the times of thrust do not ascend")
        elif self.burns is not None:
            ends = np.array(self.burns)
            if np.isnan(ends).any():
                found.append(f"burns are not all numbers: {self.burns}")
            elif (ends[:, 1] <= ends[:, 0]).any():
                found.append(f"a burn ends before it starts: {self.burns}")
            elif (ends[1:, 0] < ends[:-1, 1]).any():
                found.append(f"burns must follow each other without overlap: {self.burns}")
        return found

    def pieces(self) -> list[tuple[float, float, float, float]]:
        """List (begin s, end s, thrust at the beginning N, slope N/s) of all times at which it acts."""
        if isinstance(self.thrust, tuple):
            pairs = zip(self.thrust[:-1], self.thrust[1:], strict=True)
            return [(a, b, f, (g - f) / (b - a)) for (a, f), (b, g) in pairs if b > a and (f or g)]
        burns = [(-FOREVER, FOREVER)] if self.burns is None else self.burns
        return [(max(a, -FOREVER), min(b, FOREVER), self.thrust, 0.0) for a, b in burns]

    def summary(self) -> str:
        """Say how strong it is, and when."""
        if isinstance(self.thrust, tuple):
            most = max((thrust for _, thrust in self.thrust), key=abs)
            return f"'{self.body}', up to {most:.4g} N from {self.thrust[0][0]:g} to {self.thrust[-1][0]:g} s"
        burns = "" if self.burns is None else f" in {len(self.burns)} burn{'s' * (len(self.burns) > 1)}"
        return f"'{self.body}', {self.thrust:.4g} N{burns}"

    def lines(self) -> Sequence[Line]:
        """Return the axis of the nozzle, the jet going against the direction of the push."""
        size = float(np.linalg.norm(self.direction)) or 1.0
        tail = tuple((np.array(self.point) - np.array(self.direction) / size).tolist())
        return (Line("thrust", (self.body, self.point), (self.body, tail)),)


def _written(vector: Vector) -> str:
    return f"({', '.join(f'{x:.4g}' for x in vector)})"
