"""6×6 matrices from twists to wrenches, in four 3×3 blocks (11, 12, 21, 22): articulated inertias and stiffnesses.

A block has one of two forms: nine numbers row by row, or three packed rows. The recursions along the tree work on one
link at a time; with packed rows that link's matrix fills the lanes of SIMD (a sweep takes a third of the time). Nine
numbers serve plain Python, and four links or four simulations at once. Every operation below has both forms under one
name, so that the sweeps are written once; matrices come first in its arguments, vectors are three numbers.
"""

from numba.core import types
from numba.extending import overload

from . import mat3
from .float4 import cycled, float4, packed, sums
from .jit import INNER, formula, kernel
from .layout import LANES, SHELF, get9, put9
from .mat3 import mat_add, mat_inverse, mat_mul, mat_scale, mat_sub, mat_vec, outer, vec_mat
from .simd import SIMD, in_fours, of_numbers
from .vec3 import add, cross, dot

NINE = 9 * LANES
NOUGHT = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def _is_rows(first):
    """Whether an argument is a matrix of packed rows, or a view of the memory where they are."""
    return first is of_numbers or (isinstance(first, types.BaseTuple) and len(first) == 3 and first[0] is float4)


def _is_row(first):
    return first is float4


def two_forms(nine, rows, is_packed=_is_rows):
    """One name for both forms: ``rows`` where the first argument is packed."""
    nine = getattr(nine, "py_func", nine)
    if not SIMD:
        return formula(nine)

    def function(*args):
        raise NotImplementedError("for kernels only")

    @overload(function, strict=False, jit_options={"forceinline": True, **INNER})
    def choose(first, *others):
        return rows if is_packed(first) else nine

    return function


def _rows_add(M, N):
    return M[0] + N[0], M[1] + N[1], M[2] + N[2]


def _rows_add_outer(M, a, row):
    return M[0] + row * a[0], M[1] + row * a[1], M[2] + row * a[2]


def _rows_times(M, b):
    column = packed(b[0], b[1], b[2])
    return sums(M[0] * column, M[1] * column, M[2] * column)


def _rows_matrix_times(A11, A12, A21, A22, turn, move):
    a, b = packed(turn[0], turn[1], turn[2]), packed(move[0], move[1], move[2])
    return (sums(A11[0] * a + A12[0] * b, A11[1] * a + A12[1] * b, A11[2] * a + A12[2] * b),
            sums(A21[0] * a + A22[0] * b, A21[1] * a + A22[1] * b, A21[2] * a + A22[2] * b))


def _nine_matrix_times(A11, A12, A21, A22, turn, move):
    return add(mat_vec(A11, turn), mat_vec(A12, move)), add(mat_vec(A21, turn), mat_vec(A22, move))


def _rows_turn_times(A11, A12, turn):
    return (A11[0] * turn[0] + A11[1] * turn[1] + A11[2] * turn[2],
            A12[0] * turn[0] + A12[1] * turn[1] + A12[2] * turn[2])


def _nine_turn_times(A11, A12, turn):
    return vec_mat(turn, A11), vec_mat(turn, A12)


def _rows_twist_times(A11, A12, A21, A22, turn, move):
    (m, f), (n, g) = turn_times(A11, A12, turn), turn_times(A21, A22, move)
    return m + n, f + g


def _nine_twist_times(A11, A12, A21, A22, turn, move):
    (m, f), (n, g) = turn_times(A11, A12, turn), turn_times(A21, A22, move)
    return add(m, n), add(f, g)


def _row_dot(m, f, turn, move):
    x = m * packed(turn[0], turn[1], turn[2]) + f * packed(move[0], move[1], move[2])
    return x[0] + x[1] + x[2]


def _nine_row_dot(m, f, turn, move):
    return dot(m, turn) + dot(f, move)


def _row_shift(m, f, arm):
    p = packed(arm[0], arm[1], arm[2])
    return m + cycled(p * cycled(f) - cycled(p) * f), f


def _nine_row_shift(m, f, arm):
    return add(m, cross(arm, f)), f


def _row_numbers(x):
    return x[0], x[1], x[2]


def _rows_sub_mat_hat(M, N, b):
    p = packed(b[0], b[1], b[2])
    q = cycled(p)
    return (M[0] + cycled(cycled(N[0]) * p - N[0] * q), M[1] + cycled(cycled(N[1]) * p - N[1] * q),
            M[2] + cycled(cycled(N[2]) * p - N[2] * q))


def _rows_add_hat_mat(M, a, N):
    return (M[0] + (N[2] * a[1] - N[1] * a[2]), M[1] + (N[0] * a[2] - N[2] * a[0]),
            M[2] + (N[1] * a[0] - N[0] * a[1]))


def _rows_nine(M):
    return M[0][0], M[0][1], M[0][2], M[1][0], M[1][1], M[1][2], M[2][0], M[2][1], M[2][2]


def _rows_of_nine(nine):
    return packed(nine[0], nine[1], nine[2]), packed(nine[3], nine[4], nine[5]), packed(nine[6], nine[7], nine[8])


def _nine_add_outer(M, a, b):
    return mat_add(M, outer(a, b))


def _itself(M):
    return M


def _like_nine(M, nine):
    return nine


def _like_rows(M, nine):
    return _of_nine(nine)


_of_nine = formula(_rows_of_nine)


@kernel
def get_nine(w, a):
    """Four blocks of nine numbers."""
    return get9(w, a), get9(w, a + NINE), get9(w, a + 2 * NINE), get9(w, a + 3 * NINE)


@formula
def put_nine_at(w, a, A11, A12, A21, A22):
    put9(w, a, A11)
    put9(w, a + NINE, A12)
    put9(w, a + 2 * NINE, A21)
    put9(w, a + 3 * NINE, A22)


def _rows_address(w, o, row):
    lane = o & (LANES - 1)
    return o - lane + row + lane * SHELF


def _nine_address(w, o, row):
    return o + row


def _get_rows(w, a):
    x = in_fours(w)
    return ((x[a], x[a + 4], x[a + 8]), (x[a + 12], x[a + 16], x[a + 20]),
            (x[a + 24], x[a + 28], x[a + 32]), (x[a + 36], x[a + 40], x[a + 44]))


def _put_rows(w, a, A11, A12, A21, A22):
    x = in_fours(w)
    x[a], x[a + 4], x[a + 8] = A11
    x[a + 12], x[a + 16], x[a + 20] = A12
    x[a + 24], x[a + 28], x[a + 32] = A21
    x[a + 36], x[a + 40], x[a + 44] = A22


def _put_nine_as_rows(w, a, A11, A12, A21, A22):
    put_blocks(w, a, _of_nine(A11), _of_nine(A12), _of_nine(A21), _of_nine(A22))


block_add = two_forms(mat3.mat_add, _rows_add)
add_outer = two_forms(_nine_add_outer, _rows_add_outer)  # M + a bᵀ
times = two_forms(mat3.mat_vec, _rows_times)  # M b
sub_times_hat = two_forms(mat3.sub_mat_hat, _rows_sub_mat_hat)  # M − N b̂
add_hat_times = two_forms(mat3.add_hat_mat, _rows_add_hat_mat)  # M + â N
nine = two_forms(_itself, _rows_nine)  # the nine numbers of M
alike = two_forms(_like_nine, _like_rows)  # nine numbers in the form of M
address_of = two_forms(_nine_address, _rows_address)  # of the four blocks of the link at slot o, at the rows ``row``
get_blocks = two_forms(get_nine, _get_rows)  # the four at an address
put_blocks = two_forms(put_nine_at, _put_rows)
put_nine = two_forms(put_nine_at, _put_nine_as_rows)  # the same, of nine numbers each
matrix_times = two_forms(_nine_matrix_times, _rows_matrix_times)  # wrench (m, f) of a twist (turn, move)
# (turn, move)ᵀ times the matrix: what a wrench is for a symmetric one, as rows. A row is three numbers, or packed
twist_times = two_forms(_nine_twist_times, _rows_twist_times)
turn_times = two_forms(_nine_turn_times, _rows_turn_times)  # the same if the linear part is zero
row_dot = two_forms(_nine_row_dot, _row_dot, _is_row)  # two rows times a twist
row_shift = two_forms(_nine_row_shift, _row_shift, _is_row)  # as kinematics.shift_wrench
row_numbers = two_forms(_itself, _row_numbers, _is_row)


@formula
def shift_blocks(A11, A12, A21, A22, p):
    """Xᵀ Â X to the parent's origin, from which this one is at p."""
    A21 = sub_times_hat(A21, A22, p)
    return add_hat_times(sub_times_hat(A11, A12, p), p, A21), add_hat_times(A12, p, A22), A21, A22


@kernel
def eliminate_ball(A11, A12, A21, A22, column, E, inverse):
    """Â − (D₁, D₂) D⁻¹ (Â₁₁, Â₁₂), of nine numbers: D₁ + E is the pivot D, and 1 − D₁D⁻¹ = E D⁻¹; column is D₂."""
    P = mat_mul(E, inverse)
    R = mat_mul(column, inverse)
    return (mat_mul(P, A11), mat_mul(P, A12), mat_sub(A21, mat_mul(R, A11)), mat_sub(A22, mat_mul(R, A12)))


@kernel
def block_mul(P, Q):
    """Product of two 6×6 matrices of nine numbers a block."""
    return (mat_add(mat_mul(P[0], Q[0]), mat_mul(P[1], Q[2])), mat_add(mat_mul(P[0], Q[1]), mat_mul(P[1], Q[3])),
            mat_add(mat_mul(P[2], Q[0]), mat_mul(P[3], Q[2])), mat_add(mat_mul(P[2], Q[1]), mat_mul(P[3], Q[3])))


@kernel
def schur_complement(P):
    """Of the last block (a mass: well conditioned), and the inverse of that block."""
    R = mat_inverse(P[3])
    return mat_sub(P[0], mat_mul(P[1], mat_mul(R, P[2]))), R


@kernel
def block_inverse(P, schur, R):
    """Inverse of a 6×6 matrix, given its schur_complement()."""
    RC, BR = mat_mul(R, P[2]), mat_mul(P[1], R)
    T = mat_inverse(schur)
    TBR, RCT = mat_mul(T, BR), mat_mul(RC, T)
    return T, mat_scale(-1.0, TBR), mat_scale(-1.0, RCT), mat_add(R, mat_mul(RC, TBR))
