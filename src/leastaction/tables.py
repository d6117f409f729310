"""From descriptions of forces to the tables of kernels/elements: names of bodies become links, points ride on them."""

from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from leastaction.errors import ModelError
from leastaction.kernels import elements
from leastaction.kernels.elements.attractions import Attractions
from leastaction.kernels.elements.dampers import Dampers
from leastaction.kernels.elements.magnets import Magnets
from leastaction.kernels.elements.springs import Springs
from leastaction.kernels.elements.thrusters import Thrusters
from leastaction.kernels.layout import SCREW
from leastaction.model import Field, Force, Model, Spring, Thruster
from leastaction.model.arrays import rotated

Array = np.ndarray


class Places(NamedTuple):
    """Where the bodies of a model are on its links.

    numbers : number of a body by its name
    link_of_body : (nb,) the link that carries each body; n, the ground, when none does
    position, quaternion : (nb, 3), (nb, 4) pose of the body in the frame of that link
    links : all links that have mass
    ground : number of the ground, n
    screws : by name of a body, the links that its joint moves, if its parts have one degree of freedom each
    """

    numbers: dict[str, int]
    link_of_body: Array
    position: Array
    quaternion: Array
    links: list[int]
    ground: int
    screws: dict[str, list[int]]

    def point(self, body: str | None, x: Any) -> tuple[int, Array]:
        """Return the link that carries a body, None being the ground, and a point (3,) of it in its frame, m."""
        if body is None:
            return self.ground, np.array(x, dtype=float)
        b = self.numbers[body]
        return int(self.link_of_body[b]), self.position[b] + self.direction(body, x)

    def joint(self, body: str, dof: int = 0) -> int:
        """Return the link that a degree of freedom of the body's joint moves; only of joints made of screws."""
        moved = self.screws.get(body)
        if moved is None:
            raise ValueError(f"the joint of body '{body}' is not made of screws; it must be Revolute, Prismatic, "
                             "Helical, Universal, Cylindrical, Planar or one of your own")
        if not 0 <= dof < len(moved):
            raise ValueError(f"the joint of body '{body}' has {len(moved)} degrees of freedom, and none number {dof}")
        return moved[dof]

    def direction(self, body: str | None, d: Any) -> Array:
        """Return a direction (3,) of a body in the frame of its link."""
        given = np.array(d, dtype=float)
        if body is None:
            return given
        return np.array(rotated(self.quaternion[self.numbers[body]].tolist(), given.tolist()))


def screws(names: Sequence[str], kind: Array, body_of_link: Iterable[int]) -> dict[str, list[int]]:
    """Find the links that joints made of screws move, by name of the body; given (n,) of each link."""
    found: dict[str, list[int]] = {}
    for i, b in enumerate(body_of_link):
        if kind[i] == SCREW:
            found.setdefault(names[b], []).append(i)
    return found


@singledispatch
def tables_of(force: Force, places: Places) -> Iterable[Any]:
    """Return the tables of a force; one that the package does not know says it itself."""
    return force.tables(places)


@tables_of.register
def _(force: Spring, places: Places) -> Iterable[Any]:
    (on, at), (other, other_at) = places.point(force.body, force.point), places.point(force.other, force.other_point)
    if force.stiffness:
        yield Springs([on], [other], at, other_at, [force.stiffness], [force.rest])
    if force.damping:
        yield Dampers([on], [other], at, other_at, [force.damping])


@tables_of.register
def _(force: Field, places: Places) -> Iterable[Any]:
    if force.mu:
        count = len(places.links)
        yield Attractions(places.links, np.full(count, force.mu), np.tile(force.center, count))
    if force.body is not None:
        on, at = places.point(force.body, force.point)
        moment = places.direction(force.body, force.moment)
        yield Magnets([on], at, moment, force.uniform, force.dipole, force.center)


@tables_of.register
def _(force: Thruster, places: Places) -> Iterable[Any]:
    on, at = places.point(force.body, force.point)
    along = places.direction(force.body, force.direction)
    along, pieces = along / np.linalg.norm(along), force.pieces()
    begin, end, thrust, slope = np.array(pieces).reshape(-1, 4).T
    count = len(pieces)
    yield Thrusters([on] * count, np.tile(at, count), np.tile(along, count), begin, end, thrust, slope)


def tables(model: Model, places: Places) -> tuple[tuple[Any, ...], list[dict[str, int]]]:
    """Return the tables that the kernels get of a model; and of every force, in how many rows of which kind it is."""
    given: list[Any] = []
    rows: list[dict[str, int]] = []
    for name, force in model.forces.items():
        try:
            own = list(tables_of(force, places))
            found = elements.tables(own, places.ground)
        except (TypeError, ValueError) as trouble:
            raise ModelError(f"force '{name}' ({type(force).__name__}): {trouble}") from None
        given += own
        rows.append({type(table).__name__: len(table[0]) for table in found})
    return elements.tables(given, places.ground), rows


def restricted(every: tuple[Any, ...], rows: list[dict[str, int]], chosen: Iterable[int]) -> tuple[Any, ...]:
    """Return the tables of some forces only, by number; of the same kinds as those of all, so nothing is compiled."""
    kept = set(chosen)
    made = []
    for table in every:
        kind = type(table).__name__
        mask = np.concatenate([np.full(own.get(kind, 0), f in kept) for f, own in enumerate(rows)])
        columns = (column.reshape(len(mask), -1)[mask].reshape(-1) for column in table)
        made.append(type(table)(*columns))
    return tuple(made)
