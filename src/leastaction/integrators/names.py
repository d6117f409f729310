"""The integrators by name, and what a user means by an integrator."""

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Literal, ParamSpec, TypeVar

from leastaction.integrators.base import Integrator
from leastaction.integrators.dormand_prince import DormandPrince8
from leastaction.integrators.euler import SemiImplicitEuler
from leastaction.integrators.root_finders import Newton
from leastaction.integrators.runge_kutta4 import RungeKutta4
from leastaction.integrators.variational import Rescue, Variational

P = ParamSpec("P")
R = TypeVar("R")
IntegratorName = Literal["variational", "euler", "rk4", "dop853"]
NAMED: dict[str, Callable[[], Integrator]] = {
    "variational": Variational,
    "euler": SemiImplicitEuler,
    "rk4": RungeKutta4,
    "dop853": DormandPrince8,
}


def as_integrator(given: Integrator | str | None) -> Integrator:
    """Return the integrator that a user means: an object; a name in NAMED, in any case; or None for Variational()."""
    if given is None:
        return Variational()
    if isinstance(given, str) and given.lower() in NAMED:
        return NAMED[given.lower()]()
    if not isinstance(given, Integrator):
        raise ValueError(f"integrator must be one of {', '.join(map(repr, NAMED))}, or an object such as "
                         f"la.Variational(order=4), la.RungeKutta4() or la.DormandPrince8(tol=1e-9), not {given!r}")
    return given


def point_to_integrator(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function that takes an integrator say of the integrator's options, given to it, where they belong."""
    own, finder, rescue = ({option.name for option in fields(kind)} for kind in (Variational, Newton, Rescue))

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> R:
        for name in (own | finder | rescue) & options.keys():
            inner = f"{name}={options[name]!r}"
            if name in finder:
                inner = f"root_finder=la.Newton({inner})"
            elif name in rescue:
                inner = f"rescue=la.Rescue({inner})"
            raise TypeError(f"{name} is an option of the integrator: give integrator=la.Variational({inner})")
        return function(*arguments, **options)

    return call
