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

    Attributes
    ----------
    carrier : (nb,) index of the moving body that carries each body (itself when it moves), -1 for the ground
    position : (nb, 3) origin of each body, carrier's frame (world for the ground), m
    quaternion : (nb, 4) axes of each body, carrier's frame (world for the ground)
    mass : (nb,) carried mass, kg
    first_moment : (nb, 3) carried mass times centre of mass, carrier's frame, kg m
    centre : (nb, 3) centre of the carried mass, carrier's frame, m; zero without mass
    inertia_com : (nb, 3, 3) carried rotational inertia about that centre, carrier's axes, kg m^2
    ground_mass : mass fixed to the ground, kg
    ground_first_moment : (3,) its mass times centre of mass, world frame, kg m
    """

    carrier: np.ndarray
    position: np.ndarray
    quaternion: np.ndarray
    mass: np.ndarray
    first_moment: np.ndarray
    centre: np.ndarray
    inertia_com: np.ndarray
    ground_mass: float
    ground_first_moment: np.ndarray


def merge_fixed(model: "Model") -> Merged:
    """Sum the inertias of bodies joined by fixed joints; placements must be unit quaternions."""
    carrier, position, quaternion = _carriers(model)
    bodies = model.bodies
    mass = np.array([body.inertia.mass for body in bodies])
    com = np.array([body.inertia.com for body in bodies]).reshape(-1, 3)
    matrix = np.array([body.inertia.matrix for body in bodies]).reshape(-1, 3, 3)

    R = rotation_matrix(quaternion)
    com = position + np.einsum("bij,bj->bi", R, com)
    matrix = R @ matrix @ R.swapaxes(1, 2)
    matrix = (matrix + matrix.swapaxes(1, 2)) / 2

    # Row nb, which index -1 also names, collects what the ground carries.
    total_mass = _collected(mass, carrier)
    first_moment = _collected(mass[:, None] * com, carrier)
    centre = np.divide(
        first_moment, total_mass[:, None], out=np.zeros_like(first_moment), where=total_mass[:, None] != 0
    )
    # A sum of its own: the difference of the moments about the origin would not leave zero for a point mass.
    inertia_com = _collected(matrix + point_inertia(mass, com - centre[carrier]), carrier)
    return Merged(
        carrier,
        position,
        quaternion,
        total_mass[:-1],
        first_moment[:-1],
        centre[:-1],
        inertia_com[:-1],
        float(total_mass[-1]),
        first_moment[-1],
    )


def _carriers(model: "Model") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the carrier (nb,) of each body and the pose (nb, 3), (nb, 4) of the body in it."""
    bodies, parents = model.bodies, model.parents.tolist()
    carrier = list(range(len(bodies)))
    position = [(0.0, 0.0, 0.0)] * len(bodies)
    quaternion = [(1.0, 0.0, 0.0, 0.0)] * len(bodies)
    for b in model.order():
        if not isinstance(bodies[b].joint, Fixed):
            continue
        own_position, own_quaternion = bodies[b].position.tolist(), bodies[b].quaternion.tolist()
        parent = parents[b]
        if parent < 0:
            carrier[b], position[b], quaternion[b] = -1, own_position, own_quaternion
        else:
            x, y, z = rotated(quaternion[parent], own_position)
            px, py, pz = position[parent]
            carrier[b] = carrier[parent]
            position[b] = (px + x, py + y, pz + z)
            quaternion[b] = product(quaternion[parent], own_quaternion)
    return (
        np.array(carrier, dtype=int),
        np.array(position, dtype=float).reshape(-1, 3),
        np.array(quaternion, dtype=float).reshape(-1, 4),
    )


def _collected(values: np.ndarray, carrier: np.ndarray) -> np.ndarray:
    """Sum the rows of `values` by carrier, with one more row for the ground."""
    total = np.zeros((len(values) + 1, *values.shape[1:]))
    np.add.at(total, carrier, values)
    return total
