"""The methods as the paper has them: with its retraction, exp on SE(3), which is not our default."""

from typing import Any, Literal

import leastaction as la
from leastaction.integrators import Guess
from leastaction.integrators.root_finders import RootFinder

Residual = Literal["drnea", "svi"]


def as_in_the_paper(**options: Any) -> la.Variational:
    """Return Variational(**options) with the paper's retraction."""
    return la.Variational(retraction="exp", **options)


def as_published(
    root_finder: RootFinder, guess: Guess = "extrapolated", residual: Residual = "drnea"
) -> la.Variational | la.peers.SVI:
    """Return one of the methods that the paper compares; a step that does not converge ends the run."""
    if residual == "svi":
        return la.peers.SVI(root_finder, guess)
    return as_in_the_paper(root_finder=root_finder, guess=guess, rescue=None)
