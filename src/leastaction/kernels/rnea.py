"""Recursive Newton–Euler: inverse dynamics, and what comes with the same sweep (energy, momentum)."""

from .jit import kernel
from .kinematics import inertia_times, joint_force, joint_twist, read3, shift_twist, shift_wrench
from .layout import (
    A, ARM, ARMATURE, BLOCK, COM_W, DOF, F, FREE, LANES, MASS, O, V, add33, get3, get33, put33, slot, zeros,
)
from .simd import WIDTH, number, summed, wide
from .vec3 import add, cross, dot, neg


@kernel
def velocities(tree, w, v):
    """Set the twist V of every link from the rates v. Needs place()."""
    for i in range(tree.n):  # root → leaves
        o = slot(w, i)
        turn, move = get33(w, slot(w, tree.parent[i]) + V)
        turn, move = shift_twist(turn, move, get3(w, o + ARM))
        own_turn, own_move = joint_twist(tree.kind[i], w, o, v, tree.iv[i])
        put33(w, o + V, add(turn, own_turn), add(move, own_move))


@kernel
def link_forces(tree, w, v, a, gravity):
    """Set F of every link to what its motion needs: G A + ad*-terms, gravity as an acceleration of the ground.
    Needs velocities()."""
    n = tree.n
    put33(w, slot(w, n) + A, (0.0, 0.0, 0.0), neg(gravity))
    for i in range(n):  # root → leaves
        o = slot(w, i)
        alpha, acc = get33(w, slot(w, tree.parent[i]) + A)
        alpha, acc = shift_twist(alpha, acc, get3(w, o + ARM))
        own_turn, own_move = joint_twist(tree.kind[i], w, o, v, tree.iv[i])
        own_alpha, own_acc = joint_twist(tree.kind[i], w, o, a, tree.iv[i])
        turn, move = get33(w, o + V)
        # ad_V (S q̇): the axis moves with the link
        alpha = add(add(alpha, own_alpha), cross(turn, own_turn))
        acc = add(add(acc, own_acc), add(cross(turn, own_move), cross(move, own_turn)))
        put33(w, o + A, alpha, acc)
        mass = w[o + MASS]
        m, f = inertia_times(w, o, mass, alpha, acc)
        m_v, f_v = inertia_times(w, o, mass, turn, move)
        put33(w, o + F, add(m, add(cross(turn, m_v), cross(move, f_v))), add(f, cross(turn, f_v)))


@kernel
def gather(tree, w, row, out):
    """out = Sᵀ Σ over the subtree of the wrenches at this row, in the layout of v. Uses A for the sums."""
    n = tree.n
    for i in range(n + 1):
        m, f = get33(w, slot(w, i) + row)
        put33(w, slot(w, i) + A, m, f)
    for i in range(n - 1, -1, -1):  # leaves → root
        o = slot(w, i)
        m, f = get33(w, o + A)
        joint_force(tree.kind[i], w, o, m, f, out, tree.iv[i])
        m, f = shift_wrench(m, f, get3(w, o + ARM))
        add33(w, slot(w, tree.parent[i]) + A, m, f)


@kernel
def armature_forces(tree, w, v, a, out):
    """Add what the armatures need for the accelerations a at rates v."""
    for i in range(tree.n):
        k, armature = tree.iv[i], w[slot(w, i) + ARMATURE]
        for j in range(k, k + DOF[tree.kind[i]]):
            out[j] += armature * a[j]
        if tree.kind[i] == FREE:  # its velocity is given in axes that turn
            x, y, z = cross(read3(v, k), read3(v, k + 3))
            out[k + 3] += armature * x
            out[k + 4] += armature * y
            out[k + 5] += armature * z


@kernel
def rnea(tree, w, v, a, gravity, tau):
    """tau = M a + C v + gravity terms; passive joint forces are not in it. Needs place()."""
    velocities(tree, w, v)
    link_forces(tree, w, v, a, gravity)
    gather(tree, w, F, tau)
    armature_forces(tree, w, v, a, tau)


@kernel
def kinetic_energy(tree, w, v):
    """½ vᵀ M v. Needs velocities()."""
    twice = number(w, 0.0)
    for i in range(tree.n):
        o = slot(w, i)
        turn, move = get33(w, o + V)
        m, f = inertia_times(w, o, w[o + MASS], turn, move)
        twice += dot(turn, m) + dot(move, f)
        k = tree.iv[i]
        for j in range(k, k + DOF[tree.kind[i]]):
            twice += w[o + ARMATURE] * v[j] * v[j]
    return 0.5 * twice


@kernel
def gravitational_energy(tree, w, gravity):
    """−Σ m g·c. Needs place()."""
    energies, four = number(wide(w), 0.0), wide(w)
    for block in range(0, tree.end, BLOCK):
        for o in range(block, block + LANES, WIDTH):  # every link by itself, or four at a time
            energies -= four[o + MASS] * dot(gravity, add(get3(four, o + O), get3(four, o + COM_W)))
    return summed(w, energies)


@kernel
def total_momentum(tree, w, row):
    """Spatial momentum about the world's origin (angular, linear), of the link momenta kept at this row."""
    four = wide(w)
    angular, linear = zeros(four), zeros(four)
    for block in range(0, tree.end, BLOCK):
        for o in range(block, block + LANES, WIDTH):  # every link by itself, or four at a time
            m, f = get33(four, o + row)
            angular = add(angular, add(m, cross(get3(four, o + O), f)))
            linear = add(linear, f)
    return ((summed(w, angular[0]), summed(w, angular[1]), summed(w, angular[2])),
            (summed(w, linear[0]), summed(w, linear[1]), summed(w, linear[2])))


@kernel
def momenta(tree, w, row):
    """Set G V of every link at this row. Needs velocities()."""
    for i in range(tree.n):
        o = slot(w, i)
        turn, move = get33(w, o + V)
        m, f = inertia_times(w, o, w[o + MASS], turn, move)
        put33(w, o + row, m, f)
