"""The rows as the elimination takes them: their numbers at t_k and at t_{k+1}, put where the list of operations says.

A row enters as −C₀ᵀ, with its wrenches at t_k, and as C₁, with those at t_{k+1} about the origins of t_k, since the
motions ζ are seen from there. Of the mass matrix both are those of the node.
"""

from ..machine.jit import kernel
from ..machine.memory import link
from ..machine.simd import after
from ..maths import so3
from ..maths.spatial import put6, read3, read6, shift_wrench
from ..maths.vec3 import add, add_scaled, sub
from .closed import NODE
from .rows import COUPLE, DOT, couple_row, gap_between, near_origins, opposite, wrench_row

GRAIN = 1e-15  # four units in the last place


@kernel
def rows_at_node(tree, w, c):
    """Set the wrenches of all rows at the node, and g as the right-hand side. Needs place()."""
    rows, places, x = c.rows, c.places, c.x
    near = after(x, places.near)
    near_origins(tree, w, near)
    for r in range(places.rows):
        a, b, o = rows.a[r], rows.b[r], places.node + NODE * r
        if x[places.active + r] == 0.0:
            x[places.rhs + r] = 0.0
            continue
        if rows.kind[r] == COUPLE:
            g, x[o], x[o + 1] = couple_row(rows, r, link(w, a).angle, link(w, b).angle)
        else:
            gap = gap_between(w, near, rows.root, a, b)
            g, m, f = wrench_row(rows, r, link(w, a).rotation, link(w, b).rotation, gap)
            put6(x, o, (m, f))
            x[o + 6], x[o + 7], x[o + 8] = gap
        x[places.rhs + r] = g


@kernel
def put_row(x, at, stride, k, m, f):
    x[at], x[at + stride], x[at + 2 * stride] = k * m[0], k * m[1], k * m[2]
    x[at + 3 * stride], x[at + 4 * stride], x[at + 5 * stride] = k * f[0], k * f[1], k * f[2]


@kernel
def put_side(x, targets, t, before, now):
    """Put the wrenches of a row on one of its links at t_k and at t_{k+1} in place; the ground has none."""
    if targets[t] >= 0:
        put_row(x, targets[t], targets[t + 2], -1.0, before[0], before[1])
        put_row(x, targets[t + 1], targets[t + 2], 1.0, now[0], now[1])


@kernel
def put_joint(x, targets, t, before, now):
    """The same of a COUPLE row and its joint."""
    if targets[t] >= 0:
        x[targets[t]], x[targets[t] + 1] = before, now


@kernel
def begin(c):
    """Clear what a matrix with rows is made of."""
    for j in range(c.places.cleared):
        c.x[j] = 0.0


@kernel
def begin_mass(c):
    """Put the rows of the node in place. Needs rows_at_node()."""
    rows, targets, places, x = c.rows, c.targets, c.places, c.x
    begin(c)
    for r in range(places.rows):
        o, t = places.node + NODE * r, 6 * r
        if x[places.active + r] == 0.0:
            continue
        if rows.kind[r] == COUPLE:
            put_joint(x, targets, t, x[o], x[o])
            put_joint(x, targets, t + 3, x[o + 1], x[o + 1])
            continue
        m, f = read6(x, o)
        other = opposite(m, f, read3(x, o + 6))
        put_side(x, targets, t, (m, f), (m, f))
        put_side(x, targets, t + 3, other, other)


@kernel
def way(x, k):
    """|x| + |y| + |z| of a vector."""
    return abs(x[k]) + abs(x[k + 1]) + abs(x[k + 2])


@kernel
def grain(tree, w, c, r):
    """To what g of a row can be told: by round-off of what it is the difference of."""
    rows, near = c.rows, c.places.near
    a, b, k = rows.a[r], rows.b[r], rows.scale[r]
    if rows.kind[r] == COUPLE:
        other = abs(c.x[c.places.node + NODE * r + 1] * link(w, b).angle) if b < tree.n else 0.0
        return GRAIN * (k * (abs(link(w, a).angle) + abs(rows.reference[2 * r])) + other)
    if rows.kind[r] == DOT:
        return GRAIN * k
    size = way(c.x, near + 3 * a) + way(c.x, near + 3 * b) + way(rows.sa, 3 * r) + way(rows.sb, 3 * r)
    if rows.root[a] != rows.root[b]:
        size += way(link(w, a).origin, 0) + way(link(w, b).origin, 0)
    return GRAIN * k * size


@kernel
def rows_after(tree, w, c, factoring, forgiving):
    """Set g at the end of the present motion as the right-hand side; if ``factoring``, put the rows in place, too.
    If ``forgiving``, and where joints may be locked, g within round-off is zero: a mechanism that can no longer move
    rests exactly then, and no correction is sought that means nothing. Needs displacements() and rows_at_node()."""
    set_rows_after(tree, w, c, factoring)
    for r in range(c.places.rows if tree.locks or forgiving else 0):
        if abs(c.x[c.places.rhs + r]) <= grain(tree, w, c, r):
            c.x[c.places.rhs + r] = 0.0


@kernel
def set_rows_after(tree, w, c, factoring):
    """As rows_after(), without that."""
    rows, targets, places, x = c.rows, c.targets, c.places, c.x
    if factoring:
        begin(c)
    for r in range(places.rows):
        a, b, o, t = rows.a[r], rows.b[r], places.node + NODE * r, 6 * r
        La, Lb = link(w, a), link(w, b)
        if x[places.active + r] == 0.0:
            x[places.rhs + r] = 0.0
            continue
        if rows.kind[r] == COUPLE:
            other = Lb.angle + Lb.delta if b < tree.n else 0.0
            x[places.rhs + r], ca, cb = couple_row(rows, r, La.angle + La.delta, other)
            if factoring:
                put_joint(x, targets, t, x[o], ca)
                put_joint(x, targets, t + 3, x[o + 1], cb)
            continue
        before = read3(x, o + 6)
        Ra, Rb = so3.multiply(La.dR, La.rotation), so3.multiply(Lb.dR, Lb.rotation)
        x[places.rhs + r], m, f = wrench_row(rows, r, Ra, Rb, add(before, sub(La.d, Lb.d)))
        if factoring:
            m, f = shift_wrench(m, f, La.d)
            m0, f0 = read6(x, o)
            put_side(x, targets, t, (m0, f0), (m, f))
            put_side(x, targets, t + 3, opposite(m0, f0, before), opposite(m, f, before))


@kernel
def add_impulses(tree, w, c, at, k):
    """Add Aᵀ λ of the node to the momenta of links and joints: k times the multipliers from address ``at`` on."""
    rows, places, x = c.rows, c.places, c.x
    for r in range(places.rows):
        a, b, o, size = rows.a[r], rows.b[r], places.node + NODE * r, k * x[at + r]
        if x[places.active + r] == 0.0:
            continue
        if rows.kind[r] == COUPLE:
            link(w, a).joint_momentum += size * x[o]
            if b < tree.n:
                link(w, b).joint_momentum += size * x[o + 1]
            continue
        m, f = read6(x, o)
        push(w, a, size, m, f)
        if b < tree.n:
            m, f = opposite(m, f, read3(x, o + 6))
            push(w, b, size, m, f)


@kernel
def push(w, i, k, m, f):
    L = link(w, i)
    m0, f0 = L.momentum
    L.momentum = add_scaled(m0, k, m), add_scaled(f0, k, f)
