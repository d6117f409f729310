"""The linear-time variational integrator: a step is the root of the discrete Euler–Lagrange equation.

Given (q₀, p₀), find q₁ with p₀ + f⁻ = −D₁L_d(q₀, q₁); then p₁ = D₂L_d(q₀, q₁) + f⁺, with L_d the discrete Lagrangian of
a step and f⁻, f⁺ half of the impulse of the forces each: the paper's equation (8) in position–momentum form. Orders
above two compose such steps (composition.py). The kernel is kernels/step.py.
"""

from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from leastaction.arguments import choice, replaced, shown, whole
from leastaction.compiled import Compiled
from leastaction.discrete import RETRACTIONS
from leastaction.integrators.base import Integrator
from leastaction.integrators.composition import ORDERS, guess_weights, stages
from leastaction.integrators.root_finders import Newton, RootFinder
from leastaction.kernels import guess as guesses
from leastaction.kernels import settings, step

Guess = Literal["current", "euler", "dynamics", "extrapolated"]
Retraction = Literal["split", "exp"]

_GUESSES = {
    "current": guesses.CURRENT,
    "euler": guesses.EULER,
    "dynamics": guesses.DYNAMICS,
    "extrapolated": guesses.EXTRAPOLATED,
}
MOST_SUBSTEPS = 2**20


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
class VariationalMethod(Integrator):
    """What all variational integrators have in common: ours, and the paper's peer SVI."""

    root_finder: RootFinder = field(default_factory=Newton)
    guess: Guess = "extrapolated"
    order: int = 2
    symplectic = True
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

    @property
    def takes_loops(self) -> bool:
        """With multipliers only Newton's method with its own stopping rule is there, and guesses that look back."""
        return not self.peer and self.root_finder.in_lanes and self.guess != "dynamics"

    @property
    def takes_limits(self) -> bool:
        """The paper's peers know neither limits nor dry friction."""
        return not self.peer

    @property
    def keeps_ledger(self) -> bool:
        """The paper's peers do not."""
        return not self.peer

    @property
    def label(self) -> str:
        """The integrator in words."""
        return f"variational, order {self.order}"

    @property
    def longest(self) -> float:
        """The longest stage of a composed step, in parts of dt."""
        return float(np.abs(stages(self.order)).max())

    def higher(self) -> Self | None:
        """Return the same integrator with the next order."""
        above = [order for order in ORDERS if order > self.order]
        return replace(self, order=above[0]) if above else None

    def remedy(self, dt: float) -> str:
        """Say what to do about an energy that wanders, the step having been dt, s."""
        higher = f", or la.Variational(order={self.order + 2})" if self.order < ORDERS[-1] else ""
        return f"Take a smaller step, such as dt = {0.5 * dt:g}{higher}."

    def method(self, c: Compiled) -> Any:
        """Return what the kernels read, for a model."""
        return self._method(c, "split", None)

    def _method(self, c: Compiled, retraction: Retraction, rescue: Rescue | None) -> Any:
        finder = self.root_finder
        rule, tol = finder.rule
        dynamics = True if self.guess == "dynamics" else None
        chosen = settings.Settings(
            guess=_GUESSES[self.guess],
            method=finder.method,
            chord=finder.keeps_factors,
            rule=rule,
            tol=tol,
            sure=finder.sure if self.order < 8 else min(finder.sure, 0.1),  # order 8 shows every digit
            max_iterations=int(finder.max_iterations),
            retraction=RETRACTIONS[retraction],
            implicit=bool(c.stiff),
            damped=bool(c.damped or c.driven),
            rescue=rescue is not None,
            max_substeps=1 if rescue is None else int(rescue.max_substeps),
        )
        if c.rows is not None:
            return _constrained(c, self.order, chosen)
        common = *_composition(self.order), dynamics, chosen
        if not self.peer:
            return step.Variational(*common, search=0)
        from leastaction.kernels.peers import dense, dense_root  # few runs need them

        scratch = dense_root.scratch_of(c.tree.parent, c.nv, c.workspace(), self.residual, finder.method)
        return dense.Dense(*common, self.residual, scratch)


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

    @property
    def in_lanes(self) -> bool:
        """Lanes know Newton's method with its own stopping rule, and guesses that look back."""
        return self.root_finder.in_lanes and self.guess != "dynamics"

    def lane_method(self, c: Compiled) -> Any:
        """Return what the kernels read for four simulations in lanes, which search in the loop itself."""
        return self.method(c)._replace(search=None)


@cache
def _composition(order: int) -> tuple[np.ndarray, np.ndarray]:
    fractions = stages(order)
    return fractions, guess_weights(fractions)


def _constrained(c: Compiled, order: int, chosen: settings.Settings) -> Any:
    """Return what the kernels read for a model with loops or couplings."""
    from leastaction.kernels.constraints import step as constrained  # few models have them

    return constrained.Constrained(*_composition(order), chosen, c.closed(),
                                   np.zeros(1 + constrained.LATEST, dtype=np.int64))
