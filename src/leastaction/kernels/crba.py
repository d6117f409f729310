"""Composite rigid bodies: the dense mass matrix, in O(n · depth)."""

from .aba import IA_B, IA_C, add_inertia, mul, mul_transposed, rigid_inertia, shift_inertia
from .jit import kernel
from .kinematics import joint_force, joint_twist, shift_wrench
from .layout import ARM, ARMATURE, DOF, IA, get3, get6, get9, slot
from .vec3 import add, sym_mul


@kernel
def crba(tree, w, unit, M):
    """Fill M (nv × nv). ``unit`` is a zero vector in the layout of v, for scratch. Needs place()."""
    n = tree.n
    rigid_inertia(tree, w)
    for i in range(n - 1, -1, -1):  # leaves → root
        o, k = slot(i), tree.iv[i]
        A, B, C = get6(w, o + IA), get9(w, o + IA_B), get6(w, o + IA_C)
        for j in range(k, k + DOF[tree.kind[i]]):
            unit[j] = 1.0
            turn, move = joint_twist(tree.kind[i], w, o, unit, k)
            unit[j] = 0.0
            m, f = add(sym_mul(A, turn), mul(B, move)), add(mul_transposed(B, turn), sym_mul(C, move))
            ancestor = i
            while ancestor < n:
                a = slot(ancestor)
                joint_force(tree.kind[ancestor], w, a, m, f, M[j], tree.iv[ancestor])
                for c in range(tree.iv[ancestor], tree.iv[ancestor] + DOF[tree.kind[ancestor]]):
                    M[c, j] = M[j, c]
                m, f = shift_wrench(m, f, get3(w, a + ARM))
                ancestor = tree.parent[ancestor]
            M[j, j] += w[o + ARMATURE]
        A, B, C = shift_inertia(A, B, C, get3(w, o + ARM))
        add_inertia(w, slot(tree.parent[i]) + IA, A, B, C)
