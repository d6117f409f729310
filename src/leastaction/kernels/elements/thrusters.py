"""Thrust in a direction that is fixed in a link. What a thruster gives over its time is in pieces, linear in time.

The impulse over a step is the exact integral of the thrust, half a step to either node: so a burn has its impulse to
round-off wherever it begins and ends between nodes, and the order is two even there.
"""

from typing import NamedTuple

from ..maths.vec3 import scale
from .points import direction, point, push, within
from .seam import Link, Real, Vector, element


class Thrusters(NamedTuple):
    """m pieces of thrust.

    link : (m,)
    at : (m, 3) where it acts, in the frames of the links, m
    along : (m, 3) its direction, a unit vector in the frames of the links
    begin, end : (m,) s
    thrust : (m,) at the beginning, N
    slope : (m,) N/s
    """

    link: Link
    at: Vector
    along: Vector
    begin: Real
    end: Real
    thrust: Real
    slope: Real


def impulse(thrusters, tree, w, h):
    for k in range(len(thrusters.link)):
        on = thrusters.link[k]
        lasts, middle = within(tree, w, h, thrusters.begin[k], thrusters.end[k])
        arm, _ = point(w, on, thrusters.at, k)
        size = lasts * (thrusters.thrust[k] + thrusters.slope[k] * (middle - thrusters.begin[k]))
        push(tree, w, on, arm, scale(size, direction(w, on, thrusters.along, k)))


element(Thrusters, impulse)
