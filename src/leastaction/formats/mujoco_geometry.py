"""The shapes of a compiled MuJoCo model."""

from typing import Any

import numpy as np

from leastaction.model import Geometry
from leastaction.model.geometry import Shape

SHAPES: dict[int, Shape] = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"}   # mjtGeom
VISUAL_GROUPS = 3   # MuJoCo's own viewer shows the groups 0, 1 and 2


def shapes_of(mj: Any) -> list[list[Geometry]]:
    """List the shapes of each body, in its MuJoCo frame; planes and height fields are left out.

    Parameters
    ----------
    mj : mujoco.MjModel
    """
    found: list[list[Geometry]] = [[] for _ in range(mj.nbody)]
    for g in range(mj.ngeom):
        shape = SHAPES.get(int(mj.geom_type[g]))
        if shape is None:
            continue
        size, vertices, faces = mj.geom_size[g].copy(), np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
        if shape == "mesh":
            size = np.zeros(3)
            vertices, faces = _mesh(mj, int(mj.geom_dataid[g]))
        material = mj.geom_matid[g]
        # A geom's own colour wins unless it is MuJoCo's default, which says nothing.
        default = np.array_equal(mj.geom_rgba[g], np.array([0.5, 0.5, 0.5, 1.0], dtype=np.float32))
        color = mj.mat_rgba[material] if material >= 0 and default else mj.geom_rgba[g]
        found[mj.geom_bodyid[g]].append(Geometry(
            shape, size, mj.geom_pos[g].copy(), mj.geom_quat[g].copy(), color.astype(float), vertices, faces,
            visual=bool(mj.geom_group[g] < VISUAL_GROUPS),
        ))
    return found


def _mesh(mj: Any, mesh: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices (n, 3), m, and faces (m, 3) of a mesh."""
    at, face = mj.mesh_vertadr[mesh], mj.mesh_faceadr[mesh]
    vertices = mj.mesh_vert[at : at + mj.mesh_vertnum[mesh]].astype(float)
    return vertices, mj.mesh_face[face : face + mj.mesh_facenum[mesh]].astype(np.int64)
