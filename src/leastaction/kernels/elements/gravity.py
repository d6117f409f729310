"""Gravity on the links: V = −Σ m g·c. Half an impulse at either end of the step: the trapezoidal rule in the action.

Its linear part is the same at every kick. Added to a momentum, it is rounded in the same way as long as that keeps its
exponent: a tiny force that is always there and does work, so that the energy would drift with time. Therefore
what rounding has kept from the momentum is added at the next kick (Kahan).
"""

from ..machine.jit import formula
from ..maths.vec3 import add, cross, dot, scale, sub


@formula
def impulse(L, gravity, h):
    """Add the impulse on a link, or on four, over a time h."""
    weight = scale(h * L.mass, gravity)
    m, f = L.momentum
    added = add(weight, L.momentum_low)
    total = add(f, added)
    L.momentum_low = sub(added, sub(total, f))
    L.momentum = add(m, cross(L.centre, weight)), total


@formula
def work(L, gravity):
    """m g·c of a link, or of four: minus its potential."""
    return L.mass * dot(gravity, add(L.origin, L.centre))
