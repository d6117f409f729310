"""MJCF: made safe and self-contained here, then compiled by MuJoCo, which never sees the disk."""

import re
from pathlib import PurePosixPath
from typing import Any

from numpy.typing import ArrayLike

from leastaction.errors import ModelError
from leastaction.formats import mujoco_model
from leastaction.formats.findings import Findings
from leastaction.formats.folder import Folder, OutsideError
from leastaction.formats.markup import Element, parse
from leastaction.formats.mjcf_checks import check
from leastaction.formats.mjcf_flat import flattened
from leastaction.model import Model

# Nothing here moves a body. Left out, none of it can name a file, take memory or fail.
UNUSED_SECTIONS = {"visual", "statistic", "size", "custom", "sensor", "contact", "extension"}
UNUSED_ELEMENTS = {"texture", "skin", "hfield", "light", "camera", "layer", "plugin"}
UNUSED_ATTRIBUTES = {
    "material": ("texture",), "geom": ("hfield",), "compiler": ("meshdir", "texturedir", "assetdir", "strippath"),
}
MESHES = (".stl", ".obj", ".msh", ".ply")


def read(root: Element, folder: Folder, findings: Findings, base: str, gravity: ArrayLike | None, actuators: bool = True
         ) -> Model:
    """Turn a <mujoco> into a model.

    Parameters
    ----------
    root : the element <mujoco>
    folder : where included files and meshes may be
    findings : takes the faults and what does not act
    base : "auto", "fixed" or "free"
    gravity : (3,) acceleration of free fall, world frame, m/s^2; None for the file's
    actuators : whether actuators act
    """
    include(root, folder, findings)
    if any(element.tag == "plugin" for element in root.walk()):
        findings.note("plugin", "<plugin>")
    folders = _mesh_folders(root)
    _strip(root)
    assets = _assets(root, folder, folders, findings)
    check(root, findings)
    findings.stop_at_faults()
    root, parents = flattened(root, findings)
    findings.stop_at_faults()
    # A thread of MuJoCo that warns would wait for Python, and Python for the thread.
    root.children.append(Element("compiler", {"usethread": "false"}))
    mj = compile_text(root.write(), assets, findings.file)
    name = root.get("model") or PurePosixPath(findings.file).stem
    return mujoco_model.build(mj, findings, base, gravity, parents, name, actuators)


def compile_text(text: str, assets: dict[str, bytes], file: str) -> Any:
    """Let MuJoCo compile a self-contained file; returns an MjModel.

    Parameters
    ----------
    text : the file
    assets : the files it refers to, by name
    file : its name, for messages
    """
    mujoco = mujoco_model.require_mujoco()
    heard = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda _: None)   # or it would write a log into the working directory
    try:
        return mujoco.MjModel.from_xml_string(text, assets)
    except (ValueError, RuntimeError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        # Lines are those of what we wrote, not of the user's file.
        message = re.sub(r",? ?line \d+(, column \d+)?", "", " ".join(str(error).split()))
        raise ModelError(f"{file}: MuJoCo cannot compile it: {message}") from None
    finally:
        mujoco.set_mju_user_warning(heard)


def include(root: Element, folder: Folder, findings: Findings) -> None:
    """Put the content of included files in the place of each <include>."""
    seen: set[Any] = set()
    stack = [root]
    while stack:
        element = stack.pop()
        children: list[Element] = []
        queue = element.children[::-1]
        while queue:
            child = queue.pop()
            if child.tag != "include":
                children.append(child)
                continue
            try:
                path = folder.find(child.get("file"))
            except OutsideError:
                findings.outside(child.get("file"))
                continue
            except ModelError as error:
                findings.fault(child, str(error))
                continue
            if path is None or path in seen:
                why = "is not there" if path is None else "is included twice"
                findings.fault(child, f"'{child.get('file')}' {why}")
                continue
            seen.add(path)
            try:
                queue.extend(reversed(parse(path.read_bytes(), path.name).children))
            except ModelError as error:
                findings.faults += error.faults
        element.children = children
        stack.extend(children)


def _mesh_folders(root: Element) -> tuple[str, ...]:
    """Say where meshes are, relative to the file: what the last <compiler> says counts, and meshdir before assetdir."""
    found: dict[str, str] = {}
    for compiler in root.findall("compiler"):
        found |= compiler.attributes
    return tuple(found[key] for key in ("meshdir", "assetdir") if found.get(key))[:1]


def _strip(root: Element) -> None:
    """Remove what has no part in the dynamics."""
    root.children = [child for child in root.children if child.tag not in UNUSED_SECTIONS]
    for element in root.walk():
        element.children = [
            child for child in element.children
            if child.tag not in UNUSED_ELEMENTS and not (child.tag == "geom" and child.get("type") == "hfield")
        ]
        for attribute in UNUSED_ATTRIBUTES.get(element.tag, ()):
            element.attributes.pop(attribute, None)


def _assets(root: Element, folder: Folder, folders: tuple[str, ...], findings: Findings) -> dict[str, bytes]:
    """Read every file referred to, and refer to it by a name that no disk has."""
    assets: dict[str, bytes] = {}
    for element in root.walk():
        if "file" not in element.attributes:
            continue
        reference = element.get("file")
        if element.tag != "mesh":
            findings.fault(element, f"files of <{element.tag}> are not read ('{reference}'); write its content out")
            continue
        suffix = PurePosixPath(reference.replace("\\", "/")).suffix.lower()
        if suffix not in MESHES:
            findings.fault(element, f"'{reference}' is not one of {', '.join(MESHES)}")
            continue
        try:
            path = folder.find(reference, *folders, meshes=MESHES)
        except OutsideError:
            findings.outside(reference)
            continue
        except ModelError as error:
            findings.fault(element, str(error))
            continue
        if path is None:
            findings.fault(element, f"mesh '{reference}' is not there")
            continue
        element.attributes.setdefault("name", PurePosixPath(reference.replace("\\", "/")).stem)
        element.attributes["file"] = name = f"asset{len(assets)}{suffix}"
        assets[name] = path.read_bytes()
    return assets
