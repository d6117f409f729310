"""The derivative of DRNEA with respect to q^{k+1} (paper, appendix): one column after the other, O(n) each.

A joint's increment moves its whole subtree by one rigid motion ζ; every link in it answers with δμ = K ζ, and those are
summed from leaves to root like the residual itself.
"""

from .elements import torsion
from .joints import dispatch as joint, group
from .layout import DOF, TORSION
from .machine.jit import kernel
from .machine.matrix6 import times
from .machine.memory import clear, copy, link
from .maths import so3
from .maths.mat3 import mat_vec
from .maths.spatial import shift_twist
from .maths.vec3 import NONE, add, cross
from .rnea import gather_wrenches
from .stiffness import put_stiffness


@kernel
def drnea_jacobian(tree, w, h, retraction, unit, jacobian):
    """Fill jacobian (nv × nv) = ∂f/∂q^{k+1} in body-axis increments; ``unit`` is scratch, zero, in the layout of v.

    Needs displacements(). Overwrites F, V, A and K.
    """
    n = tree.n
    for i in range(n):
        put_stiffness(link(w, i), h, retraction, True)
    for j in range(n):
        L, k = link(w, j), tree.iv[j]
        kind = tree.kind[j]
        dR, d = L.dR, L.d
        for column in range(k, k + DOF[kind]):
            unit[column] = 1.0
            own_turn, own_move = joint.twist(kind, L, unit, k)
            unit[column] = 0.0
            # ζ_j = Ad_{ΔT_j} S e, and the same rigid motion at every descendant
            turn = so3.rotate(dR, own_turn)
            move = add(so3.rotate(dR, own_move), cross(d, turn))
            for i in range(n + 1):
                link(w, i).twist = link(w, i).wrench = NONE
            for i in range(j, n):  # root → leaves
                C = link(w, i)
                if i > j:
                    turn, move = link(w, tree.parent[i]).twist
                    turn, move = shift_twist(turn, move, C.arm)
                C.twist = turn, move
                C.wrench = times(C.K, (turn, move))
            gather_wrenches(tree, w, unit)
            copy(unit, jacobian[:, column], tree.nv)
            clear(unit, tree.nv)
            joint.add_derivative(kind, L, h, (own_turn, own_move), jacobian, k, column)
            if tree.passive[j] & TORSION:
                change = mat_vec(torsion.derivative(L, h), own_turn)
                group.add3(jacobian[:, column], k, so3.unrotate(L.rotation, change))
