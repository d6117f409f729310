"""What produced a run, as plain data: the integrator and its root finder by name and fields."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_args

from leastaction.integrators import Integrator, _RootFinder

RETIRED = {"Newton": {"first_order"}}  # options that older files may name
KINDS = {kind.__name__: kind for kind in (*get_args(Integrator), *_RootFinder.__subclasses__())}


def integrator_to_dict(integrator: Any) -> dict[str, Any]:
    """Write an integrator down as data that JSON can hold.

    Parameters
    ----------
    integrator : Variational(...), SemiImplicitEuler() or RungeKutta4()
    """
    found: dict[str, Any] = {"kind": type(integrator).__name__}
    for field in fields(integrator):
        value = getattr(integrator, field.name)
        found[field.name] = integrator_to_dict(value) if is_dataclass(value) else value
    return found


def integrator_from_dict(data: Mapping[str, Any]) -> Any:
    """Make the integrator that `integrator_to_dict` wrote down; keys that never meant anything are errors."""
    given = {name: integrator_from_dict(value) if isinstance(value, Mapping) else value for name, value in data.items()}
    kind = given.pop("kind", None)
    if kind not in KINDS:
        raise ValueError(f"there is no integrator or root finder {kind!r}; there are {', '.join(KINDS)}")
    for name in RETIRED.get(kind, ()):
        given.pop(name, None)
    unknown = given.keys() - {field.name for field in fields(KINDS[kind])}
    if unknown:
        raise ValueError(f"{kind} takes no {', '.join(map(repr, sorted(unknown)))}")
    return KINDS[kind](**given)
