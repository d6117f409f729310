"""What a limit is about: the coordinate of a SCREW joint, or the angle that a BALL joint is turned by (joints/cone.py).

Numbers in the layout of v count by their part along it: that of a SCREW joint is the number itself, of a BALL joint the
component about its axis.
"""

from math import cos, sin

from ..joints import cone
from ..layout import BALL, DOF
from ..machine.jit import kernel
from ..machine.memory import link
from ..maths.spatial import read3
from ..maths.vec3 import add_scaled, dot


@kernel
def coordinate(tree, q, i):
    """The number of joint i that has limits, rad or m."""
    if tree.kind[i] == BALL:
        theta, _ = cone.of_joint(q, tree.iq[i])
        return theta
    return q[tree.iq[i]]


@kernel
def along(tree, q, i, x, k):
    """The part of x[k], numbers of joint i, along its coordinate."""
    if tree.kind[i] == BALL:
        _, axis = cone.of_joint(q, tree.iq[i])
        return dot(axis, read3(x, k))
    return x[k]


@kernel
def rate(tree, state, i, v):
    """How fast the coordinate of joint i grows by the rates v, rad/s or m/s."""
    return along(tree, state.q, i, v, tree.iv[i])


@kernel
def acceleration(tree, state, i, a):
    """The second derivative of the coordinate of joint i at the accelerations a."""
    if tree.kind[i] == BALL:
        theta, axis = cone.of_joint(state.q, tree.iq[i])
        return dot(axis, read3(a, tree.iv[i])) + cone.bias(theta, axis, read3(state.v, tree.iv[i]))
    return a[tree.iv[i]]


@kernel
def is_inside(method, tree, q, r, near):
    """Whether row r is inside its limits, and not ``near`` one."""
    i = method.rows.link[r]
    if tree.kind[i] == BALL and q[tree.iq[i]] ** 2 > method.rows.clear[r]:  # far: no angle is needed
        return True
    x = coordinate(tree, q, i)
    return x - method.rows.low[r] > near and method.rows.high[r] - x > near


@kernel
def put_at(tree, state, i, limit):
    """Put the coordinate of joint i at a limit, which it is within round-off of."""
    k = tree.iq[i]
    if tree.kind[i] == BALL:
        sign = 1.0 if state.q[k] >= 0.0 else -1.0
        _, axis = cone.of_joint(state.q, k)
        state.q[k], state.low[k] = sign * cos(0.5 * limit), 0.0
        for j in range(3):
            state.q[k + 1 + j], state.low[k + 1 + j] = sign * sin(0.5 * limit) * axis[j], 0.0
    else:
        state.q[k], state.low[k] = limit, 0.0


@kernel
def push(tree, state, i, size, at):
    """Give joint i an impulse of this size along its coordinate, and add it to the impulses from number ``at`` on."""
    L, k = link(state.w, i), at + tree.iv[i]
    if tree.kind[i] == BALL:
        _, axis = cone.angle_and_axis(cone.turned(L))
        m, f = L.joint_momentum6
        L.joint_momentum6 = add_scaled(m, size, axis), f
        cone.add_impulse(L, state.impulse, k, size)
    else:
        L.joint_momentum += size
        state.impulse[k] += size


@kernel
def hand_over(tree, state, i, at):
    """Add the impulses of joint i in the present motion to those from number ``at`` on, and forget them."""
    for k in range(tree.iv[i], tree.iv[i] + DOF[tree.kind[i]]):
        state.impulse[at + k] += state.impulse[2 * tree.nv + k]
        state.impulse[2 * tree.nv + k] = 0.0
