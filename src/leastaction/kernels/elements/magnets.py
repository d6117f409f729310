"""Magnets in links, in a uniform field and that of a dipole: V = −m·B, B = U + 1e-7 (3 (d·e) e − d) / r³, with r e the
way from the dipole d to the magnet."""

from math import sqrt
from typing import NamedTuple

from ..machine.simd import number
from ..maths.vec3 import add, add_scaled, cross, dot, scale, sub
from .points import direction, point, push, turn, vector
from .seam import Link, Vector, element

STRENGTH = 1e-7  # μ₀ / 4π, T m/A
NEAREST = 1e-30  # m; at a dipole there is no field


class Magnets(NamedTuple):
    """m magnets.

    link : (m,)
    at : (m, 3) where they are, in the frames of the links, m
    moment : (m, 3) in the frames of the links, A m²
    uniform : (m, 3) flux density of the uniform field, world, T
    dipole : (m, 3) moment of the dipole, world, A m²
    centre : (m, 3) where the dipole is, world, m
    """

    link: Link
    at: Vector
    moment: Vector
    uniform: Vector
    dipole: Vector
    centre: Vector


def impulse(magnets, tree, w, h):
    for k in range(len(magnets.link)):
        on = magnets.link[k]
        arm, place = point(w, on, magnets.at, k)
        moment, dipole = direction(w, on, magnets.moment, k), vector(w, magnets.dipole, k)
        way = sub(place, vector(w, magnets.centre, k))
        square = max(dot(way, way), number(w, NEAREST * NEAREST))
        near = STRENGTH / (square * sqrt(square))
        ours, theirs = dot(moment, way), dot(dipole, way)
        field = add(vector(w, magnets.uniform, k), add_scaled(scale(-near, dipole), 3.0 * near * theirs / square, way))
        force = add(add_scaled(scale(ours, dipole), theirs, moment),
                    scale(dot(moment, dipole) - 5.0 * ours * theirs / square, way))
        push(tree, w, on, arm, scale(3.0 * h * near / square, force))
        turn(tree, w, on, scale(h, cross(moment, field)))


def potential(magnets, tree, w):
    energy = number(w, 0.0)
    for k in range(len(magnets.link)):
        on = magnets.link[k]
        _, place = point(w, on, magnets.at, k)
        moment, dipole = direction(w, on, magnets.moment, k), vector(w, magnets.dipole, k)
        way = sub(place, vector(w, magnets.centre, k))
        square = max(dot(way, way), number(w, NEAREST * NEAREST))
        near = STRENGTH / (square * sqrt(square))
        field = add(vector(w, magnets.uniform, k),
                    add_scaled(scale(-near, dipole), 3.0 * near * dot(dipole, way) / square, way))
        energy -= dot(moment, field)
    return energy


element(Magnets, impulse, potential)
