"""A FREE joint: six degrees of freedom, a rotation and a translation. The verbs are those of dispatch.py.

The file is long, as dispatch.py takes all verbs of a kind from one: they are short, and in groups by headings.
"""

from math import sqrt

from ..elements import armature, damper
from ..layout import DAMPED
from ..machine.fronts import columns_and_rows, keep6
from ..machine.jit import formula, kernel
from ..machine.matrix6 import (
    add6, add_to_matrix, alike, inverse6, matrix, matrix_for, mul6, nine, put_matrix, schur_complement, shift6, times,
    times_transposed,
)
from ..machine.memory import link, side
from ..machine.simd import sign
from ..maths import se3, so3
from ..maths.mat3 import determinant
from ..maths.spatial import put6, read3, read4, read6, shift_twist, shift_wrench
from ..maths.vec3 import add, add_scaled, cross, dot, sub
from . import group
from .compensated import add_compensated
from .group import add3, put3, put4, take3, turned
from .regular import SINGULAR, positive
from .seen_from import shift_mobility

coordinate, displace, residual, carry = group.coordinate, group.displace, group.residual, group.carry
guess_locked, start_ahead = group.guess_locked, group.start_ahead
momentum_as_tau, tau_as_x = group.momentum_as_tau, group.tau_as_x

# The configuration: position, then quaternion


@kernel
def pose(L, q, k):
    base = L.base_rotation
    L.local_rotation = so3.multiply(base, read4(q, k + 3))
    L.local_position = add(L.base_position, so3.rotate(base, read3(q, k)))


@kernel
def twist(L, rates, k):
    return turned(L, rates, k), turned(L, rates, k + 3)


@kernel
def force(L, m, f, out, k):
    put3(out, k, so3.unrotate(L.rotation, m))
    put3(out, k + 3, so3.unrotate(L.rotation, f))


@kernel
def move_by(q, k, epsilon, e):
    rotation, translation = se3.exp(read3(epsilon, e), read3(epsilon, e + 3))
    r = read4(q, k + 3)
    put3(q, k, add(read3(q, k), so3.rotate(r, translation)))
    put4(q, k + 3, so3.normalize(so3.multiply(r, rotation)))


@kernel
def increment_rate(epsilon, v, out, k):
    turn, move = se3.dlog_negative(read3(epsilon, k), read3(epsilon, k + 3), read3(v, k), read3(v, k + 3))
    put3(out, k, turn)
    put3(out, k + 3, move)


@kernel
def unit(q, k, out, e):
    size = 1.0 + sqrt(dot(read3(q, k), read3(q, k)))
    put3(out, e, (1.0, 1.0, 1.0))
    put3(out, e + 3, (size, size, size))


@kernel
def spin(v, k):
    return sqrt(dot(read3(v, k), read3(v, k)))


# The motion over a step


@kernel
def set_motion(L, epsilon, k):
    group.set_increment(L, read3(epsilon, k), read3(epsilon, k + 3))


@kernel
def get_motion(L, epsilon, k):
    turn, move, _, _ = se3.log(L.joint_rotation, L.joint_shift)
    put3(epsilon, k, so3.unrotate(L.rotation, turn))
    put3(epsilon, k + 3, so3.unrotate(L.rotation, move))


@kernel
def motion_between(L, q0, q1, k):
    r0 = read4(q0, k + 3)
    group.rotate_between(L, r0, read4(q1, k + 3))
    moved = so3.unrotate(r0, sub(read3(q1, k), read3(q0, k)))
    L.joint_shift = so3.rotate(L.rotation, moved)


@kernel
def improve(L, fraction):
    turn, move = L.x6
    group.follow(L, fraction, turn, move)


@kernel
def apply(L, q, low, k):
    moved = so3.rotate(read4(q, k + 3), so3.rotate(so3.inverse(L.rotation), L.joint_shift))
    for j in range(3):
        add_compensated(q, low, k + j, moved[j])
    group.rotate(L, q, low, k + 3)


# Forces inside the joint, and its momentum


@kernel
def deflect(L, q, rest, k):
    moved = sub(read3(q, k), read3(rest, k))
    return group.deflect(L, read4(q, k + 3), read4(rest, k + 3), moved)


@kernel
def added_energy(L, v, k):
    return group.added_turn(L, v, k) + group.added(L, L.lookaheads[1], v, k + 3)


@kernel
def add_derivative(L, h, twist, jacobian, k, column):
    m, f = group.derivative(L, h, twist[0], twist[1])
    add3(jacobian[:, column], k, so3.unrotate(L.rotation, m))
    add3(jacobian[:, column], k + 3, so3.unrotate(L.rotation, f))


@kernel
def passive_force(L, v, out, k):
    for j in range(k, k + 6):
        out[j] -= damper.force(L, v[j])
    twist, moved = L.psi6
    take3(out, k, L.stiffness, twist)
    take3(out, k + 3, L.stiffness, so3.unrotate(L.rotation, moved))


@kernel
def armature_force(L, v, a, out, k):
    for j in range(k, k + 6):
        out[j] += L.armature * a[j]
    # Its velocity is given in axes that turn
    add3(out, k + 3, armature.force_in_turning_axes(L, v, k))


@kernel
def kick(L, tau, k, h):
    m, f = L.joint_momentum6
    L.joint_momentum6 = add_scaled(m, h, read3(tau, k)), add_scaled(f, h, read3(tau, k + 3))


@kernel
def own_momentum(L, v, k):
    turn, move = L.lookaheads
    L.joint_momentum6 = (group.armature_times(L, turn, read3(v, k)),
                         group.armature_times(L, move, read3(v, k + 3)))


@kernel
def take_added(L, v, p, k):
    turn, move = L.lookaheads
    group.take_added(L, turn, v, p, k)
    group.take_added(L, move, v, p, k + 3)


@kernel
def give_momentum(L, p, k):
    L.joint_momentum6 = read3(p, k), read3(p, k + 3)


@kernel
def add_momentum(L, p, k):
    m, f = L.joint_momentum6
    add3(p, k, m)
    add3(p, k + 3, f)


# Right-hand sides and solutions


@kernel
def put_tau(L, tau, k):
    L.tau6 = turned(L, tau, k), turned(L, tau, k + 3)


@kernel
def take_tau(L, f, k):
    m, force = L.tau6
    orientation = so3.inverse(L.rotation)
    take3(f, k, 1.0, so3.rotate(orientation, m))
    take3(f, k + 3, 1.0, so3.rotate(orientation, force))


@kernel
def put_right(L, R, b, k, transposed):
    m, f = turned(L, b, k), turned(L, b, k + 3)
    if transposed is not None:
        m, f = so3.rotate(L.dR, m), so3.rotate(L.dR, f)
        m = add(m, cross(L.d, f))
    R.tau6 = m, f


@kernel
def get_x(L, R, x, k):
    turn, move = R.x6
    put3(x, k, so3.unrotate(L.rotation, turn))
    put3(x, k + 3, so3.unrotate(L.rotation, move))


# The articulated recursion (sweep.py)


@kernel
def eliminate(tree, w, i, h, newton):
    """In place of its matrix the inverse of the pivot stays."""
    A = matrix(w, tree, i)
    group.put_stiffness(tree, w, i, h, newton)
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
def up(tree, w, r, i, L, R, wrench, transposed):
    """Of Â x the wrench takes u − E x."""
    inverse, E = matrix_for(r, w, tree, i), side(tree, w, i).E
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


@formula
def down(tree, w, r, i, L, R, twist, fraction, newton, transposed):
    """D⁻¹ Â ζ = ζ − D⁻¹ E ζ."""
    inverse, E = matrix_for(r, w, tree, i), side(tree, w, i).E
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
    group.follow(L, fraction, z, y)
    return turn, move


# With rows (constraints/elimination.py)


@kernel
def hand_on(tree, w, i, L, number, newton):
    """Â D⁻¹ = 1 − E D⁻¹."""
    inverse, E, (s, r) = nine(matrix(w, tree, i)), side(tree, w, i).E, columns_and_rows(number)
    y, z = times(inverse, s), times_transposed(inverse, r)
    keep6(number, s, z)
    (um, uf), (vm, vf) = times(E, y), times_transposed(E, z)
    return shift_wrench(um, uf, L.arm), shift_wrench(vm, vf, L.arm)


@kernel
def show_x(L, x, k):
    put6(x, k, L.x6)


@kernel
def lessen_x(tree, w, i, L, x, k):
    (m, f), (um, uf) = L.x6, times(matrix(w, tree, i), read6(x, k))
    L.x6 = sub(m, um), sub(f, uf)


@kernel
def regular(tree, w, i):
    A = nine(matrix(w, tree, i))  # there the inverse is kept
    schur, R = schur_complement(A)
    P = inverse6(A, schur, R)
    schur, _ = schur_complement(P)
    return (positive(schur, SINGULAR * (P[0][0] + P[0][4] + P[0][8]))
            and positive(P[3], SINGULAR * (P[3][0] + P[3][4] + P[3][8])))


@kernel
def mobilise(tree, w, i, h, Y):
    """The parent's mobility counts in full, which is too much if the joint has none or little of an armature."""
    N = nine(add6(nine(matrix(w, tree, i)), shift_mobility(Y, link(w, i).arm)))  # there the inverse is kept
    if tree.passive[i] & DAMPED:
        group.look_ahead(link(w, i), h, N[0], N[3])
    return N


@formula
def weight(L, h, factor):
    return h / L.mass


@formula
def note_impulse(tree, w, i, L, impulse, k):
    """Nothing holds it."""
