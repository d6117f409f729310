"""What a user chooses: the integrator and its parts. Thin, frozen objects that configure kernels."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from enum import IntEnum
from functools import cache, wraps
from typing import Literal, ParamSpec, TypeVar, get_args

import numpy as np

from leastaction.arguments import finite, shown, whole
from leastaction.composition import ORDERS, guess_weights, stages
from leastaction.dynamics import RETRACTIONS
from leastaction.kernels import guess as guesses
from leastaction.kernels import settings

Guess = Literal["current", "euler", "dynamics", "quadratic", "cubic", "quartic", "quintic", "sextic"]
Residual = Literal["drnea", "svi"]
Criterion = Literal["scaled", "absolute"]

_GUESSES = {
    "current": guesses.CURRENT,
    "euler": guesses.EULER,
    "quadratic": guesses.QUADRATIC,
    "cubic": guesses.CUBIC,
    "quartic": guesses.QUARTIC,
    "quintic": guesses.QUINTIC,
    "sextic": guesses.SEXTIC,
    "dynamics": guesses.DYNAMICS,
}
MOST_ITERATIONS = 1_000_000
MOST_SUBSTEPS = 2**20
RESIDUALS = {"drnea": settings.DRNEA, "svi": settings.SVI}
_RULES = {"scaled": settings.SCALED, "absolute": settings.ABSOLUTE}


class Status(IntEnum):
    """What became of a step: the most that it needed, or, negative, why it was not made."""

    CONVERGED = settings.CONVERGED
    FLOOR = settings.FLOOR
    STRUGGLED = settings.STRUGGLED
    BACKTRACKED = settings.BACKTRACKED
    LOWERED = settings.LOWERED
    CONTINUED = settings.CONTINUED
    SUBSTEPPED = settings.SUBSTEPPED
    EXHAUSTED = settings.EXHAUSTED
    ROTATION = settings.ROTATION
    NOT_FINITE = settings.NOT_FINITE
    BAD_CONTROL = settings.BAD_CONTROL
    WRONG_ROOT = settings.WRONG_ROOT
    UNRESOLVED = settings.UNRESOLVED

    @property
    def meaning(self) -> str:
        """The status in words."""
        return _MEANING[self]


_MEANING = {
    Status.CONVERGED: "converged to the tolerance",
    Status.FLOOR: "converged to the round-off floor, which is above the tolerance",
    Status.STRUGGLED: "converged slowly",
    Status.BACKTRACKED: "converged with Newton steps cut short",
    Status.LOWERED: "converged from a safer guess",
    Status.CONTINUED: "converged by continuation in the step size",
    Status.SUBSTEPPED: "made in smaller steps",
    Status.EXHAUSTED: "no convergence",
    Status.ROTATION: "a body would turn by nearly half a turn or more within one step",
    Status.NOT_FINITE: "the iteration left the range of finite numbers",
    Status.BAD_CONTROL: "the control raised an exception, or did not return nv finite joint forces",
    Status.WRONG_ROOT: "the search left the branch of roots on which the motion lies",
    Status.UNRESOLVED: "the motion is too fast to be followed with this step",
}


def _choice(name: str, value: object, options: tuple[object, ...]) -> None:
    if not (isinstance(value, str | int | np.integer) and value in options):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}, not {shown(value)}")


def _flag(name: str, value: object) -> None:
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, not {shown(value)}")


@dataclass(frozen=True)
class _RootFinder:
    tol: float = 1e-12
    criterion: Criterion = "scaled"
    max_iterations: int = 50

    def __post_init__(self) -> None:
        _choice("criterion", self.criterion, get_args(Criterion))
        tol = finite(self.tol)
        if tol is None or tol <= 0:
            raise ValueError(f"tol must be a positive number, not {shown(self.tol)}")
        whole("max_iterations", self.max_iterations, 1, MOST_ITERATIONS)


@dataclass(frozen=True)
class RIQN(_RootFinder):
    """The paper's quasi-Newton method: the mass matrix at t_k stands in for the Jacobian; O(n) an iteration.

    Parameters
    ----------
    tol : tolerance of the stopping rule
    criterion : "scaled", √(fᵀM⁻¹f) relative to the momentum of the motion in the same norm; or "absolute", the paper's
        ‖f‖
    max_iterations : residual evaluations after which the plain search has failed (see `Variational.rescue`)
    """


@dataclass(frozen=True)
class Newton(_RootFinder):
    """Newton's method in O(n) on any tree.

    Parameters
    ----------
    tol : tolerance of the stopping rule
    criterion : "scaled", √(fᵀM⁻¹f) relative to the momentum of the motion in the same norm; or "absolute", the paper's
        ‖f‖
    max_iterations : residual evaluations after which the plain search has failed (see `Variational.rescue`)
    chord : factor the Jacobian once a step, at the guess, and again only where convergence is poor; the first for "exp"
        to second order in the motion of the step, which is much cheaper and as good. Else exactly, at every iterate
    """

    chord: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _flag("chord", self.chord)


@dataclass(frozen=True)
class DenseNewton(_RootFinder):
    """Newton's method as the paper has it for comparison: a dense Jacobian at every iterate, and a dense solve; O(n³).

    The Jacobian of DRNEA is by the recursion of the paper's appendix, that of SVI from second derivatives of L.

    Parameters
    ----------
    tol, criterion, max_iterations : as for `RIQN`
    """


@dataclass(frozen=True)
class Broyden(_RootFinder):
    """Broyden's quasi-Newton method of 1965: a dense inverse, begun with that of the mass matrix at t_k; O(n²).

    Parameters
    ----------
    tol, criterion, max_iterations : as for `RIQN`
    """


RootFinder = Newton | RIQN | DenseNewton | Broyden
_METHODS: dict[type, int] = {
    Newton: settings.NEWTON,
    RIQN: settings.RIQN,
    DenseNewton: settings.DENSE_NEWTON,
    Broyden: settings.BROYDEN,
}


@dataclass(frozen=True)
class Variational:
    """The linear-time variational integrator: symplectic and momentum-conserving.

    Parameters
    ----------
    residual : "drnea", the paper's Algorithm 2; or "svi", the midpoint rule in generalized coordinates of Johnson and
        Murphey, for joints of one degree of freedom, with any root finder but Newton
    root_finder : how the root of the discrete Euler–Lagrange equation is found: Newton(...) or RIQN(...), in O(n); or,
        for comparison, DenseNewton(...) or Broyden(...)
    guess : where the search starts: "current" (the paper's IG1), "euler" (IG2), "dynamics" (IG3), or extrapolation of
        past steps, "quadratic", "cubic", "quartic", "quintic", "sextic" (of order 2; of a composition at most quartic)
    order : 2, 4, 6 or 8; above 2, a composition of 9, 9 or 17 steps of order 2
    retraction : "split" (exp on SO(3), and the centre of mass along a straight line, so that free fall is exact), or
        "exp" (the paper's, on SE(3))
    rescue : whether a search that fails is tried again with damped Newton steps from safer guesses and by continuation
        ("drnea" only)
    max_substeps : into how many parts a step may be divided as the last resort, a power of two; 1 forbids it
    """

    residual: Residual = "drnea"
    root_finder: RootFinder = field(default_factory=Newton)
    guess: Guess = "sextic"
    order: int = 2
    retraction: Literal["split", "exp"] = "split"
    rescue: bool = True
    max_substeps: int = 64

    def __post_init__(self) -> None:
        _choice("residual", self.residual, tuple(RESIDUALS))
        _choice("guess", self.guess, get_args(Guess))
        _choice("order", self.order, ORDERS)
        _choice("retraction", self.retraction, tuple(RETRACTIONS))
        if not isinstance(self.root_finder, RootFinder):
            names = ", ".join(f"{kind.__name__}()" for kind in _METHODS)
            raise ValueError(f"root_finder must be one of {names}, not {self.root_finder!r}")
        if self.residual == "svi" and isinstance(self.root_finder, Newton):
            raise ValueError("Newton() in O(n) knows the residual 'drnea' only; with 'svi' take RIQN(), DenseNewton() "
                             "or Broyden()")
        if self.residual == "svi" and self.retraction != "split":
            raise ValueError("the residual 'svi' uses no retraction: leave it out")
        whole("max_substeps", self.max_substeps, 1, MOST_SUBSTEPS)
        _flag("rescue", self.rescue)

    @property
    def peer(self) -> bool:
        """Whether it is one of the methods that the paper compares itself with (kernels/dense.py)."""
        return self.residual == "svi" or isinstance(self.root_finder, DenseNewton | Broyden)

    def method(self, stiff: bool, damped: bool) -> tuple[np.ndarray, np.ndarray, bool | None, settings.Settings]:
        """Return what the kernels read; ``stiff``: a joint has damping or a spring; ``damped``: damping."""
        finder = self.root_finder
        dynamics = True if self.guess == "dynamics" else None
        return *_composition(self.order), dynamics, settings.Settings(
            guess=_GUESSES[self.guess],
            method=_METHODS[type(finder)],
            chord=isinstance(finder, Newton) and finder.chord,
            rule=_RULES[finder.criterion],
            tol=float(finder.tol),
            # Forecasts for RIQN were up to 7 times too low; and order 8 shows every digit
            sure=0.05 if isinstance(finder, RIQN) else 0.5 if self.order < 8 else 0.1,
            max_iterations=int(finder.max_iterations),
            retraction=RETRACTIONS[self.retraction],
            implicit=bool(stiff),
            damped=bool(damped),
            rescue=bool(self.rescue),
            max_substeps=int(self.max_substeps),
        )


@cache
def _composition(order: int) -> tuple[np.ndarray, np.ndarray]:
    fractions = stages(order)
    return fractions, guess_weights(fractions)


@dataclass(frozen=True)
class SemiImplicitEuler:
    """v₁ = v₀ + h a(q₀, v₀), q₁ = q₀ ⊕ h v₁: the usual default of simulators; first order."""


@dataclass(frozen=True)
class RungeKutta4:
    """The classical method of order four, on the manifold; four evaluations of forward dynamics a step."""


Integrator = Variational | SemiImplicitEuler | RungeKutta4
IntegratorName = Literal["variational", "euler", "rk4"]
NAMED: dict[str, type[Variational] | type[SemiImplicitEuler] | type[RungeKutta4]] = {
    "variational": Variational,
    "euler": SemiImplicitEuler,
    "rk4": RungeKutta4,
}


def as_integrator(given: Integrator | str | None) -> Integrator:
    """Return the integrator that a user means: an object, as it is; a name in NAMED; or None for Variational()."""
    if given is None:
        return Variational()
    if isinstance(given, str) and given in NAMED:
        return NAMED[given]()
    if not isinstance(given, Integrator):
        raise ValueError(f"integrator must be one of {', '.join(map(repr, NAMED))}, or an object such as "
                         f"la.Variational(order=4), la.SemiImplicitEuler() or la.RungeKutta4(), not {given!r}")
    return given


P = ParamSpec("P")
R = TypeVar("R")


def point_to_integrator(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function that takes an integrator say of the integrator's options, given to it, where they belong."""
    own, finder = ({option.name for option in fields(kind)} for kind in (Variational, Newton))

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> R:
        for name in (own | finder) & options.keys():
            inner = f"{name}={options[name]!r}"
            inner = inner if name in own else f"root_finder=la.Newton({inner})"
            raise TypeError(f"{name} is an option of the integrator: give integrator=la.Variational({inner})")
        return function(*arguments, **options)

    return call
