"""The midpoint action of Johnson and Murphey as a plain function: L_d = h L((q0 + q1)/2, (q1 - q0)/h)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from leastaction.model import Model
from leastaction.reference.lie import Ad, Array, inverse
from leastaction.reference.links import links_of

from . import action


def lagrangian(model: Model, q: Array, v: Array) -> complex:
    """Kinetic less potential energy, J, at q and v (nv,), of a model whose joints have one degree of freedom each."""
    twists: list[Array] = []
    L: complex = -action.gravitational_energy(model, q)
    for link in links_of(model):
        above = twists[link.parent] if link.parent >= 0 else np.zeros(6)
        twists.append(Ad(inverse(link.pose(q))) @ above + link.S @ v[link.iv])
        L += twists[-1] @ link.G @ twists[-1] / 2
        stretch = link.joint.motion(link.joint.rest, q[link.iq])
        L += link.joint.armature * (v[link.iv] @ v[link.iv]) / 2 - link.joint.stiffness * (stretch @ stretch) / 2
    return L


def discrete_lagrangian(model: Model, q0: ArrayLike, q1: ArrayLike, h: float) -> complex:
    """L_d, J s, of configurations a time h apart, s."""
    q0, q1 = np.asarray(q0), np.asarray(q1)
    return h * lagrangian(model, (q0 + q1) / 2, (q1 - q0) / h)


def momenta(model: Model, q0: Array, q1: Array, h: float, tau: Array) -> tuple[Array, Array]:
    """p0 = -D1 L_d - f- and p1 = D2 L_d + f+ (nv,), with damping and joint forces tau (nv,) as half impulses."""
    damping = np.zeros(model.nv)
    for link in links_of(model):
        damping[link.iv] = link.joint.damping
    half = (h * tau - damping * (q1 - q0)) / 2
    before = -action.gradient(model, lambda q: discrete_lagrangian(model, q, q1, h), q0)
    return before - half, action.gradient(model, lambda q: discrete_lagrangian(model, q0, q, h), q1) + half
