"""Faults of an MJCF file that MuJoCo names one at a time, repairs, or takes long to notice."""

from leastaction.formats.findings import Findings, shortened
from leastaction.formats.markup import Element, number

NUMBERS = {   # attributes that hold numbers, and numbers only, wherever they are
    "pos", "quat", "euler", "axisangle", "xyaxes", "zaxis", "axis", "range", "ref", "springref", "stiffness", "damping",
    "armature", "frictionloss", "mass", "density", "diaginertia", "fullinertia", "size", "fromto", "gravity", "qpos",
    "qvel", "rgba", "margin", "gear", "ctrlrange", "forcerange", "kp", "kv", "solref", "solimp", "friction", "scale",
    "boundmass", "boundinertia", "settotalmass", "timestep", "viscosity", "wind", "gravcomp", "offset", "springlength",
    "polycoef", "coef", "actuatorfrcrange", "springdamper", "refpos", "refquat", "vertex", "face", "normal", "texcoord",
    "params", "count", "spacing", "fluidcoef", "width", "user", "ctrl", "mpos", "mquat",
    "anchor", "relpose", "torquescale", "lengthrange", "actrange", "biasprm", "gainprm", "dynprm", "cranklength",
}
# MuJoCo accepts some of these with numbers missing, then reads uninitialised memory, and may never return.
LENGTHS = {"anchor": 3, "relpose": 7, "pos": 3, "quat": 4, "axis": 3, "fromto": 6, "gravity": 3}
JOINT_TYPES = ("hinge", "slide", "ball", "free")
COUNTED = ("replicate", "composite", "flexcomp")
MOST_COPIES = 20_000
MOST_SUBDIVISIONS = 1000


def check(root: Element, findings: Findings) -> None:
    """Note every fault of an MJCF file, includes expanded."""
    named: dict[tuple[str, str], Element] = {}
    for element in root.walk():
        for attribute, text in element.attributes.items():
            if "%" in text:   # MuJoCo prints names with printf, and "%n" in one ends the process
                findings.fault(element, f'{attribute}="{shortened(text)}": MuJoCo does not bear a percent sign')
            if attribute in NUMBERS and element.tag != "flag":   # flags are words, as in gravity="disable"
                _check_numbers(element, attribute, findings)
        kind = "joint" if element.tag == "freejoint" else element.tag
        name = element.get("name")
        if name and kind in ("body", "joint", "geom", "site", "mesh", "material"):
            first = named.setdefault((kind, name), element)
            if first is not element:
                findings.fault(element, f"another {kind} of this name is in line {first.line}; give each its own")
        if element.tag == "joint":
            _check_joint(element, findings)
        if element.tag in COUNTED or "builtin" in element.attributes:
            _check_size(element, findings)


def _check_numbers(element: Element, attribute: str, findings: Findings) -> None:
    text = element.get(attribute)
    count = len(text.split())
    if count != LENGTHS.get(attribute, max(count, 1)):
        needed = LENGTHS.get(attribute, "at least 1")
        findings.fault(element, f'{attribute}="{shortened(text)}" must be {needed} numbers, not {count}')
        return
    for token in text.split():
        try:
            finite = abs(number(token)) < float("inf")
        except ValueError:
            findings.fault(element, f"{attribute}=\"{shortened(text)}\": '{shortened(token)}' is not a number")
            return
        if not finite:
            findings.fault(element, f'{attribute}="{shortened(text)}" is not finite')
            return


def _values(element: Element, attribute: str) -> list[float]:
    """Read the numbers of an attribute; empty if there are none, or if a fault is already noted."""
    try:
        return [number(token) for token in element.get(attribute).split()]
    except ValueError:
        return []


def _check_joint(element: Element, findings: Findings) -> None:
    kind = element.get("type", "hinge")
    if kind not in JOINT_TYPES and "joint" not in element.attributes:   # an equality or a tendon has <joint>, too
        findings.fault(element, f"unknown joint type '{kind}'; MJCF has {', '.join(JOINT_TYPES)}")
    axis, ends = _values(element, "axis"), _values(element, "range")
    if axis and not any(axis):
        findings.fault(element, "its axis is zero; give it a direction")
    if len(ends) == 2 and ends[0] > ends[1]:
        findings.fault(element, f"its limits are in the wrong order: {ends[0]:g} > {ends[1]:g}")


def _check_size(element: Element, findings: Findings) -> None:
    """Refuse numbers of copies or of faces that would fill the memory."""
    copies = 1.0
    for count in _values(element, "count"):
        copies *= max(count, 1.0)
    if copies > MOST_COPIES:
        findings.fault(element, f"makes {copies:g} copies; at most {MOST_COPIES} are made")
    if "builtin" in element.attributes and max(_values(element, "params"), default=0.0) > MOST_SUBDIVISIONS:
        findings.fault(element, f"is divided into too many faces; at most {MOST_SUBDIVISIONS} each way")
