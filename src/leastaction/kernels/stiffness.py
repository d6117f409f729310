"""How a link's discrete momentum answers when the link is moved: δμ = K ζ for ΔT ← exp(ζ) ΔT, a 6×6 matrix.

K = ([dτ⁻¹]ᵀ G/h + N) dτ⁻¹ with N = ∂/∂x [(dτ⁻¹_x)ᵀ y] at y = G x/h, for the retraction τ = exp or Cayley. It is what
Newton's method and the Jacobian of the residual are made of. Matrices are four 3×3 blocks.
"""

from . import cayley, se3, so3
from .jit import kernel
from .kinematics import inertia_times
from .layout import D, DQ, INERTIA_W, MASS, MOMENT_W, get3, get4, get6
from .mat3 import hat, mat_add, mat_mul, mat_of_sym, mat_scale, mat_shift, mat_sub, outer, transpose
from .vec3 import add, add_scaled, cross, dot, scale

EXP, CAYLEY = 0, 1  # retractions


@kernel
def link_twist(w, o, retraction):
    """x = τ⁻¹(ΔT) of a link, and the β and γ of dlog (zeros for Cayley, which needs none). Needs displacements()."""
    if retraction == CAYLEY:
        turn, move = cayley.inverse(get4(w, o + DQ), get3(w, o + D))
        return turn, move, 0.0, 0.0
    return se3.log(get4(w, o + DQ), get3(w, o + D))


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
def cayley_matrix(w, v):
    """dcay⁻¹_x as blocks: [[A, 0], [C, B]]."""
    B = mat_shift(mat_scale(-0.5, hat(w)), 1.0)
    return mat_add(B, mat_scale(0.25, outer(w, w))), B, mat_scale(-0.5, mat_mul(B, hat(v)))


@kernel
def cayley_derivative(w, v, m, f):
    """N for Cayley, as blocks: [[N11, N12], [N21, 0]]."""
    N11 = mat_add(mat_scale(-0.5, hat(m)), mat_scale(0.25, mat_shift(outer(w, m), dot(w, m))))
    N11 = mat_sub(N11, mat_scale(0.25, mat_mul(hat(v), hat(f))))
    return N11, mat_scale(-0.5, hat(add_scaled(f, 0.5, cross(w, f)))), mat_scale(-0.5, hat(f))


@kernel
def link_stiffness(w, o, h, retraction):
    """K of a link, exactly. Needs displacements()."""
    dR = get4(w, o + DQ)
    turn, move, beta, gamma = link_twist(w, o, retraction)
    m, f = inertia_times(w, o, w[o + MASS], turn, move)
    m, f = scale(1.0 / h, m), scale(1.0 / h, f)
    if retraction == CAYLEY:
        A, B, C = cayley_matrix(turn, move)
        N11, N12, N21 = cayley_derivative(turn, move, m, f)
    else:
        A, C = dlog_matrix(turn, move, beta, gamma)
        s = dR[1] * dR[1] + dR[2] * dR[2] + dR[3] * dR[3]
        kappa = se3.kappa(dR[0], s, so3.log_ratio(dR[0], s))
        N11, N12 = dlog_derivative(turn, move, beta, gamma, kappa, m, f)
        B, N21 = A, N12
    mass, c = w[o + MASS] / h, hat(scale(1.0 / h, get3(w, o + MOMENT_W)))
    inertia = mat_scale(1.0 / h, mat_of_sym(get6(w, o + INERTIA_W)))
    At, Bt, Ct = transpose(A), transpose(B), transpose(C)
    P11 = mat_add(mat_sub(mat_mul(At, inertia), mat_mul(Ct, c)), N11)
    P12 = mat_add(mat_add(mat_mul(At, c), mat_scale(mass, Ct)), N12)
    P21 = mat_sub(N21, mat_mul(Bt, c))
    P22 = mat_scale(mass, Bt)
    return (mat_add(mat_mul(P11, A), mat_mul(P12, C)), mat_mul(P12, B),
            mat_add(mat_mul(P21, A), mat_mul(P22, C)), mat_mul(P22, B))


@kernel
def link_stiffness_first_order(w, o, h):
    """K to first order in x, where both retractions agree and most of it cancels:

    [[I + ½(ŵI − Iŵ − v̂ĉ − ĉv̂) − ½m̂, ĉ], [−ĉ − f̂, mass]] / h, with c the first moment and (m, f) = G x.
    Needs displacements().
    """
    d, u = get3(w, o + D), so3.vector(get4(w, o + DQ))
    turn = scale(2.0, u)
    move = add_scaled(d, -0.5, cross(turn, d))
    m, f = inertia_times(w, o, w[o + MASS], turn, move)
    moment = get3(w, o + MOMENT_W)
    c, W, V_ = hat(moment), hat(turn), hat(move)
    inertia = mat_of_sym(get6(w, o + INERTIA_W))
    odd = mat_sub(mat_sub(mat_mul(W, inertia), mat_mul(inertia, W)), mat_add(mat_mul(V_, c), mat_mul(c, V_)))
    K11 = mat_add(inertia, mat_scale(0.5, mat_sub(odd, hat(m))))
    k, mass = 1.0 / h, w[o + MASS] / h
    return (mat_scale(k, K11), mat_scale(k, c), mat_scale(-k, mat_add(c, hat(f))),
            (mass, 0.0, 0.0, 0.0, mass, 0.0, 0.0, 0.0, mass))
