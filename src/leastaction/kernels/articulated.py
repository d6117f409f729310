"""Articulated matrices along the tree: a link's own, and what its children pass on to it.

Of packed rows (blocks.py) the tree is factored piece by piece, from leaves to root. While it is, the matrices of a
piece are on the *shelf*, the memory after the blocks of w, which all pieces have in turn: so it stays near, and those
of a long tree do not go out to memory and back. They begin with the link's own. What goes to a link of another piece
waits at the rows IA or KA of that link.

Of nine numbers a block, all is one piece, and the matrices are at those rows. They begin when the first child adds to
them: that is less to write and to read. Of a symmetric matrix only one half is written then, and LLVM finds that the
other half of every operation is the same, or not needed.
"""

from .blocks import (
    NINE, add_outer, address_of, block_add, get_blocks, get_nine, put_blocks, shift_blocks, two_forms,
)
from .float4 import lanes_to_rows
from .jit import formula
from .kinematics import about_origin
from .layout import (
    AHEAD, BLOCK, K, LANES, LAST, LEAF, SHELF, STRETCH, get3, get9, put3, put9, slot, stretch,
)
from .mat3 import add_hat_mat, hat, mat_add, mat_of_sym, outer, scalar, sub_mat_hat, transpose
from .simd import forget, in_fours
from .vec3 import scale


def _rows_pieces(w, tree):
    return range(tree.n // STRETCH * STRETCH, -1, -STRETCH)


def _nine_pieces(w, tree):
    return range(0, -1, -1)


def _rows_piece(w, tree, first):
    _, blocks = stretch(tree, w, first)
    return range(min(first + STRETCH, tree.n) - 1, first - 1, -1), blocks


def _nine_piece(w, tree, first):
    return range(tree.n - 1, -1, -1), range(0, tree.end, BLOCK)


pieces = two_forms(_nine_pieces, _rows_pieces)  # where the pieces begin, from leaves to root
piece = two_forms(_nine_piece, _rows_piece)  # the one that begins at ``first``: its links, leaves → root, and blocks


@formula
def _on_shelf(tree, i, first):
    """Where the matrix of link i is, while the piece is factored that begins at ``first``."""
    return tree.end + (i - first) * SHELF


@formula
def _deal_row(w, at, x, y, z):
    """Of three numbers of four links: the packed row of every link."""
    w[at], w[at + SHELF], w[at + 2 * SHELF], w[at + 3 * SHELF] = lanes_to_rows(x, y, z)


@formula
def _deal_block(w, at, M):
    _deal_row(w, at, M[0], M[1], M[2])
    _deal_row(w, at + LANES, M[3], M[4], M[5])
    _deal_row(w, at + 2 * LANES, M[6], M[7], M[8])


def _deal_rows(w, tree, o, first, A11, A12, A21, A22):
    four, at = in_fours(w), _on_shelf(tree, o // BLOCK * LANES, first)
    _deal_block(four, at, A11)
    _deal_block(four, at + 3 * LANES, A12)
    _deal_block(four, at + 6 * LANES, A21)
    _deal_block(four, at + 9 * LANES, A22)


def _deal_rows_of_nine(w, tree, o, first, source):
    # One block after the other, as in _pass_nine
    four, at = in_fours(w), _on_shelf(tree, o // BLOCK * LANES, first)
    forget()
    _deal_block(four, at, get9(four, o + source))
    _deal_block(four, at + 3 * LANES, get9(four, o + source + NINE))
    _deal_block(four, at + 6 * LANES, get9(four, o + source + 2 * NINE))
    _deal_block(four, at + 9 * LANES, get9(four, o + source + 3 * NINE))


# Begin the articulated matrix of every link of a block with its own, given as nine numbers of all four, …
deal = two_forms(lambda w, tree, o, first, A11, A12, A21, A22: None, _deal_rows)
deal_nine = two_forms(lambda w, tree, o, first, source: None, _deal_rows_of_nine)  # … or at the rows where those are


@formula
def rigid_inertia(w, o):
    """Inertia of a link, or of four, as four blocks of nine numbers."""
    mass, moment, inertia = about_origin(w, o)
    c = hat(moment)
    return mat_of_sym(inertia), c, transpose(c), scalar(mass)


@formula
def _own(w, o, symmetric):
    """What the articulated matrix of a link begins with, as nine numbers a block."""
    if symmetric:
        return rigid_inertia(w, o)
    return get_nine(w, o + K)


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


@formula
def _put_all(w, a, symmetric, A11, A12, A21, A22):
    _put_block(w, a, symmetric, A11)
    put9(w, a + NINE, A12)
    if not symmetric:
        put9(w, a + 2 * NINE, A21)
    _put_block(w, a + 3 * NINE, symmetric, A22)


def _rows_kept(w, o, row, symmetric):
    return get_blocks(w, address_of(w, o, row))


def _nine_kept(w, o, row, symmetric):
    a = o + row
    if symmetric:
        A12 = get9(w, a + NINE)
        return _upper(w, a), A12, transpose(A12), _upper(w, a + 3 * NINE)
    return get_nine(w, a)


kept = two_forms(_nine_kept, _rows_kept)  # the matrix at the rows of the link at slot o


def _rows_articulated(w, tree, i, first, row, symmetric):
    return get_blocks(w, _on_shelf(tree, i, first))


def _nine_articulated(w, tree, i, first, row, symmetric):
    return kept(w, slot(w, i), row, symmetric)


# The matrix of link i, while the piece is factored that begins at ``first``; needs collect()
articulated = two_forms(_nine_articulated, _rows_articulated)


# From here on nine numbers a block are read anew, as the registers do not hold all of them; packed rows stay there
afresh = two_forms(lambda w: forget(), lambda w: None)


def _rows_collect(w, tree, i, first, row):
    if tree.family[i] & AHEAD:
        a = _on_shelf(tree, i, first)
        A11, A12, A21, A22 = get_blocks(w, a)
        B11, B12, B21, B22 = kept(w, slot(w, i), row, False)
        put_blocks(w, a, block_add(A11, B11), block_add(A12, B12), block_add(A21, B21), block_add(A22, B22))


collect = two_forms(lambda w, tree, i, first, row: None, _rows_collect)  # add what has waited for link i


def _rows_keep(w, o, row, A11, A12, A21, A22):
    put_blocks(w, address_of(w, o, row), A11, A12, A21, A22)


keep = two_forms(lambda w, o, row, A11, A12, A21, A22: None, _rows_keep)  # take the matrix from the shelf


def _nine_begin(w, tree, row, symmetric):
    for i in range(tree.n):
        if tree.family[i] & LEAF:
            A11, A12, A21, A22 = _own(w, slot(w, i), symmetric)
            _put_all(w, slot(w, i) + row, symmetric, A11, A12, A21, A22)


# Begin the articulated matrix of those links that no child adds to
begin_leaves = two_forms(_nine_begin, lambda w, tree, row, symmetric: None)


@formula
def _begun(w, o, row, symmetric, first_child):
    """What a child adds to, of nine numbers."""
    if first_child:
        return _own(w, o, symmetric)
    return kept(w, o, row, symmetric)


def _rows_accumulate(w, tree, i, first, row, symmetric, A11, A12, A21, A22):
    parent = tree.parent[i]
    a = _on_shelf(tree, parent, first) if parent >= first else address_of(w, slot(w, parent), row)
    if parent >= first or not tree.family[i] & LAST:
        B11, B12, B21, B22 = get_blocks(w, a)
        A11, A12, A21, A22 = block_add(A11, B11), block_add(A12, B12), block_add(A21, B21), block_add(A22, B22)
    put_blocks(w, a, A11, A12, A21, A22)


def _nine_accumulate(w, tree, i, first, row, symmetric, A11, A12, A21, A22):
    to = slot(w, tree.parent[i])
    B11, B12, B21, B22 = _begun(w, to, row, symmetric, tree.family[i] & LAST)
    _put_all(w, to + row, symmetric, mat_add(A11, B11), mat_add(A12, B12), mat_add(A21, B21), mat_add(A22, B22))


accumulate = two_forms(_nine_accumulate, _rows_accumulate)  # add a matrix to the articulated one of link i's parent


def _rows_pass_on(w, tree, i, first, row, symmetric, A11, A12, A21, A22, p, k, um, uf, wm, wf):
    # Shifted before the joint gives way, so that the shift need not wait for the pivot
    A11, A12, A21, A22 = shift_blocks(A11, A12, A21, A22, p)
    um, uf = scale(k, um), scale(k, uf)
    accumulate(w, tree, i, first, row, symmetric, add_outer(A11, um, wm), add_outer(A12, um, wf),
               add_outer(A21, uf, wm), add_outer(A22, uf, wf))


def _nine_pass_on(w, tree, i, first, row, symmetric, A11, A12, A21, A22, p, k, um, uf, wm, wf):
    um, uf = scale(k, um), scale(k, uf)
    o, to = slot(w, i), slot(w, tree.parent[i])
    if tree.family[i] & LAST:  # asked once, as no block of numbers has to wait then
        _pass_nine(w, o, to, row, symmetric, True, p, um, uf, wm, wf)
    else:
        _pass_nine(w, o, to, row, symmetric, False, p, um, uf, wm, wf)


@formula
def _pass_nine(w, o, to, row, symmetric, first_child, p, um, uf, wm, wf):
    # One block after the other, each read when it is its turn: the registers do not hold all of them, and the stack
    # would be one more copy
    a = to + row
    forget()
    _, A12, _, A22 = kept(w, o, row, symmetric)
    A12 = mat_add(add_hat_mat(A12, p, A22), outer(um, wf))
    put9(w, a + NINE, mat_add(A12, _begun(w, to, row, symmetric, first_child)[1]))
    forget()
    A22 = mat_add(kept(w, o, row, symmetric)[3], outer(uf, wf))
    _put_block(w, a + 3 * NINE, symmetric, mat_add(A22, _begun(w, to, row, symmetric, first_child)[3]))
    forget()
    _, _, A21, A22 = kept(w, o, row, symmetric)
    A21 = sub_mat_hat(A21, A22, p)
    if not symmetric:
        put9(w, a + 2 * NINE, mat_add(mat_add(A21, outer(uf, wm)), _begun(w, to, row, symmetric, first_child)[2]))
    forget()
    A11, A12, _, _ = kept(w, o, row, symmetric)
    A11 = mat_add(add_hat_mat(sub_mat_hat(A11, A12, p), p, A21), outer(um, wm))
    _put_block(w, a, symmetric, mat_add(A11, _begun(w, to, row, symmetric, first_child)[0]))


# Add Xᵀ(Â + k u wᵀ)X to the articulated matrix of the parent of link i, Â being that of i, w in rows, u and w seen from
# the parent already: with k = −1/pivot, what is left of a matrix once its SCREW joint gives way
pass_on = two_forms(_nine_pass_on, _rows_pass_on)
