"""6×6 matrices from twists to wrenches, in four 3×3 blocks (11, 12, 21, 22): articulated inertias and stiffnesses.

A block has one of two forms: nine numbers row by row, or three packed rows. The recursions along the tree work on one
link at a time; with packed rows that link's matrix fills the lanes of SIMD (a sweep takes a third of the time). Nine
numbers serve plain Python, and four links or four simulations at once. Every operation below has both forms under one
name, so that the sweeps are written once; matrices come first in its arguments, vectors are three numbers.

An articulated matrix is a link's own and what its children pass on. In packed rows the sum is kept; of nine numbers
only what the children add, the link's own being added where it is read: that is less to write and to read. Of one that
is symmetric only one half is kept, and LLVM finds that the other half of every operation is the same or not needed.
"""

from numba.core import types
from numba.extending import overload

from . import mat3
from .jit import INNER, formula, kernel
from .layout import LANES, get3, get9, put3, put9
from .mat3 import (
    add_hat_mat, mat_add, mat_inverse, mat_mul, mat_scale, mat_sub, mat_vec, outer, sub_mat_hat, transpose, vec_mat,
)
from .simd import SIMD, cycled, float4, in_fours, lanes_to_rows, of_numbers, packed, sums
from .vec3 import add, cross, dot, scale

ROWS = 12 * LANES  # of one link
NINE = 9 * LANES
NOUGHT = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def _is_rows(first):
    """Whether an argument is a matrix of packed rows, or a view of the memory where they are."""
    return first is of_numbers or (isinstance(first, types.BaseTuple) and len(first) == 3 and first[0] is float4)


def _is_row(first):
    return first is float4


def _two_forms(nine, rows, is_packed=_is_rows):
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


def _rows_twist_times(A11, A12, A21, A22, turn, move):
    return ((A11[0] * turn[0] + A11[1] * turn[1] + A11[2] * turn[2])
            + (A21[0] * move[0] + A21[1] * move[1] + A21[2] * move[2]),
            (A12[0] * turn[0] + A12[1] * turn[1] + A12[2] * turn[2])
            + (A22[0] * move[0] + A22[1] * move[1] + A22[2] * move[2]))


def _nine_twist_times(A11, A12, A21, A22, turn, move):
    return add(vec_mat(turn, A11), vec_mat(move, A21)), add(vec_mat(turn, A12), vec_mat(move, A22))


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


def _get_nine(w, o, row):
    return get_nine(w, o + row)


def _put_nine(w, o, row, A11, A12, A21, A22):
    put_nine_at(w, o + row, A11, A12, A21, A22)


@formula
def _rows_of_link(o, row):
    """Where the rows of a link begin, o being its slot."""
    lane = o & (LANES - 1)
    return o - lane + row + lane * ROWS


def _get_rows(w, o, row):
    a, x = _rows_of_link(o, row), in_fours(w)
    return ((x[a], x[a + 4], x[a + 8]), (x[a + 12], x[a + 16], x[a + 20]),
            (x[a + 24], x[a + 28], x[a + 32]), (x[a + 36], x[a + 40], x[a + 44]))


def _put_rows(w, o, row, A11, A12, A21, A22):
    a, x = _rows_of_link(o, row), in_fours(w)
    x[a], x[a + 4], x[a + 8] = A11
    x[a + 12], x[a + 16], x[a + 20] = A12
    x[a + 24], x[a + 28], x[a + 32] = A21
    x[a + 36], x[a + 40], x[a + 44] = A22


def _put_nine_as_rows(w, o, row, A11, A12, A21, A22):
    put_blocks(w, o, row, _of_nine(A11), _of_nine(A12), _of_nine(A21), _of_nine(A22))


block_add = _two_forms(mat3.mat_add, _rows_add)
add_outer = _two_forms(_nine_add_outer, _rows_add_outer)  # M + a bᵀ
times = _two_forms(mat3.mat_vec, _rows_times)  # M b
sub_times_hat = _two_forms(mat3.sub_mat_hat, _rows_sub_mat_hat)  # M − N b̂
add_hat_times = _two_forms(mat3.add_hat_mat, _rows_add_hat_mat)  # M + â N
nine = _two_forms(_itself, _rows_nine)  # the nine numbers of M
alike = _two_forms(_like_nine, _like_rows)  # nine numbers in the form of M
get_blocks = _two_forms(_get_nine, _get_rows)  # of the link at slot o, its rows beginning at ``row``
put_blocks = _two_forms(_put_nine, _put_rows)
put_nine = _two_forms(_put_nine, _put_nine_as_rows)  # the same, of nine numbers each
matrix_times = _two_forms(_nine_matrix_times, _rows_matrix_times)  # wrench (m, f) of a twist (turn, move)
# (turn, move)ᵀ times the matrix: what a wrench is for a symmetric one, as rows. A row is three numbers, or packed
twist_times = _two_forms(_nine_twist_times, _rows_twist_times)
row_dot = _two_forms(_nine_row_dot, _row_dot, _is_row)  # two rows times a twist
row_shift = _two_forms(_nine_row_shift, _row_shift, _is_row)  # as kinematics.shift_wrench
row_numbers = _two_forms(_itself, _row_numbers, _is_row)


@formula
def _deal_row(w, at, x, y, z):
    """Of three numbers of four links: the packed row of every link."""
    w[at], w[at + ROWS], w[at + 2 * ROWS], w[at + 3 * ROWS] = lanes_to_rows(x, y, z)


@formula
def _deal_block(w, at, M):
    _deal_row(w, at, M[0], M[1], M[2])
    _deal_row(w, at + LANES, M[3], M[4], M[5])
    _deal_row(w, at + 2 * LANES, M[6], M[7], M[8])


def _deal_rows(w, o, row, A11, A12, A21, A22):
    four = in_fours(w)
    _deal_block(four, o + row, A11)
    _deal_block(four, o + row + 3 * LANES, A12)
    _deal_block(four, o + row + 6 * LANES, A21)
    _deal_block(four, o + row + 9 * LANES, A22)


def _nothing(w, o, row, A11, A12, A21, A22):
    pass


# Begin the articulated matrix of every link of a block with its own, given as nine numbers of all four
deal = _two_forms(_nothing, _deal_rows)


@formula
def _upper(w, a):
    """A symmetric block of which one half is kept."""
    xx, xy, xz = get3(w, a)
    yy, yz, zz = w[a + 4 * LANES], w[a + 5 * LANES], w[a + 8 * LANES]
    return xx, xy, xz, xy, yy, yz, xz, yz, zz


@formula
def _put_upper(w, a, M):
    put3(w, a, (M[0], M[1], M[2]))
    w[a + 4 * LANES], w[a + 5 * LANES], w[a + 8 * LANES] = M[4], M[5], M[8]


def _rows_articulated(w, o, row, symmetric, leaf, A11, A12, A21, A22):
    return get_blocks(w, o, row)


def _nine_articulated(w, o, row, symmetric, leaf, A11, A12, A21, A22):
    a = o + row
    if leaf:
        put_nine_at(w, a, NOUGHT, NOUGHT, NOUGHT, NOUGHT)
    if symmetric:
        B12 = get9(w, a + NINE)
        return (mat_add(A11, _upper(w, a)), mat_add(A12, B12), mat_add(A21, transpose(B12)),
                mat_add(A22, _upper(w, a + 3 * NINE)))
    B11, B12, B21, B22 = get_nine(w, a)
    return mat_add(A11, B11), mat_add(A12, B12), mat_add(A21, B21), mat_add(A22, B22)


# The articulated matrix at slot o, given the link's own of nine numbers a block
articulated = _two_forms(_nine_articulated, _rows_articulated)


@formula
def shift_blocks(A11, A12, A21, A22, p):
    """Xᵀ Â X to the parent's origin, from which this one is at p."""
    A21 = sub_times_hat(A21, A22, p)
    return add_hat_times(sub_times_hat(A11, A12, p), p, A21), add_hat_times(A12, p, A22), A21, A22


@formula
def _add_nine(w, a, symmetric, first, M):
    """Add a block to what is there, if it is not the first."""
    if symmetric:
        _put_upper(w, a, M if first else mat_add(M, _upper(w, a)))
    else:
        put9(w, a, M if first else mat_add(M, get9(w, a)))


def _rows_accumulate(w, o, row, symmetric, first, A11, A12, A21, A22):
    B11, B12, B21, B22 = get_blocks(w, o, row)
    put_blocks(w, o, row, block_add(A11, B11), block_add(A12, B12), block_add(A21, B21), block_add(A22, B22))


def _nine_accumulate(w, o, row, symmetric, first, A11, A12, A21, A22):
    a = o + row
    _add_nine(w, a, symmetric, first, A11)
    _add_nine(w, a + NINE, False, first, A12)
    if not symmetric:
        _add_nine(w, a + 2 * NINE, False, first, A21)
    _add_nine(w, a + 3 * NINE, symmetric, first, A22)


# Add a matrix to the articulated one at slot o; ``first``: of the children there
accumulate = _two_forms(_nine_accumulate, _rows_accumulate)


def _rows_pass_on(w, o, row, symmetric, first, A11, A12, A21, A22, p, k, um, uf, wm, wf):
    # Shifted before the joint gives way, so that the shift need not wait for the pivot
    A11, A12, A21, A22 = shift_blocks(A11, A12, A21, A22, p)
    um, uf = scale(k, um), scale(k, uf)
    accumulate(w, o, row, symmetric, first, add_outer(A11, um, wm), add_outer(A12, um, wf), add_outer(A21, uf, wm),
               add_outer(A22, uf, wf))


def _nine_pass_on(w, o, row, symmetric, first, A11, A12, A21, A22, p, k, um, uf, wm, wf):
    um, uf = scale(k, um), scale(k, uf)
    if first:  # asked once, as no block of numbers has to wait then
        _pass_nine(w, o + row, symmetric, True, A11, A12, A21, A22, p, um, uf, wm, wf)
    else:
        _pass_nine(w, o + row, symmetric, False, A11, A12, A21, A22, p, um, uf, wm, wf)


@formula
def _pass_nine(w, a, symmetric, first, A11, A12, A21, A22, p, um, uf, wm, wf):
    # One block after the other: the registers do not hold four of nine numbers
    A11 = sub_mat_hat(A11, A12, p)
    _add_nine(w, a + NINE, False, first, mat_add(add_hat_mat(A12, p, A22), outer(um, wf)))
    A21 = sub_mat_hat(A21, A22, p)
    _add_nine(w, a + 3 * NINE, symmetric, first, mat_add(A22, outer(uf, wf)))
    _add_nine(w, a, symmetric, first, mat_add(add_hat_mat(A11, p, A21), outer(um, wm)))
    if not symmetric:
        _add_nine(w, a + 2 * NINE, False, first, mat_add(A21, outer(uf, wm)))


# Add Xᵀ(Â + k u wᵀ)X to the articulated matrix of the parent at slot o, w in rows, u and w seen from there already:
# with k = −1/pivot, what is left of a matrix once its SCREW joint gives way
pass_on = _two_forms(_nine_pass_on, _rows_pass_on)


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
