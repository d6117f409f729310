"""Joints over a step: their motion from q0 to q1 on the joint's own group, and the forces that live inside a joint.

A SCREW joint moves by DELTA; BALL and FREE joints by the rotation J and the translation T, in world axes at t_k. An
increment ε of a joint is in the layout of v: δ, a rotation vector, or a twist, the latter two in body axes at t_k.
"""

from .kinematics import read3, read4
from .layout import BALL, DOF, FREE, SCREW, SPRING
from .machine.jit import kernel
from .machine.memory import link, right, zeros
from .machine.simd import choose, number, sign
from .maths import se3, so3
from .maths.vec3 import add, add_scaled, cross, dot, scale, sub


@kernel
def set_motion(tree, w, epsilon):
    """Move every joint by its increment, starting from q0."""
    for i in range(tree.n):
        L, k = link(w, i), tree.iv[i]
        if tree.kind[i] == SCREW:
            L.delta = epsilon[k]
            continue
        orientation = L.rotation
        turn, move = read3(epsilon, k), zeros(w)
        if tree.kind[i] == FREE:
            move = read3(epsilon, k + 3)
        rotation, translation = se3.exp(so3.rotate(orientation, turn), so3.rotate(orientation, move))
        L.joint_rotation = rotation
        L.joint_shift = translation


@kernel
def get_joint_motion(tree, w, i, epsilon):
    """The increment of joint i: the inverse of set_motion."""
    L, k = link(w, i), tree.iv[i]
    if tree.kind[i] == SCREW:
        epsilon[k] = L.delta
        return
    orientation = L.rotation
    turn, move, _, _ = se3.log(L.joint_rotation, L.joint_shift)
    epsilon[k], epsilon[k + 1], epsilon[k + 2] = so3.unrotate(orientation, turn)
    if tree.kind[i] == FREE:
        epsilon[k + 3], epsilon[k + 4], epsilon[k + 5] = so3.unrotate(orientation, move)


@kernel
def get_motion(tree, w, epsilon):
    """The increment of every joint."""
    for i in range(tree.n):
        get_joint_motion(tree, w, i, epsilon)


@kernel
def motion_between(tree, w, q0, q1):
    """Set the motion of every joint that takes q0 to q1. Needs place() at q0."""
    for i in range(tree.n):
        L, k = link(w, i), tree.iq[i]
        if tree.kind[i] == SCREW:
            L.delta = q1[k] - q0[k]
            continue
        if tree.kind[i] == FREE:
            k += 3
        orientation, r0 = L.rotation, read4(q0, k)
        j = shorter(so3.multiply(so3.inverse(r0), read4(q1, k)))
        L.joint_rotation = so3.conjugate_by(orientation, j)
        L.joint_shift = 0.0, 0.0, 0.0
        if tree.kind[i] == FREE:
            moved = so3.unrotate(r0, sub(read3(q1, k - 3), read3(q0, k - 3)))
            L.joint_shift = so3.rotate(orientation, moved)


@kernel
def save_motion(tree, w):
    for i in range(tree.n):
        L = link(w, i)
        L.saved_delta, L.saved_rotation, L.saved_shift = L.delta, L.joint_rotation, L.joint_shift


@kernel
def restore_motion(tree, w):
    for i in range(tree.n):
        L = link(w, i)
        L.delta, L.joint_rotation, L.joint_shift = L.saved_delta, L.saved_rotation, L.saved_shift


@kernel
def move_screw(L, k, x):
    """Let the motion of a SCREW joint be followed by k x; if k is None, nothing."""
    if k is not None:
        L.delta += k * x


@kernel
def move_joint(L, k, turn, move):
    """Let the motion of a BALL or FREE joint be followed by k times this twist, in world axes at t_k; if k is None,
    nothing."""
    if k is not None:
        rotation, translation = se3.exp(scale(k, turn), scale(k, move))
        j = L.joint_rotation
        L.joint_shift = add(L.joint_shift, so3.rotate(j, translation))
        a, b, c, d = so3.normalize(so3.multiply(j, rotation))
        # Whoever has k = 0 stays, to the last bit
        L.joint_rotation = choose(k, a, j[0]), choose(k, b, j[1]), choose(k, c, j[2]), choose(k, d, j[3])


@kernel
def improve_motion(tree, w, k):
    """Alg. 3, line 6: q^{k+1} ← q^{k+1} ⊕ k X, with X in world axes at t_k."""
    for i in range(tree.n):
        L = link(w, i)
        if tree.kind[i] == SCREW:
            move_screw(L, k, L.x)
        else:
            turn, move = L.x6
            move_joint(L, k, turn, zeros(w) if tree.kind[i] == BALL else move)


@kernel
def apply_joint_motion(tree, w, i, q, low):
    """Advance q by the motion of joint i over the step. ``low`` holds what round-off has kept from q, and is added back
    (Kahan)."""
    L, k = link(w, i), tree.iq[i]
    if tree.kind[i] == SCREW:
        add_compensated(q, low, k, L.delta)
        return
    orientation = so3.inverse(L.rotation)
    r = read4(q, k + 3) if tree.kind[i] == FREE else read4(q, k)
    if tree.kind[i] == FREE:
        moved = so3.rotate(r, so3.rotate(orientation, L.joint_shift))
        for j in range(3):
            add_compensated(q, low, k + j, moved[j])
        k += 3
    j = so3.conjugate_by(orientation, L.joint_rotation)
    u = so3.vector(j)
    # r j = r + r (j − 1), the latter small and without cancellation: cos − 1 = −sin²/(1 + cos)
    change = so3.multiply(r, (-dot(u, u) / (1.0 + j[0]), u[0], u[1], u[2]))
    excess = number(w, -1.0)
    for c in range(4):
        add_compensated(q, low, k + c, change[c])
        excess += q[k + c] * q[k + c] + 2.0 * q[k + c] * low[k + c]
    for c in range(4):  # back to unit norm, which is a matter of the low part but for the coarsest of steps
        add_compensated(q, low, k + c, -0.5 * excess * q[k + c])


@kernel
def add_compensated(x, low, k, value):
    """x[k] += value, with the rounding error kept in low[k]."""
    value += low[k]
    total = x[k] + value
    low[k] = value - (total - x[k])
    x[k] = total


@kernel
def deflections(tree, w, q, rest):
    """Set PSI, the deflection of every joint's spring at q: q − rest, or a rotation vector in body axes and a
    translation in world axes. Gives the energy stored. Needs place()."""
    energy = number(w, 0.0)
    for i in range(tree.n):
        if not tree.passive[i]:
            continue
        L, k = link(w, i), tree.iq[i]
        if tree.kind[i] == SCREW:
            L.psi = q[k] - rest[k]
            energy += 0.5 * L.stiffness * L.psi * L.psi
            continue
        moved = zeros(w)
        if tree.kind[i] == FREE:
            moved = sub(read3(q, k), read3(rest, k))
            k += 3
        r = read4(q, k)
        twist = so3.log(shorter(so3.multiply(so3.inverse(read4(rest, k)), r)))
        L.psi6 = twist, so3.rotate(L.rotation, so3.unrotate(r, moved))
        energy += 0.5 * L.stiffness * (dot(twist, twist) + dot(moved, moved))
    return energy


@kernel
def shorter(q):
    """The one of q and −q that turns by at most π."""
    k = sign(q[0])
    return k * q[0], k * q[1], k * q[2], k * q[3]


@kernel
def spring_torque(twist, mean):
    """[dlog_{−ψ}]ᵀ ψ̄: gradient of ½|ψ|² for a deflection ψ, taken at the mean ψ̄ of the step."""
    _, beta, _ = se3.terms_of(so3.exp(twist))
    t = cross(twist, mean)
    return add_scaled(add_scaled(mean, -0.5, t), beta, cross(twist, t))


@kernel
def joint_residual(tree, w, i, h):
    """Set TAU of joint i to minus its own residual: what it carries, less the D₁ terms of armature, damping and spring.

    The spring acts at the mean deflection of the step (the midpoint rule), which no stiffness makes unstable.
    """
    L = link(w, i)
    if tree.kind[i] == SCREW:
        tau = L.joint_momentum
        if tree.passive[i]:
            delta = L.delta
            tau -= (L.armature / h + 0.5 * L.damping) * delta
            tau -= 0.5 * h * L.stiffness * (L.psi + 0.5 * delta)
        L.tau = tau
        return
    orientation = L.rotation
    m, f = L.joint_momentum6
    m, f = so3.rotate(orientation, m), so3.rotate(orientation, f)
    if tree.passive[i]:
        k = L.armature / h + 0.5 * L.damping
        m = add_scaled(m, -k, so3.log(L.joint_rotation))
        f = add_scaled(f, -k, L.joint_shift)
        if tree.passive[i] & SPRING:
            twist, _, mean, moved = _spring(L)
            k = -0.5 * h * L.stiffness
            m = add_scaled(m, k, so3.rotate(orientation, spring_torque(twist, mean)))
            f = add_scaled(f, k, moved)
    L.tau6 = m, f


@kernel
def carry_joint(tree, w, i, h):
    """Set JOINT_P of joint i to what it carries out of the step: the D₂ terms, in body axes at t_{k+1}."""
    L = link(w, i)
    if tree.kind[i] == SCREW:
        L.joint_momentum = 0.0
        if tree.passive[i]:
            delta = L.delta
            L.joint_momentum = (L.armature / h - 0.5 * L.damping) * delta - 0.5 * h * L.stiffness * (
                L.psi + 0.5 * delta)
        return
    m, f = zeros(w), zeros(w)
    if tree.passive[i]:
        orientation, j = L.rotation, L.joint_rotation
        k = L.armature / h - 0.5 * L.damping
        m, f = scale(k, so3.unrotate(orientation, so3.log(j))), scale(k, L.joint_shift)
        if tree.passive[i] & SPRING:
            _, twist, mean, moved = _spring(L)
            k = -0.5 * h * L.stiffness
            m, f = add_scaled(m, k, spring_torque(twist, mean)), add_scaled(f, k, moved)
        f = so3.unrotate(orientation, so3.unrotate(j, f))
    L.joint_momentum6 = m, f


@kernel
def _spring(L):
    """Rotational deflection before and after the step and their mean (body axes); mean translation (world axes)."""
    before, moved = L.psi6
    j = so3.conjugate_by(so3.inverse(L.rotation), L.joint_rotation)
    after = so3.log(shorter(so3.multiply(so3.exp(before), j)))
    return before, after, scale(0.5, add(before, after)), add_scaled(moved, 0.5, L.joint_shift)


@kernel
def passive_forces(tree, w, v, out):
    """Add damping and spring forces at rates v. Needs deflections()."""
    for i in range(tree.n):
        if not tree.passive[i]:
            continue
        L, k = link(w, i), tree.iv[i]
        for j in range(k, k + DOF[tree.kind[i]]):
            out[j] -= L.damping * v[j]
        stiffness = L.stiffness
        if tree.kind[i] == SCREW:
            out[k] -= stiffness * L.psi
            continue
        (x, y, z), moved = L.psi6
        out[k] -= stiffness * x
        out[k + 1] -= stiffness * y
        out[k + 2] -= stiffness * z
        if tree.kind[i] == FREE:
            x, y, z = so3.unrotate(L.rotation, moved)
            out[k + 3] -= stiffness * x
            out[k + 4] -= stiffness * y
            out[k + 5] -= stiffness * z


@kernel
def put_rhs(tree, w, tau):
    """Set TAU of every joint, in world axes, from the layout of v."""
    for i in range(tree.n):
        L, k = link(w, i), tree.iv[i]
        if tree.kind[i] == SCREW:
            L.tau = tau[k]
            continue
        orientation = L.rotation
        turn = so3.rotate(orientation, read3(tau, k))
        L.tau3 = turn
        if tree.kind[i] == FREE:
            L.tau6 = turn, so3.rotate(orientation, read3(tau, k + 3))


@kernel
def get_solution(tree, w, r, x):
    """The solution in the memory r, in the layout of v."""
    for i in range(tree.n):
        L, R, k = link(w, i), right(r, i), tree.iv[i]
        if tree.kind[i] == SCREW:
            x[k] = R.x
            continue
        x[k], x[k + 1], x[k + 2] = so3.unrotate(L.rotation, R.x3)
        if tree.kind[i] == FREE:
            x[k + 3], x[k + 4], x[k + 5] = so3.unrotate(L.rotation, R.x6[1])


@kernel
def move_by(tree, q, epsilon):
    """q ← q ⊕ ε, with ε in the layout of v (body axes)."""
    for i in range(tree.n):
        k, e = tree.iq[i], tree.iv[i]
        if tree.kind[i] == SCREW:
            q[k] += epsilon[e]
            continue
        move = (0.0, 0.0, 0.0)
        if tree.kind[i] == FREE:
            move = read3(epsilon, e + 3)
        rotation, translation = se3.exp(read3(epsilon, e), move)
        if tree.kind[i] == FREE:
            q[k], q[k + 1], q[k + 2] = add(read3(q, k), so3.rotate(read4(q, k + 3), translation))
            k += 3
        q[k], q[k + 1], q[k + 2], q[k + 3] = so3.normalize(so3.multiply(read4(q, k), rotation))
