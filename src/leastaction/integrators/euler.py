"""Semi-implicit Euler: v₁ = v₀ + h a(q₀, v₀), q₁ = q₀ ⊕ h v₁. The kernel is kernels/explicit/euler.py."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from leastaction.compiled import Compiled
from leastaction.integrators.base import Integrator
from leastaction.kernels.explicit import euler


@dataclass(frozen=True)
class SemiImplicitEuler(Integrator):
    """v₁ = v₀ + h a(q₀, v₀), q₁ = q₀ ⊕ h v₁: the usual default of simulators; first order."""

    order = 1
    label = "semi-implicit Euler"

    def method(self, c: Compiled) -> Any:
        """Return what the kernels read, for a model."""
        return euler.SemiImplicitEuler(np.zeros(euler.room(c.nq, c.nv)))
