"""Forward kinematics: where every link is at a configuration q, and its axis and inertia in world axes.

Everything downstream works in frames parallel to the world with the origin at each link's joint: passing a twist or a
wrench along the tree is then a shift, with no rotation.
"""

from .joints import dispatch as joint
from .joints.screw import far_pose, local_pose
from .machine.jit import formula, kernel
from .machine.memory import link, team, teams
from .machine.simd import below
from .maths import so3
from .maths.mat3 import mat_vec
from .maths.vec3 import add, cross, scale, sym_add, sym_mul


@kernel
def local_poses(tree, w, q):
    """Pose of every link in its parent's frame."""
    for i in range(tree.n):
        joint.coordinate(tree.kind[i], link(w, i), q, tree.iq[i])
    for k in teams(tree):  # every link by itself, or four at a time
        L = team(w, k)
        local_pose(L, tree.slides)
        if not below(abs(L.angle), so3.MANY_TURNS):
            far_pose(L)
    if tree.most > 1:
        for i in range(tree.n):
            joint.pose(tree.kind[i], link(w, i), q, tree.iq[i])


@kernel
def place(tree, w, q):
    """Set ``rotation``, ``origin`` and ``arm`` of every link from the configuration q, then its axis and inertia in
    world axes."""
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
