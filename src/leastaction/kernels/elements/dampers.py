"""Linear dampers between points of two links, or of a link and the ground: a pull of c ṙ, r the distance."""

from math import sqrt
from typing import NamedTuple

from ..machine.simd import number
from ..maths.vec3 import dot, scale, sub
from .points import point
from .seam import Link, Real, Vector, element
from .springs import SHORTEST


class Dampers(NamedTuple):
    """m dampers.

    link, other : (m,) the two links
    at, other_at : (m, 3) where they are fastened, in the frames of the links, m
    damping : (m,) N s/m
    """

    link: Link
    other: Link
    at: Vector
    other_at: Vector
    damping: Real


def damper(dampers, w, k):
    link, other = dampers.link[k], dampers.other[k]
    arm, here = point(w, link, dampers.at, k)
    other_arm, there = point(w, other, dampers.other_at, k)
    way = sub(there, here)
    r = max(sqrt(dot(way, way)), number(w, SHORTEST))
    return link, other, arm, other_arm, scale(1.0 / r, way), dampers.damping[k]


element(Dampers, damper=damper)
