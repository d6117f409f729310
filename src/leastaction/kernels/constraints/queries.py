"""What Python asks of the rows at a configuration, each in one call; all take a fresh workspace w."""

from math import sqrt

from ..joints import dispatch as joint
from ..kinematics import place
from ..layout import DOF
from ..machine.columns import pair
from ..machine.jit import entry, kernel
from ..machine.memory import link, tree_as_views
from ..machine.simd import numbers
from ..maths.spatial import shift_wrench
from ..maths.vec3 import dot
from ..rnea import velocities
from .kinds.dispatch import on_joints
from .rows import rows_at, slopes


@entry
def values(tree, w, rows, q, found):
    """g of all rows, and the wrenches Ca, Cb on their links."""
    tree, w = tree_as_views(tree), numbers(w)
    place(tree, w, q)
    rows_at(tree, w, rows, q, found)


@kernel
def along_the_tree(tree, w, i, wrench, part, out):
    """Add Jᵀ wrench to ``out``, in the layout of v, for a wrench on link i about its origin."""
    m, f = wrench
    while i < tree.n:
        L, k = link(w, i), tree.iv[i]
        joint.force(tree.kind[i], L, m, f, part, k)
        for j in range(k, k + DOF[tree.kind[i]]):
            out[j] += part[j]
        m, f = shift_wrench(m, f, L.arm)
        i = tree.parent[i]


@entry
def jacobian(tree, w, rows, q, found, A):
    """The same, and A (m, nv), which is zero before: ∂g/∂q in body-axis increments."""
    tree, w = tree_as_views(tree), numbers(w)
    place(tree, w, q)
    rows_at(tree, w, rows, q, found)
    for r in range(len(rows.kind)):
        a, b = rows.a[r], rows.b[r]
        if on_joints(rows.kind[r]):
            ca, cb = slopes(found, r)
            A[r, tree.iv[a]] += ca
            if b < tree.n:
                A[r, tree.iv[b]] += cb
            continue
        along_the_tree(tree, w, a, pair(found.Ca, r), found.part, A[r])
        along_the_tree(tree, w, b, pair(found.Cb, r), found.part, A[r])


@entry
def rates(tree, w, rows, q, v, found):
    """The rows and their rates A v, by the twists of the links."""
    rate = found.rate
    tree, w = tree_as_views(tree), numbers(w)
    place(tree, w, q)
    rows_at(tree, w, rows, q, found)
    velocities(tree, w, v)
    for r in range(len(rows.kind)):
        a, b = rows.a[r], rows.b[r]
        if on_joints(rows.kind[r]):
            ca, cb = slopes(found, r)
            rate[r] = ca * v[tree.iv[a]]
            if b < tree.n:
                rate[r] += cb * v[tree.iv[b]]
            continue
        rate[r] = power(link(w, a).twist, pair(found.Ca, r))
        if b < tree.n:
            rate[r] += power(link(w, b).twist, pair(found.Cb, r))


@kernel
def power(twist, wrench):
    """What a wrench does by this twist."""
    (turn, move), (m, f) = twist, wrench
    return dot(turn, m) + dot(move, f)


@kernel
def change_along(tree, w, i, last, wrench, part):
    """The greatest rate by which a joint between link i and its ancestor ``last`` changes a row with this wrench."""
    most, (m, f) = 0.0, wrench
    while i != last and i < tree.n:
        L, k = link(w, i), tree.iv[i]
        joint.force(tree.kind[i], L, m, f, part, k)
        for j in range(k, k + DOF[tree.kind[i]]):
            most = max(most, abs(part[j]))
        m, f = shift_wrench(m, f, L.arm)
        i = tree.parent[i]
    return most


@entry
def greatest_change(tree, w, rows, q, ancestor, found):
    """The greatest rate by which a joint changes each row, relative to the wrench of the row. ``ancestor`` (m,): where
    the two paths of a row meet."""
    part, out = found.part, found.rate
    tree, w = tree_as_views(tree), numbers(w)
    place(tree, w, q)
    rows_at(tree, w, rows, q, found)
    for r in range(len(rows.kind)):
        if on_joints(rows.kind[r]):
            out[r] = 1.0
            continue
        a, b = pair(found.Ca, r), pair(found.Cb, r)
        size = max(dot(a[0], a[0]) + dot(a[1], a[1]), dot(b[0], b[0]) + dot(b[1], b[1]))
        most = max(change_along(tree, w, rows.a[r], ancestor[r], a, part),
                   change_along(tree, w, rows.b[r], ancestor[r], b, part))
        out[r] = most / sqrt(size) if size > 0.0 else 0.0
