"""Constraint rows: their values g and their derivatives, of the poses of two links or of the numbers of two joints.

With markers r_a = R_a s_a and r_b = R_b s_b, directions u_a = R_a e_a and u_b = R_b e_b, the gap o_a − o_b between the
origins, and d = gap + r_a − r_b the way from marker b to marker a, all in world axes:

    POS     u_b · d                                the distance of marker a from a plane of b
    DOT     u_b · u_a − l                          directions at a given angle, of cosine l
    DIST    (d · d − l²) / 2l                      a rod of length l
    COUPLE  (q_a − ref_a) − Σ c_k (q_b − ref_b)^k  of two SCREW joints

each times its scale, so that all g are in metres. The derivative of POS, DOT and DIST is a wrench (m, f) on link a
about its origin; link b has the same wrench reversed, so whatever multiplies it, momentum is kept, on and off the
manifold. The same text serves at t_k and at t_{k+1}: there the rotations are ΔR R and the gap has grown by d_a − d_b.
"""

from collections import namedtuple

import numpy as np

from ..machine.jit import formula, kernel
from ..machine.memory import link
from ..maths import so3
from ..maths.spatial import put6, read3, shift_wrench
from ..maths.vec3 import add, cross, dot, neg, scale, sub

POS, DOT, DIST, COUPLE = 0, 1, 2, 3
POWERS = 5  # coefficients of a COUPLE row

# m rows. kind; a, b: the two links (n: the ground; a COUPLE row with b = n is of one joint); sa, sb (m, 3): markers, m;
# ea, eb (m, 3): unit vectors, both in the frames of the links; length: of a DIST row, m, or the cosine of a DOT row;
# coefficients (m, 5), reference (m, 2): of a COUPLE row; scale: what the row is multiplied by; loop: which loop or
# coupling the row is of; and of each link and the ground, root (n + 1): the root link of its tree. All are flat arrays.
Rows = namedtuple("Rows", "kind a b sa sb ea eb length coefficients reference scale loop root")

# What is asked of all rows at a configuration. g (m,); rate (m,); Ca, Cb (6 m): the wrenches on both links about their
# origins, m f, of a COUPLE row first ∂g/∂q_a and ∂g/∂q_b; near (3 n + 3), part (nv): scratch
Found = namedtuple("Found", "g rate Ca Cb near part")


def room_for(tree, rows):
    """Zeros for what is asked of all rows."""
    m = len(rows.kind)
    return Found(*map(np.zeros, (m, m, 6 * m, 6 * m, 3 * tree.n + 3, tree.nv)))


@kernel
def wrench_row(rows, r, Ra, Rb, gap):
    """A row of POS, DOT or DIST for links with the orientations Ra and Rb: g, and the wrench (m, f) on link a about its
    origin, that is ∂g/∂(its twist)."""
    k = rows.scale[r]
    if rows.kind[r] == DOT:
        ua, ub = so3.rotate(Ra, read3(rows.ea, 3 * r)), so3.rotate(Rb, read3(rows.eb, 3 * r))
        return k * (dot(ua, ub) - rows.length[r]), scale(k, cross(ua, ub)), (0.0, 0.0, 0.0)
    ra, rb = so3.rotate(Ra, read3(rows.sa, 3 * r)), so3.rotate(Rb, read3(rows.sb, 3 * r))
    d = add(gap, sub(ra, rb))
    if rows.kind[r] == POS:
        f = scale(k, so3.rotate(Rb, read3(rows.eb, 3 * r)))
        return dot(f, d), cross(ra, f), f
    length = rows.length[r]
    f = scale(k / length, d)
    return 0.5 * (dot(f, d) - k * length), cross(ra, f), f


@formula
def opposite(m, f, gap):
    """The wrench on link b about its origin, given that on link a about its own."""
    m, f = shift_wrench(m, f, gap)
    return neg(m), neg(f)


@kernel
def couple_row(rows, r, qa, qb):
    """A COUPLE row of two joints with these numbers: g, ∂g/∂q_a and ∂g/∂q_b."""
    k, x = rows.scale[r], qb - rows.reference[2 * r + 1]
    value = slope = 0.0 * x
    for j in range(POWERS * (r + 1) - 1, POWERS * r - 1, -1):  # Horner, the value and its derivative
        slope = slope * x + value
        value = value * x + rows.coefficients[j]
    return k * (qa - rows.reference[2 * r] - value), k, -k * slope


@kernel
def near_origins(tree, w, near):
    """Origins (n + 1, 3) of all links in world axes, from the root link of their tree. Needs place()."""
    n = tree.n
    for i in range(n):
        parent, x = tree.parent[i], (0.0, 0.0, 0.0)
        if parent < n:
            x = add(read3(near, 3 * parent), link(w, i).arm)
        near[3 * i], near[3 * i + 1], near[3 * i + 2] = x


@kernel
def gap_between(w, near, root, a, b):
    """o_a − o_b at t_k. A tree may be far away: links of one are told apart as seen from its root. Needs
    near_origins()."""
    if root[a] == root[b]:
        return sub(read3(near, 3 * a), read3(near, 3 * b))
    return sub(link(w, a).origin, link(w, b).origin)


@kernel
def rows_at(tree, w, rows, q, found):
    """All rows at the node, in ``found``: g, Ca and Cb. Needs place()."""
    near, g, Ca, Cb = found.near, found.g, found.Ca, found.Cb
    near_origins(tree, w, near)
    for r in range(len(rows.kind)):
        a, b, no = rows.a[r], rows.b[r], (0.0, 0.0, 0.0)
        if rows.kind[r] == COUPLE:
            other = q[tree.iq[b]] if b < tree.n else 0.0
            g[r], x, y = couple_row(rows, r, q[tree.iq[a]], other)
            put6(Ca, 6 * r, ((x, 0.0, 0.0), no))
            put6(Cb, 6 * r, ((y, 0.0, 0.0), no))
            continue
        gap = gap_between(w, near, rows.root, a, b)
        g[r], m, f = wrench_row(rows, r, link(w, a).rotation, link(w, b).rotation, gap)
        put6(Ca, 6 * r, (m, f))
        put6(Cb, 6 * r, opposite(m, f, gap))
