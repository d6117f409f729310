"""Checked conversion to arrays, and the few rotations the model layer needs."""

import math
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leastaction.arguments import real_array, shown
from leastaction.errors import ModelError

UNIT_TOLERANCE = 1e-6  # quaternions closer to unit norm than this are normalised, others are faults


def same(a: Any, b: Any) -> bool:
    """Tell whether two values are equal; arrays in shape and every number."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is b or np.array_equal(a, b)
    return a is b or bool(a == b)


class ByValue:
    """A frozen dataclass, fields of which may be arrays: equal to another of its kind with equal fields."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(same(getattr(self, field.name), getattr(other, field.name)) for field in fields(self))  # type: ignore[arg-type]

    def __hash__(self) -> int:
        values = (getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]
        # As numbers, since −0 and 0 are equal but differ in their bytes
        return hash(tuple(tuple(value.ravel().tolist()) if isinstance(value, np.ndarray) else value
                          for value in values))


def as_array(value: ArrayLike, shape: tuple[int, ...], what: str) -> np.ndarray:
    """Copy `value` to a read-only float array, or raise a ModelError that says what `what` should be."""
    expected = f"numbers of shape {shape}" if shape else "a number"
    try:
        array = real_array(value, what, expected)
    except ValueError as error:
        raise ModelError(str(error)) from None
    if array.shape != shape:
        raise ModelError(f"{what} must be {expected}, not {shown(value)}")
    array.flags.writeable = False
    return array


def product(a: Any, b: Any) -> tuple[Any, Any, Any, Any]:
    """Multiply two quaternions, 4-tuples of numbers or of arrays of components."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def rotated(quaternion: Any, vector: Any) -> tuple[Any, Any, Any]:
    """Turn a vector by a unit quaternion, both tuples of numbers or of arrays of components."""
    w, x, y, z = quaternion
    _, a, b, c = product(product(quaternion, (0.0, *vector)), (w, -x, -y, -z))
    return a, b, c


def rotation_matrix(quaternion: ArrayLike) -> np.ndarray:
    """Return the rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(np.asarray(quaternion, dtype=float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def about(axis: ArrayLike, angle: float) -> np.ndarray:
    """Return the unit quaternion (4,) of the turn by `angle` (rad) about `axis` (3,)."""
    axis = np.asarray(axis, dtype=float)
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis / np.linalg.norm(axis)])


def point_inertia(mass: ArrayLike, offset: np.ndarray) -> np.ndarray:
    """Return the inertia (..., 3, 3) about the origin of point masses (...) at `offset` (..., 3), kg m^2."""
    square = (offset * offset).sum(-1)[..., None, None] * np.eye(3)
    inertia: np.ndarray = np.asarray(mass)[..., None, None] * (square - offset[..., :, None] * offset[..., None, :])
    return inertia


def nearly_unit(quaternion: np.ndarray) -> np.ndarray:
    """Remove round-off from the norm; what is further off is left for `validate` to name."""
    norm = math.hypot(*quaternion.tolist())
    if norm == 1 or not abs(norm - 1) <= UNIT_TOLERANCE:
        return quaternion
    unit = quaternion / norm
    unit.flags.writeable = False
    return unit
