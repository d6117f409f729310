"""URDF: links and joints, each checked where it stands, then joined to a tree."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leastaction.formats.findings import Findings, listed
from leastaction.formats.folder import Folder
from leastaction.formats.markup import Element
from leastaction.formats.urdf_geometry import Looks, placement
from leastaction.formats.urdf_inertia import Inertias
from leastaction.model import Fixed, Free, Joint, Model, Planar, Prismatic, Revolute

GRAVITY = (0.0, 0.0, -9.81)   # a URDF does not say
ROOT_JOINT = "root_joint"     # as Pinocchio calls it
TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
DRIVES = ("transmission", "ros2_control")
KNOWN_IN_LINK = {"inertial", "visual", "collision"}
KNOWN_IN_JOINT = {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration"}


def read(root: Element, folder: Folder, findings: Findings, free: bool, gravity: ArrayLike | None) -> Model:
    """Turn a <robot> into a model.

    Parameters
    ----------
    root : the element <robot>
    folder : where meshes may be
    findings : takes the faults and what does not act
    free : whether the root link floats; otherwise it stands on the ground
    gravity : (3,) acceleration of free fall, world frame, m/s^2; None for the usual one
    """
    model = Model(GRAVITY if gravity is None else gravity, root.get("name") or "robot")
    links = _named(root, "link", findings)
    joints = _named(root, "joint", findings)
    for element in root.children:
        if element.tag in DRIVES:
            findings.note("actuators", element.title())
        elif element.tag not in ("link", "joint", "material"):
            findings.note("extensions", element.title())
        if element.tag.startswith("xacro:"):
            findings.fault(element, "this is a xacro file; run `xacro file.urdf.xacro > file.urdf` first")
    order = _tree(links, joints, findings)
    looks, inertias = Looks(root, folder, findings), Inertias(findings)
    motions = {name: _joint(element, findings) for name, element in joints.items()}
    for link, joint in order:
        geometry = looks.of(links[link])
        inertia = inertias.of(links[link], geometry)
        if joint is None:
            model.add_body(link, None, Free(name=ROOT_JOINT) if free else Fixed(), inertia=inertia, geometry=geometry)
            continue
        element = joints[joint]
        parent = _end(element, "parent")
        position, quaternion = placement(element.find("origin"), findings)
        model.add_body(link, parent, motions[joint], position, quaternion, inertia, geometry)
    inertias.finish()
    for name, element in joints.items():
        _mimic(model, name, element, joints, motions, findings)
    return model


def _named(root: Element, tag: str, findings: Findings) -> dict[str, Element]:
    """Collect the elements of a kind by name; a name that is missing or given twice is a fault."""
    found: dict[str, Element] = {}
    known = KNOWN_IN_LINK if tag == "link" else KNOWN_IN_JOINT
    for element in root.findall(tag):
        name = element.get("name")
        if not name:
            findings.fault(element, f"a {tag} without a name")
        elif name in found:
            findings.fault(element, f"another {tag} of this name is in line {found[name].line}; give each its own")
        else:
            found[name] = element
        for part in element.children:
            if part.tag not in known:
                findings.note("extensions", f"{part.tag} of {element.title()}")
    return found


def _end(joint: Element, side: str) -> str:
    """Name the link on one side of a joint; empty if it does not say."""
    element = joint.find(side)
    return "" if element is None else element.get("link", "")


def _tree(
    links: dict[str, Element], joints: dict[str, Element], findings: Findings
) -> list[tuple[str, str | None]]:
    """List links with the joints that carry them, parents first; a graph that is no tree is a fault."""
    carried: dict[str, str] = {}
    children: dict[str, list[str]] = {}
    for name, element in joints.items():
        parent, child = _end(element, "parent"), _end(element, "child")
        for side, link in (("parent", parent), ("child", child)):
            if link not in links:
                why = f"its {side} '{link}' is no link of the file" if link else f"has no {side} link"
                findings.fault(element, why)
        if child in carried:
            findings.fault(element, f"link '{child}' is already the child of joint '{carried[child]}'")
        elif child in links:
            carried[child] = name
            children.setdefault(parent, []).append(child)
    roots = [link for link in links if link not in carried]
    if not links:
        findings.fault(None, "there are no links")
    elif not roots:
        findings.fault(None, f"no link is the root: {listed(links)} are each other's ancestors")
    elif len(roots) > 1:
        findings.fault(None, f"links {listed(roots)} are all roots; connect all but one of them by joints")
    order: list[tuple[str, str | None]] = []
    stack = roots[::-1]
    while stack:
        link = stack.pop()
        order.append((link, carried.get(link)))
        stack.extend(reversed(children.get(link, [])))
    if roots and len(order) < len(links):
        reached = {link for link, _ in order}
        # Links below an unknown parent hang on nothing, too, but that fault is named already.
        lost = [x for x in links if x not in reached and _end(joints[carried[x]], "parent") in links]
        if lost:
            findings.fault(None, f"links {listed(lost)} are each other's ancestors, and no root carries them")
    known = {link for link, _ in order}
    return [(link, joint) for link, joint in order if joint is None or _end(joints[joint], "parent") in known]


def _joint(element: Element, findings: Findings) -> Joint:
    """Read a joint; what is wrong with it is noted, and something harmless put in its place."""
    name, kind = element.get("name", ""), element.get("type", "")
    if kind not in TYPES:
        findings.fault(element, f"unknown joint type '{kind}'; URDF has {', '.join(TYPES)}")
    if kind == "fixed" or kind not in TYPES:
        return Fixed(name=name)
    dynamics = element.find("dynamics")
    damping, friction = (0.0, 0.0) if dynamics is None else (
        findings.numbers(dynamics, key, (0.0,))[0] for key in ("damping", "friction"))
    for what, value in (("damping", damping), ("friction", friction)):
        if value < 0:
            findings.fault(element, f"its {what} is negative: {value:g}")
    passive = {"damping": max(damping, 0.0), "friction": max(friction, 0.0), "name": name}
    if kind == "floating":
        return Free(**passive)
    axis = _axis(element, findings)
    passive |= _limits(element, kind, findings)
    if kind == "planar":
        along = np.roll(np.eye(3)[int(np.argmax(abs(axis)))], 1)
        along = along - axis * (along @ axis)
        return Planar(along, np.cross(axis, along), **passive)
    return (Prismatic if kind == "prismatic" else Revolute)(axis, **passive)


def _mimic(
    model: Model, name: str, element: Element, joints: dict[str, Element], motions: dict[str, Joint], findings: Findings
) -> None:
    """Couple a joint to the one that it mimics: q = multiplier × its q + offset."""
    mimic = element.find("mimic")
    if mimic is None:
        return
    target = mimic.get("joint", "")
    multiplier = findings.numbers(mimic, "multiplier", (1.0,))[0]
    offset = findings.numbers(mimic, "offset", (0.0,))[0]
    if target == name:
        findings.fault(element, "mimics itself")
    elif "mimic" in findings.ignore:
        findings.note("mimic", f"'{name}' follows '{target}'")
    elif target not in joints:
        findings.fault(element, f"mimics '{target}', which is no joint; ignore=('mimic',) lets it move freely")
    elif max(motions[name].nv, motions[target].nv) > 1:
        findings.fault(element, f"mimics '{target}', and only joints of one degree of freedom can")
    elif motions[name].nv:  # what is fixed follows nothing, and who follows what is fixed stands still
        to = _end(joints[target], "child") if motions[target].nv else None
        coefficients = (offset, multiplier) if to else (offset,)
        model.add_coupling(name, _end(element, "child"), to, coefficients)


def _axis(element: Element, findings: Findings) -> np.ndarray:
    """Read the axis (3,) of a joint, a unit vector in the joint's frame."""
    given = element.find("axis")
    axis = np.array([1.0, 0, 0] if given is None else findings.numbers(given, "xyz", (1.0, 0.0, 0.0)))
    length = math.hypot(*axis)
    if not length:
        findings.fault(element, "its axis is zero; give it a direction")
        return np.array([1.0, 0, 0])
    return axis / length


def _limits(element: Element, kind: str, findings: Findings) -> dict[str, Any]:
    """Read what a joint's <limit> says; planar and continuous joints have no ends."""
    limit = element.find("limit")
    if limit is None:
        return {}
    low, high, effort, velocity = (
        findings.numbers(limit, key, (0.0,), infinite=True)[0]
        for key in ("lower", "upper", "effort", "velocity"))
    found: dict[str, Any] = {}
    if kind in ("revolute", "prismatic"):
        if low > high:
            findings.fault(element, f"its limits are in the wrong order: lower {low:g} > upper {high:g}")
        else:
            found["limits"] = (low, high)
    for key, value in (("effort", effort), ("velocity", velocity)):
        if not limit.get(key):
            continue
        if value < 0:
            findings.fault(element, f"its {key} limit is negative: {value:g}")
        else:
            found[f"{key}_limit"] = value
    return found
