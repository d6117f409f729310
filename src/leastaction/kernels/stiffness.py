"""The stiffness K of a link, a 6×6 matrix: when the link moves by ΔT ← exp(ζ) ΔT, its momentum changes by δμ = K ζ.

K = ([dτ⁻¹]ᵀ G/h + N) dτ⁻¹ with N = ∂/∂x [(dτ⁻¹_x)ᵀ y] at y = G x/h, for a retraction τ. Newton's method and the
Jacobian of the residual are built from it. Matrices are four 3×3 blocks. See exponential.py and split.py.
"""

from .machine.jit import formula
from .maths import se3, so3
from .maths.vec3 import dot
from .retractions.exponential import exp_stiffness, put_stiffness_second_order
from .retractions.split import split_stiffness

EXP, SPLIT = 0, 1  # retractions


@formula
def split_stiffness_of(L, h):
    """K of a link, or of four, for SPLIT."""
    ratio, beta, gamma = se3.terms_of(L.dR)
    return split_stiffness(L, h, ratio, beta, gamma)


@formula
def link_stiffness(L, h, retraction):
    """K of a link, or of four, as blocks. Without a retraction, None, it is SPLIT. Needs displacements()."""
    if retraction is None:  # a test of its own, so that Numba leaves out the other branch
        return split_stiffness_of(L, h)
    if retraction == SPLIT:
        return split_stiffness_of(L, h)
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
