"""What every force between bodies has: bodies, faults, symmetries, a line of text and one to draw."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from leastaction.arguments import real_array, shown
from leastaction.errors import ModelError
from leastaction.model.arrays import ByValue

Vector = tuple[float, ...]
End = tuple[str | None, Vector]  # a body, None for the ground, and a point in its frame, m
Fixed = Callable[[str | None, Vector], np.ndarray | None]  # where a point of a body is in the world; None if it moves
FORCE_KINDS: dict[str, type["Force"]] = {}  # by module and name, the latest of each

ANY = np.eye(6)  # all rigid motions


class Line(NamedTuple):
    """What to draw of a force.

    kind : "spring", from one end to the other; or "thrust", a nozzle at the first, its jet towards the second
    start, end : a body, None for the ground, and a point in its frame, m
    """

    kind: str
    start: End
    end: End


class Force(ByValue):
    """A force on bodies or between them: what `Spring`, `Field`, `Thruster` and forces of your own derive from.

    A kind of force is a frozen dataclass. Fields ``body`` and ``other`` name the bodies, None being the ground. It says
    in `tables` which numbers the kernels get; docs/extending.md shows a complete one.
    """

    conservative: ClassVar[bool] = True  # whether the force keeps the energy, which `audit` then expects

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        FORCE_KINDS[f"{cls.__module__}.{cls.__qualname__}"] = cls

    @property
    def keeps_energy(self) -> bool:
        """Whether this force has a potential and no damping."""
        return self.conservative

    @property
    def kind(self) -> str:
        """Name of the kind in lower case."""
        return type(self).__name__.lower()

    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it acts on, the ground left out."""
        ends = (getattr(self, name) for name in ("body", "other") if hasattr(self, name))
        return tuple(end for end in ends if end is not None)

    def faults(self) -> list[str]:
        """List what is wrong with its numbers, a sentence each."""
        return []

    def tables(self, places: Any) -> Iterable[Any]:
        """Return rows for kernels: tables of kinds that `leastaction.kernels.elements.element` was told.

        Parameters
        ----------
        places : ``places.point(body, x)`` gives the link that carries a body, and a point (3,) of the body in the frame
            of that link; ``places.direction(body, d)`` likewise a direction; ``places.joint(body, dof)`` the link that
            a degree of freedom of its joint moves; ``places.links`` are all that have mass
        """
        raise ModelError(f"{type(self).__name__} does not say in a method tables() what acts; see docs/extending.md")

    def symmetries(self, fixed: Fixed) -> Sequence[np.ndarray]:
        """Return screws (k, 6), world axes, along which all bodies may move together and nothing changes.

        Of several arrays, only what all of them allow. Unless a kind says so, none.

        Parameters
        ----------
        fixed : where a point of a body is in the world, (3,) m; None if the body moves
        """
        return [np.zeros((0, 6))]

    def summary(self) -> str:
        """Say in a line what it is, for ``print(model)``."""
        return " and ".join(f"'{name}'" for name in self.bodies()) or "all bodies"

    def lines(self) -> Sequence[Line]:
        """What to draw of it."""
        return ()

    def _numbers(self, **shapes: tuple[int, ...]) -> None:
        """Turn fields into floats and tuples of floats of these shapes, or raise a ModelError that names the field."""
        for name, shape in shapes.items():
            what = f"{name} of a {type(self).__name__}"
            expected = f"{shape[0]} numbers" if shape else "a number"
            try:
                array = real_array(getattr(self, name), what, expected)
            except ValueError as error:
                raise ModelError(str(error)) from None
            if array.shape != shape:
                raise ModelError(f"{what} must be {expected}, not {shown(getattr(self, name))}")
            value = array.tolist()
            object.__setattr__(self, name, tuple(value) if shape else value)

    def _not_finite(self) -> list[str]:
        """Fields that have numbers which are not finite, as faults."""
        return [f"{field.name} is not finite: {getattr(self, field.name)}" for field in fields(self)  # type: ignore[arg-type]
                if isinstance(getattr(self, field.name), float | tuple)
                and not np.isfinite(np.array(getattr(self, field.name), dtype=float)).all()]


def rotations_about(place: np.ndarray) -> np.ndarray:
    """Return the screws (3, 6) of rotations about axes through a point (3,), m."""
    return np.array([[*axis, *np.cross(place, axis)] for axis in np.eye(3)])
