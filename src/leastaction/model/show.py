"""A model as text: its tree, with the joint, the place in q and the mass of every body."""

from typing import TYPE_CHECKING

from leastaction.markup import tree
from leastaction.model.actuators import described
from leastaction.model.joint import Joint
from leastaction.model.loops import Coupling, listed

if TYPE_CHECKING:
    from leastaction.model.model import Model

SHOWN = 60  # bodies, beyond which a tree is no longer read but scrolled past
DEEP = 24   # levels, beyond which the indentation grows no more
TRUNK, BRANCH, LAST, GAP = "│ ", "├─", "└─", "  "


def summary(model: "Model") -> str:
    """Say in a line what a model is made of."""
    bodies = "1 body" if model.nb == 1 else f"{model.nb} bodies"
    missing = sorted({body.parent for body in model._bodies if body.parent is not None} - model._index.keys())
    closed = f", {listed(model._loops)}" if model._loops else ""
    awaited = f", no body yet for the parent {', '.join(map(repr, missing))}" if missing else ""
    driven = f", nu = {model.nu}" if model.nu else ""
    sizes = f"{bodies}, nq = {model.nq}, nv = {model.nv}{driven}, {model.total_mass:g} kg"
    return f"<Model '{model.name}': {sizes}{closed}{awaited}>"


def drawn(model: "Model", told: str | None = None, most: int = SHOWN) -> str:
    """Draw the tree of a model; it need not be without faults.

    Parameters
    ----------
    told : how the rows of loops are eliminated; None if that is not known
    most : number of bodies to show, and of actuators
    """
    rows = _rows(model, most)
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    lines = [repr(model)]
    for *cells, mass in rows:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        lines.append("  ".join([*padded, mass]))
    return "\n".join([*lines, *_notes(model, len(rows), told, most)])


def html(model: "Model", told: str | None = None, most: int = SHOWN) -> str:
    """Draw the same for a notebook."""
    rows = _rows(model, most)
    return tree(repr(model)[1:-1], rows, _notes(model, len(rows), told, most))


def _notes(model: "Model", shown: int, told: str | None, most: int) -> list[str]:
    """Say how many bodies are not shown, what closes loops, pushes and drives, and what does not act."""
    notes = [f"... and {model.nb - shown} more"] if model.nb > shown else []
    loops = model.loops
    notes += [f"{'coupling' if isinstance(loop, Coupling) else 'loop'} '{loop.name}': {loop}, "
              f"{loop.rows} row{'s' if loop.rows > 1 else ''}" for loop in loops[:SHOWN]]
    notes += [f"... and {len(loops) - SHOWN} more loops or couplings"] if len(loops) > SHOWN else []
    notes += [told] if told is not None else []
    notes += [f"{force.kind} '{name}': {force.summary()}" for name, force in list(model.forces.items())[:SHOWN]]
    if len(model.forces) > SHOWN:
        notes.append(f"... and {len(model.forces) - SHOWN} more forces")
    for name, actuator in list(model.actuators.items())[:most]:
        notes.append(f"actuator '{name}': {described(actuator)}")
    if model.nu > most:
        notes.append(f"... and {model.nu - most} more actuators")
    if model.ignored:
        named = ", ".join(f"{word} ({len(names)})" for word, names in model.ignored.items())
        notes.append(f"not acting: {named}")
    return notes


def _rows(model: "Model", most: int) -> list[tuple[str, str, str, str]]:
    """List the branch, joint, place in q and mass of each body, children below their parents."""
    children: dict[int, list[int]] = {}
    for index, parent in enumerate(model.parents.tolist()):
        children.setdefault(parent, []).append(index)
    bodies = model.bodies
    rows: list[tuple[str, str, str, str]] = []
    roots = children.get(-1, [])
    stack = [(index, "", LAST if index == roots[-1] else BRANCH) for index in reversed(roots)]
    while stack and len(rows) < most:
        index, above, twig = stack.pop()
        body = bodies[index]
        title = type(body.joint).__name__.lower()
        if isinstance(body.joint, Joint):
            title += (f" '{body.joint.name}'" if body.joint.name else "") + body.joint.remark()
        rows.append((above + twig + body.name, title, _place(model, index), f"{body.inertia.mass:.4g} kg"))
        below = children.get(index, [])
        indent = above if len(above) >= 2 * DEEP else above + (GAP if twig == LAST else TRUNK)
        stack.extend((child, indent, LAST if child == below[-1] else BRANCH) for child in reversed(below))
    return rows


def _place(model: "Model", body: int) -> str:
    """Say where the joint of a body is in q."""
    at = model.layout.q_slice(body)
    size = at.stop - at.start
    return "" if not size else f"q[{at.start}]" if size == 1 else f"q[{at.start}:{at.stop}]"
