"""Whether the pivot of a joint is positive: a joint that moves no inertia has none."""

from ..machine.jit import kernel
from ..machine.simd import below
from ..maths.mat3 import determinant

SINGULAR = 1e-14  # relative to the terms it is the sum of, below which a pivot counts as zero


@kernel
def own_terms(A11, A22, turn, move):
    """What a pivot is the sum of, each term without its sign: a scale to judge it by."""
    return (turn[0] * turn[0] * A11[0] + turn[1] * turn[1] * A11[4] + turn[2] * turn[2] * A11[8]
            + move[0] * move[0] * A22[0] + move[1] * move[1] * A22[4] + move[2] * move[2] * A22[8])


@kernel
def positive(D, small):
    """Whether a symmetric matrix is positive definite, with pivots above ``small``."""
    minor = D[0] * D[4] - D[1] * D[1]
    return below(small, D[0]) and below(small * D[0], minor) and below(small * minor, determinant(D))
