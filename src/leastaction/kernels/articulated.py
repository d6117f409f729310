"""Articulated matrices along the tree: a link's own, and what its children pass on to it.

The sum is kept, at the rows IA or KA of the link. In packed rows (blocks.py) it begins with the link's own, before the
sweep; of nine numbers a block, when the first child adds to it: that is less to write and to read. Of a symmetric
matrix only one half is written then, and LLVM finds that the other half of every operation is the same, or not needed.
"""

from .blocks import (
    NINE, ROWS, add_outer, block_add, get_blocks, get_nine, put_blocks, shift_blocks, two_forms,
)
from .float4 import lanes_to_rows
from .jit import formula
from .kinematics import about_origin
from .layout import LANES, LEAF, K, get3, get9, put3, put9, slot
from .mat3 import add_hat_mat, hat, mat_add, mat_of_sym, outer, scalar, sub_mat_hat, transpose
from .simd import forget, in_fours
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


def _deal_rows_of_nine(w, o, row, source):
    # One block after the other, as in _pass_nine
    four = in_fours(w)
    forget()
    _deal_block(four, o + row, get9(four, o + source))
    _deal_block(four, o + row + 3 * LANES, get9(four, o + source + NINE))
    _deal_block(four, o + row + 6 * LANES, get9(four, o + source + 2 * NINE))
    _deal_block(four, o + row + 9 * LANES, get9(four, o + source + 3 * NINE))


# Begin the articulated matrix of every link of a block with its own, given as nine numbers of all four, …
deal = two_forms(lambda w, o, row, A11, A12, A21, A22: None, _deal_rows)
deal_nine = two_forms(lambda w, o, row, source: None, _deal_rows_of_nine)  # … or at the rows where those are


@formula
def rigid_inertia(w, o):
    """Inertia of a link, or of four, as four blocks of nine numbers."""
    mass, moment, inertia = about_origin(w, o)
    c = hat(moment)
    return mat_of_sym(inertia), c, transpose(c), scalar(mass)


def _rows_own(w, o, row, symmetric):
    return get_blocks(w, o, row)


def _nine_own(w, o, row, symmetric):
    if symmetric:
        return rigid_inertia(w, o)
    return get_nine(w, o + K)


_own = two_forms(_nine_own, _rows_own)  # what the articulated matrix of a link begins with


@formula
def _upper(w, a):
    """A symmetric block of which one half is written."""
    xx, xy, xz = get3(w, a)
    yy, yz, zz = w[a + 4 * LANES], w[a + 5 * LANES], w[a + 8 * LANES]
    return xx, xy, xz, xy, yy, yz, xz, yz, zz


@formula
def _put_block(w, a, symmetric, M):
    if symmetric:
        put3(w, a, (M[0], M[1], M[2]))
        w[a + 4 * LANES], w[a + 5 * LANES], w[a + 8 * LANES] = M[4], M[5], M[8]
    else:
        put9(w, a, M)


def _rows_articulated(w, o, row, symmetric):
    return get_blocks(w, o, row)


def _nine_articulated(w, o, row, symmetric):
    a = o + row
    if symmetric:
        A12 = get9(w, a + NINE)
        return _upper(w, a), A12, transpose(A12), _upper(w, a + 3 * NINE)
    return get_nine(w, a)


articulated = two_forms(_nine_articulated, _rows_articulated)  # the matrix at slot o


def _rows_keep(w, o, row, symmetric, A11, A12, A21, A22):
    put_blocks(w, o, row, A11, A12, A21, A22)


def _nine_keep(w, o, row, symmetric, A11, A12, A21, A22):
    a = o + row
    _put_block(w, a, symmetric, A11)
    put9(w, a + NINE, A12)
    if not symmetric:
        put9(w, a + 2 * NINE, A21)
    _put_block(w, a + 3 * NINE, symmetric, A22)


_keep = two_forms(_nine_keep, _rows_keep)


def _rows_begin(w, tree, row, symmetric):
    pass


def _nine_begin(w, tree, row, symmetric):
    for i in range(tree.n):
        if tree.family[i] & LEAF:
            o = slot(w, i)
            A11, A12, A21, A22 = _own(w, o, row, symmetric)
            _keep(w, o, row, symmetric, A11, A12, A21, A22)


# Begin the articulated matrix of those links that no child adds to
begin_leaves = two_forms(_nine_begin, _rows_begin)


@formula
def _begun(w, o, row, symmetric, first):
    """What a child adds to; ``first``: of the children."""
    if first:
        return _own(w, o, row, symmetric)
    return articulated(w, o, row, symmetric)


@formula
def accumulate(w, o, row, symmetric, first, A11, A12, A21, A22):
    """Add a matrix to the articulated one at slot o; ``first``: of the children there."""
    B11, B12, B21, B22 = _begun(w, o, row, symmetric, first)
    _keep(w, o, row, symmetric, block_add(A11, B11), block_add(A12, B12), block_add(A21, B21), block_add(A22, B22))


def _rows_pass_on(w, o, to, row, symmetric, first, A11, A12, A21, A22, p, k, um, uf, wm, wf):
    # Shifted before the joint gives way, so that the shift need not wait for the pivot
    A11, A12, A21, A22 = shift_blocks(A11, A12, A21, A22, p)
    um, uf = scale(k, um), scale(k, uf)
    accumulate(w, to, row, symmetric, first, add_outer(A11, um, wm), add_outer(A12, um, wf), add_outer(A21, uf, wm),
               add_outer(A22, uf, wf))


def _nine_pass_on(w, o, to, row, symmetric, first, A11, A12, A21, A22, p, k, um, uf, wm, wf):
    um, uf = scale(k, um), scale(k, uf)
    if first:  # asked once, as no block of numbers has to wait then
        _pass_nine(w, o, to, row, symmetric, True, p, um, uf, wm, wf)
    else:
        _pass_nine(w, o, to, row, symmetric, False, p, um, uf, wm, wf)


@formula
def _pass_nine(w, o, to, row, symmetric, first, p, um, uf, wm, wf):
    # One block after the other, each read when it is its turn: the registers do not hold all of them, and the stack
    # would be one more copy
    a = to + row
    forget()
    _, A12, _, A22 = articulated(w, o, row, symmetric)
    A12 = mat_add(add_hat_mat(A12, p, A22), outer(um, wf))
    put9(w, a + NINE, mat_add(A12, _begun(w, to, row, symmetric, first)[1]))
    forget()
    A22 = mat_add(articulated(w, o, row, symmetric)[3], outer(uf, wf))
    _put_block(w, a + 3 * NINE, symmetric, mat_add(A22, _begun(w, to, row, symmetric, first)[3]))
    forget()
    _, _, A21, A22 = articulated(w, o, row, symmetric)
    A21 = sub_mat_hat(A21, A22, p)
    if not symmetric:
        put9(w, a + 2 * NINE, mat_add(mat_add(A21, outer(uf, wm)), _begun(w, to, row, symmetric, first)[2]))
    forget()
    A11, A12, _, _ = articulated(w, o, row, symmetric)
    A11 = mat_add(add_hat_mat(sub_mat_hat(A11, A12, p), p, A21), outer(um, wm))
    _put_block(w, a, symmetric, mat_add(A11, _begun(w, to, row, symmetric, first)[0]))


# Add Xᵀ(Â + k u wᵀ)X to the articulated matrix of the parent at slot ``to``, Â being that of slot o, w in rows, u and w
# seen from the parent already: with k = −1/pivot, what is left of a matrix once its SCREW joint gives way
pass_on = two_forms(_nine_pass_on, _rows_pass_on)
