"""Newton's method in O(n): the exact direction J⁻¹f on any tree, by an unsymmetric articulated-body sweep.

Move every link on the left by ζ_i in its frame at t_k: ζ_i = X_i ζ_λ + S⁺_i δq_i with S⁺_i = Ad_{ΔT_i} S_i, and its
momentum answers with K_i ζ_i. Eliminating joints from leaves to root gives
    Â_i = K_i + Σ_c X_cᵀ (Â_c − Â_c S⁺_c (S_cᵀ Â_c S⁺_c)⁻¹ S_cᵀ Â_c) X_c.
RIQN is the same sweep with K = G/h and S⁺ = S. For BALL and FREE joints the unknown is the joint's part of ζ itself.
"""

from . import so3
from .articulated import (
    accumulate, afresh, articulated, begin_leaves, collect, deal_nine, keep, kept, pass_on, piece, pieces,
)
from .blocks import (
    NINE, NOUGHT, address_of, alike, block_inverse, block_mul, eliminate_ball, get_blocks, get_nine, matrix_times, nine,
    put_nine, put_nine_at, row_dot, row_numbers, row_shift, schur_complement, shift_blocks, times, turn_times,
    twist_times,
)
from .aba import add_twigs, hang_twig
from .drnea_jacobian import joint_derivative
from .jit import formula, kernel
from .joints import move_joint, move_screw
from .kinematics import less_power, shift_twist, shift_wrench
from .layout import (
    A, ARM, ARMATURE, BALL, D, DAMPING, DQ, F, FORK, K, KA, LANES, LAST, ND, NE, NS, NU, NW, S, SCREW, STIFFNESS,
    TAU, X, get3, get33, get4, get9, put3, put33, put9, slot, stretch, zeros,
)
from .mat3 import determinant, mat_add, mat_hat, mat_inverse, mat_vec
from .simd import WIDTH, number, sign, wide
from .stiffness import put_stiffness
from .vec3 import add, add_scaled, cross, dot, scale, sub, unit


@kernel
def joint_stiffness(tree, w, i, h):
    """Set NE: the derivative of a BALL or FREE joint's own residual with respect to its part of ζ, as blocks."""
    o = slot(w, i)
    if not tree.passive[i]:
        put_nine_at(w, o + NE, NOUGHT, NOUGHT, NOUGHT, NOUGHT)
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


@formula
def moved_axis(w, o, slides):
    """S⁺ = Ad_ΔT S of a SCREW joint, or of four."""
    dR, (turn, move) = get4(w, o + DQ), get33(w, o + S)
    turn = so3.rotate(dR, turn)
    moved = cross(get3(w, o + D), turn)
    if slides:
        moved = add(moved, so3.rotate(dR, move))
    put33(w, o + NS, turn, moved)


@kernel
def link_stiffnesses(tree, w, first, h, retraction, exact):
    """Set K of every link of a piece, start the articulated stiffness with it, and set S⁺."""
    _, blocks = piece(w, tree, first)
    for block in blocks:
        for o in range(block, block + LANES, WIDTH):  # every link by itself, or four at a time
            put_stiffness(wide(w), o, h, retraction, exact)
            deal_nine(w, tree, o, first, K)
            moved_axis(wide(w), o, tree.slides)
    begin_leaves(w, tree, KA, False)


@kernel
def newton_factor(tree, w, h, retraction, exact):
    """Factor the Jacobian at the present motion. Needs displacements().

    Gives the sign of det J. As h → 0 it is positive, with J → M/h, and along the root that continues from there it
    cannot change without J becoming singular. A root where it is negative is another one, not the motion.
    """
    det = number(w, 1.0)
    for first in pieces(w, tree):
        det = det * factor_piece(tree, w, first, h, retraction, exact)
    return det


@kernel
def factor_piece(tree, w, first, h, retraction, exact):
    """The same for a piece; those after it have been factored."""
    det = number(w, 1.0)
    link_stiffnesses(tree, w, first, h, retraction, exact)
    links, _ = piece(w, tree, first)
    for i in links:  # leaves → root
        collect(w, tree, i, first, KA)
        if tree.kind[i] == SCREW:
            det = det * factor_screw(tree, w, i, first, h)
        elif tree.kind[i] == BALL:
            det = det * factor_ball(tree, w, i, first, h)
        else:
            det = det * factor_free(tree, w, i, first, h)
    return det


@formula
def factor_screw(tree, w, i, first, h):
    """Let a SCREW joint give way: what is left of the articulated stiffness of link i goes to its parent. Gives the
    sign of the pivot's determinant."""
    o = slot(w, i)
    arm, (turn, move) = get3(w, o + ARM), get33(w, o + S)
    A11, A12, A21, A22 = articulated(w, tree, i, first, KA, False)
    wm, wf = twist_times(A11, A12, A21, A22, turn, move) if tree.slides else turn_times(A11, A12, turn)
    afresh(w)  # for the other product
    A11, A12, A21, A22 = articulated(w, tree, i, first, KA, False)
    turn, move = get33(w, o + NS)
    um, uf = matrix_times(A11, A12, A21, A22, turn, move)
    extra = (1.0 / h) * w[o + ARMATURE] + 0.5 * w[o + DAMPING] + 0.25 * h * w[o + STIFFNESS]
    pivot = row_dot(wm, wf, turn, move) + extra
    inverse = 1.0 / pivot
    w[o + ND] = inverse
    um, uf = shift_wrench(um, uf, arm)
    wm, wf = row_shift(wm, wf, arm)
    put33(w, o + NU, um, uf)
    put33(w, o + NW, row_numbers(wm), row_numbers(wf))
    if tree.parent[i] < tree.n:
        pass_on(w, tree, i, first, KA, False, A11, A12, A21, A22, arm, -inverse, um, uf, wm, wf)
    return sign(pivot * h)


@kernel
def factor_ball(tree, w, i, first, h):
    """The same for a BALL joint."""
    o = slot(w, i)
    joint_stiffness(tree, w, i, h)
    A11, A12, A21, A22 = articulated(w, tree, i, first, KA, False)
    keep(w, o, KA, A11, A12, A21, A22)
    d, E = get3(w, o + D), get9(w, o + NE)
    K11, K12, K21, K22 = nine(A11), nine(A12), nine(A21), nine(A22)
    D1, D2 = mat_add(K11, mat_hat(K12, d)), mat_add(K21, mat_hat(K22, d))  # Â S⁺, S⁺ζ = (ζ, d×ζ)
    pivot = mat_add(D1, E)
    inverse = mat_inverse(pivot)
    put9(w, o + ND, inverse)
    put3(w, o + NS, d)
    K11, K12, K21, K22 = eliminate_ball(K11, K12, K21, K22, D2, E, inverse)
    K11, K12, K21, K22 = shift_blocks(K11, K12, K21, K22, get3(w, o + ARM))
    if tree.parent[i] < tree.n:
        accumulate(w, tree, i, first, KA, False, alike(A11, K11), alike(A12, K12), alike(A21, K21), alike(A22, K22))
    return sign(determinant(pivot) * h)


@kernel
def factor_free(tree, w, i, first, h):
    """The same for a FREE joint."""
    o = slot(w, i)
    joint_stiffness(tree, w, i, h)
    A11, A12, A21, A22 = articulated(w, tree, i, first, KA, False)
    E, whole = get_nine(w, o + NE), (nine(A11), nine(A12), nine(A21), nine(A22))
    pivot = mat_add(whole[0], E[0]), mat_add(whole[1], E[1]), mat_add(whole[2], E[2]), mat_add(whole[3], E[3])
    schur, R = schur_complement(pivot)
    inverse = block_inverse(pivot, schur, R)
    put_nine(w, address_of(w, o, KA), inverse[0], inverse[1], inverse[2], inverse[3])
    # Â − Â D⁻¹ Â = E D⁻¹ Â, D = Â + E
    K11, K12, K21, K22 = block_mul(E, block_mul(inverse, whole))
    K11, K12, K21, K22 = shift_blocks(K11, K12, K21, K22, get3(w, o + ARM))
    if tree.parent[i] < tree.n:
        accumulate(w, tree, i, first, KA, False, alike(A11, K11), alike(A12, K12), alike(A21, K21), alike(A22, K22))
    return sign(determinant(pivot[3]) * determinant(schur))


@kernel
def newton_up(tree, w):
    """Eliminate from leaves to root. Gives Σ uᵀD⁻¹u, which is h fᵀ M⁻¹ f to first order. Needs newton_factor()."""
    norm = number(w, 0.0)
    above_m, above_f = zeros(w), zeros(w)
    for i in range(tree.n - 1, -1, -1):  # leaves → root
        o = slot(w, i)
        m, f = get33(w, o + F)
        m, f = add(m, above_m), add(f, above_f)
        if tree.family[i] & FORK:
            m, f = add_twigs(w, o, m, f)
        arm = get3(w, o + ARM)
        if tree.kind[i] == SCREW:
            turn, move = get33(w, o + S)
            u = w[o + TAU] - dot(turn, m)
            if tree.slides:
                u -= dot(move, f)
            x = w[o + ND] * u
            w[o + X] = x
            norm += x * u
            um, uf = get33(w, o + NU)
            m, f = shift_wrench(m, f, arm)
            m, f = add_scaled(m, x, um), add_scaled(f, x, uf)
        elif tree.kind[i] == BALL:
            u3 = sub(get3(w, o + TAU), m)
            x3 = mat_vec(get9(w, o + ND), u3)
            put3(w, o + X, x3)
            norm += dot(x3, u3)
            A11, A12, A21, A22 = kept(w, o, KA, False)
            um, uf = matrix_times(A11, A12, A21, A22, x3, cross(get3(w, o + NS), x3))
            m, f = shift_wrench(add(m, um), add(f, uf), arm)
        else:
            tm, tf = get33(w, o + TAU)
            um, uf = sub(tm, m), sub(tf, f)
            D11, D12, D21, D22 = get_blocks(w, address_of(w, o, KA))
            xm, xf = matrix_times(D11, D12, D21, D22, um, uf)
            put33(w, o + X, xm, xf)
            norm += dot(xm, um) + dot(xf, uf)
            E11, E12, E21, E22 = get_nine(w, o + NE)
            em, ef = matrix_times(E11, E12, E21, E22, xm, xf)
            m, f = shift_wrench(sub(tm, em), sub(tf, ef), arm)
        above_m, above_f = zeros(w), zeros(w)
        if tree.parent[i] == i - 1:  # the next link: kept at hand, which is faster than through memory
            above_m, above_f = m, f
        else:
            hang_twig(w, slot(w, tree.parent[i]), tree.family[i] & LAST, m, f)
    return norm


@kernel
def newton_down(tree, w, first, k):
    """Substitute from root to leaves, along a stretch: the increment of every joint in X, ζ of every link in A. Needs
    newton_up(). Unless k is None, the joints move by k times their increment."""
    links, _ = stretch(tree, w, first)
    turn, move = zeros(w), zeros(w)
    put33(w, slot(w, tree.n) + A, turn, move)
    for i in links:  # root → leaves
        o = slot(w, i)
        if tree.parent[i] != i - 1 or i == first:  # else it is at hand
            turn, move = get33(w, slot(w, tree.parent[i]) + A)
        arm = get3(w, o + ARM)
        if tree.kind[i] == SCREW:
            wm, wf = get33(w, o + NW)
            x = less_power(w[o + X], scale(w[o + ND], wm), scale(w[o + ND], wf), turn, move)
            w[o + X] = x
            move_screw(w, o, k, x)
            turn, move = shift_twist(turn, move, arm)
            own_turn, own_move = get33(w, o + NS)
            turn, move = add_scaled(turn, x, own_turn), add_scaled(move, x, own_move)
            put33(w, o + A, turn, move)
            continue
        turn, move = shift_twist(turn, move, arm)
        dR, d = get4(w, o + DQ), get3(w, o + D)
        if tree.kind[i] == BALL:
            A11, A12, _, _ = kept(w, o, KA, False)
            b = add(times(A11, turn), times(A12, move))
            z = sub(get3(w, o + X), mat_vec(get9(w, o + ND), b))
            x3 = so3.unrotate(dR, z)
            put3(w, o + X, x3)
            move_joint(w, o, k, x3, zeros(w))
            turn, move = add(turn, z), add(move, cross(get3(w, o + NS), z))
        else:
            # D⁻¹ Â ζ = ζ − D⁻¹ E ζ
            E11, E12, E21, E22 = get_nine(w, o + NE)
            em, ef = matrix_times(E11, E12, E21, E22, turn, move)
            D11, D12, D21, D22 = get_blocks(w, address_of(w, o, KA))
            em, ef = matrix_times(D11, D12, D21, D22, em, ef)
            xm, xf = get33(w, o + X)
            z, y = sub(xm, sub(turn, em)), sub(xf, sub(move, ef))
            xm, xf = so3.unrotate(dR, z), so3.unrotate(dR, sub(y, cross(d, z)))
            put33(w, o + X, xm, xf)
            move_joint(w, o, k, xm, xf)
            turn, move = add(turn, z), add(move, y)
        put33(w, o + A, turn, move)
