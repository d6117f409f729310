"""The inertias of a URDF's links, without the round-off that programs which export URDF leave where zeros belong."""

from collections.abc import Sequence

import numpy as np

from leastaction.formats.findings import Findings, listed
from leastaction.formats.markup import Element
from leastaction.formats.urdf_geometry import placement
from leastaction.model import Geometry, Inertia
from leastaction.model.validation import EIGENVALUE_TOLERANCE

NOISE = 1e-9  # part of mass times the square of the link's size below which moments count as zero


class Inertias:
    """Reads the inertias of links.

    Parameters
    ----------
    findings : takes the faults, and what was cleaned
    """

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.given = False
        self.noisy: dict[str, float] = {}

    def of(self, link: Element, geometry: Sequence[Geometry]) -> Inertia | None:
        """Read the inertia of a link, in the link's frame; None if it has none.

        Parameters
        ----------
        link : the element <link>
        geometry : its shapes, which tell how large it is
        """
        inertia = read_inertia(link, self.findings)
        self.given = self.given or link.find("inertial") is not None
        if inertia is None or not np.isfinite(inertia.matrix).all():
            return inertia
        moments, axes = np.linalg.eigh(inertia.matrix)
        if moments[0] >= -EIGENVALUE_TOLERANCE * moments.sum():
            return inertia
        reach = max([float(np.linalg.norm(inertia.com)), *map(_reach, geometry)])
        noise = NOISE * inertia.mass * reach * reach
        if moments[0] < -noise:   # a fault, which `validate` names
            return inertia
        self.noisy[f"'{link.get('name')}'"] = float(-moments[0])
        moments[np.abs(moments) <= noise] = 0.0
        return Inertia(inertia.mass, inertia.com, (axes * moments) @ axes.T)

    def finish(self) -> None:
        """Note what is doubtful about the inertias of the file as a whole."""
        if not self.given:
            self.findings.doubt("no link has an <inertial>, so nothing has mass: the model can be looked at, but not "
                                "simulated")
        if self.noisy:
            self.findings.doubt(f"the inertia of {listed(self.noisy)} has negative moments of round-off, at most "
                                f"{max(self.noisy.values()):.2g} kg m^2, which were set to zero")


def read_inertia(link: Element, findings: Findings) -> Inertia | None:
    """Read the inertia of a link, in the link's frame."""
    inertial = link.find("inertial")
    if inertial is None:
        return None
    mass, matrix = inertial.find("mass"), inertial.find("inertia")
    if mass is None or not mass.get("value"):
        findings.fault(link, "its inertial has no mass value")
    if matrix is None:
        findings.fault(link, "its inertial has no inertia")
    if mass is None or matrix is None:
        return None
    (kilograms,) = findings.numbers(mass, "value", (0.0,))
    entries = {}
    for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"):
        if not matrix.get(key):
            findings.fault(link, f"its inertia has no {key}")
        (entries[key],) = findings.numbers(matrix, key, (0.0,))
    xx, xy, xz, yy, yz, zz = entries.values()
    position, quaternion = placement(inertial.find("origin"), findings)
    return Inertia(kilograms, matrix=[[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).moved(position, quaternion)


def _reach(shape: Geometry) -> float:
    """Tell how far a shape reaches from the origin of its link, m, at most."""
    far = float(np.linalg.norm(shape.vertices, axis=1).max(initial=0.0))
    return float(np.linalg.norm(shape.position) + np.linalg.norm(shape.size) + far)
