"""Linear springs between points of two links, or of a link and the ground: V = ½ k (r − r₀)², r the distance."""

from math import sqrt
from typing import NamedTuple

from ..machine.simd import number
from ..maths.vec3 import dot, scale, sub
from .points import point, push
from .seam import Link, Real, Vector, element

SHORTEST = 1e-100  # m; ends that meet pull nowhere


class Springs(NamedTuple):
    """m springs.

    link, other : (m,) the two links
    at, other_at : (m, 3) where they are fastened, in the frames of the links, m
    stiffness : (m,) N/m
    length : (m,) at rest, m
    """

    link: Link
    other: Link
    at: Vector
    other_at: Vector
    stiffness: Real
    length: Real


def impulse(springs, tree, w, h):
    for k in range(len(springs.link)):
        link, other = springs.link[k], springs.other[k]
        arm, here = point(w, link, springs.at, k)
        other_arm, there = point(w, other, springs.other_at, k)
        way = sub(there, here)
        r = max(sqrt(dot(way, way)), number(w, SHORTEST))
        pull = scale(h * springs.stiffness[k] * (1.0 - springs.length[k] / r), way)
        push(tree, w, link, arm, pull)
        push(tree, w, other, other_arm, scale(-1.0, pull))


def potential(springs, tree, w):
    energy = number(w, 0.0)
    for k in range(len(springs.link)):
        _, here = point(w, springs.link[k], springs.at, k)
        _, there = point(w, springs.other[k], springs.other_at, k)
        way = sub(there, here)
        stretched = sqrt(dot(way, way)) - springs.length[k]
        energy += 0.5 * springs.stiffness[k] * stretched * stretched
    return energy


element(Springs, impulse, potential)
