"""Articulated bodies: factor the mass matrix once, then solve M x = b in two cheap sweeps (Featherstone's algorithm).

The factorisation is shared by forward dynamics, the velocity of a momentum, and RIQN. U is kept as seen from the
parent's origin: then a sweep waits for one product after the other, and not for the shifts between them.
"""

from . import so3
from .articulated import (
    accumulate, articulated, begin_leaves, collect, deal, keep, kept, pass_on, piece, pieces, rigid_inertia,
)
from .blocks import (
    address_of, alike, block_inverse, eliminate_ball, get_blocks, matrix_times, nine, put_nine, row_dot, row_numbers,
    row_shift, schur_complement, shift_blocks, times, turn_times, twist_times,
)
from .jit import formula, kernel
from .joints import deflections, get_solution, move_joint, move_screw, passive_forces, put_rhs
from .kinematics import less_power, place, shift_twist, shift_wrench
from .layout import (
    A, ARM, ARMATURE, BALL, DAMPING, DINV, F, FORK, IA, LANES, LAST, PUSH, Q, S, SCREW, STIFFNESS, TAU, TWIGS, U,
    X, add33, clear, get3, get4, get9, get33, put3, put33, put9, slot, stretch, stretches, zeros,
)
from .mat3 import determinant, mat_inverse, mat_scale, mat_shift, mat_vec, scalar
from .rnea import armature_forces, link_forces, velocities
from .simd import WIDTH, below, number, wide
from .vec3 import add, add_scaled, dot, neg, scale, sub

SINGULAR = 1e-14  # relative to the terms it is the sum of, below which a pivot counts as zero


@kernel
def rigid_inertias(tree, w, first):
    """Begin the articulated inertia of every link of a piece with its own inertia, of the ground with none."""
    _, blocks = piece(w, tree, first)
    for block in blocks:
        for o in range(block, block + LANES, WIDTH):  # every link by itself, or four at a time
            I11, I12, I21, I22 = rigid_inertia(wide(w), o)
            deal(w, tree, o, first, I11, I12, I21, I22)
    begin_leaves(w, tree, IA, True)


@kernel
def factor(tree, w, h):
    """Factor the mass matrix, armature included; with h > 0, RIQN's matrix: damping and springs included. Needs
    place()."""
    for first in pieces(w, tree):
        factor_piece(tree, w, first, h)


@kernel
def factor_piece(tree, w, first, h):
    """The same for a piece; those after it have been factored."""
    rigid_inertias(tree, w, first)
    links, _ = piece(w, tree, first)
    for i in links:  # leaves → root
        o = slot(w, i)
        extra = w[o + ARMATURE] + 0.5 * h * w[o + DAMPING] + 0.25 * h * h * w[o + STIFFNESS]
        collect(w, tree, i, first, IA)
        if tree.kind[i] == SCREW:
            factor_screw(tree, w, i, first, extra)
        elif tree.kind[i] == BALL:
            factor_ball(tree, w, i, first, extra)
        else:
            factor_free(tree, w, i, first, extra)


@formula
def factor_screw(tree, w, i, first, extra):
    """Let a SCREW joint give way: what is left of the articulated inertia of link i goes to its parent. The joint adds
    ``extra`` to the pivot."""
    o = slot(w, i)
    arm, (turn, move) = get3(w, o + ARM), get33(w, o + S)
    A11, A12, A21, A22 = articulated(w, tree, i, first, IA, True)
    m, f = twist_times(A11, A12, A21, A22, turn, move) if tree.slides else turn_times(A11, A12, turn)
    inverse = 1.0 / (row_dot(m, f, turn, move) + extra)
    w[o + DINV] = inverse
    m, f = row_shift(m, f, arm)
    um, uf = row_numbers(m), row_numbers(f)
    put33(w, o + U, um, uf)
    if tree.parent[i] < tree.n:
        pass_on(w, tree, i, first, IA, True, A11, A12, A21, A22, arm, -inverse, um, uf, m, f)


@kernel
def factor_ball(tree, w, i, first, extra):
    """The same for a BALL joint."""
    o = slot(w, i)
    A11, A12, A21, A22 = articulated(w, tree, i, first, IA, True)
    keep(w, o, IA, A11, A12, A21, A22)
    I11, I12, I21, I22 = nine(A11), nine(A12), nine(A21), nine(A22)
    inverse = mat_inverse(mat_shift(I11, extra))
    put9(w, o + DINV, inverse)
    I11, I12, I21, I22 = eliminate_ball(I11, I12, I21, I22, I21, scalar(extra), inverse)
    I11, I12, I21, I22 = shift_blocks(I11, I12, I21, I22, get3(w, o + ARM))
    if tree.parent[i] < tree.n:
        accumulate(w, tree, i, first, IA, True, alike(A11, I11), alike(A12, I12), alike(A21, I21), alike(A22, I22))


@kernel
def factor_free(tree, w, i, first, extra):
    """The same for a FREE joint."""
    o = slot(w, i)
    A11, A12, A21, A22 = articulated(w, tree, i, first, IA, True)
    pivot = mat_shift(nine(A11), extra), nine(A12), nine(A21), mat_shift(nine(A22), extra)
    schur, R = schur_complement(pivot)
    I11, I12, I21, I22 = block_inverse(pivot, schur, R)
    w[o + DINV] = extra
    put_nine(w, address_of(w, o, IA), I11, I12, I21, I22)
    # Î − Î D⁻¹ Î = e (1 − e D⁻¹), D = Î + e
    k = -extra * extra
    I11, I12 = mat_shift(mat_scale(k, I11), extra), mat_scale(k, I12)
    I21, I22 = mat_scale(k, I21), mat_shift(mat_scale(k, I22), extra)
    I11, I12, I21, I22 = shift_blocks(I11, I12, I21, I22, get3(w, o + ARM))
    if tree.parent[i] < tree.n:
        accumulate(w, tree, i, first, IA, True, alike(A11, I11), alike(A12, I12), alike(A21, I21), alike(A22, I22))


@kernel
def singular_joint(tree, w):
    """The last joint whose articulated inertia is not positive, or −1: those before it may only follow from it. Of four
    simulations, the last one that is so in any of them. Needs place(), and does what factor(tree, w, 0) does."""
    singular = -1
    for first in pieces(w, tree):
        factor_piece(tree, w, first, 0.0)
        if singular < 0:
            singular = singular_in_piece(tree, w, first)
    return singular


@kernel
def singular_in_piece(tree, w, first):
    """The last such joint of a piece that has just been factored."""
    links, _ = piece(w, tree, first)
    for i in links:
        o = slot(w, i)
        A11, _, _, A22 = articulated(w, tree, i, first, IA, True)
        I11, I22 = nine(A11), nine(A22)
        if tree.kind[i] == SCREW:
            turn, move = get33(w, o + S)
            regular = below(SINGULAR * own_terms(I11, I22, turn, move), 1.0 / w[o + DINV])
        elif tree.kind[i] == BALL:
            regular = _positive(mat_shift(I11, w[o + ARMATURE]), SINGULAR * (I11[0] + I11[4] + I11[8]))
        else:  # kept is the inverse
            A11, A12, A21, A22 = get_blocks(w, address_of(w, o, IA))
            I11, I12, I21, I22 = nine(A11), nine(A12), nine(A21), nine(A22)
            schur, R = schur_complement((I11, I12, I21, I22))
            P11, P12, P21, P22 = block_inverse((I11, I12, I21, I22), schur, R)
            schur, _ = schur_complement((P11, P12, P21, P22))
            regular = (_positive(schur, SINGULAR * (P11[0] + P11[4] + P11[8]))
                       and _positive(P22, SINGULAR * (P22[0] + P22[4] + P22[8])))
        if not regular:
            return i
    return -1


@kernel
def own_terms(A11, A22, turn, move):
    """What a pivot is the sum of, each term without its sign: a scale to judge it by."""
    return (turn[0] * turn[0] * A11[0] + turn[1] * turn[1] * A11[4] + turn[2] * turn[2] * A11[8]
            + move[0] * move[0] * A22[0] + move[1] * move[1] * A22[4] + move[2] * move[2] * A22[8])


@kernel
def _positive(D, small):
    """Whether a symmetric matrix is positive definite, with pivots above ``small``."""
    minor = D[0] * D[4] - D[1] * D[1]
    return below(small, D[0]) and below(small * D[0], minor) and below(small * minor, determinant(D))


@formula
def add_twigs(w, o, m, f):
    """Add what the children of a FORK have summed up."""
    tm, tf = get33(w, o + TWIGS)
    return add(m, tm), add(f, tf)


@formula
def hang_twig(w, o, first, m, f):
    """Leave the wrench of a child to its parent at slot o, a FORK; ``first``: of the children there."""
    if first:
        put33(w, o + TWIGS, m, f)
    else:
        add33(w, o + TWIGS, m, f)


@kernel
def solve_up(tree, w):
    """Eliminate from leaves to root, for the right-hand side TAU − Sᵀ ΣF. Gives bᵀ M⁻¹ b. Needs factor()."""
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
            x = w[o + DINV] * u
            w[o + X] = x
            norm += x * u
            um, uf = get33(w, o + U)
            m, f = shift_wrench(m, f, arm)
            m, f = add_scaled(m, x, um), add_scaled(f, x, uf)
        elif tree.kind[i] == BALL:
            u3 = sub(get3(w, o + TAU), m)
            x3 = mat_vec(get9(w, o + DINV), u3)
            put3(w, o + X, x3)
            norm += dot(x3, u3)
            A11, _, A21, _ = kept(w, o, IA, True)
            m, f = shift_wrench(add(m, times(A11, x3)), add(f, times(A21, x3)), arm)
        else:
            tm, tf = get33(w, o + TAU)
            um, uf = sub(tm, m), sub(tf, f)
            D11, D12, D21, D22 = get_blocks(w, address_of(w, o, IA))
            xm, xf = matrix_times(D11, D12, D21, D22, um, uf)
            put33(w, o + X, xm, xf)
            norm += dot(xm, um) + dot(xf, uf)
            extra = w[o + DINV]
            m, f = shift_wrench(add_scaled(tm, -extra, xm), add_scaled(tf, -extra, xf), arm)  # Î x = u − e x
        above_m, above_f = zeros(w), zeros(w)
        if tree.parent[i] == i - 1:  # the next link: kept at hand, which is faster than through memory
            above_m, above_f = m, f
        else:
            hang_twig(w, slot(w, tree.parent[i]), tree.family[i] & LAST, m, f)
    return norm


@kernel
def solve_down(tree, w, first, k):
    """Substitute from root to leaves, along a stretch: the solution of every joint in X, of every link in A. Needs
    solve_up(). Unless k is None, the joints move by k times their solution."""
    links, _ = stretch(tree, w, first)
    alpha, acc = zeros(w), zeros(w)
    put33(w, slot(w, tree.n) + A, alpha, acc)
    for i in links:  # root → leaves
        o = slot(w, i)
        if tree.parent[i] != i - 1 or i == first:  # else it is at hand
            alpha, acc = get33(w, slot(w, tree.parent[i]) + A)
        arm = get3(w, o + ARM)
        if tree.kind[i] == SCREW:
            um, uf = get33(w, o + U)
            # The pivot goes with what is known before: nothing waits for that product then
            x = less_power(w[o + X], scale(w[o + DINV], um), scale(w[o + DINV], uf), alpha, acc)
            w[o + X] = x
            move_screw(w, o, k, x)
            turn, move = get33(w, o + S)
            alpha, acc = shift_twist(alpha, acc, arm)
            alpha, acc = add_scaled(alpha, x, turn), add_scaled(acc, x, move)
        elif tree.kind[i] == BALL:
            alpha, acc = shift_twist(alpha, acc, arm)
            A11, A12, _, _ = kept(w, o, IA, True)
            b = add(times(A11, alpha), times(A12, acc))
            x3 = sub(get3(w, o + X), mat_vec(get9(w, o + DINV), b))
            put3(w, o + X, x3)
            move_joint(w, o, k, x3, zeros(w))
            alpha = add(alpha, x3)
        else:
            alpha, acc = shift_twist(alpha, acc, arm)
            D11, D12, D21, D22 = get_blocks(w, address_of(w, o, IA))
            em, ef = matrix_times(D11, D12, D21, D22, alpha, acc)  # D⁻¹ Î ζ = ζ − e D⁻¹ ζ
            extra = w[o + DINV]
            em, ef = add_scaled(alpha, -extra, em), add_scaled(acc, -extra, ef)
            xm, xf = get33(w, o + X)
            xm, xf = sub(xm, em), sub(xf, ef)
            put33(w, o + X, xm, xf)
            move_joint(w, o, k, xm, xf)
            alpha, acc = add(alpha, xm), add(acc, xf)
        put33(w, o + A, alpha, acc)


@kernel
def acceleration(tree, w, v, tau, gravity, out):
    """Accelerations at rates v under joint forces tau (or none, if empty), passive joint forces and the wrenches PUSH.

    Needs place(), deflections() and factor(tree, w, 0).
    """
    clear(out, tree.nv)
    velocities(tree, w, v)
    link_forces(tree, w, v, out, gravity)
    for i in range(tree.n):
        o = slot(w, i)
        orientation = get4(w, o + Q)
        m, f = get33(w, o + PUSH)
        add33(w, o + F, neg(so3.rotate(orientation, m)), neg(so3.rotate(orientation, f)))
    armature_forces(tree, w, v, out, out)
    for j in range(tree.nv):
        out[j] = -out[j] if len(tau) == 0 else tau[j] - out[j]
    passive_forces(tree, w, v, out)
    put_rhs(tree, w, out)
    solve_up(tree, w)
    for first in stretches(tree):
        solve_down(tree, w, first, None)
    get_solution(tree, w, out)


@kernel
def aba(tree, w, q, v, tau, rest, gravity, out):
    """Accelerations at (q, v), from scratch."""
    place(tree, w, q)
    deflections(tree, w, q, rest)
    factor(tree, w, 0.0)
    acceleration(tree, w, v, tau, gravity, out)
