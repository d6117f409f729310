"""A BALL joint: three degrees of freedom, a rotation about the joint's origin. The verbs are those of dispatch.py."""

from math import sqrt

from ..elements import damper, torsion
from ..layout import DAMPED, TORSION
from ..machine.fronts import columns_and_rows, keep3
from ..machine.jit import formula, kernel
from ..machine.matrix6 import (
    add_to_matrix, alike, matrix, matrix_for, nine, shift6, times, times_transposed, upper_times,
)
from ..machine.memory import link, side, zeros
from ..machine.simd import sign
from ..maths import se3, so3
from ..maths.mat3 import (
    determinant, mat_add, mat_hat, mat_inverse, mat_mul, mat_shift, mat_sub, mat_vec, transpose, vec_mat,
)
from ..maths.spatial import read3, read4, shift_twist, shift_wrench
from ..maths.vec3 import add, add_scaled, cross, dot, scale, sub
from . import cone, group, screw
from .group import add3, none_of, put3, put4, take3, turned
from .regular import SINGULAR, positive
from .seen_from import shift_mobility

coordinate, displace, residual, carry = group.coordinate, group.displace, group.residual, group.carry
guess_locked, start_ahead, added_energy = group.guess_locked, group.start_ahead, group.added_turn
momentum_as_tau, tau_as_x, weight = group.momentum_as_tau, group.tau_as_x, screw.weight

# The configuration


@kernel
def pose(L, q, k):
    base = L.base_rotation
    L.local_rotation = so3.multiply(base, read4(q, k))
    L.local_position = add(L.base_position, so3.rotate(base, none_of(L)))


@kernel
def twist(L, rates, k):
    return turned(L, rates, k), none_of(L)


@kernel
def force(L, m, f, out, k):
    put3(out, k, so3.unrotate(L.rotation, m))


@kernel
def move_by(q, k, epsilon, e):
    rotation, _ = se3.exp(read3(epsilon, e), (0.0, 0.0, 0.0))
    put4(q, k, so3.normalize(so3.multiply(read4(q, k), rotation)))


@kernel
def increment_rate(epsilon, v, out, k):
    turn, _ = se3.dlog_negative(read3(epsilon, k), (0.0, 0.0, 0.0), read3(v, k), (0.0, 0.0, 0.0))
    put3(out, k, turn)


@kernel
def unit(q, k, out, e):
    put3(out, e, (1.0, 1.0, 1.0))


@kernel
def spin(v, k):
    return sqrt(dot(read3(v, k), read3(v, k)))


# The motion over a step


@kernel
def set_motion(L, epsilon, k):
    group.set_increment(L, read3(epsilon, k), none_of(L))


@kernel
def get_motion(L, epsilon, k):
    turn, _, _, _ = se3.log(L.joint_rotation, L.joint_shift)
    put3(epsilon, k, so3.unrotate(L.rotation, turn))


@kernel
def motion_between(L, q0, q1, k):
    group.rotate_between(L, read4(q0, k), read4(q1, k))


@kernel
def improve(L, fraction):
    group.follow(L, fraction, L.x6[0], none_of(L))


@kernel
def apply(L, q, low, k):
    group.rotate(L, q, low, k)


# Forces inside the joint, and its momentum


@kernel
def deflect(L, q, rest, k):
    return group.deflect(L, read4(q, k), read4(rest, k), none_of(L))


@kernel
def add_derivative(L, h, twist, jacobian, k, column):
    m, _ = group.derivative(L, h, twist[0], twist[1])
    add3(jacobian[:, column], k, so3.unrotate(L.rotation, m))


@kernel
def passive_force(L, v, out, k):
    for j in range(k, k + 3):
        out[j] -= damper.force(L, v[j])
    take3(out, k, L.stiffness, L.psi6[0])


@kernel
def armature_force(L, v, a, out, k):
    for j in range(k, k + 3):
        out[j] += L.armature * a[j]


@kernel
def kick(L, tau, k, h):
    m, f = L.joint_momentum6
    L.joint_momentum6 = add_scaled(m, h, read3(tau, k)), f


@kernel
def own_momentum(L, v, k):
    L.joint_momentum6 = group.armature_times(L, L.lookaheads[0], read3(v, k)), none_of(L)


@kernel
def take_added(L, v, p, k):
    group.take_added(L, L.lookaheads[0], v, p, k)


@kernel
def give_momentum(L, p, k):
    L.joint_momentum6 = read3(p, k), none_of(L)


@kernel
def add_momentum(L, p, k):
    add3(p, k, L.joint_momentum6[0])


# Right-hand sides and solutions


@kernel
def put_tau(L, tau, k):
    L.tau3 = turned(L, tau, k)


@kernel
def take_tau(L, f, k):
    take3(f, k, 1.0, so3.rotate(so3.inverse(L.rotation), L.tau6[0]))


@kernel
def put_right(L, R, b, k, transposed):
    m = turned(L, b, k)
    R.tau3 = m if transposed is None else so3.rotate(L.dR, m)


@kernel
def get_x(L, R, x, k):
    put3(x, k, so3.unrotate(L.rotation, R.x3))


# The articulated recursion (sweep.py)


@kernel
def eliminate(tree, w, i, h, newton):
    """Its matrix stays, for the sweeps."""
    L, A = link(w, i), matrix(w, tree, i)
    group.put_stiffness(tree, w, i, h, newton)
    (A11, A12, A21, A22), E = nine(A), side(tree, w, i).E[0]
    lever = zeros(w)
    if newton is not None:
        lever = L.d
    L.lever = lever
    D1, D2 = mat_add(A11, mat_hat(A12, lever)), mat_add(A21, mat_hat(A22, lever))  # Â S⁺, S⁺ζ = (ζ, d×ζ)
    pivot = mat_add(D1, E)
    inverse = mat_inverse(pivot)
    if cone.is_held(tree, w, L):
        return cone.eliminate(tree, w, i, h, newton, inverse)
    L.inverse3 = inverse
    if tree.parent[i] < tree.n:
        # Â − (D₁, D₂) D⁻¹ (Â₁₁, Â₁₂), where 1 − D₁D⁻¹ = E D⁻¹
        P, R = mat_mul(E, inverse), mat_mul(D2, inverse)
        left = (mat_mul(P, A11), mat_mul(P, A12), mat_sub(A21, mat_mul(R, A11)), mat_sub(A22, mat_mul(R, A12)))
        add_to_matrix(w, tree, tree.parent[i], alike(A, shift6(left, L.arm)))
    return sign(determinant(pivot) * h)


@formula
def up(tree, w, r, i, L, R, wrench, transposed):
    A, (m, f) = matrix_for(r, w, tree, i), wrench
    if transposed is None:
        u = sub(R.tau3, m)
        x = mat_vec(L.inverse3, u)
        norm = dot(x, u)
        if cone.is_held(tree, w, L):
            x, norm, R.hold = cone.up(tree, w, i, x, u)
        um, uf = times(A, (x, cross(L.lever, x)))
    else:
        u = sub(R.tau3, add(m, cross(f, L.lever)))
        x = vec_mat(u, L.inverse3)
        norm = dot(x, u)
        um, uf = times_transposed(A, (x, scale(0.0, x)))
    R.x3 = x
    return norm, shift_wrench(add(m, um), add(f, uf), L.arm)


@formula
def down(tree, w, r, i, L, R, twist, fraction, newton, transposed):
    A = matrix_for(r, w, tree, i)
    turn, move = shift_twist(twist[0], twist[1], L.arm)
    if transposed is None:
        z = sub(R.x3, mat_vec(L.inverse3, upper_times(A, (turn, move))))
        move = add(move, cross(L.lever, z))
    else:
        am, af = times_transposed(A, (turn, move))
        z = sub(R.x3, vec_mat(add(am, cross(af, L.lever)), L.inverse3))
    x = z if newton is None or transposed is not None else so3.unrotate(L.dR, z)
    R.x3 = x
    group.follow(L, fraction, x, scale(0.0, x))
    return add(turn, z), move


# With rows (constraints/elimination.py)


@kernel
def hand_on(tree, w, i, L, number, newton):
    A, ((s, f), (rm, rf)) = nine(matrix(w, tree, i)), columns_and_rows(number)
    r = add(rm, cross(rf, L.lever))
    y, z = mat_vec(L.inverse3, s), vec_mat(r, L.inverse3)
    keep3(number, s, r, z)
    (um, uf), (vm, vf) = times(A, (y, cross(L.lever, y))), times_transposed(A, (z, scale(0.0, z)))
    return shift_wrench(sub(s, um), sub(f, uf), L.arm), shift_wrench(sub(rm, vm), sub(rf, vf), L.arm)


@kernel
def show_x(L, x, k):
    put3(x, k, L.x3)


@kernel
def lessen_x(tree, w, i, L, x, k):
    if cone.is_held(tree, w, L):
        L.hold -= dot(side(tree, w, i).take, read3(x, k))
    L.x3 = sub(L.x3, mat_vec(L.inverse3, read3(x, k)))


@kernel
def regular(tree, w, i):
    A = nine(matrix(w, tree, i))
    return positive(mat_shift(A[0], link(w, i).armature), SINGULAR * (A[0][0] + A[0][4] + A[0][8]))


@kernel
def mobilise(tree, w, i, h, Y):
    L, A = link(w, i), nine(matrix(w, tree, i))
    Y11, Y12, Y21, Y22 = shift_mobility(Y, L.arm)
    B1, B2 = mat_mul(A[0], L.inverse3), mat_mul(A[2], L.inverse3)  # Â S D⁻¹
    C1, C2 = mat_add(mat_mul(Y11, B1), mat_mul(Y12, B2)), mat_add(mat_mul(Y21, B1), mat_mul(Y22, B2))
    N = mat_add(L.inverse3, mat_add(mat_mul(transpose(B1), C1), mat_mul(transpose(B2), C2)))
    Y11 = mat_add(mat_sub(mat_sub(Y11, C1), transpose(C1)), N)
    if tree.passive[i] & DAMPED:
        if tree.passive[i] & TORSION:
            torsion.look_ahead(L, h, N)
        else:
            group.look_ahead(L, h, N, N)
    return Y11, mat_sub(Y12, transpose(C2)), mat_sub(Y21, C2), Y22


@kernel
def note_impulse(tree, w, i, L, impulse, k):
    if cone.is_held(tree, w, L):
        cone.add_impulse(L, impulse, k, -L.hold)
