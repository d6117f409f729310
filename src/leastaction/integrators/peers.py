"""The methods that the paper compares itself with, as published; what `leastaction reproduce` needs, and nobody else.

``la.Variational(root_finder=la.peers.DenseNewton())`` searches for our root by another method; ``la.peers.SVI()`` is
another integrator. ``tol=la.peers.Absolute(1e-9)`` of any root finder is the paper's stopping rule.
"""

from dataclasses import dataclass, field

import numpy as np

from leastaction.compiled import Compiled
from leastaction.integrators.root_finders import RIQN, Absolute, Newton, RootFinder
from leastaction.integrators.variational import VariationalMethod
from leastaction.kernels import settings
from leastaction.kernels.layout import SCREW
from leastaction.model import Model

__all__ = ["SVI", "Absolute", "Broyden", "DenseNewton"]


def __dir__() -> list[str]:
    return __all__


@dataclass(frozen=True)
class DenseNewton(RootFinder):
    """Newton's method as the paper has it for comparison: a dense Jacobian at every iterate, and a dense solve; O(n³).

    The Jacobian of DRNEA is by the recursion of the paper's appendix, that of SVI from second derivatives of L.

    Parameters
    ----------
    tol, max_iterations : as for `RIQN`
    """

    method = settings.DENSE_NEWTON
    dense = True


@dataclass(frozen=True)
class Broyden(RootFinder):
    """Broyden's quasi-Newton method of 1965: a dense inverse, begun with that of the mass matrix at t_k; O(n²).

    Parameters
    ----------
    tol, max_iterations : as for `RIQN`
    """

    method = settings.BROYDEN
    dense = True


@dataclass(frozen=True)
class SVI(VariationalMethod):
    """The midpoint rule in generalized coordinates of Johnson and Murphey (2009), for joints of one degree of freedom.

    It takes no external wrenches, and a search that fails is not rescued.

    Parameters
    ----------
    root_finder : RIQN(...), DenseNewton(...) or Broyden(...)
    guess, order : as for `Variational`
    """

    root_finder: RootFinder = field(default_factory=RIQN)
    residual = settings.SVI
    takes_wrenches = False
    takes_forces = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.root_finder, Newton):
            raise ValueError("SVI cannot be combined with la.Newton(), which is for our residual: take la.RIQN(), "
                             "la.peers.DenseNewton() or la.peers.Broyden()")

    def check(self, model: Model, c: Compiled) -> None:
        """Raise a ValueError if the model has joints that it does not know."""
        super().check(model, c)
        unknown = np.flatnonzero(c.tree.kind != SCREW)
        if len(unknown):
            raise ValueError("la.peers.SVI() knows joints of one degree of freedom only, and body "
                             f"'{model.names[c.body_of_link[unknown[0]]]}' has another: take la.Variational()")
        if len(c.servos.link):
            raise ValueError("la.peers.SVI() knows no servos, and the joint of body "
                             f"'{model.names[c.body_of_link[c.servos.link[0]]]}' has one: take la.Variational()")
