"""Faults of forces between bodies, each naming its force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leastaction.model.merge import Merged
from leastaction.model.names import did_you_mean

if TYPE_CHECKING:
    from leastaction.model.model import Model


def force_faults(model: Model, merged: Merged) -> list[str]:
    """List forces on bodies that are not there, between bodies that are one, and with numbers that cannot be."""
    faults: list[str] = []
    index = {name: b for b, name in enumerate(model.names)}
    for name, force in model.forces.items():
        what = f"force '{name}' ({force.kind})"
        unknown = [body for body in force.bodies() if body not in index]
        faults += [f"{what}: there is no body '{body}'{did_you_mean(str(body), model.names, 'other=None')}"
                   for body in unknown]
        found = force.faults()
        faults += [f"{what}: {fault}" for fault in found]
        if unknown or found or not hasattr(force, "body"):
            continue
        other = getattr(force, "other", None)
        ends = {-1 if body is None else int(merged.carrier[index[body]]) for body in (force.body, other)}
        if force.body is not None and len(ends) == 1:
            welded = "the ground" if other is None else f"'{other}'"
            faults.append(f"{what}: '{force.body}' is welded to {welded}, so it does nothing there; let it act on a "
                          "body that moves, or leave it out")
    return faults
