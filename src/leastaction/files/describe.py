"""What produced a run, as plain data: the integrator and its parts by name and fields."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from leastaction.integrators import Rescue, RungeKutta4, SemiImplicitEuler, Variational
from leastaction.peers import SVI, Absolute, Broyden, DenseNewton
from leastaction.root_finders import RIQN, Newton

INTEGRATORS = (Variational, SVI, SemiImplicitEuler, RungeKutta4)
PARTS = (Newton, RIQN, DenseNewton, Broyden, Absolute, Rescue)
KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in (*INTEGRATORS, *PARTS)}


def integrator_to_dict(integrator: Any) -> dict[str, Any]:
    """Write an integrator down as data that JSON can hold.

    Parameters
    ----------
    integrator : Variational(...), SemiImplicitEuler(), RungeKutta4() or peers.SVI(...)
    """
    found: dict[str, Any] = {"kind": type(integrator).__name__}
    for field in fields(integrator):
        value = getattr(integrator, field.name)
        found[field.name] = integrator_to_dict(value) if is_dataclass(value) else value
    return found


def integrator_from_dict(data: Mapping[str, Any]) -> Any:
    """Make the integrator that `integrator_to_dict` wrote down; keys that mean nothing are errors."""
    made = _made(data)
    if not isinstance(made, INTEGRATORS):
        raise ValueError(f"{type(made).__name__} is no integrator")
    return made


def _made(data: Mapping[str, Any]) -> Any:
    given = {name: _made(value) if isinstance(value, Mapping) else value for name, value in data.items()}
    kind = given.pop("kind", None)
    if kind not in KINDS:
        raise ValueError(f"there is no integrator or part of one {kind!r}; there are {', '.join(KINDS)}")
    unknown = given.keys() - {field.name for field in fields(KINDS[kind])}
    if unknown:
        raise ValueError(f"{kind} takes no {', '.join(map(repr, sorted(unknown)))}")
    return KINDS[kind](**given)
