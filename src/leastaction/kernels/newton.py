"""Newton's method in O(n): the exact direction J⁻¹f on any tree, by an unsymmetric articulated-body sweep.

Move every link on the left by ζ_i in its frame at t_k: ζ_i = X_i ζ_λ + S⁺_i δq_i with S⁺_i = Ad_{ΔT_i} S_i, and its
momentum answers with K_i ζ_i. Eliminating joints from leaves to root gives
    Â_i = K_i + Σ_c X_cᵀ (Â_c − Â_c S⁺_c (S_cᵀ Â_c S⁺_c)⁻¹ S_cᵀ Â_c) X_c.
RIQN is the same sweep with K = G/h and S⁺ = S. For BALL and FREE joints the unknown is the joint's part of ζ itself.
"""

from . import so3
from .drnea_jacobian import joint_derivative
from .jit import kernel
from .kinematics import shift_twist, shift_wrench
from .layout import (
    A, ARM, ARMATURE, BALL, BLOCK, D, DAMPING, DQ, F, KA, LANES, ND, NE, NS, NU, NW, S, SCREW, STIFFNESS, TAU,
    X, add33, get3, get33, get4, get9, put3, put33, put9, slot,
)
from .mat3 import (
    determinant, hat_mat, mat_add, mat_hat, mat_inverse, mat_mul, mat_scale, mat_sub, mat_vec, outer, vec_mat,
)
from .simd import SIMD, in_fours
from .stiffness import EXP, block_is_small, link_stiffness, link_stiffness_first_order, small_stiffness
from .vec3 import add, add_scaled, cross, dot, scale, sub, unit

ZERO = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
NINE = 9 * LANES


@kernel
def get_blocks(w, a):
    return get9(w, a), get9(w, a + NINE), get9(w, a + 2 * NINE), get9(w, a + 3 * NINE)


@kernel
def put_blocks(w, a, A11, A12, A21, A22):
    put9(w, a, A11)
    put9(w, a + NINE, A12)
    put9(w, a + 2 * NINE, A21)
    put9(w, a + 3 * NINE, A22)


@kernel
def times(blocks, turn, move):
    return (add(mat_vec(blocks[0], turn), mat_vec(blocks[1], move)),
            add(mat_vec(blocks[2], turn), mat_vec(blocks[3], move)))


@kernel
def block_mul(P, Q_):
    """Product of two 6×6 matrices in blocks."""
    return (mat_add(mat_mul(P[0], Q_[0]), mat_mul(P[1], Q_[2])), mat_add(mat_mul(P[0], Q_[1]), mat_mul(P[1], Q_[3])),
            mat_add(mat_mul(P[2], Q_[0]), mat_mul(P[3], Q_[2])), mat_add(mat_mul(P[2], Q_[1]), mat_mul(P[3], Q_[3])))


@kernel
def block_inverse(P):
    """Inverse of a 6×6 matrix by the Schur complement of its last block (a mass: well conditioned)."""
    R = mat_inverse(P[3])
    RC, BR = mat_mul(R, P[2]), mat_mul(P[1], R)
    T = mat_inverse(mat_sub(P[0], mat_mul(P[1], RC)))
    TBR, RCT = mat_mul(T, BR), mat_mul(RC, T)
    return T, mat_scale(-1.0, TBR), mat_scale(-1.0, RCT), mat_add(R, mat_mul(RC, TBR))


@kernel
def block_determinant(P):
    return determinant(P[3]) * determinant(mat_sub(P[0], mat_mul(P[1], mat_mul(mat_inverse(P[3]), P[2]))))


@kernel
def joint_stiffness(tree, w, i, h):
    """Set NE: the derivative of a BALL or FREE joint's own residual with respect to its part of ζ, as blocks."""
    o = slot(i)
    if not tree.passive[i]:
        put_blocks(w, o + NE, ZERO, ZERO, ZERO, ZERO)
        return
    dR, d = get4(w, o + DQ), get3(w, o + D)
    for column in range(6):
        z, y = unit(column), unit(column - 3)
        # back to the increment of the joint: δ = Ad⁻¹ ζ
        turn, move = so3.unrotate(dR, z), so3.unrotate(dR, sub(y, cross(d, z)))
        m, f = joint_derivative(w, o, h, turn, move)
        a = o + NE + (column // 3) * NINE + (column % 3) * LANES
        w[a], w[a + 3 * LANES], w[a + 6 * LANES] = m
        a += 2 * NINE
        w[a], w[a + 3 * LANES], w[a + 6 * LANES] = f


@kernel
def shift_blocks(A11, A12, A21, A22, p):
    """Xᵀ Â X to the parent's origin, from which this one is at p."""
    A21 = mat_sub(A21, mat_hat(A22, p))
    A11 = mat_add(mat_sub(A11, mat_hat(A12, p)), hat_mat(p, A21))
    return A11, mat_add(A12, hat_mat(p, A22)), A21, A22


@kernel
def newton_factor(tree, w, h, retraction, first_order):
    """Factor the Jacobian at the present motion. Needs displacements().

    Gives whether det J is positive. As h → 0 it is, with J → M/h, and along the root that continues from there its sign
    cannot change without J becoming singular. A root where it is negative is another one, not the motion.
    """
    n = tree.n
    positive = True
    for block in range(0, tree.end, BLOCK):  # every link by itself, or four at a time
        if SIMD and first_order:
            four = in_fours(w)
            K1, K2, K3, K4 = link_stiffness_first_order(four, block, h)
            put_blocks(four, block + KA, K1, K2, K3, K4)
        elif SIMD and retraction == EXP and block_is_small(w, block):
            four = in_fours(w)
            K5, K6, K7, K8 = small_stiffness(four, block, h)
            put_blocks(four, block + KA, K5, K6, K7, K8)
        else:
            for o in range(block, block + LANES):
                if first_order:
                    K11, K12, K21, K22 = link_stiffness_first_order(w, o, h)
                else:
                    K11, K12, K21, K22 = link_stiffness(w, o, h, retraction)
                put_blocks(w, o + KA, K11, K12, K21, K22)
    for i in range(n - 1, -1, -1):  # leaves → root
        o = slot(i)
        A11, A12, A21, A22 = get_blocks(w, o + KA)
        dR, d = get4(w, o + DQ), get3(w, o + D)
        if tree.kind[i] == SCREW:
            turn, move = get33(w, o + S)
            wm = add(vec_mat(turn, A11), vec_mat(move, A21))
            wf = add(vec_mat(turn, A12), vec_mat(move, A22))
            turn, move = so3.rotate(dR, turn), so3.rotate(dR, move)
            move = add(move, cross(d, turn))
            um, uf = times((A11, A12, A21, A22), turn, move)
            extra = w[o + ARMATURE] / h + 0.5 * w[o + DAMPING] + 0.25 * h * w[o + STIFFNESS]
            pivot = dot(wm, turn) + dot(wf, move) + extra
            positive = positive == (pivot * h > 0.0)
            inverse = 1.0 / pivot
            w[o + ND] = inverse
            put33(w, o + NS, turn, move)
            put33(w, o + NU, um, uf)
            put33(w, o + NW, wm, wf)
            um, uf = scale(-inverse, um), scale(-inverse, uf)
            A11, A12 = mat_add(A11, outer(um, wm)), mat_add(A12, outer(um, wf))
            A21, A22 = mat_add(A21, outer(uf, wm)), mat_add(A22, outer(uf, wf))
        elif tree.kind[i] == BALL:
            joint_stiffness(tree, w, i, h)
            D1, D2 = mat_add(A11, mat_hat(A12, d)), mat_add(A21, mat_hat(A22, d))  # Â S⁺, S⁺ζ = (ζ, d×ζ)
            pivot9 = mat_add(D1, get9(w, o + NE))
            positive = positive == (determinant(pivot9) * h > 0.0)
            inverse = mat_inverse(pivot9)
            put9(w, o + ND, inverse)
            put3(w, o + NS, d)
            D1, D2 = mat_mul(D1, inverse), mat_mul(D2, inverse)
            A21, A22 = mat_sub(A21, mat_mul(D2, A11)), mat_sub(A22, mat_mul(D2, A12))
            A11, A12 = mat_sub(A11, mat_mul(D1, A11)), mat_sub(A12, mat_mul(D1, A12))
        else:
            joint_stiffness(tree, w, i, h)
            E = get_blocks(w, o + NE)
            pivot36 = (mat_add(A11, E[0]), mat_add(A12, E[1]), mat_add(A21, E[2]), mat_add(A22, E[3]))
            positive = positive == (block_determinant(pivot36) > 0.0)
            inverse = block_inverse(pivot36)
            put_blocks(w, o + KA, inverse[0], inverse[1], inverse[2], inverse[3])
            # Â − Â D⁻¹ Â = E D⁻¹ Â, D = Â + E
            A11, A12, A21, A22 = block_mul(E, block_mul(inverse, (A11, A12, A21, A22)))
        if tree.parent[i] < n:
            A11, A12, A21, A22 = shift_blocks(A11, A12, A21, A22, get3(w, o + ARM))
            a = slot(tree.parent[i]) + KA
            B11, B12, B21, B22 = get_blocks(w, a)
            put_blocks(w, a, mat_add(A11, B11), mat_add(A12, B12), mat_add(A21, B21), mat_add(A22, B22))
    return positive


@kernel
def newton_up(tree, w):
    """Eliminate from leaves to root. Gives Σ uᵀD⁻¹u, which is h fᵀ M⁻¹ f to first order. Needs newton_factor()."""
    norm = 0.0
    for i in range(tree.n - 1, -1, -1):  # leaves → root
        o = slot(i)
        m, f = get33(w, o + F)
        if tree.kind[i] == SCREW:
            turn, move = get33(w, o + S)
            u = w[o + TAU] - dot(turn, m) - dot(move, f)
            x = w[o + ND] * u
            w[o + X] = x
            norm += x * u
            um, uf = get33(w, o + NU)
            m, f = add_scaled(m, x, um), add_scaled(f, x, uf)
        elif tree.kind[i] == BALL:
            u3 = sub(get3(w, o + TAU), m)
            x3 = mat_vec(get9(w, o + ND), u3)
            put3(w, o + X, x3)
            norm += dot(x3, u3)
            um, uf = times(get_blocks(w, o + KA), x3, cross(get3(w, o + NS), x3))
            m, f = add(m, um), add(f, uf)
        else:
            tm, tf = get33(w, o + TAU)
            um, uf = sub(tm, m), sub(tf, f)
            xm, xf = times(get_blocks(w, o + KA), um, uf)
            put33(w, o + X, xm, xf)
            norm += dot(xm, um) + dot(xf, uf)
            em, ef = times(get_blocks(w, o + NE), xm, xf)
            m, f = sub(tm, em), sub(tf, ef)
        m, f = shift_wrench(m, f, get3(w, o + ARM))
        add33(w, slot(tree.parent[i]) + F, m, f)
    return norm


@kernel
def newton_down(tree, w):
    """Substitute from root to leaves: the increment of every joint in X, ζ of every link in A. Needs newton_up()."""
    put33(w, slot(tree.n) + A, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    for i in range(tree.n):  # root → leaves
        o = slot(i)
        turn, move = get33(w, slot(tree.parent[i]) + A)
        turn, move = shift_twist(turn, move, get3(w, o + ARM))
        if tree.kind[i] == SCREW:
            wm, wf = get33(w, o + NW)
            x = w[o + X] - w[o + ND] * (dot(wm, turn) + dot(wf, move))
            w[o + X] = x
            own_turn, own_move = get33(w, o + NS)
            put33(w, o + A, add_scaled(turn, x, own_turn), add_scaled(move, x, own_move))
            continue
        dR, d = get4(w, o + DQ), get3(w, o + D)
        if tree.kind[i] == BALL:
            blocks = get_blocks(w, o + KA)
            b = add(mat_vec(blocks[0], turn), mat_vec(blocks[1], move))
            z = sub(get3(w, o + X), mat_vec(get9(w, o + ND), b))
            put3(w, o + X, so3.unrotate(dR, z))
            put33(w, o + A, add(turn, z), add(move, cross(get3(w, o + NS), z)))
        else:
            # D⁻¹ Â ζ = ζ − D⁻¹ E ζ
            em, ef = times(get_blocks(w, o + NE), turn, move)
            em, ef = times(get_blocks(w, o + KA), em, ef)
            xm, xf = get33(w, o + X)
            z, y = sub(xm, sub(turn, em)), sub(xf, sub(move, ef))
            put33(w, o + X, so3.unrotate(dR, z), so3.unrotate(dR, sub(y, cross(d, z))))
            put33(w, o + A, add(turn, z), add(move, y))
