"""3×3 matrices, row by row, as tuples of nine numbers."""

from ..machine.jit import formula
from ..machine.simd import nought
from .vec3 import dot


@formula
def hat(a):
    """The matrix of a×."""
    zero = nought(a[0])
    return zero, -a[2], a[1], a[2], zero, -a[0], -a[1], a[0], zero


@formula
def mat_add(A, B):
    return (A[0] + B[0], A[1] + B[1], A[2] + B[2], A[3] + B[3], A[4] + B[4], A[5] + B[5],
            A[6] + B[6], A[7] + B[7], A[8] + B[8])


@formula
def mat_scale(k, A):
    return k * A[0], k * A[1], k * A[2], k * A[3], k * A[4], k * A[5], k * A[6], k * A[7], k * A[8]


@formula
def mat_shift(A, k):
    """A + k·1."""
    return A[0] + k, A[1], A[2], A[3], A[4] + k, A[5], A[6], A[7], A[8] + k


@formula
def scalar(k):
    """k·1."""
    zero = nought(k)
    return k, zero, zero, zero, k, zero, zero, zero, k


@formula
def transpose(A):
    return A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]


@formula
def columns(a, b, c):
    """The matrix that has these columns."""
    return a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2]


@formula
def outer(a, b):
    """a bᵀ."""
    return (a[0] * b[0], a[0] * b[1], a[0] * b[2], a[1] * b[0], a[1] * b[1], a[1] * b[2],
            a[2] * b[0], a[2] * b[1], a[2] * b[2])


@formula
def mat_mul(A, B):
    a0, a1, a2 = (A[0], A[1], A[2]), (A[3], A[4], A[5]), (A[6], A[7], A[8])
    b0, b1, b2 = (B[0], B[3], B[6]), (B[1], B[4], B[7]), (B[2], B[5], B[8])
    return (dot(a0, b0), dot(a0, b1), dot(a0, b2), dot(a1, b0), dot(a1, b1), dot(a1, b2),
            dot(a2, b0), dot(a2, b1), dot(a2, b2))


@formula
def mat_vec(A, b):
    return dot((A[0], A[1], A[2]), b), dot((A[3], A[4], A[5]), b), dot((A[6], A[7], A[8]), b)


@formula
def mat_of_sym(A):
    return A[0], A[3], A[4], A[3], A[1], A[5], A[4], A[5], A[2]


@formula
def square_of(a, k):
    """k a aᵀ, of whose nine numbers only six are computed."""
    x, y, z = k * a[0], k * a[1], k * a[2]
    return mat_of_sym((x * a[0], y * a[1], z * a[2], x * a[1], x * a[2], y * a[2]))


@formula
def mat_sub(A, B):
    return (A[0] - B[0], A[1] - B[1], A[2] - B[2], A[3] - B[3], A[4] - B[4], A[5] - B[5],
            A[6] - B[6], A[7] - B[7], A[8] - B[8])


@formula
def vec_mat(a, B):
    """aᵀ B."""
    return dot(a, (B[0], B[3], B[6])), dot(a, (B[1], B[4], B[7])), dot(a, (B[2], B[5], B[8]))


@formula
def mat_hat(A, b):
    """A b̂: every row × b."""
    return (A[1] * b[2] - A[2] * b[1], A[2] * b[0] - A[0] * b[2], A[0] * b[1] - A[1] * b[0],
            A[4] * b[2] - A[5] * b[1], A[5] * b[0] - A[3] * b[2], A[3] * b[1] - A[4] * b[0],
            A[7] * b[2] - A[8] * b[1], A[8] * b[0] - A[6] * b[2], A[6] * b[1] - A[7] * b[0])


@formula
def add_hat_mat(M, a, B):
    """M + â B, in two operations per number."""
    return (M[0] + a[1] * B[6] - a[2] * B[3], M[1] + a[1] * B[7] - a[2] * B[4], M[2] + a[1] * B[8] - a[2] * B[5],
            M[3] + a[2] * B[0] - a[0] * B[6], M[4] + a[2] * B[1] - a[0] * B[7], M[5] + a[2] * B[2] - a[0] * B[8],
            M[6] + a[0] * B[3] - a[1] * B[0], M[7] + a[0] * B[4] - a[1] * B[1], M[8] + a[0] * B[5] - a[1] * B[2])


@formula
def sub_mat_hat(M, A, b):
    """M − A b̂."""
    return (M[0] + A[2] * b[1] - A[1] * b[2], M[1] + A[0] * b[2] - A[2] * b[0], M[2] + A[1] * b[0] - A[0] * b[1],
            M[3] + A[5] * b[1] - A[4] * b[2], M[4] + A[3] * b[2] - A[5] * b[0], M[5] + A[4] * b[0] - A[3] * b[1],
            M[6] + A[8] * b[1] - A[7] * b[2], M[7] + A[6] * b[2] - A[8] * b[0], M[8] + A[7] * b[0] - A[6] * b[1])


@formula
def mat_inverse(A):
    """Inverse by cofactors; a singular matrix gives infinities and NaN."""
    a, b, c = A[4] * A[8] - A[5] * A[7], A[5] * A[6] - A[3] * A[8], A[3] * A[7] - A[4] * A[6]
    k = 1.0 / (A[0] * a + A[1] * b + A[2] * c)
    return (k * a, k * (A[2] * A[7] - A[1] * A[8]), k * (A[1] * A[5] - A[2] * A[4]),
            k * b, k * (A[0] * A[8] - A[2] * A[6]), k * (A[2] * A[3] - A[0] * A[5]),
            k * c, k * (A[1] * A[6] - A[0] * A[7]), k * (A[0] * A[4] - A[1] * A[3]))


@formula
def determinant(A):
    return (A[0] * (A[4] * A[8] - A[5] * A[7]) + A[1] * (A[5] * A[6] - A[3] * A[8])
            + A[2] * (A[3] * A[7] - A[4] * A[6]))
