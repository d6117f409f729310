"""Forward kinematics: where every link is at a configuration q, and its axis and inertia in world axes.

Everything downstream works in frames parallel to the world with the origin at each link's joint: passing a twist or a
wrench along the tree is then a shift, with no rotation.
"""

from .layout import BALL, FREE, SCREW
from .machine.jit import formula, kernel
from .machine.memory import link, team, teams, zeros
from .machine.simd import below, choose, less, nought
from .maths import so3
from .maths.mat3 import mat_vec
from .maths.vec3 import add, cross, dot, scale, sym_add, sym_mul


@kernel
def read3(q, k):
    return q[k], q[k + 1], q[k + 2]


@kernel
def read4(q, k):
    return q[k], q[k + 1], q[k + 2], q[k + 3]


@formula
def screw_pose(L, slides):
    """Set the pose in the parent's frame of the link of a SCREW joint, or of four, from its coordinate."""
    angle = L.angle
    c, s = so3.half_angle(angle)
    x, y, z = scale(s, L.turn)
    # Without a turn the joint slides, and the link keeps its axes: |turn| is 1 or 0
    turning = dot(L.turn, L.turn)
    base = L.base_rotation
    L.local_rotation = so3.multiply(base, (1.0 + turning * (c - 1.0), x, y, z))
    place = L.base_position
    if slides:
        place = add(place, so3.rotate(base, scale(angle, L.slide)))
    L.local_position = place


@kernel
def far_pose(L):
    """Set the rotation in the parent's frame where the angle is very many turns; of four, only of those."""
    a, b, c, d = L.local_rotation
    p, q, r, s = so3.multiply(L.base_rotation, so3.exp(scale(L.angle, L.turn)))
    far = less(so3.MANY_TURNS, abs(L.angle))
    L.local_rotation = choose(far, p, a), choose(far, q, b), choose(far, r, c), choose(far, s, d)


@kernel
def local_poses(tree, w, q):
    """Pose of every link in its parent's frame."""
    for i in range(tree.n):
        if tree.kind[i] == SCREW:
            link(w, i).angle = q[tree.iq[i]]
    for k in teams(tree):  # every link by itself, or four at a time
        L = team(w, k)
        screw_pose(L, tree.slides)
        if not below(abs(L.angle), so3.MANY_TURNS):
            far_pose(L)
    for i in range(tree.n):
        L, k = link(w, i), tree.iq[i]
        if tree.kind[i] == SCREW:
            continue
        base, moved = L.base_rotation, zeros(w)
        if tree.kind[i] == FREE:
            moved = read3(q, k)
            k += 3
        L.local_rotation = so3.multiply(base, read4(q, k))
        L.local_position = add(L.base_position, so3.rotate(base, moved))


@kernel
def place(tree, w, q):
    """Set Q, O and ARM of every link from the configuration q, then its axis and inertia in world axes."""
    n = tree.n
    link(w, n).rotation = 1.0, 0.0, 0.0, 0.0
    link(w, n).dR = 1.0, 0.0, 0.0, 0.0
    orientation, origin = link(w, n).rotation, link(w, n).origin
    local_poses(tree, w, q)
    for i in range(n):  # root → leaves
        L = link(w, i)
        if tree.parent[i] != i - 1:  # else it is at hand
            orientation, origin = link(w, tree.parent[i]).rotation, link(w, tree.parent[i]).origin
        arm = so3.rotate(orientation, L.local_position)
        orientation, origin = so3.multiply(orientation, L.local_rotation), add(origin, arm)
        L.rotation = orientation
        L.arm = arm
        L.origin = origin
    for k in teams(tree):  # every link by itself, or four at a time
        orient(team(w, k), tree.slides)


@formula
def orient(L, slides):
    """Axis and inertia of a link, or of four, in world axes."""
    R = so3.matrix(L.rotation)
    L.axis_turn = mat_vec(R, L.turn)
    if slides:
        L.axis_move = mat_vec(R, L.slide)
    L.centre = mat_vec(R, L.com)
    L.inertia_world = so3.rotate_symmetric(R, L.inertia)


@formula
def about_origin(L):
    """Mass, first moment and inertia of a link, or of four, about the origin: I + (m c·c) 1 − m c cᵀ."""
    mass, c = L.mass, L.centre
    p = scale(mass, c)
    xx, yy, zz = p[0] * c[0], p[1] * c[1], p[2] * c[2]
    shift = yy + zz, zz + xx, xx + yy, -p[0] * c[1], -p[0] * c[2], -p[1] * c[2]
    return mass, p, sym_add(L.inertia_world, shift)


@kernel
def inertia_times(L, mass, turn, move):
    """G (turn, move): the wrench or momentum of a link that has this twist."""
    centre = L.centre
    f = scale(mass, add(move, cross(turn, centre)))
    return add(sym_mul(L.inertia_world, turn), cross(centre, f)), f


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
def joint_twist(kind, L, rates, k):
    """Twist across the joint, in world axes, when its rates start at rates[k]."""
    if kind == SCREW:
        return scale(rates[k], L.axis_turn), scale(rates[k], L.axis_move)
    orientation = L.rotation
    if kind == BALL:
        zero = nought(L.mass)
        return so3.rotate(orientation, read3(rates, k)), (zero, zero, zero)
    return so3.rotate(orientation, read3(rates, k)), so3.rotate(orientation, read3(rates, k + 3))


@kernel
def joint_force(kind, L, m, f, out, k):
    """Sᵀ (m, f), written in the layout of v at out[k]."""
    if kind == SCREW:
        out[k] = dot(L.axis_turn, m) + dot(L.axis_move, f)
        return
    orientation = L.rotation
    out[k], out[k + 1], out[k + 2] = so3.unrotate(orientation, m)
    if kind == FREE:
        out[k + 3], out[k + 4], out[k + 5] = so3.unrotate(orientation, f)
