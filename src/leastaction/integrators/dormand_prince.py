"""DOP853: Dormand and Prince's pair of orders 8(5, 3) with steps by a tolerance, and dense output of order 7.

E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd edition, Springer 1993, II.5, II.6.
On the manifold, with y = (ε, v), ẏ = f(y) = (dlog₋ε v, a(q₀ ⊕ ε, v)) and q₁ = q₀ ⊕ ε₁ for every internal step H:

    k_s = f(y₀ + H Σ a_sr k_r)  (s = 0 … 11),   y₁ = y₀ + H Σ b_s k_s

The kernel is kernels/explicit/dormand_prince.py.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leastaction.arguments import finite, shown
from leastaction.compiled import Compiled
from leastaction.integrators.base import Integrator
from leastaction.integrators.status import Status
from leastaction.kernels.explicit import dormand_prince as kernel
from leastaction.kernels.explicit.dormand_prince_memory import memory_size, room
from leastaction.kernels.explicit.dormand_prince_table import TABLE

LEAST, GREATEST = 1e-14, 1e-2  # tolerances: below, round-off decides; above, the method is out of its depth


@dataclass(frozen=True)
class DormandPrince8(Integrator):
    """Dormand and Prince's method of order 8, DOP853: it chooses its steps by a tolerance; for short horizons.

    ``dt`` of a run is then the distance of its nodes only, at which states are kept and forces are held: between two of
    them the method makes as many internal steps as it needs, and where no forces are given one internal step may span
    up to 1000 nodes, at which a polynomial of order 7 gives the state. So a small dt costs few evaluations more.
    With a control or wrenches, which are held from node to node, internal steps end at nodes: choose dt as long as the
    control allows. ``iterations`` of a trajectory counts evaluations of forward dynamics, and ``residual`` is the
    greatest estimated error of an internal step, as compared with tol.

    Parameters
    ----------
    tol : error allowed in an internal step, ``tol (1 + |x|)`` for a coordinate (rad, m) or a velocity (rad/s, m/s) x;
        from 1e-14 to 1e-2
    """

    tol: float = 1e-9
    order = 8
    chooses_steps = True

    def __post_init__(self) -> None:
        tol = finite(self.tol)
        if tol is None or not LEAST <= tol <= GREATEST:
            raise ValueError(f"tol must be a number from {LEAST:g} to {GREATEST:g}, not {shown(self.tol)}")

    @property
    def takes_loops(self) -> bool:
        """By index reduction, and projection after every internal step and at every node."""
        return True

    @property
    def label(self) -> str:
        """The integrator in words."""
        return f"DOP853, tol {self.tol:.3g}"

    def method(self, c: Compiled) -> Any:
        """Return what the kernels read, for a model."""
        memory, scratch = np.zeros(memory_size(c.nq, c.nv)), np.zeros(room(c.nq, c.nv))
        return kernel.DormandPrince8(float(self.tol), TABLE, memory, scratch, c.closed())

    def finer(self) -> "DormandPrince8":
        """Return the integrator with an error smaller by 2⁸."""
        return replace(self, tol=max(self.tol / 2.0**self.order, LEAST))

    def advice(self, status: Status) -> str:
        """Say what stiff joints need."""
        if status not in (Status.TOO_SHORT, Status.TOO_MANY):
            return ""
        return "Stiff joints and runaway motion ask for such steps; la.Variational() takes steps of the length dt."

    def remedy(self, dt: float) -> str:
        """Say what to do about an energy that is not kept."""
        smaller = f"Take a smaller tolerance, such as tol={self.tol / 100:.0e}, or" if self.tol > 1e-12 else "Take"
        return f"{smaller} la.Variational(), which bounds its error."
