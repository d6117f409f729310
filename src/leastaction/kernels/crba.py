"""Composite rigid bodies: the dense mass matrix, in O(n · depth)."""

from .aba import rigid_inertias
from .articulated import accumulate, articulated
from .blocks import matrix_times, shift_blocks
from .jit import kernel
from .kinematics import joint_force, joint_twist, shift_wrench
from .layout import ARM, ARMATURE, DOF, IA, LAST, get3, slot


@kernel
def crba(tree, w, unit, M):
    """Fill M (nv × nv). ``unit`` is a zero vector in the layout of v, for scratch. Needs place()."""
    n = tree.n
    rigid_inertias(tree, w)
    for i in range(n - 1, -1, -1):  # leaves → root
        o, k = slot(w, i), tree.iv[i]
        A11, A12, A21, A22 = articulated(w, o, IA, True)
        for j in range(k, k + DOF[tree.kind[i]]):
            unit[j] = 1.0
            turn, move = joint_twist(tree.kind[i], w, o, unit, k)
            unit[j] = 0.0
            m, f = matrix_times(A11, A12, A21, A22, turn, move)
            ancestor = i
            while ancestor < n:
                a = slot(w, ancestor)
                joint_force(tree.kind[ancestor], w, a, m, f, M[j], tree.iv[ancestor])
                for c in range(tree.iv[ancestor], tree.iv[ancestor] + DOF[tree.kind[ancestor]]):
                    M[c, j] = M[j, c]
                m, f = shift_wrench(m, f, get3(w, a + ARM))
                ancestor = tree.parent[ancestor]
            M[j, j] += w[o + ARMATURE]
        A11, A12, A21, A22 = shift_blocks(A11, A12, A21, A22, get3(w, o + ARM))
        if tree.parent[i] < n:
            accumulate(w, slot(w, tree.parent[i]), IA, True, tree.family[i] & LAST, A11, A12, A21, A22)
