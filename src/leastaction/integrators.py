"""What a user chooses: the integrator and its options. Thin, frozen objects that configure kernels."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from enum import IntEnum
from functools import cache, wraps
from typing import Any, ClassVar, Literal, ParamSpec, TypeVar, get_args

import numpy as np

from leastaction.arguments import choice, replaced, shown, whole
from leastaction.compiled import Compiled
from leastaction.composition import ORDERS, guess_weights, stages
from leastaction.dynamics import RETRACTIONS
from leastaction.kernels import explicit, settings, step
from leastaction.kernels import guess as guesses
from leastaction.root_finders import RIQN, Absolute, Newton, RootFinder

Guess = Literal["current", "euler", "dynamics", "extrapolated"]
Retraction = Literal["split", "exp"]

_GUESSES = {
    "current": guesses.CURRENT,
    "euler": guesses.EULER,
    "dynamics": guesses.DYNAMICS,
    "extrapolated": guesses.EXTRAPOLATED,
}
P = ParamSpec("P")
R = TypeVar("R")
MOST_SUBSTEPS = 2**20


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


@dataclass(frozen=True)
class Rescue:
    """What is tried when the plain search finds no root, in this order: same root, only more evaluations, but the last.

    Damped Newton steps from safer guesses; continuation in the step size; and the step in parts.

    Parameters
    ----------
    max_substeps : into how many parts a step may be divided, a power of two; 1 forbids it
    """

    max_substeps: int = 64

    def __post_init__(self) -> None:
        whole("max_substeps", self.max_substeps, 1, MOST_SUBSTEPS)


@dataclass(frozen=True)
class VariationalMethod:
    """What all variational integrators have in common: ours, and the paper's peer SVI."""

    root_finder: RootFinder = field(default_factory=Newton)
    guess: Guess = "extrapolated"
    order: int = 2
    residual: ClassVar[int] = settings.DRNEA

    def __post_init__(self) -> None:
        choice("guess", self.guess, get_args(Guess))
        choice("order", self.order, ORDERS)
        if not isinstance(self.root_finder, RootFinder):
            raise ValueError("root_finder must be la.Newton(), la.RIQN(), or for comparison la.peers.DenseNewton() or "
                             f"la.peers.Broyden(), not {self.root_finder!r}")

    @property
    def peer(self) -> bool:
        """Whether it is one of the methods that the paper compares itself with (kernels/peers/)."""
        return self.residual != settings.DRNEA or self.root_finder.dense

    def method(self, c: Compiled) -> Any:
        """Return what the kernels read, for a model."""
        return self._method(c, "split", None)

    def _method(self, c: Compiled, retraction: Retraction, rescue: Rescue | None) -> Any:
        finder = self.root_finder
        rule, tol = settings.SCALED, finder.tol
        if isinstance(tol, Absolute):
            rule, tol = settings.ABSOLUTE, tol.tol
        dynamics = True if self.guess == "dynamics" else None
        chosen = settings.Settings(
            guess=_GUESSES[self.guess],
            method=finder.method,
            chord=isinstance(finder, Newton) and finder.chord,
            rule=rule,
            tol=float(tol),
            # Forecasts for RIQN were up to 7 times too low; and order 8 shows every digit
            sure=0.05 if isinstance(finder, RIQN) else 0.5 if self.order < 8 else 0.1,
            max_iterations=int(finder.max_iterations),
            retraction=RETRACTIONS[retraction],
            implicit=bool(c.stiff),
            damped=bool(c.damped),
            rescue=rescue is not None,
            max_substeps=1 if rescue is None else int(rescue.max_substeps),
        )
        common = *_composition(self.order), dynamics, chosen
        if not self.peer:
            return step.Variational(*common, search=0)
        from leastaction.kernels.peers import dense, dense_root  # few runs need them

        desk = dense_root.desk_of(c.tree.parent, c.nv, c.workspace(), self.residual, finder.method)
        return dense.Dense(*common, self.residual, desk)


@replaced(max_substeps="give rescue=la.Rescue(max_substeps=...)", residual="for 'svi' take la.peers.SVI(...)")
@dataclass(frozen=True)
class Variational(VariationalMethod):
    """The linear-time variational integrator: symplectic and momentum-conserving.

    Parameters
    ----------
    root_finder : how the root of the discrete Euler–Lagrange equation is found: Newton(...) or RIQN(...), in O(n)
    guess : where the search starts: "extrapolated", from past steps; or one that needs none: "dynamics" (the paper's
        IG3), "euler" (IG2), "current" (IG1)
    order : 2, 4, 6 or 8; above 2, a composition of 9, 9 or 17 steps of order 2
    retraction : "split" (exp on SO(3), and the centre of mass along a straight line, so that free fall is exact), or
        "exp" (the paper's, on SE(3))
    rescue : what is tried when the search fails: Rescue(...); or None, then the run ends there
    """

    retraction: Retraction = "split"
    rescue: Rescue | None = field(default_factory=Rescue)

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("retraction", self.retraction, tuple(RETRACTIONS))
        if not (self.rescue is None or isinstance(self.rescue, Rescue)):
            raise ValueError(f"rescue must be la.Rescue(...) or None, not {shown(self.rescue)}")

    def method(self, c: Compiled) -> Any:
        """Return what the kernels read, for a model."""
        return self._method(c, self.retraction, self.rescue)


@cache
def _composition(order: int) -> tuple[np.ndarray, np.ndarray]:
    fractions = stages(order)
    return fractions, guess_weights(fractions)


@dataclass(frozen=True)
class SemiImplicitEuler:
    """v₁ = v₀ + h a(q₀, v₀), q₁ = q₀ ⊕ h v₁: the usual default of simulators; first order."""

    def method(self, c: Compiled) -> Any:
        """Return what the kernels read, for a model."""
        return explicit.SemiImplicitEuler(np.zeros(explicit.ROWS * c.nv + c.nq))


@dataclass(frozen=True)
class RungeKutta4:
    """The classical method of order four, on the manifold; four evaluations of forward dynamics a step."""

    def method(self, c: Compiled) -> Any:
        """Return what the kernels read, for a model."""
        return explicit.RungeKutta4(np.zeros(explicit.ROWS * c.nv + c.nq))


Integrator = VariationalMethod | SemiImplicitEuler | RungeKutta4
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
