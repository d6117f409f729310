"""What a user chooses: the integrator and its options. Frozen objects, a file each, that configure kernels."""

from leastaction.integrators.base import Integrator
from leastaction.integrators.dormand_prince import DormandPrince8
from leastaction.integrators.euler import SemiImplicitEuler
from leastaction.integrators.names import NAMED, IntegratorName, as_integrator, point_to_integrator
from leastaction.integrators.root_finders import RIQN, Newton
from leastaction.integrators.runge_kutta4 import RungeKutta4
from leastaction.integrators.status import Flag, Status
from leastaction.integrators.variational import Guess, Rescue, Variational

__all__ = [
    "NAMED",
    "RIQN",
    "DormandPrince8",
    "Flag",
    "Guess",
    "Integrator",
    "IntegratorName",
    "Newton",
    "Rescue",
    "RungeKutta4",
    "SemiImplicitEuler",
    "Status",
    "Variational",
    "as_integrator",
    "point_to_integrator",
]
