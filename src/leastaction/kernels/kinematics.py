"""Forward kinematics: where every link is at a configuration q, and its axis and inertia in world axes.

Everything downstream works in frames parallel to the world with the origin at each link's joint: passing a twist or a
wrench along the tree is then a shift, with no rotation.
"""

from . import so3
from .jit import kernel
from .layout import (
    ARM, BALL, BLOCK, DQ, FREE, INERTIA, INERTIA_W, LANES, MOMENT, MOMENT_W, O, PLACE_P, PLACE_Q, Q, S, SCREW,
    SLIDE, TURN, get3, get4, get6, put3, put4, put6, slot,
)
from .simd import SIMD, in_fours
from .vec3 import add, cross, dot, scale, sub, sym_mul


@kernel
def read3(q, k):
    return q[k], q[k + 1], q[k + 2]


@kernel
def read4(q, k):
    return q[k], q[k + 1], q[k + 2], q[k + 3]


@kernel
def joint_pose(kind, w, o, q, k):
    """Pose (quaternion, position) of the link in its joint frame; its coordinates start at q[k]."""
    if kind == SCREW:
        return so3.exp(scale(q[k], get3(w, o + TURN))), scale(q[k], get3(w, o + SLIDE))
    if kind == BALL:
        return read4(q, k), (0.0, 0.0, 0.0)
    return read4(q, k + 3), read3(q, k)


@kernel
def place(tree, w, q):
    """Set Q, O and ARM of every link from the configuration q, then its axis and inertia in world axes."""
    n = tree.n
    put4(w, slot(n) + Q, (1.0, 0.0, 0.0, 0.0))
    put4(w, slot(n) + DQ, (1.0, 0.0, 0.0, 0.0))
    for i in range(n):  # root → leaves
        o, parent = slot(i), slot(tree.parent[i])
        turned, moved = joint_pose(tree.kind[i], w, o, q, tree.iq[i])
        base, above = get4(w, o + PLACE_Q), get4(w, parent + Q)
        arm = so3.rotate(above, add(get3(w, o + PLACE_P), so3.rotate(base, moved)))
        put4(w, o + Q, so3.multiply(above, so3.multiply(base, turned)))
        put3(w, o + ARM, arm)
        put3(w, o + O, add(get3(w, parent + O), arm))
    for block in range(0, tree.end, BLOCK):  # every link by itself, or four at a time
        if SIMD:
            orient(in_fours(w), block)
        else:
            for o in range(block, block + LANES):
                orient(w, o)


@kernel
def orient(w, o):
    """Axis and inertia of a link, or of four, in world axes."""
    R = so3.matrix(get4(w, o + Q))
    put3(w, o + S, multiply(R, get3(w, o + TURN)))
    put3(w, o + S + 3 * LANES, multiply(R, get3(w, o + SLIDE)))
    put3(w, o + MOMENT_W, multiply(R, get3(w, o + MOMENT)))
    put6(w, o + INERTIA_W, so3.rotate_symmetric(R, get6(w, o + INERTIA)))


@kernel
def multiply(R, a):
    """R a, with R row by row."""
    return (
        R[0] * a[0] + R[1] * a[1] + R[2] * a[2],
        R[3] * a[0] + R[4] * a[1] + R[5] * a[2],
        R[6] * a[0] + R[7] * a[1] + R[8] * a[2],
    )


@kernel
def inertia_times(w, o, mass, turn, move):
    """G (turn, move): the wrench or momentum of a link that has this twist."""
    from_moment = get3(w, o + MOMENT_W)
    inertia = get6(w, o + INERTIA_W)
    m = add(sym_mul(inertia, turn), cross(from_moment, move))
    return m, sub(scale(mass, move), cross(from_moment, turn))


@kernel
def shift_twist(turn, move, arm):
    """Twist of the parent, seen at the child's origin."""
    return turn, add(move, cross(turn, arm))


@kernel
def shift_wrench(m, f, arm):
    """Wrench on the child, seen at the parent's origin."""
    return add(m, cross(arm, f)), f


@kernel
def joint_twist(kind, w, o, rates, k):
    """Twist across the joint, in world axes, when its rates start at rates[k]."""
    if kind == SCREW:
        return scale(rates[k], get3(w, o + S)), scale(rates[k], get3(w, o + S + 3 * LANES))
    orientation = get4(w, o + Q)
    if kind == BALL:
        return so3.rotate(orientation, read3(rates, k)), (0.0, 0.0, 0.0)
    return so3.rotate(orientation, read3(rates, k)), so3.rotate(orientation, read3(rates, k + 3))


@kernel
def joint_force(kind, w, o, m, f, out, k):
    """Sᵀ (m, f), written in the layout of v at out[k]."""
    if kind == SCREW:
        out[k] = dot(get3(w, o + S), m) + dot(get3(w, o + S + 3 * LANES), f)
        return
    orientation = get4(w, o + Q)
    out[k], out[k + 1], out[k + 2] = so3.unrotate(orientation, m)
    if kind == FREE:
        out[k + 3], out[k + 4], out[k + 5] = so3.unrotate(orientation, f)
