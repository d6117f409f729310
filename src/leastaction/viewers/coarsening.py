"""Meshes with fewer triangles, for pages and pictures that must stay small."""

from dataclasses import replace

import numpy as np

from leastaction.model import Geometry
from leastaction.viewers.outline import Drawn

CELLS = (256, 181, 128, 91, 64, 45, 32, 23, 16, 11, 8)  # along the longest side of a mesh
FEW = 200  # triangles; a mesh with fewer is left as it is


def coarsened(drawn: list[Drawn], most: int) -> list[Drawn]:
    """Simplify meshes until they have at most ``most`` triangles in all, or cannot be simplified further.

    Parameters
    ----------
    drawn : what to draw, meshes or not; shapes that share their arrays of vertices and faces count once
    most : number of triangles
    """
    meshes = {_key(shape): shape for _, shape in drawn if shape.shape == "mesh"}
    result = meshes
    for cells in CELLS:
        if sum(len(shape.faces) for shape in result.values()) <= most:
            break
        result = {key: shape if len(shape.faces) < FEW else _clustered(shape, cells) for key, shape in meshes.items()}
    return [(body, _with_mesh(shape, result[_key(shape)]) if shape.shape == "mesh" else shape) for body, shape in drawn]


def _with_mesh(shape: Geometry, mesh: Geometry) -> Geometry:
    return replace(shape, vertices=mesh.vertices, faces=mesh.faces)


def _key(shape: Geometry) -> tuple[int, int]:
    return id(shape.vertices), id(shape.faces)


def _clustered(shape: Geometry, cells: int) -> Geometry:
    """Merge the vertices that share a cell, and drop the triangles that vanish with that."""
    vertices = np.asarray(shape.vertices, dtype=float)
    low = vertices.min(axis=0)
    edge = float(np.ptp(vertices, axis=0).max()) / cells or 1.0
    x, y, z = np.floor((vertices - low) / edge).astype(int).T
    _, cluster, sizes = np.unique((x * (cells + 1) + y) * (cells + 1) + z, return_inverse=True, return_counts=True)
    middles = np.stack([np.bincount(cluster, column) for column in vertices.T], axis=1) / sizes[:, None]
    faces = cluster[np.asarray(shape.faces, dtype=int)]
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    a, b, c = np.sort(faces, axis=1).T
    _, first = np.unique((a * len(sizes) + b) * len(sizes) + c, return_index=True)
    return replace(shape, vertices=middles, faces=faces[np.sort(first)])
