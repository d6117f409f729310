"""Loops and couplings as MuJoCo's equality constraints, which are soft: the same equations, kept by springs."""

from typing import Any

import numpy as np

from leastaction.errors import ModelError
from leastaction.formats.convert import joint_names
from leastaction.model import Ball, Coupling, Fixed, Loop, Model, Revolute, Rod
from leastaction.model.arrays import rotated

POWERS = 5
APART = 0.1  # m between the two points that hold a hinge


def add_equalities(mujoco: Any, spec: Any, made: dict[str | None, Any], model: Model) -> None:
    """Add the constraints to a description; ``made`` are its bodies by name, the world by None.

    Raises
    ------
    ModelError
        Naming a loop that MuJoCo cannot have: it knows balls, welds, hinges (as two balls) and rods (as tendons).
    """
    for loop in model.loops:
        if isinstance(loop, Coupling):
            _couple(mujoco, spec, model, loop)
        elif isinstance(loop.joint, Rod):
            tendon = spec.add_tendon(name=loop.name)
            for site in _sites(made, loop, np.zeros(3), ""):
                tendon.wrap_site(site)
            _add(spec, loop.name, mujoco.mjtEq.mjEQ_TENDON, mujoco.mjtObj.mjOBJ_TENDON, (loop.name,))
        elif isinstance(loop.joint, Ball | Fixed | Revolute):
            kind = mujoco.mjtEq.mjEQ_WELD if isinstance(loop.joint, Fixed) else mujoco.mjtEq.mjEQ_CONNECT
            offsets = [np.zeros(3)]
            if isinstance(loop.joint, Revolute):
                offsets.append(APART * np.array(loop.joint.axis) / np.linalg.norm(loop.joint.axis))
            for k, offset in enumerate(offsets):
                ending = "" if len(offsets) == 1 else f".{k}"
                _add(spec, loop.name + ending, kind, mujoco.mjtObj.mjOBJ_SITE, _sites(made, loop, offset, ending))
        else:
            raise ModelError(f"MuJoCo has no equality constraint for loop '{loop.name}', which is closed by a "
                             f"{type(loop.joint).__name__} joint")


def set_lengths(mj: Any, model: Model) -> None:
    """Give rods their lengths, which MuJoCo measures from those of its own configuration."""
    for loop in model.loops:
        if isinstance(loop, Loop) and isinstance(loop.joint, Rod):
            mj.eq_data[mj.equality(loop.name).id, 0] = loop.joint.length - mj.tendon_length0[
                mj.tendon(loop.name).id]


def _add(spec: Any, name: str, kind: Any, of: Any, names: tuple[str, ...], data: Any = None) -> None:
    equality = spec.add_equality(name=name, type=kind, objtype=of)
    equality.name1 = names[0]
    if len(names) > 1:
        equality.name2 = names[1]
    if data is not None:
        equality.data[: len(data)] = data


def _sites(made: dict[str | None, Any], loop: Loop, offset: np.ndarray, ending: str) -> tuple[str, str]:
    """Mark both ends of a loop, a little off along its axis, and return the names of the marks."""
    names = []
    for end, body, position, quaternion in (
            ("body", loop.body, loop.position, loop.quaternion),
            ("other", loop.other, loop.other_position, loop.other_quaternion)):
        names.append(f"{loop.name}{ending}:{end}")
        made[body].add_site(name=names[-1], pos=position + np.array(rotated(quaternion, offset)), quat=quaternion)
    return names[0], names[1]


def _couple(mujoco: Any, spec: Any, model: Model, coupling: Coupling) -> None:
    """Couple joints by a polynomial about zero, where MuJoCo's joints have their reference here."""
    names = tuple(joint_names(model.bodies[model.body_index(name)])[0]
                  for name in (coupling.joint, coupling.to) if name is not None)
    own, other = coupling.reference
    value, shifted = np.poly1d([own]), np.poly1d([1.0, -other])
    for k, c in enumerate(coupling.coefficients):
        value = value + c * shifted**k if coupling.to is not None or k == 0 else value
    data = np.zeros(POWERS)
    data[: len(value.c)] = value.c[::-1]
    _add(spec, coupling.name, mujoco.mjtEq.mjEQ_JOINT, mujoco.mjtObj.mjOBJ_JOINT, names, data)
