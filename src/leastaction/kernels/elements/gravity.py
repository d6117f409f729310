"""Gravity on the links: V = −Σ m g·c. Half an impulse at either end of the step: the trapezoidal rule in the action."""

from ..machine.jit import formula
from ..maths.vec3 import add, cross, dot, scale


@formula
def impulse(L, gravity, h):
    """Add the impulse on a link, or on four, over a time h."""
    weight = scale(h * L.mass, gravity)
    m, f = L.momentum
    L.momentum = add(m, cross(L.centre, weight)), add(f, weight)


@formula
def work(L, gravity):
    """m g·c of a link, or of four: minus its potential."""
    return L.mass * dot(gravity, add(L.origin, L.centre))
