"""Deep trees: MuJoCo reads only a few hundred nested bodies, so deeper files are flattened, with a list of parents.

Poses in MJCF are local, and MuJoCo computes the inertia of each body by itself, so a body may be moved anywhere in the
file as long as its default class does not change.
"""

from leastaction.formats.findings import Findings
from leastaction.formats.markup import Element

GENERATORS = ("frame", "replicate", "composite", "attach", "flexcomp")
DEEPEST = 300   # levels of elements; MuJoCo's reader gives up at 500 or so


def flattened(root: Element, findings: Findings) -> tuple[Element, list[int] | None]:
    """Flatten a deep tree.

    Returns
    -------
    the file, and (nbody,) the parent of each body in MuJoCo's order, 0 for the world; None if it was not too deep
    """
    if root.depth() <= DEEPEST:
        return root, None
    parents: list[int] = [-1]
    for world in root.findall("worldbody"):
        flat: list[Element] = []
        stack = [(child, 0, world.get("childclass")) for child in reversed(world.children)]
        while stack:
            element, parent, inherited = stack.pop()
            if element.tag != "body":
                _refuse_generators([element], findings)
                flat.append(element)
                continue
            above = element.get("childclass") or inherited
            if above:
                element.attributes["childclass"] = above
            if parent and _is_free(element):
                findings.fault(element, "only a body of the world can have a free joint")
            parents.append(parent)
            index = len(parents) - 1
            stack.extend((child, index, above) for child in reversed(element.children) if child.tag == "body")
            element.children = [child for child in element.children if child.tag != "body"]
            _refuse_generators(element.children, findings)
            flat.append(element)
        world.children = flat
    if root.depth() > DEEPEST:
        findings.fault(None, f"elements are nested more than {DEEPEST} deep")
    return root, parents


def _refuse_generators(elements: list[Element], findings: Findings) -> None:
    """Note elements whose meaning depends on where they stand in the tree."""
    for element in elements:
        if element.tag in GENERATORS:
            findings.fault(element, f"cannot be used in a file that is nested more than {DEEPEST} deep")


def _is_free(body: Element) -> bool:
    return any(child.tag == "freejoint" or child.get("type") == "free" for child in body.children)
