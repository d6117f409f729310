"""How a link's discrete momentum answers when the link is moved: δμ = K ζ for ΔT ← exp(ζ) ΔT, a 6×6 matrix.

K = ([dτ⁻¹]ᵀ G/h + N) dτ⁻¹ with N = ∂/∂x [(dτ⁻¹_x)ᵀ y] at y = G x/h, for a retraction τ. It is what Newton's method and
the Jacobian of the residual are made of. Matrices are four 3×3 blocks. For exp see exponential.py, for split split.py.
"""

from .kinematics import about_origin, inertia_times
from .machine.jit import formula, kernel
from .maths import se3, so3
from .maths.mat3 import (
    hat, mat_add, mat_hat, mat_mul, mat_of_sym, mat_scale, mat_shift, mat_sub, outer, transpose,
)
from .maths.vec3 import add_scaled, cross, dot, scale
from .retractions import cayley
from .retractions.exponential import exp_stiffness, put_stiffness_second_order
from .retractions.split import split_stiffness

EXP, CAYLEY, SPLIT = 0, 1, 2  # retractions


@kernel
def cayley_matrix(w, v):
    """dcay⁻¹_x as blocks: [[A, 0], [C, B]]."""
    B = mat_shift(mat_scale(-0.5, hat(w)), 1.0)
    return mat_add(B, mat_scale(0.25, outer(w, w))), B, mat_scale(-0.5, mat_hat(B, v))


@kernel
def cayley_derivative(w, v, m, f):
    """N for Cayley, as blocks: [[N11, N12], [N21, 0]]."""
    N11 = mat_add(mat_scale(-0.5, hat(m)), mat_scale(0.25, mat_shift(outer(w, m), dot(w, m))))
    N11 = mat_sub(N11, mat_scale(0.25, mat_shift(outer(f, v), -dot(v, f))))
    return N11, mat_scale(-0.5, hat(add_scaled(f, 0.5, cross(w, f)))), mat_scale(-0.5, hat(f))


@kernel
def cayley_stiffness(L, h):
    """K of a link for Cayley: ([[A, 0], [C, B]]ᵀ G/h + N) [[A, 0], [C, B]]."""
    turn, move = cayley.inverse(L.dR, L.d)
    m, f = inertia_times(L, L.mass, turn, move)
    A, B, C = cayley_matrix(turn, move)
    N11, N12, N21 = cayley_derivative(turn, move, scale(1.0 / h, m), scale(1.0 / h, f))
    mass, c, inertia = about_origin(L)
    mass, c, inertia = mass / h, scale(1.0 / h, c), mat_scale(1.0 / h, mat_of_sym(inertia))
    At, Bt, Ct = transpose(A), transpose(B), transpose(C)
    P11 = mat_add(mat_sub(mat_mul(At, inertia), mat_hat(Ct, c)), N11)
    P12 = mat_add(mat_add(mat_hat(At, c), mat_scale(mass, Ct)), N12)
    P21 = mat_sub(N21, mat_hat(Bt, c))
    return (mat_add(mat_mul(P11, A), mat_mul(P12, C)), mat_mul(P12, B),
            mat_add(mat_mul(P21, A), mat_scale(mass, mat_mul(Bt, C))), mat_scale(mass, mat_mul(Bt, B)))


@formula
def split_stiffness_of(L, h):
    """K of a link, or of four, for SPLIT."""
    ratio, beta, gamma = se3.terms_of(L.dR)
    return split_stiffness(L, h, ratio, beta, gamma)


@formula
def link_stiffness(L, h, retraction):
    """K of a link, or of four, as blocks. Without a retraction, None, it is SPLIT. Needs displacements()."""
    if retraction is None:  # a branch of its own, so that Numba leaves out the others
        return split_stiffness_of(L, h)
    if retraction == SPLIT:
        return split_stiffness_of(L, h)
    if retraction == CAYLEY:
        return cayley_stiffness(L, h)
    dR = L.dR
    u = so3.vector(dR)
    ratio, beta, gamma, kappa = se3.four_terms(dR[0], dot(u, u))
    return exp_stiffness(L, h, ratio, beta, gamma, kappa)


@formula
def put_exact_stiffness(L, h, retraction):
    """Set K of a link, or of four, exactly."""
    L.K = link_stiffness(L, h, retraction)


@formula
def put_stiffness(L, h, retraction, exact):
    """Set K of a link, or of four: exactly, or to second order in the motion, which is for EXP."""
    if retraction is None:  # as in link_stiffness
        put_exact_stiffness(L, h, retraction)
        return
    if exact:
        put_exact_stiffness(L, h, retraction)
    else:
        put_stiffness_second_order(L, h)
