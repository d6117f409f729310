"""Fixed joints disappear here: every body is carried by the nearest body that moves, or by the ground."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from leastaction.model.arrays import point_inertia, product, rotated, rotation_matrix
from leastaction.model.joints import Fixed

if TYPE_CHECKING:
    from leastaction.model.model import Model


@dataclass(frozen=True, eq=False)
class Merged:
    """What each moving body carries; rows of bodies that carry nothing are zero.

    Of several variants of a model at once, every array but carrier and quaternion has one more axis, the first.

    Attributes
    ----------
    carrier : (nb,) index of the moving body that carries each body (itself when it moves), -1 for the ground
    position : (nb, 3) origin of each body, carrier's frame (world for the ground), m
    quaternion : (nb, 4) axes of each body, carrier's frame (world for the ground)
    mass : (nb,) carried mass, kg
    first_moment : (nb, 3) carried mass times centre of mass, carrier's frame, kg m
    centre : (nb, 3) centre of the carried mass, carrier's frame, m; zero without mass
    inertia_com : (nb, 3, 3) carried rotational inertia about that centre, carrier's axes, kg m^2
    ground_mass : () mass fixed to the ground, kg
    ground_first_moment : (3,) its mass times centre of mass, world frame, kg m
    """

    carrier: np.ndarray
    position: np.ndarray
    quaternion: np.ndarray
    mass: np.ndarray
    first_moment: np.ndarray
    centre: np.ndarray
    inertia_com: np.ndarray
    ground_mass: np.ndarray
    ground_first_moment: np.ndarray


def merge_fixed(model: "Model") -> Merged:
    """Sum the inertias of bodies joined by fixed joints; placements must be unit quaternions."""
    bodies = model.bodies
    position, com = (np.array(rows).reshape(-1, 3) for rows in (
        [body.position for body in bodies], [body.inertia.com for body in bodies]))
    mass = np.array([body.inertia.mass for body in bodies])
    return merge_numbers(model, position, mass, com, np.array([body.inertia.matrix for body in bodies]))


def merge_numbers(
    model: "Model", position: np.ndarray, mass: np.ndarray, com: np.ndarray, matrix: np.ndarray
) -> Merged:
    """Do as `merge_fixed` with other numbers than the model's; leading axes (...,) are of variants.

    Every number is made of its own by sums and products that are written out here, so that none depends on how many
    variants there are.

    Parameters
    ----------
    position : (..., nb, 3) of the joint frames, as the bodies have them, m
    mass : (..., nb), kg
    com : (..., nb, 3) centres of mass, body frames, m
    matrix : (..., nb, 3, 3) rotational inertias about them, body axes, kg m^2
    """
    carrier, position, quaternion = _carriers(model, position)
    R = rotation_matrix(quaternion)
    com = position + _product(R, com[..., None])[..., 0]
    matrix = _product(_product(R, matrix.reshape(*mass.shape, 3, 3)), R.swapaxes(1, 2))
    matrix = (matrix + matrix.swapaxes(-1, -2)) / 2

    # Row nb, which index -1 also names, collects what the ground carries.
    total_mass = _collected(mass, carrier, 1)
    first_moment = _collected(mass[..., None] * com, carrier, 2)
    centre = np.divide(
        first_moment, total_mass[..., None], out=np.zeros_like(first_moment), where=total_mass[..., None] != 0
    )
    # A sum of its own: the difference of the moments about the origin would not leave zero for a point mass.
    inertia_com = _collected(matrix + point_inertia(mass, com - centre[..., carrier, :]), carrier, 3)
    return Merged(
        carrier,
        position,
        quaternion,
        total_mass[..., :-1],
        first_moment[..., :-1, :],
        centre[..., :-1, :],
        inertia_com[..., :-1, :, :],
        total_mass[..., -1],
        first_moment[..., -1, :],
    )


def _carriers(model: "Model", own: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the carrier (nb,) of each body and the pose (..., nb, 3), (nb, 4) of the body in it.

    Parameters
    ----------
    own : (..., nb, 3) positions of the bodies in their parents, m
    """
    bodies, parents = model.bodies, model.parents.tolist()
    carrier = np.arange(len(bodies))
    position = np.zeros(own.shape)
    quaternion = np.tile([1.0, 0.0, 0.0, 0.0], (len(bodies), 1))
    for b in model.order():
        if not isinstance(bodies[b].joint, Fixed):
            continue
        parent = parents[b]
        if parent < 0:
            carrier[b], position[..., b, :], quaternion[b] = -1, own[..., b, :], bodies[b].quaternion
        else:
            turn = quaternion[parent].tolist()
            carrier[b], quaternion[b] = carrier[parent], product(turn, bodies[b].quaternion.tolist())
            for axis, moved in enumerate(rotated(turn, np.moveaxis(own[..., b, :], -1, 0))):
                position[..., b, axis] = position[..., parent, axis] + moved
    return carrier, position, quaternion


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Multiply matrices (..., 3, 3) and (..., 3, k)."""
    first, second, third = (a[..., :, k, None] * b[..., None, k, :] for k in range(3))
    total: np.ndarray = first + second + third
    return total


def _collected(values: np.ndarray, carrier: np.ndarray, axes: int) -> np.ndarray:
    """Sum rows by carrier, with one more row for the ground; bodies are the first of the last so many axes."""
    at = values.ndim - axes
    total = np.zeros((*values.shape[:at], len(carrier) + 1, *values.shape[at + 1 :]))
    np.add.at(np.moveaxis(total, at, 0), carrier, np.moveaxis(values, at, 0))
    return total
