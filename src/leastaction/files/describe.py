"""What produced a run, as plain data: the integrator and its parts by name and fields."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from leastaction.errors import NotDefinedError
from leastaction.integrators import RIQN, Integrator, Newton, Rescue
from leastaction.integrators.base import home, kinds
from leastaction.integrators.peers import Absolute, Broyden, DenseNewton

PARTS: dict[str, type[Any]] = {kind.__name__: kind for kind in (Newton, RIQN, DenseNewton, Broyden, Absolute, Rescue)}


def integrator_to_dict(integrator: Any) -> dict[str, Any]:
    """Write an integrator down as data that JSON can hold.

    Parameters
    ----------
    integrator : one of this library or another class derived from `Integrator`, or a part of one
    """
    found: dict[str, Any] = {"kind": type(integrator).__name__}
    if home(type(integrator)):
        found["module"] = home(type(integrator))
    for field in fields(integrator):
        value = getattr(integrator, field.name)
        found[field.name] = integrator_to_dict(value) if is_dataclass(value) else value
    return found


def integrator_from_dict(data: Mapping[str, Any]) -> Any:
    """Make the integrator that `integrator_to_dict` wrote down; keys that mean nothing are errors."""
    made = _made(data)
    if not isinstance(made, Integrator):
        raise ValueError(f"{type(made).__name__} is no integrator")
    return made


def _made(data: Mapping[str, Any]) -> Any:
    given = {name: _made(value) if isinstance(value, Mapping) else value for name, value in data.items()}
    name, module = given.pop("kind", None), given.pop("module", "")
    kind = PARTS.get(name) or kinds.get((module, name))
    if kind is None and module:  # a script is a module of another name when it is imported
        kind = next((kind for (where, own), kind in kinds.items() if where and own == name), None)
    if kind is None and module:
        raise NotDefinedError(f"the integrator {name!r} is a class of the module {module!r}: import that first")
    if kind is None or not is_dataclass(kind):
        names = [*(name for module, name in kinds if not module), *PARTS]
        raise ValueError(f"there is no integrator or part of one {name!r}; there are {', '.join(names)}")
    unknown = given.keys() - {field.name for field in fields(kind)}
    if unknown:
        raise ValueError(f"{name} takes no {', '.join(map(repr, sorted(unknown)))}")
    return kind(**given)
