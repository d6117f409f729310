"""Every fault of a model at once, each naming its body."""

import math
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from leastaction.errors import ModelError, ModelWarning
from leastaction.model.arrays import UNIT_TOLERANCE, point_inertia
from leastaction.model.force_faults import force_faults
from leastaction.model.joint import Joint
from leastaction.model.joints import JOINT_KINDS, Free
from leastaction.model.loop_faults import loop_faults
from leastaction.model.merge import Merged, merge_fixed
from leastaction.model.names import did_you_mean

if TYPE_CHECKING:
    from leastaction.model.model import Model

TRIANGLE_TOLERANCE = 0.01
EIGENVALUE_TOLERANCE = 1e-9
SYMMETRY_TOLERANCE = 1e-9


def validate(model: "Model", strict: bool = False) -> None:
    """Raise a ModelError with all faults; inertias that no rigid body has only warn, unless `strict`."""
    if not model.nb:
        raise ModelError(f"{model.name} has no bodies; add one with add_body")
    faults = [] if np.isfinite(model.gravity).all() else [f"gravity is not finite: {model.gravity.tolist()}"]
    faults += _tree_faults(model)
    faults += _joint_faults(model)
    faults += _number_faults(model)
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is named above
        merged = merge_fixed(model)
    inertia_faults, unphysical = _inertia_faults(model, merged)
    faults += inertia_faults
    if model.loops:
        faults += loop_faults(model, merged)
    faults += force_faults(model, merged)
    doubt = (
        f"the inertia of {_listed(unphysical)} violates the triangle inequality by more than 1 %: no rigid body "
        "has such moments; the motion is still well defined, but check the matrix and its frame"
    )
    if unphysical and strict:
        faults.append(doubt)
    if faults:
        raise ModelError(faults)
    if unphysical:
        warnings.warn(doubt, ModelWarning, stacklevel=3)


def _tree_faults(model: "Model") -> list[str]:
    """List names and parents that do not make a tree."""
    faults = []
    count = Counter(model.names)
    for name in (name for name, times in count.items() if times > 1):
        faults.append(f"body '{name}' is added more than once; give each body its own name")
    for body in model.bodies:
        if body.parent is not None and body.parent == body.name:
            faults.append(f"body '{body.name}' is its own parent; use parent=None for the ground")
        elif body.parent is not None and body.parent not in count:
            hint = did_you_mean(body.parent, model.names, "parent=None")
            faults.append(f"body '{body.name}' has the unknown parent '{body.parent}'{hint}")
    for cycle in _cycles(model.parents.tolist()):
        if len(cycle) > 1:
            names = _listed(model.names[b] for b in cycle)
            faults.append(f"bodies {names} are each other's ancestors; connect one of them to the ground")
    return faults


def _cycles(parents: list[int]) -> list[list[int]]:
    """Find the cycles among the parents, each from a child upwards."""
    found = []
    visited_from = [-1] * len(parents)
    for start in range(len(parents)):
        body = start
        while body >= 0 and visited_from[body] < 0:
            visited_from[body] = start
            body = parents[body]
        if body >= 0 and visited_from[body] == start:
            cycle = [body]
            while parents[cycle[-1]] != body:
                cycle.append(parents[cycle[-1]])
            found.append(cycle)
    return found


def _joint_faults(model: "Model") -> list[str]:
    faults: list[str] = []
    judged: dict[int, list[str]] = {}  # a joint shared by many bodies is looked at once
    for body in model.bodies:
        joint = body.joint
        if not isinstance(joint, Joint):
            kinds = ", ".join(kind.__name__ for kind in JOINT_KINDS.values())
            faults.append(f"body '{body.name}': unknown joint type {joint!r}; use one of {kinds}")
            continue
        if id(joint) not in judged:
            judged[id(joint)] = joint.faults()
        faults += [f"body '{body.name}': joint {fault}" for fault in judged[id(joint)]]
    return faults


def _number_faults(model: "Model") -> list[str]:
    """List placements and inertias that are not finite, not unit or not symmetric."""
    names, bodies = model.names, model.bodies
    columns = {
        "position": np.array([body.position for body in bodies]),
        "quaternion": np.array([body.quaternion for body in bodies]),
        "mass": np.array([body.inertia.mass for body in bodies]),
        "com": np.array([body.inertia.com for body in bodies]),
        "inertia matrix": np.array([body.inertia.matrix for body in bodies]),
    }
    faults = []
    for what, values in columns.items():
        finite = np.isfinite(values.reshape(len(bodies), -1)).all(axis=1)
        faults += [f"body '{names[b]}': {what} is not finite" for b in np.flatnonzero(~finite)]
    norms = np.array([math.hypot(*row) for row in columns["quaternion"].tolist()])
    faults += [
        f"body '{names[b]}': quaternion has norm {norms[b]:.6g}; give a unit quaternion (w, x, y, z)"
        for b in np.flatnonzero((abs(norms - 1) > UNIT_TOLERANCE) & np.isfinite(norms))
    ]
    matrix = columns["inertia matrix"]
    with np.errstate(invalid="ignore"):
        skew = abs(matrix - matrix.swapaxes(1, 2)).max(axis=(1, 2))
        skewed = skew > SYMMETRY_TOLERANCE * abs(matrix).max(axis=(1, 2))
    faults += [f"body '{names[b]}': inertia matrix is not symmetric" for b in np.flatnonzero(skewed)]
    return faults


def _inertia_faults(model: "Model", merged: Merged) -> tuple[list[str], list[str]]:
    """List the faults of what each moving body carries, and the bodies that break the triangle inequality."""
    numbers = (merged.mass[:, None], merged.first_moment, merged.inertia_com.reshape(-1, 9))
    usable = np.isfinite(np.hstack(numbers)).all(axis=1)
    size = np.bincount(merged.carrier[merged.carrier >= 0], minlength=model.nb)
    faults = []

    def owner(b: np.intp) -> str:
        return f"body '{model.names[b]}'" + (" with the bodies fixed to it" if size[b] > 1 else "")

    for b in np.flatnonzero(usable & (merged.mass < 0)):
        faults.append(f"{owner(b)}: mass is negative: {merged.mass[b]:g} kg")
    for b in np.flatnonzero(usable & (merged.mass == 0) & merged.first_moment.any(axis=1)):
        faults.append(f"{owner(b)}: masses cancel, which leaves no centre of mass")
    if merged.ground_mass < 0:
        faults.append(f"the bodies fixed to the ground: mass is negative: {merged.ground_mass:g} kg")

    moments = np.full((model.nb, 3), np.nan)
    moments[usable] = np.linalg.eigvalsh(merged.inertia_com[usable])
    negative = moments[:, 0] < -EIGENVALUE_TOLERANCE * moments.sum(axis=1)
    # Files of robots have such moments. A body that turns about a joint away from its centre of mass may still have a
    # positive kinetic energy in every motion; whether the whole model has is seen when a simulation starts.
    for b in np.flatnonzero(negative):
        about_joint = np.linalg.eigvalsh(merged.inertia_com[b] + point_inertia(merged.mass[b], merged.centre[b]))
        negative[b] = isinstance(model.bodies[b].joint, Free) or not about_joint[0] > 0
    for b in np.flatnonzero(negative):
        faults.append(
            f"{owner(b)}: inertia about the centre of mass has the negative moment {moments[b, 0]:.3g} kg m^2"
        )
    broken = moments[:, 2] > (1 + TRIANGLE_TOLERANCE) * (moments[:, 0] + moments[:, 1])
    return faults, [model.names[b] for b in np.flatnonzero(broken & ~negative)]


def _listed(names: Iterable[str], most: int = 30) -> str:
    """Join names, the first few of a long list."""
    quoted = [f"'{name}'" for name in names]
    return ", ".join(quoted[:most]) + (f" and {len(quoted) - most} more" if len(quoted) > most else "")
