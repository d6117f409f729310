"""Every fault of the loops and couplings of a model, each naming its loop."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import fields
from typing import TYPE_CHECKING

from leastaction.errors import ModelError
from leastaction.model.arrays import UNIT_TOLERANCE
from leastaction.model.joint import Joint, are_numbers
from leastaction.model.loops import MOST_COEFFICIENTS, ROWS, Coupling, Loop, Rod, ground_or
from leastaction.model.names import did_you_mean

if TYPE_CHECKING:
    from leastaction.model.merge import Merged
    from leastaction.model.model import Model


def loop_faults(model: Model, merged: Merged) -> list[str]:
    """List everything wrong with the loops and couplings of a model, given which bodies move."""
    found = []
    count = Counter(loop.name for loop in model.loops)
    for name in (name for name, times in count.items() if times > 1):
        found.append(f"loop '{name}' is added more than once; give each loop and coupling its own name")
    for loop in model.loops:
        own = _coupling_faults(model, loop) if isinstance(loop, Coupling) else _own_faults(model, loop, merged)
        what = "coupling" if isinstance(loop, Coupling) else "loop"
        found += [f"{what} '{loop.name}' {fault}" for fault in own]
    return found


def _own_faults(model: Model, loop: Loop, merged: Merged) -> list[str]:
    found, index = [], model._index
    for role, name in (("body", loop.body), ("other", loop.other)):
        if name is not None and name not in index:
            found.append(f"has the unknown {role} '{name}'{did_you_mean(name, index, 'other=None')}")
    if not found:
        carriers = [-1 if name is None else merged.carrier[index[name]] for name in (loop.body, loop.other)]
        if loop.body == loop.other:
            found.append(f"joins body '{loop.body}' to itself; name two bodies, or other=None for the ground")
        elif carriers[0] == carriers[1]:
            found.append(f"joins '{loop.body}' to {ground_or(loop.other)}, which cannot move against each other: fixed "
                         "joints hold them together already")
    found += _closure_faults(loop.joint)
    for name in ("position", "quaternion", "other_position", "other_quaternion"):
        value = getattr(loop, name)
        norm = math.hypot(*value.tolist())
        if not math.isfinite(norm):
            found.append(f"has {name} that is not finite")
        elif value.shape == (4,) and abs(norm - 1) > UNIT_TOLERANCE:
            found.append(f"has {name} of norm {norm:.6g}; give a unit quaternion (w, x, y, z)")
    return found


def _closure_faults(joint: object) -> list[str]:
    """List what is wrong with the joint of a loop."""
    if isinstance(joint, Rod):
        return [f"has a rod whose {fault}" for fault in joint.faults()]
    if type(joint) not in ROWS or not isinstance(joint, Joint):
        kinds = ", ".join(kind.__name__ for kind in ROWS)
        given = f"a {type(joint).__name__} joint" if isinstance(joint, Joint) else repr(joint)
        return [f"cannot be closed by {given}; use {kinds} or Rod"]
    acting = [field.name for field in fields(Joint) if field.name != "name"
              and getattr(joint, field.name) != field.default]
    if acting:
        verb = "does" if len(acting) == 1 else "do"
        return [f"has a joint with {', '.join(acting)}, which {verb} not act in a closure: cut the loop at another "
                "joint, so that this one is in the tree"]
    return [f"has a joint whose {fault}" for fault in joint.faults()]


def _coupling_faults(model: Model, coupling: Coupling) -> list[str]:
    found = []
    bodies = []
    for name in (coupling.joint, coupling.to):
        if name is None:
            continue
        try:
            body = model.bodies[model.body_index(name)]
        except ModelError:
            joints = [body.joint.name for body in model.bodies if isinstance(body.joint, Joint) and body.joint.name]
            found.append(f"has the unknown joint '{name}'{did_you_mean(name, [*model.names, *joints])}")
            continue
        bodies.append(body.name)
        if isinstance(body.joint, Joint) and body.joint.nv != 1:
            found.append(f"is of joint '{name}', a {type(body.joint).__name__} of {body.joint.nv} degrees of freedom: "
                         "only joints of one can be coupled")
    if len(bodies) == 2 and bodies[0] == bodies[1]:
        found.append(f"couples joint '{coupling.joint}' to itself")
    numbers = coupling.coefficients
    if not 1 <= len(numbers) <= MOST_COEFFICIENTS or not are_numbers(numbers):
        found.append(f"must have one to {MOST_COEFFICIENTS} coefficients, not {numbers!r}")
    elif coupling.to is None and any(numbers[1:]):
        found.append(f"has no second joint, so only the first coefficient may differ from zero, not {numbers!r}")
    if len(coupling.reference) != 2 or not are_numbers(coupling.reference):
        found.append(f"must have a reference of two numbers, not {coupling.reference!r}")
    given = [x for x in (*numbers, *coupling.reference) if isinstance(x, float)]
    if not all(map(math.isfinite, given)):
        found.append(f"has numbers that are not finite: {numbers!r}, reference {coupling.reference!r}")
    return found
