"""Gravity of a mass far away, with its gradient over a link, which turns it (MacCullagh's formula).

V = −μ m / r − μ (tr I − 3 e·I e) / (2 r³), with r e the way from the centre to the link's centre of mass and I the
inertia about that; the next term is smaller by the ratio of the link's size to r, for a satellite 1e-6.
"""

from math import sqrt
from typing import NamedTuple

from ..machine.memory import link
from ..machine.simd import number
from ..maths.vec3 import add, add_scaled, cross, dot, scale, sub, sym_mul
from .points import push, turn, vector
from .seam import Link, Real, Vector, element


class Attractions(NamedTuple):
    """m links that are attracted.

    link : (m,)
    mu : (m,) gravitational parameter G M of the mass, m³/s²
    centre : (m, 3) where it is, world, m
    """

    link: Link
    mu: Real
    centre: Vector


def impulse(attractions, tree, w, h):
    for k in range(len(attractions.link)):
        on = attractions.link[k]
        L = link(w, on)
        way = sub(add(L.origin, L.centre), vector(w, attractions.centre, k))
        moment, trace = sym_mul(L.inertia_world, way), L.inertia_world[0] + L.inertia_world[1] + L.inertia_world[2]
        square = dot(way, way)
        near = 1.0 / (square * sqrt(square))
        strength = h * attractions.mu[k] * near
        gradient = 3.0 * strength / square
        along = strength * L.mass + gradient * (0.5 * trace - 2.5 * dot(way, moment) / square)
        push(tree, w, on, L.centre, add_scaled(scale(-along, way), -gradient, moment))
        turn(tree, w, on, scale(gradient, cross(way, moment)))


def potential(attractions, tree, w):
    energy = number(w, 0.0)
    for k in range(len(attractions.link)):
        L = link(w, attractions.link[k])
        way = sub(add(L.origin, L.centre), vector(w, attractions.centre, k))
        moment, trace = sym_mul(L.inertia_world, way), L.inertia_world[0] + L.inertia_world[1] + L.inertia_world[2]
        square = dot(way, way)
        energy -= attractions.mu[k] / sqrt(square) * (
            L.mass + (0.5 * trace - 1.5 * dot(way, moment) / square) / square)
    return energy


element(Attractions, impulse, potential)
