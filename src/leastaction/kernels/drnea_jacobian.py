"""The derivative of DRNEA with respect to q^{k+1} (paper, appendix): one column after the other, O(n) each.

A joint's increment moves its whole subtree by one rigid motion ζ; every link in it answers with δμ = K ζ, and those are
summed from leaves to root like the residual itself.
"""

from . import so3
from .jit import kernel
from .joints import shorter
from .kinematics import joint_twist, shift_twist
from .layout import (
    ARM, ARMATURE, D, DAMPING, DOF, DQ, F, FREE, INERTIA_W, J, MASS, MOMENT_W, PSI, Q, SCREW, STIFFNESS, V,
    clear, copy, get3, get4, get6, get33, put33, slot,
)
from .mat3 import hat, mat_add, mat_mul, mat_of_sym, mat_scale, mat_shift, mat_vec, outer, transpose
from .rnea import gather
from .se3 import beta_gamma, kappa, log
from .vec3 import add, add_scaled, cross, dot, scale, sub


@kernel
def dlog_matrix(w, v, beta, gamma):
    """dlog_x as blocks: [[A, 0], [C, A]]."""
    W, V_ = hat(w), hat(v)
    WW = mat_mul(W, W)
    A = mat_shift(mat_add(mat_scale(-0.5, W), mat_scale(beta, WW)), 1.0)
    C = mat_add(mat_scale(-0.5, V_), mat_scale(beta, mat_add(mat_mul(W, V_), mat_mul(V_, W))))
    return A, mat_add(C, mat_scale(gamma * dot(w, v), WW))


@kernel
def dlog_derivative(w, v, beta, gamma, kappa_, m, f):
    """N = ∂/∂x [dlog_xᵀ y] at fixed y = (m, f), as blocks: [[N_w, N_f], [N_f, 0]]."""
    W = hat(w)
    wf, wm, vf = cross(w, f), cross(w, m), cross(v, f)
    wwf, wv = cross(w, wf), dot(w, v)
    twist_f = mat_add(hat(wf), mat_mul(W, hat(f)))
    twist_m = mat_add(mat_add(hat(wm), mat_mul(W, hat(m))), mat_add(hat(vf), mat_mul(hat(v), hat(f))))
    Nf = mat_add(mat_add(mat_scale(-0.5, hat(f)), mat_scale(-beta, twist_f)), mat_scale(gamma, outer(wwf, w)))
    Nw = mat_add(mat_scale(-0.5, hat(m)), mat_scale(-beta, twist_m))
    Nw = mat_add(Nw, mat_scale(-gamma * wv, twist_f))
    along = add_scaled(scale(gamma, add(add(cross(w, wm), cross(w, vf)), cross(v, wf))), kappa_ * wv, wwf)
    return mat_add(Nw, mat_add(outer(along, w), mat_scale(gamma, outer(wwf, v)))), Nf


@kernel
def link_stiffness(w, o, h):
    """K = (dlogᵀ G/h + N) dlog of a link, as four 3×3 blocks: δμ = K ζ when ΔT ← exp(ζ) ΔT. Needs displacements()."""
    dR = get4(w, o + DQ)
    w_, v, beta, gamma = log(dR, get3(w, o + D))
    s = dR[1] * dR[1] + dR[2] * dR[2] + dR[3] * dR[3]
    mass, c = w[o + MASS] / h, scale(1.0 / h, get3(w, o + MOMENT_W))
    inertia = mat_scale(1.0 / h, mat_of_sym(get6(w, o + INERTIA_W)))
    m = add(mat_vec(inertia, w_), cross(c, v))
    f = sub(scale(mass, v), cross(c, w_))
    A, C = dlog_matrix(w_, v, beta, gamma)
    Nw, Nf = dlog_derivative(w_, v, beta, gamma, kappa(dR[0], s, so3.log_ratio(dR[0], s)), m, f)
    At, Ct, c_hat = transpose(A), transpose(C), hat(c)
    At_c = mat_mul(At, c_hat)
    P11 = mat_add(mat_add(mat_mul(At, inertia), mat_scale(-1.0, mat_mul(Ct, c_hat))), Nw)
    P12 = mat_add(mat_add(At_c, mat_scale(mass, Ct)), Nf)
    P21 = mat_add(mat_scale(-1.0, At_c), Nf)
    P22 = mat_scale(mass, At)
    return (mat_add(mat_mul(P11, A), mat_mul(P12, C)), mat_mul(P12, A),
            mat_add(mat_mul(P21, A), mat_mul(P22, C)), mat_mul(P22, A))


@kernel
def rotation_rate(phi, z):
    """dlog_{−φ} z on SO(3): the rate of φ when its rotation is followed by z."""
    q = so3.exp(phi)
    s = q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    beta, _ = beta_gamma(q[0], s, so3.log_ratio(q[0], s))
    t = cross(phi, z)
    return add_scaled(add_scaled(z, 0.5, t), beta, cross(phi, t))


@kernel
def joint_derivative(w, o, h, turn, move):
    """Change of the joint's own residual (the D₁ terms of armature, damping and spring), in world axes, when its motion
    is
    followed by the twist (turn, move)."""
    k = w[o + ARMATURE] / h + 0.5 * w[o + DAMPING]
    spring = 0.25 * h * w[o + STIFFNESS]
    j, orientation = get4(w, o + J), get4(w, o + Q)
    m = scale(k, rotation_rate(so3.log(j), turn))
    before = get3(w, o + PSI)
    after = so3.log(shorter(so3.multiply(so3.exp(before), so3.conjugate_by(so3.inverse(orientation), j))))
    rate = rotation_rate(after, so3.unrotate(orientation, turn))
    # [dlog_{−ψ0}]ᵀ: the same with the sign of the cross product turned
    m = add_scaled(m, spring, so3.rotate(orientation, rotation_rate(scale(-1.0, before), rate)))
    return m, scale(k + spring, so3.rotate(j, move))


@kernel
def drnea_jacobian(tree, w, h, unit, jacobian):
    """Fill jacobian (nv × nv) = ∂f/∂q^{k+1} in body-axis increments; ``unit`` is scratch, zero, in the layout of v.

    Needs displacements(). Overwrites F, V and A.
    """
    n = len(tree.parent)
    for j in range(n):
        o, k = slot(j), tree.iv[j]
        kind = tree.kind[j]
        dR, d = get4(w, o + DQ), get3(w, o + D)
        for column in range(k, k + DOF[kind]):
            unit[column] = 1.0
            own_turn, own_move = joint_twist(kind, w, o, unit, k)
            unit[column] = 0.0
            # ζ_j = Ad_{ΔT_j} S e, and the same rigid motion at every descendant
            turn = so3.rotate(dR, own_turn)
            move = add(so3.rotate(dR, own_move), cross(d, turn))
            for i in range(n + 1):
                put33(w, slot(i) + V, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
                put33(w, slot(i) + F, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
            for i in range(j, n):  # root → leaves
                c = slot(i)
                if i > j:
                    turn, move = get33(w, slot(tree.parent[i]) + V)
                    turn, move = shift_twist(turn, move, get3(w, c + ARM))
                put33(w, c + V, turn, move)
                K11, K12, K21, K22 = link_stiffness(w, c, h)
                put33(w, c + F, add(mat_vec(K11, turn), mat_vec(K12, move)),
                      add(mat_vec(K21, turn), mat_vec(K22, move)))
            gather(tree, w, F, unit)
            copy(unit, jacobian[:, column])
            clear(unit)
            if kind == SCREW:
                jacobian[k, k] += w[o + ARMATURE] / h + 0.5 * w[o + DAMPING] + 0.25 * h * w[o + STIFFNESS]
                continue
            orientation = get4(w, o + Q)
            m, f = joint_derivative(w, o, h, own_turn, own_move)
            x, y, z = so3.unrotate(orientation, m)
            jacobian[k, column] += x
            jacobian[k + 1, column] += y
            jacobian[k + 2, column] += z
            if kind == FREE:
                x, y, z = so3.unrotate(orientation, f)
                jacobian[k + 3, column] += x
                jacobian[k + 4, column] += y
                jacobian[k + 5, column] += z
