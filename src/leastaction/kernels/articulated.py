"""Articulated matrices along the tree: a link's own, and what its children pass on to it.

In packed rows (blocks.py) the sum is kept; of nine numbers only what the children add, the link's own being added where
it is read: that is less to write and to read. Of a symmetric matrix only one half is kept then, and LLVM finds that the
other half of every operation is the same, or not needed.
"""

from .blocks import (
    NINE, NOUGHT, ROWS, add_outer, block_add, get_blocks, get_nine, put_blocks, put_nine_at, shift_blocks, two_forms,
)
from .float4 import lanes_to_rows
from .jit import formula
from .layout import LANES, get3, get9, put3, put9
from .mat3 import add_hat_mat, mat_add, outer, sub_mat_hat, transpose
from .simd import in_fours
from .vec3 import scale


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
deal = two_forms(_nothing, _deal_rows)


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
articulated = two_forms(_nine_articulated, _rows_articulated)


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
accumulate = two_forms(_nine_accumulate, _rows_accumulate)


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
pass_on = two_forms(_nine_pass_on, _rows_pass_on)
