"""Constraint rows: their values g and their derivatives, of the poses of two links or of the numbers of two joints.

With markers r_a = R_a s_a and r_b = R_b s_b, directions u_a = R_a e_a and u_b = R_b e_b, the gap o_a − o_b between the
origins, and d = gap + r_a − r_b the way from marker b to marker a, all in world axes:

    POS     u_b · d                                the distance of marker a from a plane of b
    DOT     u_b · u_a − l                          directions at a given angle, of cosine l
    DIST    (d · d − l²) / 2l                      a rod of length l
    COUPLE  (q_a − ref_a) − Σ c_k (q_b − ref_b)^k  of two SCREW joints

each times its scale, so that all g are in metres: a file each in kinds/. The derivative of POS, DOT and DIST is a
wrench (m, f) on link a about its origin; link b has the same wrench reversed, so whatever multiplies it, momentum is
kept, on and off the manifold. The same text serves at t_k and at t_{k+1}: there the rotations are ΔR R and the gap has
grown by d_a − d_b.
"""

from collections import namedtuple

import numpy as np

from ..machine.columns import pair, put_pair, put_vector, vector
from ..machine.jit import formula, kernel
from ..machine.memory import link
from ..maths.spatial import shift_wrench
from ..maths.vec3 import add, neg, sub
from .kinds.couple import POWERS
from .kinds.dispatch import COUPLE, DIST, DOT, JOINTS, KINDS, POS, Ends, on_joints, value

__all__ = ["COUPLE", "DIST", "DOT", "JOINTS", "KINDS", "POS", "POWERS", "Rows"]

# m rows. kind; a, b: the two links (n: the ground; a COUPLE row with b = n is of one joint); sa, sb (m, 3): markers, m;
# ea, eb (m, 3): unit vectors, both in the frames of the links; length: of a DIST row, m, or the cosine of a DOT row;
# coefficients (m, 5), reference (m, 2): of a COUPLE row; scale: what the row is multiplied by; loop: which loop or
# coupling the row is of; and of each link and the ground, root (n + 1): the root link of its tree. All are flat arrays.
Rows = namedtuple("Rows", "kind a b sa sb ea eb length coefficients reference scale loop root")

# What is asked of all rows at a configuration. g (m,); rate (m,); Ca, Cb (6 m): the wrenches on both links about their
# origins, m f, of a COUPLE row first ∂g/∂q_a and ∂g/∂q_b; near (3 n + 3), part (nv): scratch
Found = namedtuple("Found", "g rate Ca Cb near part")


def chosen(rows, which):
    """The rows with these numbers."""
    columns = (column.reshape(len(rows.kind), -1)[which].reshape(-1) for column in rows[:-1])
    return Rows(*columns, root=rows.root)


def room_for(tree, rows):
    """Zeros for what is asked of all rows."""
    m = len(rows.kind)
    return Found(*map(np.zeros, (m, m, 6 * m, 6 * m, 3 * tree.n + 3, tree.nv)))


@formula
def opposite(m, f, gap):
    """The wrench on link b about its origin, given that on link a about its own."""
    m, f = shift_wrench(m, f, gap)
    return neg(m), neg(f)


@kernel
def near_origins(tree, w, near):
    """Origins (n + 1, 3) of all links in world axes, from the root link of their tree. Needs place()."""
    n = tree.n
    for i in range(n):
        parent, x = tree.parent[i], (0.0, 0.0, 0.0)
        if parent < n:
            x = add(vector(near, parent), link(w, i).arm)
        put_vector(near, i, x)


@kernel
def gap_between(w, near, root, a, b):
    """o_a − o_b at t_k. A tree may be far away: links of one are told apart as seen from its root. Needs
    near_origins()."""
    if root[a] == root[b]:
        return sub(vector(near, a), vector(near, b))
    return sub(link(w, a).origin, link(w, b).origin)


@kernel
def rows_at(tree, w, rows, q, found):
    """All rows at the node, in ``found``: g, Ca and Cb. Needs place()."""
    near, g, Ca, Cb = found.near, found.g, found.Ca, found.Cb
    near_origins(tree, w, near)
    for r in range(len(rows.kind)):
        a, b, none = rows.a[r], rows.b[r], (0.0, 0.0, 0.0)
        gap, joints, qa, qb = gap_between(w, near, rows.root, a, b), on_joints(rows.kind[r]), 0.0, 0.0
        if joints:
            qa, qb = q[tree.iq[a]], q[tree.iq[b]] if b < tree.n else 0.0
        g[r], m, f = value(rows.kind[r], rows, r, Ends(link(w, a).rotation, link(w, b).rotation, gap, qa, qb))
        if joints:
            put_pair(Ca, r, ((m[0], 0.0, 0.0), none))
            put_pair(Cb, r, ((m[1], 0.0, 0.0), none))
        else:
            put_pair(Ca, r, (m, f))
            put_pair(Cb, r, opposite(m, f, gap))


@kernel
def slopes(found, r):
    """∂g/∂q_a and ∂g/∂q_b of a row of two joints."""
    return pair(found.Ca, r)[0][0], pair(found.Cb, r)[0][0]
