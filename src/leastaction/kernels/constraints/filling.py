"""The rows as the elimination takes them: their numbers at t_k and at t_{k+1}, put where the list of operations says.

A row enters as −C₀ᵀ, with its wrenches at t_k, and as C₁, with those at t_{k+1} about the origins of t_k, since the
motions ζ are seen from there. Of the mass matrix both are those of the node.
"""

from ..machine.columns import vector
from ..machine.fronts import clear_blocks, put_on_joint, put_on_link
from ..machine.jit import formula, kernel
from ..machine.memory import link
from ..maths import so3
from ..maths.spatial import shift_wrench
from ..maths.vec3 import add, add_scaled, dot, sub
from .closed import near_of, row
from .kinds.dispatch import Ends, extent, on_joints, value
from .rows import gap_between, near_origins, opposite

GRAIN = 1e-15  # four units in the last place


@kernel
def rows_at_node(tree, w, c):
    """Set the wrenches of all rows at the node, and g as the right-hand side. Needs place()."""
    rows, near = c.rows, near_of(c)
    near_origins(tree, w, near)
    for r in range(c.places.rows):
        R = row(c, r)
        if R.active == 0.0:
            R.rhs = 0.0
            continue
        a, b = rows.a[r], rows.b[r]
        La, Lb, gap = link(w, a), link(w, b), gap_between(w, near, rows.root, a, b)
        R.rhs, m, f = value(rows.kind[r], rows, r, Ends(La.rotation, Lb.rotation, gap, La.angle, Lb.angle))
        R.wrench, R.gap = (m, f), gap


@formula
def put_row(c, r, before, now, gap):
    """Put the wrenches of a row on link a at t_k and at t_{k+1}, and those on link b, in place; or its slopes."""
    (m0, f0), (m, f) = before, now
    if on_joints(c.rows.kind[r]):
        put_on_joint(c, r, 0, m0[0], m[0])
        put_on_joint(c, r, 1, m0[1], m[1])
    else:
        put_on_link(c, r, 0, before, now)
        put_on_link(c, r, 1, opposite(m0, f0, gap), opposite(m, f, gap))


@kernel
def begin_mass(c):
    """Put the rows of the node in place. Needs rows_at_node()."""
    clear_blocks(c)
    for r in range(c.places.rows):
        R = row(c, r)
        R.peak = 0.0
        if R.active != 0.0:
            put_row(c, r, R.wrench, R.wrench, R.gap)


@formula
def way(x):
    """|x| + |y| + |z| of a vector."""
    return abs(x[0]) + abs(x[1]) + abs(x[2])


@kernel
def grain(w, c, r):
    """To what g of a row can be told: by round-off of what it is the difference of."""
    rows, a, b = c.rows, c.rows.a[r], c.rows.b[r]
    La, Lb = link(w, a), link(w, b)
    far = way(vector(near_of(c), a)) + way(vector(near_of(c), b))
    if rows.root[a] != rows.root[b]:
        far += way(La.origin) + way(Lb.origin)
    return GRAIN * extent(rows.kind[r], rows, r, far, La.angle, Lb.angle, row(c, r).wrench[0][1])


@kernel
def rows_after(tree, w, c, factoring, forgiving):
    """Set g at the end of the present motion as the right-hand side; if ``factoring``, put the rows in place, too.
    If ``forgiving``, and where joints may be locked, g within round-off is zero: a mechanism that can no longer move
    rests exactly then, and no correction is sought that means nothing. Needs displacements() and rows_at_node()."""
    set_rows_after(tree, w, c, factoring)
    for r in range(c.places.rows if tree.locks or forgiving else 0):
        if abs(row(c, r).rhs) <= grain(w, c, r):
            row(c, r).rhs = 0.0


@formula
def ends_after(tree, w, a, b, before):
    """What a row between links a and b sees at the end of the present motion; their gap was ``before``."""
    La, Lb = link(w, a), link(w, b)
    other = Lb.angle + Lb.delta if b < tree.n else 0.0
    return Ends(so3.multiply(La.dR, La.rotation), so3.multiply(Lb.dR, Lb.rotation), add(before, sub(La.d, Lb.d)),
                La.angle + La.delta, other)


@kernel
def set_rows_after(tree, w, c, factoring):
    """As rows_after(), without that."""
    rows = c.rows
    if factoring:
        clear_blocks(c)
    a = b = -1
    ends = ends_after(tree, w, 0, 0, row(c, 0).gap)  # replaced by the first row
    for r in range(c.places.rows):
        R = row(c, r)
        if factoring:
            R.peak = 0.0
        if R.active == 0.0:
            R.rhs = 0.0
            continue
        before = R.gap
        if a != rows.a[r] or b != rows.b[r]:  # rows of a loop see the same
            a, b = rows.a[r], rows.b[r]
            ends = ends_after(tree, w, a, b, before)
        R.rhs, m, f = value(rows.kind[r], rows, r, ends)
        if factoring:
            put_row(c, r, R.wrench, shift_wrench(m, f, link(w, a).d), before)


@kernel
def rate_of(tree, w, c, r, v):
    """How fast row r opens by the rates v, of which the links have their twists."""
    R, a, b = row(c, r), c.rows.a[r], c.rows.b[r]
    m, f = R.wrench
    if on_joints(c.rows.kind[r]):
        return m[0] * v[tree.iv[a]] + (m[1] * v[tree.iv[b]] if b < tree.n else 0.0)
    turn, move = link(w, a).twist
    rate = dot(m, turn) + dot(f, move)
    if b < tree.n:
        m, f = opposite(m, f, R.gap)
        turn, move = link(w, b).twist
        rate += dot(m, turn) + dot(f, move)
    return rate


@kernel
def add_impulses(tree, w, c):
    """Add Aᵀ λ of the node to the momenta of links and joints, λ being the last solution."""
    for r in range(c.places.rows):
        R, a, b = row(c, r), c.rows.a[r], c.rows.b[r]
        if R.active == 0.0:
            continue
        m, f = R.wrench
        if on_joints(c.rows.kind[r]):
            link(w, a).joint_momentum += R.answer * m[0]
            if b < tree.n:
                link(w, b).joint_momentum += R.answer * m[1]
            continue
        push(w, a, R.answer, m, f)
        if b < tree.n:
            m, f = opposite(m, f, R.gap)
            push(w, b, R.answer, m, f)


@kernel
def push(w, i, k, m, f):
    L = link(w, i)
    m0, f0 = L.momentum
    L.momentum = add_scaled(m0, k, m), add_scaled(f0, k, f)
