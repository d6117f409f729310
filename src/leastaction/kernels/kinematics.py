"""Forward kinematics: where every link is at a configuration q, and its axis and inertia in world axes.

Everything downstream works in frames parallel to the world with the origin at each link's joint: passing a twist or a
wrench along the tree is then a shift, with no rotation.
"""

from . import so3
from .jit import formula, kernel
from .layout import (
    ANGLE, ARM, BALL, COM, COM_W, DQ, FREE, INERTIA, INERTIA_C, LANES, LOCAL_P, LOCAL_Q, MASS,
    O, PLACE_P, PLACE_Q, Q, S, SCREW, SLIDE, TURN, get3, get4, get6, put3, put4, put6, slot, stretch, stretches, zeros,
)
from .mat3 import mat_vec
from .simd import WIDTH, below, numbers, wide
from .vec3 import add, cross, dot, scale, sym_add, sym_mul


@kernel
def read3(q, k):
    return q[k], q[k + 1], q[k + 2]


@kernel
def read4(q, k):
    return q[k], q[k + 1], q[k + 2], q[k + 3]


@formula
def screw_pose(w, o, slides):
    """Set the pose in the parent's frame of the link of a SCREW joint, or of four, from its coordinate."""
    angle = w[o + ANGLE]
    c, s = so3.half_angle(angle)
    x, y, z = scale(s, get3(w, o + TURN))
    # Without a turn the joint slides, and the link keeps its axes: |turn| is 1 or 0
    turning = dot(get3(w, o + TURN), get3(w, o + TURN))
    base = get4(w, o + PLACE_Q)
    put4(w, o + LOCAL_Q, so3.multiply(base, (1.0 + turning * (c - 1.0), x, y, z)))
    place = get3(w, o + PLACE_P)
    if slides:
        place = add(place, so3.rotate(base, scale(angle, get3(w, o + SLIDE))))
    put3(w, o + LOCAL_P, place)


@kernel
def far_pose(w, o):
    """The same for an angle of very many turns."""
    base, angle = get4(w, o + PLACE_Q), w[o + ANGLE]
    put4(w, o + LOCAL_Q, so3.multiply(base, so3.exp(scale(angle, get3(w, o + TURN)))))
    put3(w, o + LOCAL_P, add(get3(w, o + PLACE_P), so3.rotate(base, scale(angle, get3(w, o + SLIDE)))))


@kernel
def local_poses(tree, w, q, first):
    """Pose of every link of a stretch in its parent's frame."""
    links, blocks = stretch(tree, w, first)
    for i in links:
        if tree.kind[i] == SCREW:
            w[slot(w, i) + ANGLE] = q[tree.iq[i]]
    all_of, one = wide(w), numbers(w)
    for block in blocks:
        for o in range(block, block + LANES, WIDTH):  # every link by itself, or four at a time
            screw_pose(all_of, o, tree.slides)
            if not below(abs(all_of[o + ANGLE]), so3.MANY_TURNS):
                for a in range(o, o + WIDTH):
                    if not abs(one[a + ANGLE]) < so3.MANY_TURNS:
                        far_pose(one, a)
    for i in links:
        o, k = slot(w, i), tree.iq[i]
        if tree.kind[i] == SCREW:
            continue
        base, moved = get4(w, o + PLACE_Q), zeros(w)
        if tree.kind[i] == FREE:
            moved = read3(q, k)
            k += 3
        put4(w, o + LOCAL_Q, so3.multiply(base, read4(q, k)))
        put3(w, o + LOCAL_P, add(get3(w, o + PLACE_P), so3.rotate(base, moved)))


@kernel
def place(tree, w, q):
    """Set Q, O and ARM of every link from the configuration q, then its axis and inertia in world axes."""
    n = tree.n
    put4(w, slot(w, n) + Q, (1.0, 0.0, 0.0, 0.0))
    put4(w, slot(w, n) + DQ, (1.0, 0.0, 0.0, 0.0))
    orientation, origin = get4(w, slot(w, n) + Q), get3(w, slot(w, n) + O)
    for first in stretches(tree):
        local_poses(tree, w, q, first)
        links, blocks = stretch(tree, w, first)
        for i in links:  # root → leaves
            o = slot(w, i)
            if tree.parent[i] != i - 1:  # else it is at hand
                orientation, origin = get4(w, slot(w, tree.parent[i]) + Q), get3(w, slot(w, tree.parent[i]) + O)
            arm = so3.rotate(orientation, get3(w, o + LOCAL_P))
            orientation, origin = so3.multiply(orientation, get4(w, o + LOCAL_Q)), add(origin, arm)
            put4(w, o + Q, orientation)
            put3(w, o + ARM, arm)
            put3(w, o + O, origin)
        for block in blocks:
            for o in range(block, block + LANES, WIDTH):  # every link by itself, or four at a time
                orient(wide(w), o, tree.slides)


@formula
def orient(w, o, slides):
    """Axis and inertia of a link, or of four, in world axes."""
    R = so3.matrix(get4(w, o + Q))
    put3(w, o + S, mat_vec(R, get3(w, o + TURN)))
    if slides:
        put3(w, o + S + 3 * LANES, mat_vec(R, get3(w, o + SLIDE)))
    put3(w, o + COM_W, mat_vec(R, get3(w, o + COM)))
    put6(w, o + INERTIA_C, so3.rotate_symmetric(R, get6(w, o + INERTIA)))


@formula
def about_origin(w, o):
    """Mass, first moment and inertia of a link, or of four, about the origin: I + (m c·c) 1 − m c cᵀ."""
    mass, c = w[o + MASS], get3(w, o + COM_W)
    p = scale(mass, c)
    xx, yy, zz = p[0] * c[0], p[1] * c[1], p[2] * c[2]
    shift = yy + zz, zz + xx, xx + yy, -p[0] * c[1], -p[0] * c[2], -p[1] * c[2]
    return mass, p, sym_add(get6(w, o + INERTIA_C), shift)


@kernel
def inertia_times(w, o, mass, turn, move):
    """G (turn, move): the wrench or momentum of a link that has this twist."""
    centre = get3(w, o + COM_W)
    f = scale(mass, add(move, cross(turn, centre)))
    return add(sym_mul(get6(w, o + INERTIA_C), turn), cross(centre, f)), f


@kernel
def shift_twist(turn, move, arm):
    """Twist of the parent, seen at the child's origin."""
    return turn, add(move, cross(turn, arm))


@kernel
def shift_wrench(m, f, arm):
    """Wrench on the child, seen at the parent's origin."""
    return add(m, cross(arm, f)), f


@formula
def less_power(c, turn, move, m, f):
    """c − turn·m − move·f, added up in pairs: a sweep along the tree waits for it at every link."""
    return (c - turn[0] * m[0] - turn[1] * m[1]) - (
        (turn[2] * m[2] + move[0] * f[0]) + (move[1] * f[1] + move[2] * f[2]))


@kernel
def joint_twist(kind, w, o, rates, k):
    """Twist across the joint, in world axes, when its rates start at rates[k]."""
    if kind == SCREW:
        return scale(rates[k], get3(w, o + S)), scale(rates[k], get3(w, o + S + 3 * LANES))
    orientation = get4(w, o + Q)
    if kind == BALL:
        return so3.rotate(orientation, read3(rates, k)), zeros(w)
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
