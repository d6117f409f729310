"""The exponential on SE(3), the paper's retraction, in closed form about a link's centre of mass.

L_d does not depend on where on the link its frame sits, and about the centre of mass G = (I, m) is diagonal. There,
with w = log ΔR, the displacement d of that centre, A = dlog_w on SO(3) and x = (w, v), v = A d:
    f = m AᵀA d / h,  m_c = (AᵀI w + m (γ (w·d) w×(w×v) + β v×(w×v))) / h.
Everything serves one link, or four (w a view in fours). docs/derivation.md has the steps between.
"""

from ..machine.jit import formula
from ..machine.simd import forget
from ..maths import so3
from ..maths.mat3 import (
    add_hat_mat, hat, mat_add, mat_mul, mat_of_sym, mat_scale, mat_shift, mat_sub, outer, square_of, sub_mat_hat,
    transpose,
)
from ..maths.vec3 import (
    add, add_scaled, cross, dot, neg, scale, sub, sym_add_dyads, sym_add_scaled, sym_add_square, sym_commutator,
    sym_mul,
)
from .split import moved, rotation_derivative, split_twist


@formula
def screw_terms(turn, d, beta):
    """Products of w and d: w·w, w·d, w×d, w×(w×d), 1 − β w·w, the c of AᵀA = 1 + c ŵ², AᵀA d, and v = A d."""
    square = dot(turn, turn)
    t = cross(turn, d)
    tt = cross(turn, t)
    rest = 1.0 - beta * square
    c = beta * (1.0 + rest) - 0.25
    return (square, dot(turn, d), t, tt, rest, c, add_scaled(d, c, tt),
            add_scaled(add_scaled(d, -0.5, t), beta, tt))


@formula
def exp_momentum(L, h, ratio, beta, gamma):
    """Alg. 2, line 7: μ = [dlog_x]ᵀ G x / h about the link's origin at t_k, and xᵀ G x. Needs displacements().

    With w = ρu, ρ = θ/sin(θ/2). Products of three vectors are written out, so that those with u need not wait for ρ.
    """
    u, d = moved(L)
    t, y = cross(u, d), sym_mul(L.inertia_world, u)
    along, about = dot(u, d), dot(u, y)
    by_h, rr = 1.0 / h, ratio * ratio
    square = rr * dot(u, u)  # = w·w
    rest = 1.0 - beta * square
    c = beta * (1.0 + rest) - 0.25  # AᵀA = 1 + c ŵ²
    g = add_scaled(scale(1.0 - c * square, d), c * rr * along, u)  # AᵀA d
    reach = dot(d, g)  # = v·v
    bend = gamma * rest - beta * beta
    mass = by_h * L.mass
    k, r = mass * ratio, by_h * ratio
    m = add_scaled(scale(r * rest, y), 0.5 * r * ratio, cross(u, y))
    m = add_scaled(m, r * rr * beta * about + k * (beta * reach + rr * bend * along * along), u)
    m = add_scaled(m, -k * along * (beta + square * bend), d)
    m = add_scaled(m, 0.5 * k * ratio * along * (beta + gamma * square), t)
    f = scale(mass, g)
    return add(m, cross(L.centre, f)), f, rr * about + h * mass * reach


@formula
def exp_stiffness(L, h, ratio, beta, gamma, kappa):
    """K as blocks, exactly: the derivative of exp_momentum when the link moves by ζ = (z, y) about its origin at t_k.

    Then δw = A z and δd = y + z×e, where e is the centre of mass after the step. Most matrices are dyads, as
    hat(w×d) + ŵd̂ = 2 d wᵀ − w dᵀ − w·d, wᵀA = wᵀ and dᵀA = (Aᵀd)ᵀ.
    """
    turn, d = split_twist(L, ratio)
    square, along, t, tt, rest, c, g, v = screw_terms(turn, d, beta)
    centre, k = L.centre, L.mass / h
    e = add(centre, d)
    A = rotation_derivative(turn, beta)
    a = add_scaled(add_scaled(d, 0.5, t), beta, tt)  # Aᵀ d
    r = add_scaled(scale(rest, tt), 0.5 * square, t)  # w×(w×v)
    dc = 2.0 * (gamma * rest - beta * beta)  # of c, for a change of w·w/2
    stretch = 1.0 - c * square
    mix = along * (beta + gamma * square)

    # The linear momentum: k AᵀA for y …
    f_y = mat_shift(outer(scale(k * c, turn), turn), k * stretch)
    # … and for z
    f_z = mat_add(outer(scale(k, add_scaled(scale(dc, tt), -2.0 * c, d)), turn),
                  outer(scale(k * c, turn), sub(a, cross(turn, e))))
    f_z = mat_sub(mat_add(f_z, mat_scale(k * c * along, A)), hat(scale(k * stretch, e)))

    # The angular momentum about the centre of mass, for y …
    m_y = mat_add(outer(scale(k, add_scaled(scale(gamma, r), -beta, v)), turn),
                  outer(scale(k, turn), add_scaled(scale(2.0 * beta, g), gamma * along, turn)))
    m_y = mat_sub(m_y, mat_scale(k * mix, A))
    # … and for z at fixed d
    inertia, by_h = L.inertia_world, 1.0 / h
    y = scale(by_h, sym_mul(inertia, turn))
    ty = cross(turn, y)
    tty = cross(turn, ty)
    b = add_scaled(add_scaled(y, 0.5, ty), beta, tty)  # Aᵀ y
    reach, dd = dot(d, g), dot(d, d)
    p = add_scaled(scale(kappa * along, r), gamma * along, add_scaled(t, -(gamma * square + 3.0 * beta), tt))
    p = add_scaled(p, 2.0 * along * (beta * beta - gamma * rest), d)
    p = add_scaled(p, gamma * reach + beta * (dc * (along * along - square * dd) - 2.0 * c * dd), turn)
    p = add_scaled(p, -gamma * along, v)
    s = add_scaled(scale(gamma, r), along * (gamma * rest + beta * (2.0 * c - beta)), turn)
    s = add_scaled(s, -beta, v)
    m_z = mat_add(transpose(mat_mul(mat_of_sym(inertia), mat_scale(by_h, A))),
                  hat(add_scaled(scale(-0.5, y), -0.5 * k * mix, d)))
    own = along * along * (gamma * rest - beta * beta) + beta * reach
    m_z = mat_mul(mat_shift(m_z, k * own + beta * dot(turn, y)), A)
    m_z = mat_add(m_z, outer(add_scaled(add_scaled(scale(k, p), gamma, tty), -2.0 * beta, y), turn))
    m_z = mat_add(m_z, mat_add(outer(scale(beta, turn), b), outer(scale(k, s), a)))

    return add_hat_mat(sub_mat_hat(m_z, m_y, e), centre, f_z), add_hat_mat(m_y, centre, f_y), f_z, f_y


@formula
def put_stiffness_second_order(L, h):
    """Set K to second order in x, in less than half of the work. With k = m/h, κ = k/12, α = k + κ w·w, the centre of
    mass c before the step, b = d + c×w and y = I w/h,

    K22 = α − κ w wᵀ,  K21 = P − hat(α c + k d),  K12 = Pᵀ + hat(α c),  P = κ (2 d wᵀ − w bᵀ − w·d),

    and K11 is a symmetric matrix plus a hat, written out in docs/derivation.md. Each block is stored before the next
    one is begun: the registers do not hold all four, and the stack costs more than the arithmetic.
    """
    u = so3.vector(L.dR)
    turn, d = split_twist(L, 2.0 + dot(u, u) * (1.0 / 3.0))
    centre, by_h = L.centre, 1.0 / h
    k, square = L.mass * by_h, dot(turn, turn)
    twelfth = k * (1.0 / 12.0)
    alpha = k + twelfth * square
    L.K22 = mat_shift(square_of(turn, -twelfth), alpha)
    forget()
    part = scale(twelfth, turn)
    before = scale(alpha, centre)
    after = add_scaled(before, k, d)
    b = add(d, cross(centre, turn))
    P = mat_shift(mat_sub(outer(d, add(part, part)), outer(part, b)), -dot(part, d))
    L.K12 = mat_add(transpose(P), hat(before))
    L.K21 = mat_sub(P, hat(after))
    forget()

    inertia, lever = L.inertia_world, cross(centre, d)
    y, trace = scale(by_h, sym_mul(inertia, turn)), by_h * (inertia[0] + inertia[1] + inertia[2])
    # The symmetric matrix: the part of turning about the centre of mass …
    sym = sym_add_scaled(sym_commutator(scale(0.5 * by_h, turn), inertia), by_h - by_h * square * (5.0 / 12.0), inertia)
    z = add_scaled(add_scaled(scale(5.0 / 6.0, y), -0.25 * trace, turn), 4.0 * twelfth, lever)
    sym = sym_add_dyads(sym, turn, z)
    # … and that of the mass, which moves with it
    sym = sym_add_dyads(sym_add_square(sym, -twelfth, b), neg(centre), after)
    shift = dot(centre, after) + twelfth * dot(d, d) + 0.25 * square * trace - dot(turn, y) * (5.0 / 12.0)
    skew = add_scaled(add_scaled(scale(0.25, cross(y, turn)), -0.5, y), -0.5 * k, lever)
    L.K11 = mat_add(mat_shift(mat_of_sym(sym), shift), hat(skew))
