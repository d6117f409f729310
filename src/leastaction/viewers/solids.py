"""Triangles of every shape: a few unit solids, which each instance stretches."""

from dataclasses import dataclass
from functools import cache
from hashlib import sha256

import numpy as np

from leastaction.model import Geometry

AROUND, ALONG = 40, 20  # segments about the axis and from pole to pole; the same in web/solids.js
CREASE = np.cos(np.radians(35.0))  # edges of a mesh that are sharper stay sharp


@dataclass(frozen=True, eq=False)
class Solid:
    """A surface of triangles; an instance has it at ``vertices * scale + ends * half-length`` along z.

    Attributes
    ----------
    vertices : (n, 3)
    normals : (n, 3) unit, outwards
    ends : (n,) 1 at the upper, -1 at the lower end of what has a length, else 0
    faces : (m, 3) indices, counter-clockwise seen from outside
    """

    vertices: np.ndarray
    normals: np.ndarray
    ends: np.ndarray
    faces: np.ndarray

    def stretched(self, size: np.ndarray) -> np.ndarray:
        """Return the vertices (n, 3) of an instance of ``size`` (4,): scale and half-length, m."""
        vertices: np.ndarray = self.vertices * size[:3] + np.outer(self.ends, (0.0, 0.0, size[3]))
        return vertices


def solid_of(shape: Geometry) -> tuple[str, Solid, np.ndarray]:
    """Return the solid of a shape, the name under which it is shared, and the instance's size (4,), m."""
    a, b, c = shape.size.tolist()
    if shape.shape == "box":
        return "box", box(), np.array([a, b, c, 0.0])
    if shape.shape == "cylinder":
        return "cylinder", cylinder(), np.array([a, a, 1.0, b])
    if shape.shape == "mesh":
        return _name(shape), mesh(shape.vertices, shape.faces), np.array([1.0, 1.0, 1.0, 0.0])
    sizes = {"sphere": (a, a, a, 0.0), "capsule": (a, a, a, b), "ellipsoid": (a, b, c, 0.0)}
    return "ball", ball(), np.array(sizes[shape.shape])


def reach(shape: Geometry) -> float:
    """Return the radius of a ball about the shape's centre that holds it, m."""
    a, b, c = shape.size.tolist()
    if shape.shape == "mesh":
        return float(np.linalg.norm(shape.vertices, axis=1).max(initial=0.0))
    radii: dict[str, float] = {"box": float(np.hypot(np.hypot(a, b), c)), "sphere": a, "capsule": a + b,
                               "cylinder": float(np.hypot(a, b)), "ellipsoid": max(a, b, c)}
    return radii[shape.shape]


@cache
def ball(around: int = AROUND, along: int = ALONG) -> Solid:
    """Make the unit sphere, split at the equator so that it stretches to a capsule; along is even."""
    half = np.linspace(-0.5 * np.pi, 0.5 * np.pi, along + 1)
    latitude = np.concatenate([half[: along // 2 + 1], half[along // 2 :]])
    ends = np.repeat([-1.0, 1.0], along // 2 + 1)
    profile = np.stack([np.cos(latitude), np.sin(latitude)], 1)
    return _lathe(profile, profile, ends, around)


@cache
def cylinder() -> Solid:
    """Make a cylinder of unit radius, whose length comes from its ends alone."""
    profile = np.array([(0, 0), (1, 0), (1, 0), (1, 0), (1, 0), (0, 0)], dtype=float)
    normals = np.array([(0, -1), (0, -1), (1, 0), (1, 0), (0, 1), (0, 1)], dtype=float)
    return _lathe(profile, normals, np.repeat([-1.0, 1.0], 3))


@cache
def box() -> Solid:
    """Make the cube from -1 to 1."""
    corners: list[np.ndarray] = []
    normals: list[np.ndarray] = []
    faces: list[np.ndarray] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            n, u = sign * np.eye(3)[axis], np.eye(3)[(axis + 1) % 3]
            v = np.cross(n, u)
            faces += [np.array([[0, 1, 2], [0, 2, 3]]) + len(corners)]
            corners += [n - u - v, n + u - v, n + u + v, n - u + v]
            normals += [n] * 4
    return Solid(np.array(corners), np.array(normals), np.zeros(24), np.concatenate(faces))


def mesh(vertices: np.ndarray, faces: np.ndarray) -> Solid:
    """Make a solid of a mesh, with normals that are smooth over all but sharp edges.

    Parameters
    ----------
    vertices : (n, 3) m
    faces : (m, 3) indices, counter-clockwise seen from outside
    """
    corners = np.asarray(vertices, dtype=float)[np.asarray(faces, dtype=int)]
    twice_area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(twice_area, axis=1)
    seen = areas > 1e-12 * areas.max(initial=0.0)  # slivers have no direction to face
    corners, twice_area = corners[seen], twice_area[seen]
    unit = twice_area / areas[seen, None]
    places, point = np.unique(corners.reshape(-1, 3).round(9), axis=0, return_inverse=True)
    point = point.reshape(-1)
    first, second = _pairs(point, len(places))
    first_face, second_face = first // 3, second // 3
    smooth = np.einsum("ij,ij->i", unit[first_face], unit[second_face]) >= CREASE
    normals = np.zeros((len(point), 3))
    np.add.at(normals, first[smooth], twice_area[second_face[smooth]])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(float).tiny)
    rows, index = np.unique(np.column_stack([places[point], normals.round(4)]), axis=0, return_inverse=True)
    return Solid(rows[:, :3], rows[:, 3:], np.zeros(len(rows)), index.reshape(-1, 3))


def _pairs(point: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of corners at the same of ``count`` points; point (n,) tells where each corner is."""
    order = np.argsort(point, kind="stable")
    sizes = np.bincount(point, minlength=count)
    starts = np.cumsum(sizes) - sizes
    repeats = sizes[point[order]]
    offsets = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    return np.repeat(order, repeats), order[np.repeat(starts[point[order]], repeats) + offsets]


def _lathe(profile: np.ndarray, normals: np.ndarray, ends: np.ndarray, around: int = AROUND) -> Solid:
    """Turn a profile (n, 2) of radius and height, from the bottom to the top, about z."""
    angle = np.linspace(0.0, 2.0 * np.pi, around + 1)
    turn = np.stack([np.cos(angle), np.sin(angle)], 1)

    def swept(curve: np.ndarray) -> np.ndarray:
        radial = curve[:, None, :1] * turn
        return np.concatenate([radial, np.broadcast_to(curve[:, None, 1:], (*radial.shape[:2], 1))], 2).reshape(-1, 3)

    row, column = np.meshgrid(np.arange(len(profile) - 1), np.arange(around), indexing="ij")
    a = (row * (around + 1) + column).ravel()
    b = a + around + 1
    faces = np.concatenate([np.stack([a, a + 1, b + 1], 1), np.stack([a, b + 1, b], 1)])
    return Solid(swept(profile), swept(normals), np.repeat(ends, around + 1), faces)


def _name(shape: Geometry) -> str:
    """Name a mesh by its content, so that equal ones are sent once."""
    return "mesh-" + sha256(shape.vertices.tobytes() + shape.faces.tobytes()).hexdigest()[:16]
