"""External wrenches on the links, given in their own frames: half an impulse at either end of the step."""

from ..machine.jit import formula
from ..machine.simd import below
from ..maths import so3
from ..maths.vec3 import add, scale, sub


@formula
def impulse(L, h):
    """Add the impulse on a link, or on four, over a time h."""
    if not below(L.pushed, 1.0):
        (m, f), (pm, pf) = L.momentum, L.push
        L.momentum = add(m, scale(h, so3.rotate(L.rotation, pm))), add(f, scale(h, so3.rotate(L.rotation, pf)))


@formula
def force(L):
    """Take it off what the link's motion needs, in continuous time."""
    (m, f), (pm, pf) = L.wrench, L.push
    L.wrench = sub(m, so3.rotate(L.rotation, pm)), sub(f, so3.rotate(L.rotation, pf))
