"""Composite rigid bodies: the dense mass matrix, in O(n · depth)."""

from .joints import dispatch as joint
from .layout import DOF
from .machine.jit import kernel
from .machine.matrix6 import add_to_matrix, matrix, shift6, times
from .machine.memory import link
from .maths.spatial import shift_wrench
from .sweep import begin_inertias


@kernel
def crba(tree, w, unit, M):
    """Fill M (nv × nv). ``unit`` is a zero vector in the layout of v, for scratch. Needs place()."""
    begin_inertias(tree, w)
    for i in range(tree.n - 1, -1, -1):  # leaves → root
        A = matrix(w, tree, i)
        fill_rows(tree, w, i, A, unit, M)
        if tree.parent[i] < tree.n:
            add_to_matrix(w, tree, tree.parent[i], shift6(A, link(w, i).arm))


@kernel
def fill_rows(tree, w, i, A, unit, M):
    """Rows and columns of M for joint i, with the inertia A of all that hangs on it."""
    L, k = link(w, i), tree.iv[i]
    for j in range(k, k + DOF[tree.kind[i]]):
        unit[j] = 1.0
        m, f = times(A, joint.twist(tree.kind[i], L, unit, k))
        unit[j] = 0.0
        ancestor = i
        while ancestor < tree.n:
            P = link(w, ancestor)
            joint.force(tree.kind[ancestor], P, m, f, M[j], tree.iv[ancestor])
            for c in range(tree.iv[ancestor], tree.iv[ancestor] + DOF[tree.kind[ancestor]]):
                M[c, j] = M[j, c]
            m, f = shift_wrench(m, f, P.arm)
            ancestor = tree.parent[ancestor]
        M[j, j] += L.armature
