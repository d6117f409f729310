"""What a limit is about: the coordinate of a SCREW joint, or the angle that a BALL joint is turned by.

What either does is in joints/interval.py and joints/cone.py. Numbers in the layout of v count by their part along it:
that of a SCREW joint is the number itself, of a BALL joint the component about its axis.
"""

from ..joints import dispatch as joint
from ..layout import DOF
from ..machine.jit import kernel
from ..machine.memory import link


@kernel
def coordinate(tree, q, i):
    """The number of joint i that has limits, rad or m."""
    return joint.bounded(tree.kind[i], q, tree.iq[i])


@kernel
def along(tree, q, i, x, k):
    """The part of x[k], numbers of joint i, along its coordinate."""
    return joint.along(tree.kind[i], q, tree.iq[i], x, k)


@kernel
def rate(tree, state, i, v):
    """How fast the coordinate of joint i grows by the rates v, rad/s or m/s."""
    return along(tree, state.q, i, v, tree.iv[i])


@kernel
def acceleration(tree, state, i, a):
    """The second derivative of the coordinate of joint i at the accelerations a."""
    return joint.second_derivative(tree.kind[i], state.q, tree.iq[i], state.v, a, tree.iv[i])


@kernel
def is_inside(method, tree, q, r, near):
    """Whether row r is inside its limits, and not ``near`` one."""
    i, rows = method.rows.link[r], method.rows
    if joint.is_clear(tree.kind[i], q, tree.iq[i], rows.clear[r]):  # far: no angle is needed
        return True
    x = coordinate(tree, q, i)
    return x - rows.low[r] > near and rows.high[r] - x > near


@kernel
def put_at(tree, state, i, limit):
    """Put the coordinate of joint i at a limit, which it is within round-off of."""
    joint.put_at(tree.kind[i], state.q, state.low, tree.iq[i], limit)


@kernel
def push(tree, state, i, size, at):
    """Give joint i an impulse of this size along its coordinate, and add it to the impulses from number ``at`` on."""
    joint.push_along(tree.kind[i], link(state.w, i), state.impulse, at + tree.iv[i], size)


@kernel
def hand_over(tree, state, i, at):
    """Add the impulses of joint i in the present motion to those from number ``at`` on, and forget them."""
    for k in range(tree.iv[i], tree.iv[i] + DOF[tree.kind[i]]):
        state.impulse[at + k] += state.impulse[2 * tree.nv + k]
        state.impulse[2 * tree.nv + k] = 0.0
