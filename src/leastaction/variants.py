"""Variants of a model, which differ from it in numbers only; many are made at once, as a batch needs one per member.

What `validate` and `compile_model` do to one model is done here to all variants at once by the same sums and products,
so the bits of a variant do not depend on how many are made with it. A variant that is not clearly sound is left to
`validate`, which says what is wrong with it.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from leastaction.compiled import Compiled, compile_model, ground_energy, remember
from leastaction.errors import ModelError
from leastaction.kernels import layout
from leastaction.kernels.layout import LINK
from leastaction.model import Ball, Body, Inertia, Merged, Model
from leastaction.model.arrays import as_array, rotated
from leastaction.model.merge import merge_numbers
from leastaction.tables import Places, screws, tables

Array = np.ndarray
# What differs: ("gravity", -1) → (B, 3); ("mass", body) → (B,), with which the inertia grows; ("com", body) and
# ("position", body) → (B, 3); ("damping", body) or another field of its joint → (B,), or (B, k) for k numbers
Changes = Mapping[tuple[str, int], Array]
GRAVITY = "gravity", -1
OF_BODIES = ("mass", "com", "position")
COEFFICIENTS = ("damping", "stiffness", "armature")
ROUND_OFF = 1e-9  # of its trace by which a moment of inertia may be negative, as for `validate`


def variants(model: Model, changes: Changes, count: int) -> list[Model | ModelError]:
    """Make variants of a sound model; one that cannot be simulated is the ModelError that says why.

    Parameters
    ----------
    model : that they share all else with
    changes : what differs
    count : number of variants
    """
    made: list[Model | ModelError] = []
    arrays = _compiled(model, changes, count)
    bodies = model.bodies
    for b in range(count):
        one = Variant(model, bodies, changes, b)
        compiled = arrays[b]
        try:
            if compiled is None:
                compile_model(one)
            else:
                remember(one, compiled)
            made.append(one)
        except ModelError as error:
            made.append(error)
    return made


class Variant(Model):
    """A model that differs from another in numbers; its bodies are made when they are first used.

    Parameters
    ----------
    base, bodies : the other model, and its bodies
    changes : what differs, of B variants
    number : which of them this one is
    """

    def __init__(self, base: Model, bodies: tuple[Body, ...], changes: Changes, number: int) -> None:
        self.__dict__.update(base.__dict__)  # a warning given for one is not repeated for the other
        self.__dict__.pop("_bodies", None)
        self._index, self.keyframes = dict(base._index), dict(base.keyframes)
        self._actuators, self.commands, self._drives = dict(base._actuators), dict(base.commands), None
        self._recipe = bodies, changes, number
        if GRAVITY in changes:
            self._gravity = as_array(changes[GRAVITY][number], (3,), "gravity")

    @cached_property
    def _bodies(self) -> list[Body]:  # type: ignore[override]
        bodies, changes, number = self._recipe
        own: dict[int, dict[str, Any]] = {}
        for (what, body), values in changes.items():
            own.setdefault(body, {})[what] = values[number]
        return [_changed(body, own[b]) if b in own else body for b, body in enumerate(bodies)]

    def __getstate__(self) -> dict[str, Any]:
        self._bodies  # noqa: B018  made now, since the recipe is of all variants
        return {name: value for name, value in self.__dict__.items() if name != "_recipe"}


def _changed(body: Body, values: dict[str, Any]) -> Body:
    """Return a body with other numbers."""
    inertia = body.inertia
    mass, com = values.pop("mass", inertia.mass), values.pop("com", inertia.com)
    position = as_array(values.pop("position", body.position), (3,), f"the position of body '{body.name}'")
    if mass != inertia.mass and mass < 0:  # a body fixed to it might hide that
        raise ModelError(f"body '{body.name}': mass is negative: {mass:g} kg")
    if mass != inertia.mass and inertia.mass == 0:
        raise ModelError(f"body '{body.name}' has no mass, so its inertia cannot grow with {mass:g} kg")
    matrix = inertia.matrix if mass == inertia.mass else inertia.matrix * (mass / inertia.mass)
    joint = replace(body.joint, **{name: value.tolist() for name, value in values.items()}) if values else body.joint
    return replace(body, joint=joint, position=position, inertia=Inertia(mass, com, matrix))


def _compiled(model: Model, changes: Changes, count: int) -> list[Compiled | None]:
    """Return the arrays of each variant; None for one that is not plainly sound, or differs in something else."""
    base, kinds = compile_model(model), {what for what, _ in changes}
    moves_markers = base.rows is not None and "position" in kinds  # of loops
    if moves_markers or _apart(model, changes) or not kinds <= {*COEFFICIENTS, *OF_BODIES, GRAVITY[0]}:
        return [None] * count
    constants = np.repeat(base.constants[None], count, axis=0)
    sound = np.ones(count, dtype=bool)
    for values in changes.values():
        sound &= np.isfinite(values.reshape(count, -1)).all(axis=1)
    gravity = changes[GRAVITY] if GRAVITY in changes else np.repeat(model.gravity[None], count, axis=0)
    merged = None
    with np.errstate(all="ignore"):  # numbers that are not finite are not sound
        if not kinds.isdisjoint(OF_BODIES):
            merged = _fill_bodies(model, base, changes, constants, sound)
        energy = [base.ground_energy] * count
        if merged is not None or GRAVITY in changes:
            moment = base.ground_first_moment if merged is None else merged.ground_first_moment
            energy = np.broadcast_to(ground_energy(gravity, moment), count).tolist()
    for (what, body), values in changes.items():
        if what in COEFFICIENTS:
            links = np.flatnonzero(base.body_of_link == body)
            for name in (what, f"own_{what}"):
                if name in LINK.fields:
                    constants[:, links, LINK.rows(name).start] = values.reshape(count, -1)
            sound &= (values.reshape(count, -1) >= 0).all(axis=1)
    flags = _flags(base, constants) if not kinds.isdisjoint(COEFFICIENTS) else None
    made: list[Compiled | None] = []
    for b, (own, fall) in enumerate(zip(constants, gravity.tolist(), strict=True)):
        if not sound[b]:
            made.append(None)
            continue
        other: dict[str, Any] = {"constants": own, "gravity": tuple(fall), "ground_energy": energy[b]}
        if flags is not None:
            other |= {"tree": base.tree._replace(passive=flags[0][b]), "stiff": flags[1][b], "damped": flags[2][b]}
        if merged is not None:
            other["ground_first_moment"] = merged.ground_first_moment[b]
            if "position" in kinds:
                other["body_position"] = merged.position[b]
                if model.forces:  # their points may be on bodies that are welded to others
                    other["elements"] = tables(model, _places(model, base, merged.position[b]))[0]
        made.append(base.with_numbers(**other))
    return made


def _apart(model: Model, changes: Changes) -> bool:
    """Tell whether the stiffness of a joint differs that has bending and torsion apart."""
    return any(what == "stiffness" and isinstance(model.bodies[body].joint, Ball) and values.ndim > 1
               for (what, body), values in changes.items())


def _places(model: Model, base: Compiled, position: Array) -> Places:
    """Where the bodies are on the links, at other positions (nb, 3)."""
    mass = base.constants[:, LINK.rows("mass").start]
    return Places({name: b for b, name in enumerate(model.names)}, base.link_of_body, position, base.body_quaternion,
                  np.flatnonzero(mass > 0).tolist(), base.tree.n,
                  screws(model.names, base.tree.kind, base.body_of_link))


def _flags(base: Compiled, constants: Array) -> tuple[Array, list[bool], list[bool]]:
    """Return the flags of links (B, n), and which variants have a spring or damping, and damping."""
    damping, stiffness, armature = (constants[:, :, LINK.rows(name).start] != 0 for name in COEFFICIENTS)
    stiffness |= (base.tree.passive & layout.TORSION) > 0  # with a bending of zero, too
    passive = layout.PASSIVE * (damping | armature) + layout.SPRING * stiffness + layout.DAMPED * damping
    passive = passive + (base.tree.passive & (layout.SERVO | layout.TORSION))
    served, braked = len(base.servos.link) > 0, bool(base.servos.kd.any())
    return (passive.astype(np.int64), ((damping | stiffness).any(axis=1) | served).tolist(),
            (damping.any(axis=1) | braked).tolist())


def _fill_bodies(model: Model, base: Compiled, changes: Changes, constants: Array, sound: Array) -> Merged:
    """Put masses, centres of mass and places into the constants (B, n, rows), and note which variants are not sound."""
    count, bodies = len(constants), model.bodies
    mass, com, position, matrix = (
        np.repeat(np.array(rows, dtype=float)[None], count, axis=0)
        for rows in ([body.inertia.mass for body in bodies], [body.inertia.com for body in bodies],
                     [body.position for body in bodies], [body.inertia.matrix for body in bodies]))
    for (what, b), values in changes.items():
        if what == "mass":
            own = bodies[b].inertia.mass
            sound &= values >= 0 if own else values == 0
            if own:
                same = (values == own)[:, None, None]
                matrix[:, b] = np.where(same, matrix[:, b], matrix[:, b] * (values / own)[:, None, None])
            mass[:, b] = values
        elif what in OF_BODIES:
            (com if what == "com" else position)[:, b] = values
    merged = merge_numbers(model, position, mass, com, matrix)
    carried = np.unique(merged.carrier[merged.carrier >= 0])
    links = base.link_of_body[carried]  # the last of a joint's chain has the inertia
    inertia = merged.inertia_com[:, carried]
    rows = [merged.mass[:, carried, None], merged.centre[:, carried], *(
        inertia[:, :, i, j, None] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))]
    for name, values in (("mass", rows[0]), ("com", rows[1]), ("inertia", np.concatenate(rows[2:], -1))):
        constants[:, links, LINK.rows(name)] = values
    _fill_places(model, base, position, merged, constants)
    sound &= (merged.mass[:, carried] > 0).all(axis=1) & (merged.ground_mass >= 0)
    loaded = carried[np.bincount(merged.carrier[merged.carrier >= 0])[carried] > 1]
    usable = np.where(np.isfinite(merged.inertia_com), merged.inertia_com, 0.0)[:, loaded]
    least, trace = np.linalg.eigvalsh(usable)[..., 0], np.trace(usable, axis1=-2, axis2=-1)
    sound &= (least >= -ROUND_OFF * trace).all(axis=1)
    return merged


def _fill_places(model: Model, base: Compiled, position: Array, merged: Merged, constants: Array) -> None:
    """Put the places of joints, given in the frames of their parents, into the frames of the links above."""
    parents, rows = model.parents.tolist(), LINK.rows("base_position")
    links, moving = np.unique(base.body_of_link, return_index=True)[::-1]  # the first link of each body that moves
    for link, b in zip(links, moving, strict=True):
        above = parents[b]
        own = position[:, b]
        if above >= 0 and merged.carrier[above] != above:
            turned = rotated(merged.quaternion[above], own.T)
            own = merged.position[:, above] + np.stack(turned, axis=-1)
        constants[:, link, rows] = own
