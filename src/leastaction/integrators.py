"""What a user chooses: the integrator and its parts. Thin, frozen objects that configure kernels."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal, get_args

import numpy as np

from leastaction.kernels import guess as guesses
from leastaction.kernels import riqn

Guess = Literal["current", "euler", "dynamics", "quadratic", "cubic", "quartic"]
Criterion = Literal["scaled", "absolute"]

_GUESS_CODE = {
    "current": guesses.CURRENT,
    "euler": guesses.EULER,
    "quadratic": guesses.QUADRATIC,
    "cubic": guesses.CUBIC,
    "quartic": guesses.QUARTIC,
    "dynamics": guesses.DYNAMICS,
}
_RULE_CODE = {"scaled": riqn.SCALED, "absolute": riqn.ABSOLUTE}


class Status(IntEnum):
    """What became of a step; negative when it was not made."""

    CONVERGED = riqn.CONVERGED
    FLOOR = riqn.FLOOR
    EXHAUSTED = riqn.EXHAUSTED
    ROTATION = riqn.ROTATION
    NOT_FINITE = riqn.NOT_FINITE
    BAD_CONTROL = riqn.BAD_CONTROL

    @property
    def meaning(self) -> str:
        """The status in words."""
        return _MEANING[self]


_MEANING = {
    Status.CONVERGED: "converged to the tolerance",
    Status.FLOOR: "converged to the round-off floor, which is above the tolerance",
    Status.EXHAUSTED: "no convergence within max_iterations",
    Status.ROTATION: "a body would turn by nearly half a turn or more within one step",
    Status.NOT_FINITE: "the iteration left the range of finite numbers",
    Status.BAD_CONTROL: "the control function did not return nv joint forces",
}


def _choice(name: str, value: object, options: tuple) -> None:
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}, not {value!r}")


@dataclass(frozen=True)
class RIQN:
    """The paper's quasi-Newton method: the mass matrix at t_k stands in for the Jacobian; O(n) an iteration.

    Parameters
    ----------
    tol : tolerance of the stopping rule
    criterion : "scaled", √(fᵀM⁻¹f) relative to the momentum of the motion in the same norm; or "absolute", the paper's
    ‖f‖
    max_iterations : residual evaluations after which a step has failed
    """

    tol: float = 1e-12
    criterion: Criterion = "scaled"
    max_iterations: int = 50

    def __post_init__(self) -> None:
        _choice("criterion", self.criterion, get_args(Criterion))
        if not (np.isfinite(self.tol) and self.tol > 0):
            raise ValueError(f"tol must be a positive number, not {self.tol!r}")
        if not (isinstance(self.max_iterations, int) and self.max_iterations > 0):
            raise ValueError(f"max_iterations must be a positive whole number, not {self.max_iterations!r}")


@dataclass(frozen=True)
class Variational:
    """The linear-time variational integrator: symplectic, momentum-conserving, second order.

    Parameters
    ----------
    residual : "drnea", the paper's Algorithm 2 with exp as the retraction
    root_finder : how the root of the discrete Euler–Lagrange equation is found
    guess : where the search starts: "current" (the paper's IG1), "euler" (IG2), "dynamics" (IG3), or extrapolation of
    past steps,
        "quadratic", "cubic", "quartic"
    order : 2
    retraction : "exp"
    """

    residual: Literal["drnea"] = "drnea"
    root_finder: RIQN = field(default_factory=RIQN)
    guess: Guess = "quartic"
    order: Literal[2] = 2
    retraction: Literal["exp"] = "exp"

    def __post_init__(self) -> None:
        _choice("residual", self.residual, ("drnea",))
        _choice("guess", self.guess, get_args(Guess))
        _choice("order", self.order, (2,))
        _choice("retraction", self.retraction, ("exp",))
        if not isinstance(self.root_finder, RIQN):
            raise ValueError(f"root_finder must be a RIQN, not {self.root_finder!r}")

    def settings(self, stiff: bool) -> tuple[int, int, float, int, bool]:
        """Return what the kernels read; ``stiff`` tells whether a joint has damping or a spring."""
        finder = self.root_finder
        return (
            _GUESS_CODE[self.guess], _RULE_CODE[finder.criterion], float(finder.tol), int(finder.max_iterations), stiff,
        )


@dataclass(frozen=True)
class SemiImplicitEuler:
    """v₁ = v₀ + h a(q₀, v₀), q₁ = q₀ ⊕ h v₁: the usual default of simulators; first order."""


@dataclass(frozen=True)
class RungeKutta4:
    """The classical method of order four, on the manifold; four evaluations of forward dynamics a step."""


Integrator = Variational | SemiImplicitEuler | RungeKutta4
