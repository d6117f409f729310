"""Joints over a step: their motion from q0 to q1 on the joint's own group, and the forces that live inside a joint.

A SCREW joint moves by DELTA; BALL and FREE joints by the rotation J and the translation T, in world axes at t_k. An
increment ε of a joint is in the layout of v: δ, a rotation vector, or a twist, the latter two in body axes at t_k.
"""

from . import se3, so3
from .jit import kernel
from .kinematics import read3, read4
from .layout import (
    ARMATURE, BALL, DAMPING, DELTA, DOF, FREE, J, JOINT_P, LANES, PSI, Q, SAVED, SCREW, SPRING, STIFFNESS, T, TAU, X,
    get3, get4, get33, put3, put4, put33, slot, zeros,
)
from .simd import choose, number, sign
from .vec3 import add, add_scaled, cross, dot, scale, sub


@kernel
def set_motion(tree, w, epsilon):
    """Move every joint by its increment, starting from q0."""
    for i in range(tree.n):
        o, k = slot(w, i), tree.iv[i]
        if tree.kind[i] == SCREW:
            w[o + DELTA] = epsilon[k]
            continue
        orientation = get4(w, o + Q)
        turn, move = read3(epsilon, k), zeros(w)
        if tree.kind[i] == FREE:
            move = read3(epsilon, k + 3)
        rotation, translation = se3.exp(so3.rotate(orientation, turn), so3.rotate(orientation, move))
        put4(w, o + J, rotation)
        put3(w, o + T, translation)


@kernel
def get_joint_motion(tree, w, i, epsilon):
    """The increment of joint i: the inverse of set_motion."""
    o, k = slot(w, i), tree.iv[i]
    if tree.kind[i] == SCREW:
        epsilon[k] = w[o + DELTA]
        return
    orientation = get4(w, o + Q)
    turn, move, _, _ = se3.log(get4(w, o + J), get3(w, o + T))
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
        o, k = slot(w, i), tree.iq[i]
        if tree.kind[i] == SCREW:
            w[o + DELTA] = q1[k] - q0[k]
            continue
        if tree.kind[i] == FREE:
            k += 3
        orientation, r0 = get4(w, o + Q), read4(q0, k)
        j = shorter(so3.multiply(so3.inverse(r0), read4(q1, k)))
        put4(w, o + J, so3.conjugate_by(orientation, j))
        put3(w, o + T, (0.0, 0.0, 0.0))
        if tree.kind[i] == FREE:
            moved = so3.unrotate(r0, sub(read3(q1, k - 3), read3(q0, k - 3)))
            put3(w, o + T, so3.rotate(orientation, moved))


@kernel
def save_motion(tree, w):
    for i in range(tree.n):
        o = slot(w, i)
        for j in range(8):
            w[o + SAVED + LANES * j] = w[o + DELTA + LANES * j]


@kernel
def restore_motion(tree, w):
    for i in range(tree.n):
        o = slot(w, i)
        for j in range(8):
            w[o + DELTA + LANES * j] = w[o + SAVED + LANES * j]


@kernel
def move_screw(w, o, k, x):
    """Let the motion of a SCREW joint be followed by k x; if k is None, nothing."""
    if k is not None:
        w[o + DELTA] += k * x


@kernel
def move_joint(w, o, k, turn, move):
    """Let the motion of a BALL or FREE joint be followed by k times this twist, in world axes at t_k; if k is None,
    nothing."""
    if k is not None:
        rotation, translation = se3.exp(scale(k, turn), scale(k, move))
        j = get4(w, o + J)
        put3(w, o + T, add(get3(w, o + T), so3.rotate(j, translation)))
        a, b, c, d = so3.normalize(so3.multiply(j, rotation))
        # Whoever has k = 0 stays, to the last bit
        put4(w, o + J, (choose(k, a, j[0]), choose(k, b, j[1]), choose(k, c, j[2]), choose(k, d, j[3])))


@kernel
def improve_motion(tree, w, k):
    """Alg. 3, line 6: q^{k+1} ← q^{k+1} ⊕ k X, with X in world axes at t_k."""
    for i in range(tree.n):
        o = slot(w, i)
        if tree.kind[i] == SCREW:
            move_screw(w, o, k, w[o + X])
        else:
            turn, move = get33(w, o + X)
            move_joint(w, o, k, turn, zeros(w) if tree.kind[i] == BALL else move)


@kernel
def apply_joint_motion(tree, w, i, q, low):
    """Advance q by the motion of joint i over the step. ``low`` holds what round-off has kept from q, and is added back
    (Kahan)."""
    o, k = slot(w, i), tree.iq[i]
    if tree.kind[i] == SCREW:
        add_compensated(q, low, k, w[o + DELTA])
        return
    orientation = so3.inverse(get4(w, o + Q))
    r = read4(q, k + 3) if tree.kind[i] == FREE else read4(q, k)
    if tree.kind[i] == FREE:
        moved = so3.rotate(r, so3.rotate(orientation, get3(w, o + T)))
        for j in range(3):
            add_compensated(q, low, k + j, moved[j])
        k += 3
    j = so3.conjugate_by(orientation, get4(w, o + J))
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
        o, k = slot(w, i), tree.iq[i]
        if tree.kind[i] == SCREW:
            w[o + PSI] = q[k] - rest[k]
            energy += 0.5 * w[o + STIFFNESS] * w[o + PSI] * w[o + PSI]
            continue
        moved = zeros(w)
        if tree.kind[i] == FREE:
            moved = sub(read3(q, k), read3(rest, k))
            k += 3
        r = read4(q, k)
        twist = so3.log(shorter(so3.multiply(so3.inverse(read4(rest, k)), r)))
        put33(w, o + PSI, twist, so3.rotate(get4(w, o + Q), so3.unrotate(r, moved)))
        energy += 0.5 * w[o + STIFFNESS] * (dot(twist, twist) + dot(moved, moved))
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
    o = slot(w, i)
    if tree.kind[i] == SCREW:
        tau = w[o + JOINT_P]
        if tree.passive[i]:
            delta = w[o + DELTA]
            tau -= (w[o + ARMATURE] / h + 0.5 * w[o + DAMPING]) * delta
            tau -= 0.5 * h * w[o + STIFFNESS] * (w[o + PSI] + 0.5 * delta)
        w[o + TAU] = tau
        return
    orientation = get4(w, o + Q)
    m, f = get33(w, o + JOINT_P)
    m, f = so3.rotate(orientation, m), so3.rotate(orientation, f)
    if tree.passive[i]:
        k = w[o + ARMATURE] / h + 0.5 * w[o + DAMPING]
        m = add_scaled(m, -k, so3.log(get4(w, o + J)))
        f = add_scaled(f, -k, get3(w, o + T))
        if tree.passive[i] & SPRING:
            twist, _, mean, moved = _spring(w, o)
            k = -0.5 * h * w[o + STIFFNESS]
            m = add_scaled(m, k, so3.rotate(orientation, spring_torque(twist, mean)))
            f = add_scaled(f, k, moved)
    put33(w, o + TAU, m, f)


@kernel
def carry_joint(tree, w, i, h):
    """Set JOINT_P of joint i to what it carries out of the step: the D₂ terms, in body axes at t_{k+1}."""
    o = slot(w, i)
    if tree.kind[i] == SCREW:
        w[o + JOINT_P] = 0.0
        if tree.passive[i]:
            delta = w[o + DELTA]
            w[o + JOINT_P] = (w[o + ARMATURE] / h - 0.5 * w[o + DAMPING]) * delta - 0.5 * h * w[o + STIFFNESS] * (
                w[o + PSI] + 0.5 * delta)
        return
    m, f = zeros(w), zeros(w)
    if tree.passive[i]:
        orientation, j = get4(w, o + Q), get4(w, o + J)
        k = w[o + ARMATURE] / h - 0.5 * w[o + DAMPING]
        m, f = scale(k, so3.unrotate(orientation, so3.log(j))), scale(k, get3(w, o + T))
        if tree.passive[i] & SPRING:
            _, twist, mean, moved = _spring(w, o)
            k = -0.5 * h * w[o + STIFFNESS]
            m, f = add_scaled(m, k, spring_torque(twist, mean)), add_scaled(f, k, moved)
        f = so3.unrotate(orientation, so3.unrotate(j, f))
    put33(w, o + JOINT_P, m, f)


@kernel
def _spring(w, o):
    """Rotational deflection before and after the step and their mean (body axes); mean translation (world axes)."""
    before, moved = get33(w, o + PSI)
    j = so3.conjugate_by(so3.inverse(get4(w, o + Q)), get4(w, o + J))
    after = so3.log(shorter(so3.multiply(so3.exp(before), j)))
    return before, after, scale(0.5, add(before, after)), add_scaled(moved, 0.5, get3(w, o + T))


@kernel
def passive_forces(tree, w, v, out):
    """Add damping and spring forces at rates v. Needs deflections()."""
    for i in range(tree.n):
        if not tree.passive[i]:
            continue
        o, k = slot(w, i), tree.iv[i]
        for j in range(k, k + DOF[tree.kind[i]]):
            out[j] -= w[o + DAMPING] * v[j]
        stiffness = w[o + STIFFNESS]
        out[k] -= stiffness * w[o + PSI]
        if tree.kind[i] != SCREW:
            out[k + 1] -= stiffness * w[o + PSI + LANES]
            out[k + 2] -= stiffness * w[o + PSI + 2 * LANES]
        if tree.kind[i] == FREE:
            x, y, z = so3.unrotate(get4(w, o + Q), get3(w, o + PSI + 3 * LANES))
            out[k + 3] -= stiffness * x
            out[k + 4] -= stiffness * y
            out[k + 5] -= stiffness * z


@kernel
def put_rhs(tree, w, tau):
    """Set TAU of every joint, in world axes, from the layout of v."""
    for i in range(tree.n):
        o, k = slot(w, i), tree.iv[i]
        if tree.kind[i] == SCREW:
            w[o + TAU] = tau[k]
            continue
        orientation = get4(w, o + Q)
        put3(w, o + TAU, so3.rotate(orientation, read3(tau, k)))
        if tree.kind[i] == FREE:
            put3(w, o + TAU + 3 * LANES, so3.rotate(orientation, read3(tau, k + 3)))


@kernel
def get_solution(tree, w, out):
    """The solution X of every joint, in the layout of v."""
    for i in range(tree.n):
        o, k = slot(w, i), tree.iv[i]
        if tree.kind[i] == SCREW:
            out[k] = w[o + X]
            continue
        orientation = get4(w, o + Q)
        out[k], out[k + 1], out[k + 2] = so3.unrotate(orientation, get3(w, o + X))
        if tree.kind[i] == FREE:
            out[k + 3], out[k + 4], out[k + 5] = so3.unrotate(orientation, get3(w, o + X + 3 * LANES))


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
