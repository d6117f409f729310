"""The articulated-body recursion: factor a matrix of the tree once, then solve with it in two cheap sweeps, all O(n).

Every link answers a small motion ζ with the momentum K ζ, and a joint moves its link by ζ_i = X_i ζ_λ + S⁺_i δq_i.
Eliminating the joints from leaves to root leaves a parent with what its children pass on:
    Â_i = K_i + Σ_c X_cᵀ (Â_c − Â_c S⁺_c D_c⁻¹ S_cᵀ Â_c) X_c,    D_c = S_cᵀ Â_c S⁺_c + e_c,
e being what the joint itself adds. Two matrices are factored so:
- the mass matrix, which is RIQN's (paper, Algorithm 3, line 5): K is the inertia of the link and S⁺ = S. It is
  symmetric, and this is Featherstone's articulated-body algorithm (Rigid Body Dynamics Algorithms, 2008, eq. 7.23 to
  7.28);
- Newton's Jacobian ∂f/∂q (docs/derivation.md): K is the stiffness of the link and S⁺ = Ad_ΔT S, as the momentum of the
  step belongs to t_k and the increment to t_{k+1}. For BALL and FREE joints the unknown is their part of ζ itself.
The argument ``newton`` is None for the former, True for the latter: Numba compiles the branches of one of them only.
The right-hand side is tau − Sᵀ Σ wrench, which is −f: so the joints move by plus the solution.

Columns and rows are kept as seen from the parent's origin: then a sweep waits for one product after the other, and not
for the shifts between them.
"""

from .drnea_jacobian import joint_derivative
from .joints import move_joint, move_screw
from .kinematics import about_origin, less_power, shift_twist, shift_wrench
from .layout import BALL, FORK, LAST, SCREW
from .machine.jit import formula, kernel
from .machine.matrix6 import (
    NOUGHT, ZERO, add6, add_to_matrix, afresh, alike, begin, inverse6, matrix, matrix_for, mul6, nine, pass_on,
    put_matrix, row_dot, row_numbers, row_of, row_shift, schur_complement, shift6, times, times_transposed, upper_times,
)
from .machine.memory import link, right, side, team, teams, zeros
from .machine.simd import number, sign
from .maths import so3
from .maths.mat3 import (
    columns, determinant, hat, mat_add, mat_hat, mat_inverse, mat_mul, mat_of_sym, mat_sub, mat_vec, scalar, transpose,
    vec_mat,
)
from .maths.vec3 import add, add_scaled, cross, dot, scale, sub, unit
from .stiffness import put_stiffness


@formula
def rigid_inertia(L):
    """Inertia of a link, or of four, as four blocks of nine numbers."""
    mass, moment, inertia = about_origin(L)
    c = hat(moment)
    return mat_of_sym(inertia), c, transpose(c), scalar(mass)


@kernel
def begin_inertias(tree, w):
    """Begin the articulated inertia of every link with its own, of the ground with none. Needs place()."""
    for k in teams(tree):
        begin(w, tree, k, rigid_inertia(team(w, k)))


@formula
def moved_axis(L, slides):
    """Set S⁺ of a SCREW joint, or of four: its axis, moved by ΔT."""
    turn, move = L.axis
    turn = so3.rotate(L.dR, turn)
    moved = cross(L.d, turn)
    if slides:
        moved = add(moved, so3.rotate(L.dR, move))
    L.axis_after = turn, moved


@kernel
def begin_stiffnesses(tree, w, h, retraction, exact):
    """Set K of every link, begin its articulated stiffness with it, and set S⁺. Needs displacements()."""
    for k in teams(tree):
        L = team(w, k)
        put_stiffness(L, h, retraction, exact)
        begin(w, tree, k, L.K)
        moved_axis(L, tree.slides)


@kernel
def factor_mass(tree, w, h):
    """Factor the mass matrix, armature included; with h > 0, RIQN's matrix: damping and springs included. Needs
    place()."""
    begin_inertias(tree, w)
    factor(tree, w, h, None)


@kernel
def factor_jacobian(tree, w, h, retraction, exact):
    """Factor Newton's Jacobian at the present motion; unless ``exact``, to second order in it. Needs displacements().

    Gives the sign of det J. As h → 0 it is positive, with J → M/h, and along the root that continues from there it
    cannot change without J becoming singular. A root where it is negative is another one, not the motion.
    """
    begin_stiffnesses(tree, w, h, retraction, exact)
    return factor(tree, w, h, True)


@kernel
def factor(tree, w, h, newton):
    """Factor the matrix that has been begun. Of Newton's, gives the sign of det(h J); h may be negative."""
    det = number(w, 1.0)
    for i in range(tree.n - 1, -1, -1):  # leaves → root
        if tree.kind[i] == SCREW:
            det = det * eliminate_screw(tree, w, i, h, newton)
        elif tree.kind[i] == BALL:
            det = det * eliminate_ball(tree, w, i, h, newton)
        else:
            det = det * eliminate_free(tree, w, i, h, newton)
    return det


@formula
def joint_adds(L, h, newton):
    """What a joint itself adds to its pivot: armature, damping and spring."""
    if newton is None:
        return L.armature + 0.5 * h * L.damping + 0.25 * h * h * L.stiffness
    return (1.0 / h) * L.armature + 0.5 * L.damping + 0.25 * h * L.stiffness


@formula
def eliminate_screw(tree, w, i, h, newton):
    """Let a SCREW joint give way: what is left of the articulated matrix of link i goes to its parent. Gives the sign
    of the pivot's determinant."""
    L = link(w, i)
    arm, axis, A = L.arm, L.axis, matrix(w, tree, i)
    row = row_of(A, axis, tree.slides)
    if newton is not None:
        afresh(w)  # nine numbers a block would be kept on the stack for the other product: read them again
        A, axis = matrix(w, tree, i), L.axis_after
        um, uf = times(A, axis)
    pivot = row_dot(row, axis) + joint_adds(L, h, newton)
    inverse = 1.0 / pivot
    L.inverse = inverse
    row = row_shift(row, arm)
    if newton is None:
        column = row_numbers(row)
    else:
        column = shift_wrench(um, uf, arm)
        L.row = row_numbers(row)
    L.column = column
    if tree.parent[i] < tree.n:
        pass_on(w, tree, i, A, (scale(-inverse, column[0]), scale(-inverse, column[1])), row)
    return sign(pivot * h) if newton is not None else pivot


@kernel
def joint_stiffness(tree, w, i, h, newton):
    """Set E of a BALL or FREE joint: the derivative of its own residual with respect to its part of ζ."""
    L, P = link(w, i), side(tree, w, i)
    if newton is None:
        e = scalar(joint_adds(L, h, None))
        P.E = e, NOUGHT, NOUGHT, e
        return
    P.E = ZERO
    if tree.passive[i]:
        (m0, f0), (m1, f1), (m2, f2) = stiffness_column(L, h, 0), stiffness_column(L, h, 1), stiffness_column(L, h, 2)
        (m3, f3), (m4, f4), (m5, f5) = stiffness_column(L, h, 3), stiffness_column(L, h, 4), stiffness_column(L, h, 5)
        P.E = columns(m0, m1, m2), columns(m3, m4, m5), columns(f0, f1, f2), columns(f3, f4, f5)


@kernel
def stiffness_column(L, h, column):
    """Column of E: the increment of the joint is δ = Ad⁻¹ ζ."""
    z, y = unit(column), unit(column - 3)
    turn, move = so3.unrotate(L.dR, z), so3.unrotate(L.dR, sub(y, cross(L.d, z)))
    return joint_derivative(L, h, turn, move)


@kernel
def eliminate_ball(tree, w, i, h, newton):
    """As eliminate_screw, for a BALL joint. Its matrix stays, for the sweeps."""
    L, A = link(w, i), matrix(w, tree, i)
    joint_stiffness(tree, w, i, h, newton)
    (A11, A12, A21, A22), E = nine(A), side(tree, w, i).E[0]
    lever = zeros(w)
    if newton is not None:
        lever = L.d
    L.lever = lever
    D1, D2 = mat_add(A11, mat_hat(A12, lever)), mat_add(A21, mat_hat(A22, lever))  # Â S⁺, S⁺ζ = (ζ, d×ζ)
    pivot = mat_add(D1, E)
    inverse = mat_inverse(pivot)
    L.inverse3 = inverse
    if tree.parent[i] < tree.n:
        # Â − (D₁, D₂) D⁻¹ (Â₁₁, Â₁₂), where 1 − D₁D⁻¹ = E D⁻¹
        P, R = mat_mul(E, inverse), mat_mul(D2, inverse)
        left = (mat_mul(P, A11), mat_mul(P, A12), mat_sub(A21, mat_mul(R, A11)), mat_sub(A22, mat_mul(R, A12)))
        add_to_matrix(w, tree, tree.parent[i], alike(A, shift6(left, L.arm)))
    return sign(determinant(pivot) * h)


@kernel
def eliminate_free(tree, w, i, h, newton):
    """As eliminate_screw, for a FREE joint. In place of its matrix the inverse of the pivot stays."""
    A = matrix(w, tree, i)
    joint_stiffness(tree, w, i, h, newton)
    whole, E = nine(A), side(tree, w, i).E
    pivot = add6(whole, E)
    schur, R = schur_complement(pivot)
    inverse = inverse6(pivot, schur, R)
    put_matrix(w, tree, i, alike(A, inverse))
    if tree.parent[i] < tree.n:
        left = mul6(E, mul6(inverse, whole))  # Â − Â D⁻¹ Â = E D⁻¹ Â, D = Â + E
        add_to_matrix(w, tree, tree.parent[i], alike(A, shift6(left, link(w, i).arm)))
    return sign(determinant(pivot[3]) * determinant(schur))


@formula
def wrench_on(tree, R, i, above):
    """Wrench on link i, of itself and of its children; ``above`` is that of the next link if it is a child."""
    (m, f), (am, af) = R.wrench, above
    m, f = add(m, am), add(f, af)
    if tree.family[i] & FORK:
        cm, cf = R.children
        m, f = add(m, cm), add(f, cf)
    return m, f


@formula
def hand_to_parent(tree, r, i, wrench):
    """Leave the wrench of a child to its parent, which is not the link before."""
    P = right(r, tree.parent[i])
    if tree.family[i] & LAST:  # the first that comes
        P.children = wrench
    else:
        (m, f), (cm, cf) = wrench, P.children
        P.children = add(m, cm), add(f, cf)


@formula
def up_screw(tree, L, R, wrench, transposed):
    """Eliminate a SCREW joint: set x = D⁻¹u, u = tau − Sᵀ wrench. Gives x u, and the wrench on the parent."""
    (m, f), (turn, move) = wrench, L.axis if transposed is None else L.axis_after
    u = R.tau - dot(turn, m)
    if tree.slides or transposed is not None:
        u -= dot(move, f)
    x = L.inverse * u
    R.x = x
    um, uf = L.column if transposed is None else L.row
    m, f = shift_wrench(m, f, L.arm)
    return x * u, (add_scaled(m, x, um), add_scaled(f, x, uf))


@formula
def up_ball(A, L, R, wrench, transposed):
    """As up_screw, for a BALL joint whose link has the articulated matrix A."""
    m, f = wrench
    if transposed is None:
        u = sub(R.tau3, m)
        x = mat_vec(L.inverse3, u)
        um, uf = times(A, (x, cross(L.lever, x)))
    else:
        u = sub(R.tau3, add(m, cross(f, L.lever)))
        x = vec_mat(u, L.inverse3)
        um, uf = times_transposed(A, (x, scale(0.0, x)))
    R.x3 = x
    return dot(x, u), shift_wrench(add(m, um), add(f, uf), L.arm)


@formula
def up_free(inverse, E, L, R, wrench, transposed):
    """As up_screw, for a FREE joint with this inverse of its pivot. Of Â x the wrench takes u − E x."""
    (m, f), (tm, tf) = wrench, R.tau6
    um, uf = sub(tm, m), sub(tf, f)
    if transposed is None:
        xm, xf = times(inverse, (um, uf))
        em, ef = times(E, (xm, xf))
    else:
        xm, xf = times_transposed(inverse, (um, uf))
        em, ef = times_transposed(E, (xm, xf))
    R.x6 = xm, xf
    return dot(xm, um) + dot(xf, uf), shift_wrench(sub(tm, em), sub(tf, ef), L.arm)


@kernel
def up(tree, w, r, transposed):
    """Eliminate from leaves to root, for the right-hand side tau − Sᵀ Σ wrench in the memory r. Gives Σ uᵀD⁻¹u: of the
    mass matrix bᵀ M⁻¹ b, of the Jacobian h fᵀ M⁻¹ f to first order. Needs factor()."""
    norm = number(r, 0.0)
    above = zeros(r), zeros(r)
    for i in range(tree.n - 1, -1, -1):  # leaves → root
        L, R = link(w, i), right(r, i)
        wrench = wrench_on(tree, R, i, above)
        if tree.kind[i] == SCREW:
            own, wrench = up_screw(tree, L, R, wrench, transposed)
        elif tree.kind[i] == BALL:
            own, wrench = up_ball(matrix_for(r, w, tree, i), L, R, wrench, transposed)
        else:
            own, wrench = up_free(matrix_for(r, w, tree, i), side(tree, w, i).E, L, R, wrench, transposed)
        norm += own
        above = zeros(r), zeros(r)
        if tree.parent[i] == i - 1:  # the next link: kept at hand, which is faster than through memory
            above = wrench
        else:
            hand_to_parent(tree, r, i, wrench)
    return norm


@formula
def down_screw(L, R, twist, k, newton, transposed):
    """Substitute at a SCREW joint: x ← x − D⁻¹ Sᵀ Â X ζ of the parent. Gives ζ of the link."""
    turn, move = twist
    rm, rf = L.column if newton is None or transposed is not None else L.row
    # The pivot goes with what is known before: nothing waits for that product then
    x = less_power(R.x, scale(L.inverse, rm), scale(L.inverse, rf), turn, move)
    R.x = x
    move_screw(L, k, x)
    turn, move = shift_twist(turn, move, L.arm)
    own_turn, own_move = L.axis if newton is None or transposed is not None else L.axis_after
    return add_scaled(turn, x, own_turn), add_scaled(move, x, own_move)


@formula
def down_ball(A, L, R, twist, k, newton, transposed):
    """As down_screw, for a BALL joint whose link has the articulated matrix A."""
    turn, move = shift_twist(twist[0], twist[1], L.arm)
    if transposed is None:
        z = sub(R.x3, mat_vec(L.inverse3, upper_times(A, (turn, move))))
        move = add(move, cross(L.lever, z))
    else:
        am, af = times_transposed(A, (turn, move))
        z = sub(R.x3, vec_mat(add(am, cross(af, L.lever)), L.inverse3))
    x = z if newton is None or transposed is not None else so3.unrotate(L.dR, z)
    R.x3 = x
    move_joint(L, k, x, scale(0.0, x))
    return add(turn, z), move


@formula
def down_free(inverse, E, L, R, twist, k, newton, transposed):
    """As down_screw, for a FREE joint with this inverse of its pivot: D⁻¹ Â ζ = ζ − D⁻¹ E ζ."""
    turn, move = shift_twist(twist[0], twist[1], L.arm)
    if transposed is None:
        em, ef = times(inverse, times(E, (turn, move)))
    else:
        em, ef = times_transposed(inverse, times_transposed(E, (turn, move)))
    xm, xf = R.x6
    z, y = sub(xm, sub(turn, em)), sub(xf, sub(move, ef))
    turn, move = add(turn, z), add(move, y)
    if newton is not None and transposed is None:
        z, y = so3.unrotate(L.dR, z), so3.unrotate(L.dR, sub(y, cross(L.d, z)))
    R.x6 = z, y
    move_joint(L, k, z, y)
    return turn, move


@kernel
def down(tree, w, r, k, newton, transposed):
    """Substitute from root to leaves: the solution of every joint in x, of every link in answer. Needs up(). Unless k
    is None, the joints move by k times their solution."""
    twist = zeros(r), zeros(r)
    right(r, tree.n).answer = twist
    for i in range(tree.n):  # root → leaves
        L, R = link(w, i), right(r, i)
        if tree.parent[i] != i - 1:  # else it is at hand
            twist = right(r, tree.parent[i]).answer
        if tree.kind[i] == SCREW:
            twist = down_screw(L, R, twist, k, newton, transposed)
        elif tree.kind[i] == BALL:
            twist = down_ball(matrix_for(r, w, tree, i), L, R, twist, k, newton, transposed)
        else:
            A, E = matrix_for(r, w, tree, i), side(tree, w, i).E
            twist = down_free(A, E, L, R, twist, k, newton, transposed)
        R.answer = twist
