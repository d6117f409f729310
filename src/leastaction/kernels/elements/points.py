"""What elements ask of a node: where points of links are; and what they do to it: push there."""

from .. import so3
from ..jit import kernel
from ..layout import MOMENTUM, O, Q, add33, get3, get4, slot
from ..simd import number, numbers
from ..vec3 import add, cross


@kernel
def point(w, link, column, k):
    """Point k of a column (m, 3), given in the frame of a link: the way to it from the link's origin, and its place, in
    world axes, m."""
    x, o = numbers(column), slot(w, link)
    given = number(w, x[3 * k]), number(w, x[3 * k + 1]), number(w, x[3 * k + 2])
    arm = so3.rotate(get4(w, o + Q), given)
    return arm, add(get3(w, o + O), arm)


@kernel
def push(tree, w, link, arm, impulse):
    """Add an impulse (3,) in world axes, N s, at the end of an arm from the link's origin. The ground takes none: its
    momentum would count in the total."""
    if link < tree.n:
        add33(w, slot(w, link) + MOMENTUM, cross(arm, impulse), impulse)
