"""The classical method of Runge and Kutta on the manifold. The kernel is kernels/explicit/runge_kutta4.py.

With y = (ε, v), ẏ = f(y) = (dlog₋ε v, a(q₀ ⊕ ε, v)) and q₁ = q₀ ⊕ ε₁:

    k₁ = f(y₀), k₂ = f(y₀ + h/2 k₁), k₃ = f(y₀ + h/2 k₂), k₄ = f(y₀ + h k₃)
    y₁ = y₀ + h/6 (k₁ + 2 k₂ + 2 k₃ + k₄)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from leastaction.compiled import Compiled
from leastaction.integrators.base import Integrator
from leastaction.kernels.explicit import runge_kutta4


@dataclass(frozen=True)
class RungeKutta4(Integrator):
    """The classical method of order four, on the manifold; four evaluations of forward dynamics a step."""

    order = 4
    stable = 2.8
    label = "Runge–Kutta 4"

    @property
    def takes_loops(self) -> bool:
        """By index reduction, and projection after every step."""
        return True

    def method(self, c: Compiled) -> Any:
        """Return what the kernels read, for a model."""
        scratch = np.zeros(runge_kutta4.room(c.nq, c.nv))
        return runge_kutta4.RungeKutta4(scratch, c.closed())
