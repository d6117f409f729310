"""What the links of a URDF look like, and where things are placed in it."""

import math
from typing import cast

import numpy as np

from leastaction.formats.findings import Findings
from leastaction.formats.folder import Folder
from leastaction.formats.markup import Element
from leastaction.formats.meshes import Meshes
from leastaction.model import Geometry
from leastaction.model.arrays import product
from leastaction.model.geometry import Shape

GREY = (0.7, 0.7, 0.7, 1.0)
NOTHING = np.zeros((0, 3))
NO_FACES = np.zeros((0, 3), dtype=np.int64)


def placement(origin: Element | None, findings: Findings) -> tuple[list[float], np.ndarray]:
    """Read an <origin>: position (3,), m, and unit quaternion (4,); rpy turns about fixed axes, x first."""
    if origin is None:
        return [0.0, 0.0, 0.0], np.array([1.0, 0.0, 0.0, 0.0])
    position = findings.numbers(origin, "xyz", (0.0, 0.0, 0.0))
    half = [angle / 2 for angle in findings.numbers(origin, "rpy", (0.0, 0.0, 0.0))]
    (cx, cy, cz), (sx, sy, sz) = map(math.cos, half), map(math.sin, half)
    return position, np.array(product((cz, 0.0, 0.0, sz), product((cy, 0.0, sy, 0.0), (cx, sx, 0.0, 0.0))))


class Looks:
    """The shapes and colours of a URDF.

    Parameters
    ----------
    root : the element <robot>, whose materials may be referred to by name
    folder : where meshes may be
    findings : takes the faults, and the meshes that cannot be drawn
    """

    def __init__(self, root: Element, folder: Folder, findings: Findings) -> None:
        self.findings = findings
        self.meshes = Meshes(folder)
        self.colors: dict[str, np.ndarray] = {}
        for material in (element for element in root.walk() if element.tag == "material"):
            color, name = material.find("color"), material.get("name")
            if color is not None and name:
                self.colors.setdefault(name, self._rgba(color))

    def of(self, link: Element) -> list[Geometry]:
        """Read what a link looks like, in its own frame."""
        found = []
        for tag in ("visual", "collision"):
            for number, element in enumerate(link.findall(tag)):
                if tag == "collision":
                    self.findings.note("collision", link.title() + (f", shape {number + 1}" if number else ""))
                shape = self._shape(element, link)
                found += [] if shape is None else [shape]
        return found

    def _shape(self, element: Element, link: Element) -> Geometry | None:
        geometry = element.find("geometry")
        if geometry is None or not geometry.children:
            self.findings.fault(link, f"its {element.tag} has no geometry")
            return None
        shape, findings = geometry.children[0], self.findings
        size, vertices, faces = [0.0, 0.0, 0.0], NOTHING, NO_FACES
        if shape.tag == "box":
            size = [edge / 2 for edge in findings.numbers(shape, "size", (0.0, 0.0, 0.0))]
        elif shape.tag in ("cylinder", "capsule", "sphere"):
            size[0] = findings.numbers(shape, "radius", (0.0,))[0]
            size[1] = findings.numbers(shape, "length", (0.0,))[0] / 2
        elif shape.tag == "mesh":
            mesh = self._mesh(shape)
            if mesh is None:
                return None
            vertices, faces = mesh
        else:
            findings.note("extensions", f"{shape.tag} of {link.title()}")
            return None
        if min(size) < 0:
            findings.fault(link, f"the {shape.tag} of its {element.tag} has a negative size")
        position, quaternion = placement(element.find("origin"), findings)
        kind, color = cast(Shape, shape.tag), self._color(element)
        visual = element.tag == "visual"
        return Geometry(kind, np.array(size), np.array(position), quaternion, color, vertices, faces, visual)

    def _mesh(self, mesh: Element) -> tuple[np.ndarray, np.ndarray] | None:
        """Read the mesh that an element refers to; one that cannot be drawn is only noted."""
        reference = mesh.get("filename", "")
        scale = self.findings.numbers(mesh, "scale", (1.0, 1.0, 1.0))
        if "mesh" in self.findings.ignore:
            return None
        try:
            vertices, faces = self.meshes.read(reference)
        except ValueError as error:   # the picture suffers, the dynamics do not
            self.findings.note("mesh", f"'{reference}': {error}")
            return None
        inside_out = np.prod(scale) < 0
        return vertices * scale, faces[:, ::-1] if inside_out else faces

    def _color(self, element: Element) -> np.ndarray:
        material = element.find("material")
        if material is None:
            return np.array(GREY)
        color = material.find("color")
        if color is not None:
            return self._rgba(color)
        return self.colors.get(material.get("name", ""), np.array(GREY))

    def _rgba(self, color: Element) -> np.ndarray:
        return np.clip(self.findings.numbers(color, "rgba", GREY), 0.0, 1.0)
