"""A model as plain data, and back: what a file of results holds of it. Every number comes back bit for bit."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

import numpy as np

from leastaction.errors import ModelError, NotDefinedError
from leastaction.model.actuators import ACTUATOR_KINDS, Actuator
from leastaction.model.arrays import as_array
from leastaction.model.force import FORCE_KINDS, Force
from leastaction.model.forces import Field, Spring, Thruster
from leastaction.model.geometry import Geometry
from leastaction.model.inertia import Inertia
from leastaction.model.joint import OUTSIDE, Joint
from leastaction.model.joints import JOINT_KINDS
from leastaction.model.loops import Coupling, Loop, Rod
from leastaction.model.names import did_you_mean

Kind = TypeVar("Kind")
SHAPES = {"position": (3,), "quaternion": (4,), "size": (3,), "color": (4,)}
OUR_FORCES: dict[str, type[Force]] = {kind.__name__.lower(): kind for kind in (Spring, Field, Thruster)}
MESH = {"vertices": float, "faces": np.int64}


def plain(value: Any, what: str) -> Any:
    """Numbers, text and arrays as JSON has them; numbers that are not finite, which it has not, as text."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list | tuple):
        return [plain(entry, what) for entry in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ModelError(f"{what} cannot be written down: {value!r}")


def numbers(value: Any) -> Any:
    """Undo `plain` for the numbers of a joint or an array: lists become tuples, "inf" a number."""
    if isinstance(value, list | tuple):
        return tuple(numbers(entry) for entry in value)
    return float(value) if value in ("inf", "-inf", "nan") else value


def record(value: Any, what: str) -> dict[str, Any]:
    """List the fields of a dataclass that are not at their defaults."""
    found = {}
    for field in fields(value):
        content = getattr(value, field.name)
        if field.default is MISSING or content is not field.default:
            found[field.name] = plain(content, f"the {field.name} of {what}")
    return found


def joint_record(joint: Any, what: str) -> dict[str, Any]:
    """Write down a joint: its kind in lower case, or module and name of one of others, then its numbers."""
    kind = type(joint).__name__.lower()
    if JOINT_KINDS.get(kind) is not type(joint):
        kind = f"{type(joint).__module__}.{type(joint).__qualname__}"
        if kind not in OUTSIDE:
            raise ModelError(f"the joint of {what} cannot be written down: {joint!r} is of no known kind")
    return {"kind": kind, **record(joint, f"the joint of {what}")}


def read_joint(data: Any, what: str) -> Joint:
    """Read what `joint_record` wrote; a kind that no module has defined so far is named."""
    given = dict(mapping(data, what))
    kind = str(given.pop("kind", None))
    known = JOINT_KINDS.get(kind) or of_others(OUTSIDE, kind)
    if known is None:
        raise not_defined(what, kind, JOINT_KINDS)
    return build(known, {key: value if key == "name" else numbers(value) for key, value in given.items()}, what)


def of_others(known: Mapping[str, type[Kind]], kind: str) -> type[Kind] | None:
    """Find a class by module and name; one of a script, which is a module of another name when it is imported, too."""
    script, _, own = kind.partition("__main__.")
    found = known.get(kind)
    if found is None and own and not script:
        found = next((one for one in known.values() if one.__qualname__ == own), None)
    return found


def not_defined(what: str, kind: str, ours: Iterable[str]) -> NotDefinedError:
    """Return the error of a class, module and name, that is not known here; of a name alone, the package has none."""
    module, _, own = kind.rpartition(".")
    if not module:
        return NotDefinedError(f"{what} has the unknown kind {kind!r}; use one of {', '.join(ours)}")
    first = f"run the definition of {own}" if module == "__main__" else f"import {module}"
    if "<locals>" in module:
        first = f"call {module.partition('.<locals>')[0]}, in which it is defined,"
    return NotDefinedError(f"{what} is of the class {kind}, which is not known here: {first} first, then try again")


def actuator_record(actuator: Actuator, name: str) -> dict[str, Any]:
    """Write down an actuator: its kind in lower case, then its numbers."""
    kind = type(actuator).__name__.lower()
    if ACTUATOR_KINDS.get(kind) is not type(actuator):
        raise ModelError(f"actuator '{name}' is of no known kind: {actuator!r}")
    return {"kind": kind, **record(actuator, f"actuator '{name}'")}


def read_actuator(data: Any) -> tuple[str, Actuator]:
    """Read an actuator and its name."""
    given = dict(mapping(data, "an actuator"))
    name, kind = given.pop("name", None), given.pop("kind", None)
    if not isinstance(name, str):
        raise ModelError(f"the name of an actuator must be text, not {name!r}")
    what = f"actuator '{name}'"
    if kind not in ACTUATOR_KINDS:
        raise ModelError(f"{what} has the unknown kind {kind!r}; use one of {', '.join(ACTUATOR_KINDS)}")
    return name, build(
        ACTUATOR_KINDS[kind], {key: value if key == "joint" else numbers(value) for key, value in given.items()}, what)


def read_inertia(data: Any, what: str) -> Inertia:
    """Read mass, com and matrix."""
    return build(Inertia, {name: numbers(value) for name, value in mapping(data, what).items()}, what)


def read_geometry(data: Any, what: str) -> Geometry:
    """Read one shape of a body."""
    given: dict[str, Any] = dict(mapping(data, what))
    for name, shape in SHAPES.items():
        if name in given:
            given[name] = as_array(numbers(given[name]), shape, f"the {name} of {what}")
    for name, kind in MESH.items():
        try:
            given[name] = np.array(given.get(name, []), dtype=kind).reshape(-1, 3)
        except (TypeError, ValueError):
            raise ModelError(f"the {name} of {what} must be rows of three numbers") from None
    return build(Geometry, given, what)


def build(kind: Callable[..., Kind], given: Mapping[str, Any], what: str) -> Kind:
    """Make a dataclass of its fields; unknown and missing ones are named."""
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    refuse_unknown(given, known, what)
    try:
        return kind(**given)
    except TypeError as error:  # Python names the fields that are missing
        raise ModelError(f"{what} is not complete: {str(error).split('__init__() ')[-1]}") from None


def mapping(data: Any, what: str) -> Mapping[str, Any]:
    """Require named fields."""
    if not isinstance(data, Mapping):
        raise ModelError(f"{what} must be a mapping of names to values, not {data!r}")
    return data


def refuse_unknown(given: Iterable[str], known: Iterable[str], what: str) -> None:
    """Raise a ModelError that names every key which nobody would read."""
    known = list(known)
    unknown = [key for key in given if key not in known]
    if unknown:
        raise ModelError([f"{what} has the unknown key {key!r}{did_you_mean(str(key), known)}" for key in unknown])


def body_record(body: Any) -> dict[str, Any]:
    """Write down a body; `read_body` reads it."""
    what = f"body '{body.name}'"
    found = {
        "name": body.name, "parent": body.parent, "joint": joint_record(body.joint, what),
        "position": plain(body.position, what), "quaternion": plain(body.quaternion, what),
        "inertia": record(body.inertia, what),
    }
    if body.geometry:
        found["geometry"] = [record(shape, f"the geometry of {what}") for shape in body.geometry]
    return found


def read_body(data: Any) -> dict[str, Any]:
    """Read the fields of a body as they are stored, without removing round-off from its quaternion."""
    given = mapping(data, "a body")
    name, parent = given.get("name"), given.get("parent")
    if not isinstance(name, str) or not isinstance(parent, str | None):
        raise ModelError(f"names of bodies must be text, not {name!r} with the parent {parent!r}")
    what = f"body '{name}'"
    refuse_unknown(given, ("name", "parent", "joint", "position", "quaternion", "inertia", "geometry"), what)
    return {
        "name": name,
        "parent": parent,
        "joint": read_joint(given.get("joint", {"kind": "fixed"}), f"the joint of {what}"),
        "position": as_array(numbers(given.get("position", (0, 0, 0))), (3,), f"the position of {what}"),
        "quaternion": as_array(numbers(given.get("quaternion", (1, 0, 0, 0))), (4,), f"the quaternion of {what}"),
        "inertia": read_inertia(given.get("inertia", {"mass": 0.0}), f"the inertia of {what}"),
        "geometry": tuple(read_geometry(shape, f"the geometry of {what}") for shape in given.get("geometry", ())),
    }


def loop_record(loop: Loop | Coupling) -> dict[str, Any]:
    """Write down a loop or a coupling; `read_loop` reads it."""
    if isinstance(loop, Coupling):
        return record(loop, f"coupling '{loop.name}'")
    what = f"loop '{loop.name}'"
    own = loop.joint
    joint = {"kind": "rod", **record(own, what)} if isinstance(own, Rod) else joint_record(own, what)
    return {field.name: joint if field.name == "joint" else plain(getattr(loop, field.name), what)
            for field in fields(loop)}


def read_loop(data: Any) -> Loop | Coupling:
    """Read a loop, or a coupling, whose ``joint`` is a name."""
    given = dict(mapping(data, "a loop"))
    name, joint = given.get("name"), given.get("joint")
    if isinstance(joint, str):
        what = f"coupling '{name}'"
        _require_text(given, ("name", "joint"), ("to",), what)
        for key in ("coefficients", "reference"):
            if key in given:
                row = as_array(numbers(given[key]), np.shape(given[key]), f"the {key} of {what}")
                given[key] = tuple(row.ravel().tolist())
        return build(Coupling, {"to": None, "coefficients": (0.0, 1.0), "reference": (0.0, 0.0), **given}, what)
    what = f"loop '{name}'"
    _require_text(given, ("name", "body"), ("other",), what)
    fits = {"position": (3,), "quaternion": (4,), "other_position": (3,), "other_quaternion": (4,)}
    for key, shape in fits.items():
        neutral = (1.0, 0.0, 0.0, 0.0) if shape == (4,) else (0.0, 0.0, 0.0)
        given[key] = as_array(numbers(given.get(key, neutral)), shape, f"the {key} of {what}")
    own = dict(mapping(joint, f"the joint of {what}"))
    if own.get("kind") == "rod":
        own.pop("kind")
        given["joint"] = build(Rod, {key: numbers(value) for key, value in own.items()}, f"the rod of {what}")
    else:
        given["joint"] = read_joint(own, f"the joint of {what}")
    return build(Loop, {"other": None, **given}, what)


def _require_text(given: Mapping[str, Any], names: Iterable[str], optional: Iterable[str], what: str) -> None:
    """Raise a ModelError unless these entries are text, the optional ones text or nothing."""
    wrong = [name for name in names if not isinstance(given.get(name), str)]
    wrong += [name for name in optional if not isinstance(given.get(name), str | None)]
    if wrong:
        raise ModelError(f"{what}: {wrong[0]} must be text, not {given.get(wrong[0])!r}")


def force_record(name: str, force: Force) -> dict[str, Any]:
    """Write down a force: its name and kind, then its numbers. A kind of others is told by its module, too."""
    kind = type(force).__name__.lower()
    if OUR_FORCES.get(kind) is not type(force):
        kind = f"{type(force).__module__}.{type(force).__qualname__}"
    return {"name": name, "kind": kind, "fields": record(force, f"force '{name}'")}


def read_force(data: Any) -> tuple[str, Force]:
    """Read what `force_record` wrote; a kind that no module has defined so far is named."""
    given = dict(mapping(data, "a force"))
    name, kind, values = str(given.pop("name", "")), str(given.pop("kind", "")), given.pop("fields", {})
    what = f"force '{name}'"
    refuse_unknown(given, (), what)
    found = OUR_FORCES.get(kind) or of_others(FORCE_KINDS, kind)
    if found is None:
        raise not_defined(what, kind, OUR_FORCES)
    fields_ = {key: value if isinstance(value, str) else numbers(value) for key, value in mapping(values, what).items()}
    return name, build(found, fields_, what)


def read_state(data: Mapping[str, Any], nq: int, nv: int) -> list[np.ndarray | None]:
    """Read q0 (nq,) and v0 (nv,), None where they are not given."""
    given = ((data.get(name), size, name) for name, size in (("q0", nq), ("v0", nv)))
    return [None if value is None else np.array(as_array(numbers(value), (size,), name)) for value, size, name in given]
