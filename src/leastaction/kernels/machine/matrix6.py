"""6×6 matrices from twists to wrenches, in four 3×3 blocks (11, 12, 21, 22): articulated inertias and stiffnesses.

A block has one of two forms: nine numbers row by row, or three packed rows. The recursions along the tree work on one
link at a time; with packed rows that link's matrix fills the lanes of SIMD (a sweep takes a third of the time). Nine
numbers serve plain Python, and four links or four simulations at once. Every operation below has both forms under one
name, so that the sweeps are written once. A twist or a wrench is a pair of vectors; a *row* is a covector in the form
of its matrix: a pair of vectors, or of packed ones.
"""

from numba.core import types
from numba.extending import overload

from ..layout import ARTICULATED, ROWS
from ..maths.mat3 import (
    add_hat_mat, mat_add, mat_inverse, mat_mul, mat_scale, mat_sub, mat_vec, outer, sub_mat_hat, vec_mat,
)
from ..maths.vec3 import add, cross, dot
from .fields import LANES, records
from .float4 import cycled, float4, lanes_to_rows, packed, sums
from .jit import INNER, formula, kernel
from .memory import link
from .simd import SIMD, forget, in_fours, of_numbers

NOUGHT = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
ZERO = NOUGHT, NOUGHT, NOUGHT, NOUGHT

_articulated, _articulated_team = records(ARTICULATED)


def _is_packed(first):
    """Whether an argument is a matrix of packed rows, a packed row, or the memory where they are."""
    if not isinstance(first, types.BaseTuple):
        return first is of_numbers
    if len(first) == 4:
        return len(first[0]) == 3
    return first[0] is float4


def two_forms(nine, rows):
    """One name for both forms: ``rows`` where the first argument is packed."""
    nine = getattr(nine, "py_func", nine)
    if not SIMD:
        return formula(nine)

    def function(*args):
        raise NotImplementedError("for kernels only")

    @overload(function, strict=False, jit_options={"forceinline": True, **INNER})
    def choose(first, *others):
        return rows if _is_packed(first) else nine

    return function


def _rows_add(A, B):
    return (_block_add(A[0], B[0]), _block_add(A[1], B[1]), _block_add(A[2], B[2]), _block_add(A[3], B[3]))


@formula
def _block_add(M, N):
    return M[0] + N[0], M[1] + N[1], M[2] + N[2]


def _nine_add(A, B):
    return mat_add(A[0], B[0]), mat_add(A[1], B[1]), mat_add(A[2], B[2]), mat_add(A[3], B[3])


def _rows_times(A, twist):
    (turn, move), (A11, A12, A21, A22) = twist, A
    a, b = packed(turn[0], turn[1], turn[2]), packed(move[0], move[1], move[2])
    return (sums(A11[0] * a + A12[0] * b, A11[1] * a + A12[1] * b, A11[2] * a + A12[2] * b),
            sums(A21[0] * a + A22[0] * b, A21[1] * a + A22[1] * b, A21[2] * a + A22[2] * b))


def _nine_times(A, twist):
    turn, move = twist
    return add(mat_vec(A[0], turn), mat_vec(A[1], move)), add(mat_vec(A[2], turn), mat_vec(A[3], move))


def _rows_row_of(A, twist, slides):
    (turn, move), (A11, A12, A21, A22) = twist, A
    m = A11[0] * turn[0] + A11[1] * turn[1] + A11[2] * turn[2]
    f = A12[0] * turn[0] + A12[1] * turn[1] + A12[2] * turn[2]
    if not slides:
        return m, f
    return (m + (A21[0] * move[0] + A21[1] * move[1] + A21[2] * move[2]),
            f + (A22[0] * move[0] + A22[1] * move[1] + A22[2] * move[2]))


def _nine_row_of(A, twist, slides):
    turn, move = twist
    m, f = vec_mat(turn, A[0]), vec_mat(turn, A[1])
    if not slides:
        return m, f
    return add(m, vec_mat(move, A[2])), add(f, vec_mat(move, A[3]))


def _rows_upper(A, twist):
    (turn, move), a, b = twist, A[0], A[1]
    t, v = packed(turn[0], turn[1], turn[2]), packed(move[0], move[1], move[2])
    return sums(a[0] * t + b[0] * v, a[1] * t + b[1] * v, a[2] * t + b[2] * v)


def _nine_upper(A, twist):
    return add(mat_vec(A[0], twist[0]), mat_vec(A[1], twist[1]))


def _row_dot(row, twist):
    turn, move = twist
    x = row[0] * packed(turn[0], turn[1], turn[2]) + row[1] * packed(move[0], move[1], move[2])
    return x[0] + x[1] + x[2]


def _nine_row_dot(row, twist):
    return dot(row[0], twist[0]) + dot(row[1], twist[1])


def _row_shift(row, arm):
    p = packed(arm[0], arm[1], arm[2])
    return row[0] + cycled(p * cycled(row[1]) - cycled(p) * row[1]), row[1]


def _nine_row_shift(row, arm):
    return add(row[0], cross(arm, row[1])), row[1]


def _row_numbers(row):
    m, f = row
    return (m[0], m[1], m[2]), (f[0], f[1], f[2])


@formula
def _rows_sub_mat_hat(M, N, p, q):
    """M − N p̂, p packed and q = cycled(p)."""
    return (M[0] + cycled(cycled(N[0]) * p - N[0] * q), M[1] + cycled(cycled(N[1]) * p - N[1] * q),
            M[2] + cycled(cycled(N[2]) * p - N[2] * q))


@formula
def _rows_add_hat_mat(M, a, N):
    """M + â N."""
    return (M[0] + (N[2] * a[1] - N[1] * a[2]), M[1] + (N[0] * a[2] - N[2] * a[0]),
            M[2] + (N[1] * a[0] - N[0] * a[1]))


def _rows_shift(A, arm):
    A11, A12, A21, A22 = A
    p = packed(arm[0], arm[1], arm[2])
    q = cycled(p)
    A21 = _rows_sub_mat_hat(A21, A22, p, q)
    return (_rows_add_hat_mat(_rows_sub_mat_hat(A11, A12, p, q), arm, A21), _rows_add_hat_mat(A12, arm, A22), A21, A22)


def _nine_shift(A, arm):
    A11, A12, A21, A22 = A
    A21 = sub_mat_hat(A21, A22, arm)
    return add_hat_mat(sub_mat_hat(A11, A12, arm), arm, A21), add_hat_mat(A12, arm, A22), A21, A22


@formula
def _block_add_outer(M, a, row):
    return M[0] + row * a[0], M[1] + row * a[1], M[2] + row * a[2]


@formula
def _block_nine(M):
    return M[0][0], M[0][1], M[0][2], M[1][0], M[1][1], M[1][2], M[2][0], M[2][1], M[2][2]


@formula
def _block_rows(M):
    return packed(M[0], M[1], M[2]), packed(M[3], M[4], M[5]), packed(M[6], M[7], M[8])


def _rows_nine(A):
    return _block_nine(A[0]), _block_nine(A[1]), _block_nine(A[2]), _block_nine(A[3])


def _rows_add_outer(A, column, row):
    (A11, A12, A21, A22), (um, uf), (m, f) = A, column, row
    m, f = packed(m[0], m[1], m[2]), packed(f[0], f[1], f[2])
    return (_block_add_outer(A11, um, m), _block_add_outer(A12, um, f), _block_add_outer(A21, uf, m),
            _block_add_outer(A22, uf, f))


def _nine_add_outer(A, column, row):
    (A11, A12, A21, A22), (um, uf), (m, f) = A, column, row
    return (mat_add(A11, outer(um, m)), mat_add(A12, outer(um, f)), mat_add(A21, outer(uf, m)),
            mat_add(A22, outer(uf, f)))


def _itself(A):
    return A


def _rows_alike(A, B):
    return _block_rows(B[0]), _block_rows(B[1]), _block_rows(B[2]), _block_rows(B[3])


def _nine_alike(A, B):
    return B


add6 = two_forms(_nine_add, _rows_add)  # A + B
add_outer = two_forms(_nine_add_outer, _rows_add_outer)  # A + column rowᵀ, of pairs of vectors
times = two_forms(_nine_times, _rows_times)  # A twist, a wrench
upper_times = two_forms(_nine_upper, _rows_upper)  # its moment
row_of = two_forms(_nine_row_of, _rows_row_of)  # twistᵀ A; unless it ``slides``, the linear part of the twist is zero
row_dot = two_forms(_nine_row_dot, _row_dot)  # row · twist
row_shift = two_forms(_nine_row_shift, _row_shift)  # as kinematics.shift_wrench
row_numbers = two_forms(_itself, _row_numbers)  # a row as a pair of vectors
shift6 = two_forms(_nine_shift, _rows_shift)  # Xᵀ A X: about the parent's origin, from which this one is at ``arm``


@formula
def times_transposed(A, twist):
    """Aᵀ twist, a wrench."""
    return row_numbers(row_of(A, twist, True))


nine = two_forms(_itself, _rows_nine)  # A as four blocks of nine numbers
alike = two_forms(_nine_alike, _rows_alike)  # B, four blocks of nine numbers, in the form of A


# The articulated matrices of all links, in memory


def _rows_matrix(w, tree, i):
    x, a = in_fours(w), tree.matrices + i * ROWS
    return ((x[a], x[a + 4], x[a + 8]), (x[a + 12], x[a + 16], x[a + 20]),
            (x[a + 24], x[a + 28], x[a + 32]), (x[a + 36], x[a + 40], x[a + 44]))


def _nine_matrix(w, tree, i):
    return _articulated(w, tree.matrices, i).matrix


def _rows_put(w, tree, i, A):
    x, a = in_fours(w), tree.matrices + i * ROWS
    x[a], x[a + 4], x[a + 8] = A[0]
    x[a + 12], x[a + 16], x[a + 20] = A[1]
    x[a + 24], x[a + 28], x[a + 32] = A[2]
    x[a + 36], x[a + 40], x[a + 44] = A[3]


def _nine_put(w, tree, i, A):
    _articulated(w, tree.matrices, i).matrix = A


@formula
def _deal_row(x, a, three):
    """Of three numbers of four links: the packed row of every link."""
    x[a], x[a + ROWS], x[a + 2 * ROWS], x[a + 3 * ROWS] = lanes_to_rows(three[0], three[1], three[2])


@formula
def _deal_block(x, a, M):
    _deal_row(x, a, (M[0], M[1], M[2]))
    _deal_row(x, a + LANES, (M[3], M[4], M[5]))
    _deal_row(x, a + 2 * LANES, (M[6], M[7], M[8]))


def _rows_begin(w, tree, k, A):
    x, a = in_fours(w), tree.matrices + k * LANES * ROWS
    _deal_block(x, a, A[0])
    _deal_block(x, a + 3 * LANES, A[1])
    _deal_block(x, a + 6 * LANES, A[2])
    _deal_block(x, a + 9 * LANES, A[3])


def _nine_begin(w, tree, k, A):
    _articulated_team(w, tree.matrices, k).matrix = A


matrix = two_forms(_nine_matrix, _rows_matrix)  # the articulated matrix of link i
_nine_of_rows = formula(lambda w, tree, i: nine(matrix(w, tree, i)))
# The same in the form that fits the numbers of the memory r: packed rows fit single numbers only
matrix_for = two_forms(lambda r, w, tree, i: _nine_of_rows(w, tree, i), lambda r, w, tree, i: matrix(w, tree, i))
put_matrix = two_forms(_nine_put, _rows_put)
begin = two_forms(_nine_begin, _rows_begin)  # set the matrices of the k-th team to A, which has nine numbers a block
# Read blocks of nine numbers from memory again, as the registers do not hold all of them; packed rows stay in registers
afresh = two_forms(lambda w: forget(), lambda w: None)


@formula
def add_to_matrix(w, tree, i, A):
    """Add to the articulated matrix of link i."""
    put_matrix(w, tree, i, add6(matrix(w, tree, i), A))


def _rows_pass_on(w, tree, i, A, column, row):
    # Shift before the joint is eliminated, so that the shift need not wait for the pivot
    (A11, A12, A21, A22), (um, uf) = shift6(A, link(w, i).arm), column
    add_to_matrix(w, tree, tree.parent[i], (_block_add_outer(A11, um, row[0]), _block_add_outer(A12, um, row[1]),
                                            _block_add_outer(A21, uf, row[0]), _block_add_outer(A22, uf, row[1])))


def _nine_pass_on(w, tree, i, A, column, row):
    # Read one block after the other: the registers do not hold all of them, and the stack would be one more copy
    (um, uf), (wm, wf), arm = column, row, link(w, i).arm
    a, b = _articulated(w, tree.matrices, i), _articulated(w, tree.matrices, tree.parent[i])
    forget()
    b.A12 = mat_add(b.A12, mat_add(add_hat_mat(a.A12, arm, a.A22), outer(um, wf)))
    forget()
    b.A22 = mat_add(b.A22, mat_add(a.A22, outer(uf, wf)))
    forget()
    A21 = sub_mat_hat(a.A21, a.A22, arm)
    b.A21 = mat_add(b.A21, mat_add(A21, outer(uf, wm)))
    forget()
    A11 = add_hat_mat(sub_mat_hat(a.A11, a.A12, arm), arm, A21)
    b.A11 = mat_add(b.A11, mat_add(A11, outer(um, wm)))


# Add Xᵀ Â X + column rowᵀ to the articulated matrix of the parent of link i, where Â is that of i; the column and the
# row are given about the parent's origin
pass_on = two_forms(_nine_pass_on, _rows_pass_on)


# The rest is for matrices of four blocks of nine numbers


@kernel
def mul6(P, Q):
    """P Q."""
    return (mat_add(mat_mul(P[0], Q[0]), mat_mul(P[1], Q[2])), mat_add(mat_mul(P[0], Q[1]), mat_mul(P[1], Q[3])),
            mat_add(mat_mul(P[2], Q[0]), mat_mul(P[3], Q[2])), mat_add(mat_mul(P[2], Q[1]), mat_mul(P[3], Q[3])))


@kernel
def schur_complement(P):
    """Schur complement of the last block, and the inverse of that block, which is a mass and so well conditioned."""
    R = mat_inverse(P[3])
    return mat_sub(P[0], mat_mul(P[1], mat_mul(R, P[2]))), R


@kernel
def inverse6(P, schur, R):
    """P⁻¹, given its schur_complement()."""
    RC, BR = mat_mul(R, P[2]), mat_mul(P[1], R)
    T = mat_inverse(schur)
    TBR, RCT = mat_mul(T, BR), mat_mul(RC, T)
    return T, mat_scale(-1.0, TBR), mat_scale(-1.0, RCT), mat_add(R, mat_mul(RC, TBR))
