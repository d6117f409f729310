"""Articulated bodies: factor the mass matrix once, then solve M x = b in two cheap sweeps (Featherstone's algorithm).

The articulated inertia of link i is [[A, B], [Bᵀ, C]], from twists to wrenches: A and C symmetric, B 3×3 row by row.
The factorisation is shared by forward dynamics, the velocity of a momentum, and RIQN.
"""

from . import so3
from .jit import kernel
from .joints import deflections, get_solution, passive_forces, put_rhs
from .kinematics import place, shift_twist, shift_wrench
from .layout import (
    A, ARM, ARMATURE, BALL, DAMPING, DINV, F, IA, INERTIA_W, LANES, MASS, MOMENT_W, PUSH, Q, S, SCREW, STIFFNESS, TAU,
    U, X, add33, clear, get3, get4, get6, get9, get33, put3, put6, put33, slot,
)
from .rnea import armature_forces, link_forces, velocities
from .vec3 import (
    add, add_scaled, cross, dot, neg, scale, sub, sym_add, sym_inverse, sym_mul, sym_outer, sym_scale, sym_shift,
    sym_sub,
)

IA_B = IA + 6 * LANES
IA_C = IA + 15 * LANES
SINGULAR = 1e-14  # relative to the terms it is the sum of, below which a pivot counts as zero


@kernel
def _rows(B):
    return (B[0], B[1], B[2]), (B[3], B[4], B[5]), (B[6], B[7], B[8])


@kernel
def _columns(B):
    return (B[0], B[3], B[6]), (B[1], B[4], B[7]), (B[2], B[5], B[8])


@kernel
def mul(B, a):
    r = _rows(B)
    return dot(r[0], a), dot(r[1], a), dot(r[2], a)


@kernel
def mul_transposed(B, a):
    c = _columns(B)
    return dot(c[0], a), dot(c[1], a), dot(c[2], a)


@kernel
def _congruence(B, D):
    """Bᵀ D B of a symmetric D."""
    a, b, c = _columns(B)
    Da, Db, Dc = sym_mul(D, a), sym_mul(D, b), sym_mul(D, c)
    return dot(a, Da), dot(b, Db), dot(c, Dc), dot(a, Db), dot(a, Dc), dot(b, Dc)


@kernel
def shift_inertia(A_, B, C, p):
    """The same inertia about a point from which this one is seen at p: E = B + p̂C, A − B p̂ + p̂ Bᵀ − p̂ C p̂."""
    c0, c1, c2 = (C[0], C[3], C[4]), (C[3], C[1], C[5]), (C[4], C[5], C[2])
    b0, b1, b2 = _columns(B)
    e0, e1, e2 = add(b0, cross(p, c0)), add(b1, cross(p, c1)), add(b2, cross(p, c2))
    E = e0[0], e1[0], e2[0], e0[1], e1[1], e2[1], e0[2], e1[2], e2[2]
    # p̂ Bᵀ has columns p × (row of B); −E p̂ has rows p × (row of E)
    r0, r1, r2 = _rows(B)
    s0, s1, s2 = _rows(E)
    x0, x1, x2 = cross(p, r0), cross(p, r1), cross(p, r2)
    y0, y1, y2 = cross(p, s0), cross(p, s1), cross(p, s2)
    shifted = (
        A_[0] + x0[0] + y0[0], A_[1] + x1[1] + y1[1], A_[2] + x2[2] + y2[2],
        A_[3] + x1[0] + y0[1], A_[4] + x2[0] + y0[2], A_[5] + x2[1] + y1[2],
    )
    return shifted, E, C


@kernel
def add_inertia(w, a, A_, B, C):
    k = a
    for value in A_ + B + C:
        w[k] += value
        k += LANES


@kernel
def rigid_inertia(tree, w):
    """Start the articulated inertia of every link with its own inertia, of the ground with none."""
    for i in range(tree.n + 1):
        o = slot(i)
        put6(w, o + IA, get6(w, o + INERTIA_W))
        x, y, z = get3(w, o + MOMENT_W)
        put6(w, o + IA_B, (0.0, -z, y, z, 0.0, -x))
        put3(w, o + IA_B + 6 * LANES, (-y, x, 0.0))
        put3(w, o + IA_C, (w[o + MASS], w[o + MASS], w[o + MASS]))
        put3(w, o + IA_C + 3 * LANES, (0.0, 0.0, 0.0))


@kernel
def factor(tree, w, h):
    """Factor the mass matrix, armature included; with h > 0, of RIQN's matrix: damping and springs included.

    Gives the last joint whose articulated inertia is not positive, or −1: those before it may only follow from it.
    Needs place().
    """
    n = tree.n
    rigid_inertia(tree, w)
    singular = -1
    for i in range(n - 1, -1, -1):  # leaves → root
        o = slot(i)
        A_, B, C = get6(w, o + IA), get9(w, o + IA_B), get6(w, o + IA_C)
        extra = w[o + ARMATURE] + 0.5 * h * w[o + DAMPING] + 0.25 * h * h * w[o + STIFFNESS]
        small = SINGULAR * (A_[0] + A_[1] + A_[2])
        if tree.kind[i] == SCREW:
            turn, move = get33(w, o + S)
            m = add(sym_mul(A_, turn), mul(B, move))
            f = add(mul_transposed(B, turn), sym_mul(C, move))
            pivot = dot(turn, m) + dot(move, f) + extra
            terms = turn[0] ** 2 * A_[0] + turn[1] ** 2 * A_[1] + turn[2] ** 2 * A_[2]
            terms += move[0] ** 2 * C[0] + move[1] ** 2 * C[1] + move[2] ** 2 * C[2]
            if not pivot > SINGULAR * terms:
                singular = max(singular, i)
            inverse = 1.0 / pivot
            put33(w, o + U, m, f)
            w[o + DINV] = inverse
            A_ = sym_add(A_, sym_outer(-inverse, m))
            C = sym_add(C, sym_outer(-inverse, f))
            x, y, z = scale(-inverse, m)
            B = (B[0] + x * f[0], B[1] + x * f[1], B[2] + x * f[2], B[3] + y * f[0], B[4] + y * f[1], B[5] + y * f[2],
                 B[6] + z * f[0], B[7] + z * f[1], B[8] + z * f[2])
        elif tree.kind[i] == BALL:
            D = sym_shift(A_, extra)
            if not _positive(D, small):
                singular = max(singular, i)
            inverse = sym_inverse(D)
            put6(w, o + DINV, inverse)
            C = sym_sub(C, _congruence(B, inverse))
            # A − A D⁻¹ A = e A D⁻¹ = e (1 − e D⁻¹) and B − A D⁻¹ B = e D⁻¹ B, with e = extra
            A_ = sym_shift(sym_scale(-extra * extra, inverse), extra)
            b0, b1, b2 = _columns(B)
            b0, b1, b2 = sym_mul(inverse, b0), sym_mul(inverse, b1), sym_mul(inverse, b2)
            B = (extra * b0[0], extra * b1[0], extra * b2[0], extra * b0[1], extra * b1[1], extra * b2[1],
                 extra * b0[2], extra * b1[2], extra * b2[2])
        else:
            Cinv = sym_inverse(sym_shift(C, extra))
            r0, r1, r2 = _rows(B)
            c0, c1, c2 = sym_mul(Cinv, r0), sym_mul(Cinv, r1), sym_mul(Cinv, r2)
            schur = sym_sub(sym_shift(A_, extra),
                            (dot(r0, c0), dot(r1, c1), dot(r2, c2), dot(r0, c1), dot(r0, c2), dot(r1, c2)))
            if not (_positive(schur, small) and _positive(sym_shift(C, extra), SINGULAR * (C[0] + C[1] + C[2]))):
                singular = max(singular, i)
            inverse = sym_inverse(schur)
            put6(w, o + DINV, inverse)
            put6(w, o + U, Cinv)
            # Î − Î D⁻¹ Î = e (1 − e D⁻¹), D = Î + e
            G = c0 + c1 + c2  # B C⁻¹
            A_ = sym_shift(sym_scale(-extra * extra, inverse), extra)
            g0, g1, g2 = _columns(G)
            d0, d1, d2 = sym_mul(inverse, g0), sym_mul(inverse, g1), sym_mul(inverse, g2)
            k = extra * extra
            B = (k * d0[0], k * d1[0], k * d2[0], k * d0[1], k * d1[1], k * d2[1], k * d0[2], k * d1[2], k * d2[2])
            C = sym_shift(sym_scale(-k, sym_add(Cinv, _congruence(G, inverse))), extra)
        A_, B, C = shift_inertia(A_, B, C, get3(w, o + ARM))
        add_inertia(w, slot(tree.parent[i]) + IA, A_, B, C)
    return singular


@kernel
def _positive(D, small):
    """Whether a symmetric matrix is positive definite, with pivots above ``small``."""
    minor = D[0] * D[1] - D[3] * D[3]
    det = D[0] * (D[1] * D[2] - D[5] * D[5]) - D[3] * (D[3] * D[2] - D[4] * D[5]) + D[4] * (D[3] * D[5] - D[4] * D[1])
    return D[0] > small and minor > small * D[0] and det > small * minor


@kernel
def solve_up(tree, w):
    """Eliminate from leaves to root, for the right-hand side TAU − Sᵀ ΣF. Gives bᵀ M⁻¹ b. Needs factor()."""
    norm = 0.0
    for i in range(tree.n - 1, -1, -1):  # leaves → root
        o = slot(i)
        m, f = get33(w, o + F)
        if tree.kind[i] == SCREW:
            turn, move = get33(w, o + S)
            u = w[o + TAU] - dot(turn, m) - dot(move, f)
            x = w[o + DINV] * u
            w[o + X] = x
            norm += x * u
            um, uf = get33(w, o + U)
            m, f = add_scaled(m, x, um), add_scaled(f, x, uf)
        elif tree.kind[i] == BALL:
            u = sub(get3(w, o + TAU), m)
            x = sym_mul(get6(w, o + DINV), u)
            put3(w, o + X, x)
            norm += dot(x, u)
            m, f = add(m, sym_mul(get6(w, o + IA), x)), add(f, mul_transposed(get9(w, o + IA_B), x))
        else:
            um, uf = get33(w, o + TAU)
            um, uf = sub(um, m), sub(uf, f)
            xm, xf = _solve_free(w, o, um, uf)
            put33(w, o + X, xm, xf)
            norm += dot(xm, um) + dot(xf, uf)
            im, if_ = _articulated_times(w, o, xm, xf)
            m, f = add(m, im), add(f, if_)
        m, f = shift_wrench(m, f, get3(w, o + ARM))
        add33(w, slot(tree.parent[i]) + F, m, f)
    return norm


@kernel
def solve_down(tree, w):
    """Substitute from root to leaves: the solution of every joint in X, of every link in A. Needs solve_up()."""
    put33(w, slot(tree.n) + A, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    for i in range(tree.n):  # root → leaves
        o = slot(i)
        alpha, acc = get33(w, slot(tree.parent[i]) + A)
        alpha, acc = shift_twist(alpha, acc, get3(w, o + ARM))
        if tree.kind[i] == SCREW:
            um, uf = get33(w, o + U)
            x = w[o + X] - w[o + DINV] * (dot(um, alpha) + dot(uf, acc))
            w[o + X] = x
            turn, move = get33(w, o + S)
            alpha, acc = add_scaled(alpha, x, turn), add_scaled(acc, x, move)
        elif tree.kind[i] == BALL:
            b = add(sym_mul(get6(w, o + IA), alpha), mul(get9(w, o + IA_B), acc))
            x3 = sub(get3(w, o + X), sym_mul(get6(w, o + DINV), b))
            put3(w, o + X, x3)
            alpha = add(alpha, x3)
        else:
            bm, bf = _articulated_times(w, o, alpha, acc)
            bm, bf = _solve_free(w, o, bm, bf)
            xm, xf = get33(w, o + X)
            xm, xf = sub(xm, bm), sub(xf, bf)
            put33(w, o + X, xm, xf)
            alpha, acc = add(alpha, xm), add(acc, xf)
        put33(w, o + A, alpha, acc)


@kernel
def _articulated_times(w, o, turn, move):
    B = get9(w, o + IA_B)
    return (add(sym_mul(get6(w, o + IA), turn), mul(B, move)),
            add(mul_transposed(B, turn), sym_mul(get6(w, o + IA_C), move)))


@kernel
def _solve_free(w, o, m, f):
    """D⁻¹ (m, f) of a FREE joint by its Schur complement."""
    B, Cinv = get9(w, o + IA_B), get6(w, o + U)
    turn = sym_mul(get6(w, o + DINV), sub(m, mul(B, sym_mul(Cinv, f))))
    return turn, sym_mul(Cinv, sub(f, mul_transposed(B, turn)))


@kernel
def acceleration(tree, w, v, tau, gravity, out):
    """Accelerations at rates v under joint forces tau (or none, if empty), passive joint forces and the wrenches PUSH.

    Needs place(), deflections() and factor(tree, w, 0).
    """
    clear(out)
    velocities(tree, w, v)
    link_forces(tree, w, v, out, gravity)
    for i in range(tree.n):
        o = slot(i)
        orientation = get4(w, o + Q)
        m, f = get33(w, o + PUSH)
        add33(w, o + F, neg(so3.rotate(orientation, m)), neg(so3.rotate(orientation, f)))
    armature_forces(tree, w, v, out, out)
    for j in range(len(out)):
        out[j] = -out[j] if len(tau) == 0 else tau[j] - out[j]
    passive_forces(tree, w, v, out)
    put_rhs(tree, w, out)
    solve_up(tree, w)
    solve_down(tree, w)
    get_solution(tree, w, out)


@kernel
def aba(tree, w, q, v, tau, rest, gravity, out):
    """Accelerations at (q, v), from scratch. Gives the first joint whose articulated inertia is not positive, or −1."""
    place(tree, w, q)
    deflections(tree, w, q, rest)
    singular = factor(tree, w, 0.0)
    acceleration(tree, w, v, tau, gravity, out)
    return singular
