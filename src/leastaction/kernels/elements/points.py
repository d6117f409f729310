"""What elements ask of a node: where points of links are; and what they do to it: push there."""

from ..machine.jit import kernel
from ..machine.memory import link
from ..machine.simd import number, numbers
from ..maths import so3
from ..maths.vec3 import add, cross


@kernel
def point(w, on, column, k):
    """Point k of a column (m, 3), given in the frame of link number ``on``: the way to it from the link's origin, and
    its place, in world axes, m."""
    x, L = numbers(column), link(w, on)
    given = number(w, x[3 * k]), number(w, x[3 * k + 1]), number(w, x[3 * k + 2])
    arm = so3.rotate(L.rotation, given)
    return arm, add(L.origin, arm)


@kernel
def push(tree, w, on, arm, impulse):
    """Add an impulse (3,) in world axes, N s, at the end of an arm from the origin of link number ``on``. The ground
    takes none: its momentum would count in the total."""
    if on < tree.n:
        L = link(w, on)
        m, f = L.momentum
        L.momentum = add(m, cross(arm, impulse)), add(f, impulse)
