"""Mass, centre of mass and rotational inertia of a rigid body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leastaction.errors import ModelError
from leastaction.model.arrays import ByValue, as_array, point_inertia, rotation_matrix

ORIGIN = (0.0, 0.0, 0.0)
ALONG_Z = (0.0, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Inertia(ByValue):
    """Inertia of a rigid body; whether it is physical is checked with the model, where faults are collected.

    Parameters
    ----------
    mass : number, kg
    com : (3,) centre of mass, body frame, m
    matrix : (3, 3) rotational inertia about the centre of mass, body axes, kg m^2; zero for a point mass
    """

    mass: float
    # Any shape may be given; what is stored is always a read-only array.
    com: Any = ORIGIN
    matrix: Any = ((0.0,) * 3,) * 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", float(as_array(self.mass, (), "the mass of an inertia")))
        object.__setattr__(self, "com", as_array(self.com, (3,), "the com of an inertia"))
        object.__setattr__(self, "matrix", as_array(self.matrix, (3, 3), "the matrix of an inertia"))

    @classmethod
    def box(cls, mass: float, size: ArrayLike, com: ArrayLike = ORIGIN) -> Inertia:
        """Make a solid box.

        Parameters
        ----------
        mass : number, kg
        size : (3,) full edge lengths along the body axes, m
        com : (3,) centre of the box, body frame, m
        """
        x, y, z = (_length(edge, "box edge") ** 2 for edge in as_array(size, (3,), "the size of a box"))
        return cls(mass, com, _mass(mass) / 12 * np.diag([y + z, x + z, x + y]))

    @classmethod
    def rod(cls, mass: float, length: float, axis: ArrayLike = ALONG_Z, com: ArrayLike = ORIGIN) -> Inertia:
        """Make a thin rod.

        Parameters
        ----------
        mass : number, kg
        length : number, m
        axis : (3,) direction of the rod, body frame, any length
        com : (3,) middle of the rod, body frame, m
        """
        return cls(mass, com, _round(axis, 0.0, _mass(mass) * _length(length, "rod length") ** 2 / 12))

    @classmethod
    def sphere(cls, mass: float, radius: float, com: ArrayLike = ORIGIN) -> Inertia:
        """Make a solid sphere.

        Parameters
        ----------
        mass : number, kg
        radius : number, m
        com : (3,) centre of the sphere, body frame, m
        """
        return cls(mass, com, 0.4 * _mass(mass) * _length(radius, "sphere radius") ** 2 * np.eye(3))

    @classmethod
    def cylinder(
        cls, mass: float, radius: float, length: float, axis: ArrayLike = ALONG_Z, com: ArrayLike = ORIGIN
    ) -> Inertia:
        """Make a solid cylinder.

        Parameters
        ----------
        mass : number, kg
        radius : number, m
        length : number, m
        axis : (3,) axis of symmetry, body frame, any length
        com : (3,) middle of the cylinder, body frame, m
        """
        m, r, l = _mass(mass), _length(radius, "cylinder radius"), _length(length, "cylinder length")
        return cls(mass, com, _round(axis, m * r * r / 2, m * (3 * r * r + l * l) / 12))

    @classmethod
    def capsule(
        cls, mass: float, radius: float, length: float, axis: ArrayLike = ALONG_Z, com: ArrayLike = ORIGIN
    ) -> Inertia:
        """Make a solid cylinder with a half ball on either end.

        Parameters
        ----------
        mass : number, kg
        radius : number, m
        length : number, of the cylinder without its caps, m
        axis : (3,) axis of symmetry, body frame, any length
        com : (3,) middle of the capsule, body frame, m
        """
        m, r, l = _mass(mass), _length(radius, "capsule radius"), _length(length, "capsule length")
        tube = m * l / (l + 4 * r / 3) if l > 0 else 0.0
        caps = m - tube
        axial = (tube / 2 + 0.4 * caps) * r * r
        across = tube * (l * l / 12 + r * r / 4) + caps * (0.4 * r * r + l * l / 4 + 3 * l * r / 8)
        return cls(mass, com, _round(axis, axial, across))

    @property
    def matrix_about_origin(self) -> np.ndarray:
        """(3, 3) rotational inertia about the body frame's origin, body axes, kg m^2."""
        total: np.ndarray = self.matrix + point_inertia(self.mass, self.com)
        return total

    def moved(self, position: ArrayLike = ORIGIN, quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> Inertia:
        """Return the same inertia seen from another frame.

        Parameters
        ----------
        position : (3,) this frame's origin, other frame, m
        quaternion : (4,) unit quaternion of this frame's axes in the other frame
        """
        R = rotation_matrix(as_array(quaternion, (4,), "the quaternion"))
        com = as_array(position, (3,), "the position") + R @ self.com
        return Inertia(self.mass, com, R @ self.matrix @ R.T)

    def __add__(self, other: Inertia) -> Inertia:
        """Two inertias in the same frame, welded together."""
        mass = self.mass + other.mass
        moment = self.mass * self.com + other.mass * other.com
        if mass == 0 and moment.any():
            raise ModelError("inertias whose masses cancel have no common centre of mass")
        com = moment / mass if mass else np.zeros(3)
        matrix = sum(x.matrix + point_inertia(x.mass, x.com - com) for x in (self, other))
        return Inertia(mass, com, matrix)


def _mass(value: float) -> float:
    return float(as_array(value, (), "the mass of an inertia"))


def _length(value: float, what: str) -> float:
    """Check a length here: it is squared, so validation could no longer see its sign."""
    number = float(as_array(value, (), f"the {what}"))
    if not 0 <= number < np.inf:
        raise ModelError(f"the {what} must be finite and not negative, not {number:g}")
    return number


def _round(axis: ArrayLike, axial: float, across: float) -> np.ndarray:
    """Return the inertia matrix (3, 3) of a body that is symmetric about `axis`, kg m^2."""
    direction = as_array(axis, (3,), "the axis of an inertia")
    norm = np.linalg.norm(direction)
    if not 0 < norm < np.inf:
        raise ModelError(f"the axis of an inertia must have a direction, not {axis!r}")
    n = direction / norm
    return across * np.eye(3) + (axial - across) * np.outer(n, n)
