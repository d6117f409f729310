"""How the root of the discrete Euler–Lagrange equation is found: what a user chooses. The searches are in kernels/."""

from dataclasses import dataclass
from typing import ClassVar

from leastaction.arguments import finite, flag, replaced, shown, whole
from leastaction.kernels import settings

MOST_ITERATIONS = 1_000_000


def _positive(value: object) -> None:
    tol = finite(value)
    if tol is None or tol <= 0:
        raise ValueError(f"tol must be a positive number, not {shown(value)}")


@dataclass(frozen=True)
class Absolute:
    """The paper's stopping rule, in the place of a tolerance: ‖f‖ ≤ tol, which depends on units and on the model.

    Parameters
    ----------
    tol : N m s and N s
    """

    tol: float

    def __post_init__(self) -> None:
        _positive(self.tol)


@dataclass(frozen=True)
class RootFinder:
    """What all root finders have in common."""

    tol: float | Absolute = 1e-12
    max_iterations: int = 50
    method: ClassVar[int]  # of kernels/settings.py
    dense: ClassVar[bool] = False  # whether it is one of kernels/peers/
    sure: ClassVar[float] = 0.5  # fraction of tol below which a forecast of the residual is trusted

    def __post_init__(self) -> None:
        if not isinstance(self.tol, Absolute):
            _positive(self.tol)
        whole("max_iterations", self.max_iterations, 1, MOST_ITERATIONS)

    @property
    def rule(self) -> tuple[int, float]:
        """The stopping rule, of kernels/settings.py, and its tolerance."""
        if isinstance(self.tol, Absolute):
            return settings.ABSOLUTE, float(self.tol.tol)
        return settings.SCALED, float(self.tol)

    @property
    def keeps_factors(self) -> bool:
        """Whether one factored Jacobian serves for several updates."""
        return False

    @property
    def in_lanes(self) -> bool:
        """Whether four searches can be made side by side."""
        return False


_NO_CRITERION = "leave it out, or give tol=la.peers.Absolute(...) for the paper's rule"


@replaced(criterion=_NO_CRITERION)
@dataclass(frozen=True)
class RIQN(RootFinder):
    """The paper's quasi-Newton method: the mass matrix at t_k stands in for the Jacobian; O(n) an iteration.

    Parameters
    ----------
    tol : where the search stops: √(fᵀM⁻¹f) relative to the momentum of the motion in the same norm
    max_iterations : residual evaluations after which the plain search has failed (see `Rescue`)
    """

    method = settings.RIQN
    sure = 0.05  # forecasts were up to 7 times too low


@replaced(criterion=_NO_CRITERION)
@dataclass(frozen=True)
class Newton(RootFinder):
    """Newton's method in O(n) on any tree.

    Parameters
    ----------
    tol : where the search stops: √(fᵀM⁻¹f) relative to the momentum of the motion in the same norm
    max_iterations : residual evaluations after which the plain search has failed (see `Rescue`)
    chord : factor the Jacobian once a step, at the guess, and again only where convergence is poor; the first for "exp"
        to second order in the motion of the step, which is much cheaper and as good. Else exactly, at every iterate
    """

    chord: bool = True
    method = settings.NEWTON

    def __post_init__(self) -> None:
        super().__post_init__()
        flag("chord", self.chord)

    @property
    def keeps_factors(self) -> bool:
        """As chord says."""
        return self.chord

    @property
    def in_lanes(self) -> bool:
        """Lanes know its own stopping rule only."""
        return self.rule[0] == settings.SCALED
