"""The armature of a joint, an inertia A that only the joint's own rate moves: L_d has A |Δ|²/2h of its increment Δ.

So it takes A Δ/h of momentum at the beginning of a step and gives as much back at the end.
"""

from ..machine.jit import formula
from ..maths.spatial import read3
from ..maths.vec3 import cross


@formula
def residual(L, h):
    """What it takes at t_k, per unit of the increment."""
    return L.armature / h


@formula
def carry(L, h):
    """What it carries to t_{k+1}, per unit of the increment."""
    return L.armature / h


@formula
def derivative(L, h):
    return (1.0 / h) * L.armature


@formula
def momentum(L):
    """Per unit of the joint's rate."""
    return L.armature


@formula
def force_in_turning_axes(L, v, k):
    """What it needs besides A v̇ where the velocity v[k + 3] is given in axes that turn with v[k]."""
    x, y, z = cross(read3(v, k), read3(v, k + 3))
    return L.armature * x, L.armature * y, L.armature * z
