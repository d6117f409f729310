"""Meshes for viewers, read by trimesh."""

import io
import logging
from importlib.util import find_spec

import numpy as np

from leastaction.errors import ModelError
from leastaction.formats import markup
from leastaction.formats.folder import Folder, OutsideError

FORMATS = ("stl", "obj", "ply", "off", "glb", "dae")
Mesh = tuple[np.ndarray, np.ndarray]


class Meshes:
    """Meshes of one model; a file that is used often is read once.

    Parameters
    ----------
    folder : where they may be
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.known: dict[str, Mesh | ValueError] = {}

    def read(self, reference: str) -> Mesh:
        """Read the mesh that a file refers to.

        Returns
        -------
        vertices (n, 3), m, and faces (m, 3), indices of vertices

        Raises
        ------
        ValueError
            When there is none, or it cannot be read, or may not be opened.
        """
        if reference not in self.known:
            try:
                self.known[reference] = self._load(reference)
            except ValueError as error:
                self.known[reference] = error
        mesh = self.known[reference]
        if isinstance(mesh, ValueError):
            raise mesh
        return mesh

    def _load(self, reference: str) -> Mesh:
        try:
            path = self.folder.find(reference, meshes=[f".{kind}" for kind in FORMATS])
        except OutsideError:
            raise ValueError("outside the model's folder and not opened; allow_external=True opens it") from None
        if path is None:
            raise ValueError("not found")
        kind = path.suffix.lower().removeprefix(".")
        if kind not in FORMATS:
            raise ValueError(f"meshes of type '{kind}' are not read, only {', '.join(FORMATS)}")
        needed = ["trimesh"] + (["collada"] if kind == "dae" else [])
        if not all(map(find_spec, needed)):
            raise ValueError("reading it needs pip install 'leastaction[models]'")
        data = path.read_bytes()
        if kind == "dae":   # the readers behind trimesh may expand entities; our own reader refuses them first
            try:
                markup.parse(data, "as COLLADA")
            except ModelError as error:
                raise ValueError(str(error)) from None
        return _parsed(data, kind)


def _parsed(data: bytes, kind: str) -> Mesh:
    """Let trimesh read a mesh from memory, so that it opens nothing else."""
    import trimesh

    logging.getLogger("trimesh").setLevel(logging.CRITICAL)
    try:
        scene = trimesh.load_scene(io.BytesIO(data), file_type=kind, process=False, resolver=None)
        mesh = scene.to_mesh()
        vertices, faces = np.array(mesh.vertices, dtype=float), np.array(mesh.faces, dtype=np.int64)
    except Exception as error:   # the readers behind trimesh raise anything on a damaged file
        raise ValueError(f"not readable as a mesh ({type(error).__name__})") from None
    if not len(faces) or not np.isfinite(vertices).all():
        raise ValueError("has no faces, or numbers that are not finite")
    return vertices * _metres(scene.units), faces


def _metres(units: str | None) -> float:
    """Tell how long the unit of a mesh is; trimesh writes a COLLADA unit as "0.01 * meters"."""
    factor, times, _ = (units or "").partition("*")
    return float(factor) if times else 1.0
