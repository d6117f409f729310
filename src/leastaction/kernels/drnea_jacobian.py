"""The derivative of DRNEA with respect to q^{k+1} (paper, appendix): one column after the other, O(n) each.

A joint's increment moves its whole subtree by one rigid motion ζ; every link in it answers with δμ = K ζ, and those are
summed from leaves to root like the residual itself.
"""

from .joints import shorter
from .kinematics import joint_twist, shift_twist
from .layout import DOF, FREE, SCREW
from .machine.jit import kernel
from .machine.matrix6 import times
from .machine.memory import clear, copy, link
from .maths import so3
from .maths.se3 import terms_of
from .maths.vec3 import NONE, add, add_scaled, cross, scale
from .rnea import gather_wrenches
from .stiffness import put_stiffness


@kernel
def rotation_rate(phi, z):
    """dlog_{−φ} z on SO(3): the rate of φ when its rotation is followed by z."""
    _, beta, _ = terms_of(so3.exp(phi))
    t = cross(phi, z)
    return add_scaled(add_scaled(z, 0.5, t), beta, cross(phi, t))


@kernel
def joint_derivative(L, h, turn, move):
    """Change of the joint's own residual (the D₁ terms of armature, damping and spring), in world axes, when its motion
    is followed by the twist (turn, move)."""
    k = L.armature / h + 0.5 * L.damping
    spring = 0.25 * h * L.stiffness
    j, orientation = L.joint_rotation, L.rotation
    m = scale(k, rotation_rate(so3.log(j), turn))
    before = L.psi6[0]
    after = so3.log(shorter(so3.multiply(so3.exp(before), so3.conjugate_by(so3.inverse(orientation), j))))
    rate = rotation_rate(after, so3.unrotate(orientation, turn))
    # [dlog_{−ψ0}]ᵀ: the same with the sign of the cross product turned
    m = add_scaled(m, spring, so3.rotate(orientation, rotation_rate(scale(-1.0, before), rate)))
    return m, scale(k + spring, so3.rotate(j, move))


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
            own_turn, own_move = joint_twist(kind, L, unit, k)
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
            if kind == SCREW:
                jacobian[k, k] += L.armature / h + 0.5 * L.damping + 0.25 * h * L.stiffness
                continue
            orientation = L.rotation
            m, f = joint_derivative(L, h, own_turn, own_move)
            x, y, z = so3.unrotate(orientation, m)
            jacobian[k, column] += x
            jacobian[k + 1, column] += y
            jacobian[k + 2, column] += z
            if kind == FREE:
                x, y, z = so3.unrotate(orientation, f)
                jacobian[k + 3, column] += x
                jacobian[k + 4, column] += y
                jacobian[k + 5, column] += z
