"""Composite rigid bodies: the dense mass matrix, in O(n · depth)."""

from .aba import rigid_inertias
from .articulated import accumulate, articulated, collect, piece, pieces
from .blocks import matrix_times, shift_blocks
from .jit import kernel
from .kinematics import joint_force, joint_twist, shift_wrench
from .layout import ARM, ARMATURE, DOF, IA, get3, slot


@kernel
def crba(tree, w, unit, M):
    """Fill M (nv × nv). ``unit`` is a zero vector in the layout of v, for scratch. Needs place()."""
    for first in pieces(w, tree):
        rigid_inertias(tree, w, first)
        links, _ = piece(w, tree, first)
        for i in links:  # leaves → root
            collect(w, tree, i, first, IA)
            A11, A12, A21, A22 = articulated(w, tree, i, first, IA, True)
            fill_rows(tree, w, i, A11, A12, A21, A22, unit, M)
            A11, A12, A21, A22 = shift_blocks(A11, A12, A21, A22, get3(w, slot(w, i) + ARM))
            if tree.parent[i] < tree.n:
                accumulate(w, tree, i, first, IA, True, A11, A12, A21, A22)


@kernel
def fill_rows(tree, w, i, A11, A12, A21, A22, unit, M):
    """Rows and columns of M for joint i, with the inertia of all that hangs on it."""
    o, k = slot(w, i), tree.iv[i]
    for j in range(k, k + DOF[tree.kind[i]]):
        unit[j] = 1.0
        turn, move = joint_twist(tree.kind[i], w, o, unit, k)
        unit[j] = 0.0
        m, f = matrix_times(A11, A12, A21, A22, turn, move)
        ancestor = i
        while ancestor < tree.n:
            a = slot(w, ancestor)
            joint_force(tree.kind[ancestor], w, a, m, f, M[j], tree.iv[ancestor])
            for c in range(tree.iv[ancestor], tree.iv[ancestor] + DOF[tree.kind[ancestor]]):
                M[c, j] = M[j, c]
            m, f = shift_wrench(m, f, get3(w, a + ARM))
            ancestor = tree.parent[ancestor]
        M[j, j] += w[o + ARMATURE]
