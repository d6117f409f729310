"""What a BALL and a FREE joint share: they move on their group, by the rotation ``joint_rotation`` and the translation
``joint_shift`` over a step, in world axes at t_k. Their increments and rates are in body axes.

The file is long, as ball.py and free.py take verbs and parts of verbs from it alike.
"""

from ..elements import armature, damper, lookahead, spring, torsion
from ..layout import DAMPED, SPRING, TORSION
from ..machine.jit import formula, kernel
from ..machine.matrix6 import NOUGHT, ZERO
from ..machine.memory import link, side
from ..machine.simd import choose, nought
from ..maths import se3, so3
from ..maths.mat3 import columns, mat_add, mat_mul, mat_vec, scalar, transpose
from ..maths.spatial import read3, read4
from ..maths.vec3 import add, add_scaled, cross, dot, scale, sub, unit
from .compensated import add_compensated
from .screw import adds


@formula
def none_of(L):
    """The vector zero, of the numbers that the link has."""
    zero = nought(L.mass)
    return zero, zero, zero


@formula
def coordinate(L, q, k):
    """Nothing: pose() reads them."""


# The motion over a step


@kernel
def set_increment(L, turn, move):
    """Move by an increment in body axes."""
    orientation = L.rotation
    rotation, translation = se3.exp(so3.rotate(orientation, turn), so3.rotate(orientation, move))
    L.joint_rotation = rotation
    L.joint_shift = translation


@kernel
def rotate_between(L, r0, r1):
    """Set the motion that takes the orientation r0 to r1, without a shift."""
    j = spring.shorter(so3.multiply(so3.inverse(r0), r1))
    L.joint_rotation = so3.conjugate_by(L.rotation, j)
    L.joint_shift = 0.0, 0.0, 0.0


@kernel
def follow(L, fraction, turn, move):
    """Let the motion be followed by a fraction of this twist, in world axes at t_k; by none if that is None."""
    if fraction is not None:
        rotation, translation = se3.exp(scale(fraction, turn), scale(fraction, move))
        j = L.joint_rotation
        L.joint_shift = add(L.joint_shift, so3.rotate(j, translation))
        a, b, c, d = so3.normalize(so3.multiply(j, rotation))
        # Lanes with fraction = 0 must stay bit-identical
        L.joint_rotation = (choose(fraction, a, j[0]), choose(fraction, b, j[1]), choose(fraction, c, j[2]),
                            choose(fraction, d, j[3]))


@formula
def guess_locked(L, v, h, out, k):
    """Nothing: the search alone finds how such a joint moves."""


@formula
def displace(L, slides, dR, d):
    t = L.joint_shift
    d, arm = add(d, t), add(L.arm, t)
    d = add(d, so3.rotate_less_one(dR, arm))
    return so3.multiply(dR, L.joint_rotation), d


@kernel
def rotate(L, q, low, k):
    """Advance the quaternion q[k] by the rotation of the joint."""
    r = read4(q, k)
    j = so3.conjugate_by(so3.inverse(L.rotation), L.joint_rotation)
    u = so3.vector(j)
    # r j = r + r (j − 1), the latter small and without cancellation: cos − 1 = −sin²/(1 + cos)
    change = so3.multiply(r, (-dot(u, u) / (1.0 + j[0]), u[0], u[1], u[2]))
    excess = nought(L.mass) - 1.0
    for c in range(4):
        add_compensated(q, low, k + c, change[c])
        excess += q[k + c] * q[k + c] + 2.0 * q[k + c] * low[k + c]
    for c in range(4):  # back to unit norm, which is a matter of the low part but for the coarsest of steps
        add_compensated(q, low, k + c, -0.5 * excess * q[k + c])


# Forces inside the joint, and its momentum


@kernel
def deflect(L, r, rest, moved):
    """Set the deflection of the spring at the orientation r. Gives its energy."""
    twist = so3.log(spring.shorter(so3.multiply(so3.inverse(rest), r)))
    L.psi6 = twist, so3.rotate(L.rotation, so3.unrotate(r, moved))
    return 0.5 * L.stiffness * (dot(twist, twist) + dot(moved, moved)) + torsion.energy(L, twist)


@kernel
def residual(L, h, passive):
    orientation = L.rotation
    m, f = L.joint_momentum6
    m, f = so3.rotate(orientation, m), so3.rotate(orientation, f)
    if passive:
        k = armature.residual(L, h) + damper.residual(L)
        turn = so3.log(L.joint_rotation)
        m = add_scaled(m, -k, turn)
        f = add_scaled(f, -k, L.joint_shift)
        if passive & DAMPED:
            m = sub(m, ahead(L, L.lookaheads[0], 1.0 / h, 0.5, turn))
            f = sub(f, ahead(L, L.lookaheads[1], 1.0 / h, 0.5, L.joint_shift))
        if passive & SPRING:
            twist, _, mean, moved = spring.deflections(L)
            k = -0.5 * h * L.stiffness
            m = add_scaled(m, k, so3.rotate(orientation, spring.torque(twist, mean)))
            f = add_scaled(f, k, moved)
        if passive & TORSION:
            m = torsion.residual(L, h, m)
    L.tau6 = m, f


@kernel
def carry(L, h, passive):
    m, f = none_of(L), none_of(L)
    if passive:
        orientation, j = L.rotation, L.joint_rotation
        k = armature.carry(L, h) - damper.carry(L)
        turn = so3.log(j)
        m, f = scale(k, so3.unrotate(orientation, turn)), scale(k, L.joint_shift)
        if passive & DAMPED:
            m = add(m, so3.unrotate(orientation, ahead(L, L.lookaheads[0], 1.0 / h, -0.5, turn)))
            f = add(f, ahead(L, L.lookaheads[1], 1.0 / h, -0.5, L.joint_shift))
        if passive & SPRING:
            _, twist, mean, moved = spring.deflections(L)
            k = -0.5 * h * L.stiffness
            m, f = add_scaled(m, k, spring.torque(twist, mean)), add_scaled(f, k, moved)
        if passive & TORSION:
            m = torsion.carry(L, h, m)
        f = so3.unrotate(orientation, so3.unrotate(j, f))
    L.joint_momentum6 = m, f


@kernel
def start_ahead(L):
    k, (m, f), (twist, moved), (turn, move) = L.stiffness, L.joint_momentum6, L.psi6, L.lookaheads
    m = add_scaled(m, -torsion.start(L, twist), L.turn)
    L.joint_momentum6 = (sub(m, each(turn, scale(k, twist))),
                         sub(f, each(move, scale(k, so3.unrotate(L.rotation, moved)))))


@formula
def each(a, b):
    """Products of the components of two vectors."""
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@kernel
def ahead(L, lookaheads, a, c, x):
    """What is added by seeing forces ahead, a times its armature and c times its damping, times x in world axes: those
    are given along the body's axes."""
    own = so3.unrotate(L.rotation, x)
    added = add(scale(a, each(lookahead.armatures(L, lookaheads), own)),
                scale(c, each(lookahead.dampings(L, lookaheads), own)))
    return so3.rotate(L.rotation, added)


@kernel
def look_ahead(L, h, N11, N22):
    """Set what the joint sees ahead, given its blocks of M⁻¹ for turns and for moves, in world axes."""
    lookahead.set_late(L, h, L.own_damping, L.stiffness)
    R, (turn, move) = so3.matrix(L.rotation), L.lookaheads
    L.lookaheads = (lookahead.set_three(L, h, along_axes(R, N11), turn),
                    lookahead.set_three(L, h, along_axes(R, N22), move))


@kernel
def along_axes(R, N):
    """The diagonal of Rᵀ N R."""
    x, y, z = (R[0], R[3], R[6]), (R[1], R[4], R[7]), (R[2], R[5], R[8])
    return dot(x, mat_vec(N, x)), dot(y, mat_vec(N, y)), dot(z, mat_vec(N, z))


@kernel
def added(L, lookaheads, v, k):
    """Twice the kinetic energy of the armature that is added, at the rates v[k] in body axes."""
    x = read3(v, k)
    return dot(x, added_to(L, lookaheads, x))


@kernel
def take_added(L, lookaheads, v, p, k):
    """p[k] −= the momentum of the armature that is added, at the rates v[k]."""
    take3(p, k, 1.0, added_to(L, lookaheads, read3(v, k)))


@kernel
def added_turn(L, v, k):
    return added(L, L.lookaheads[0], v, k)


@kernel
def added_to(L, lookaheads, x):
    """The armature that is added, times rates x in body axes."""
    return add_scaled(each(lookahead.armatures(L, lookaheads), x), torsion.armature(L) * dot(L.turn, x), L.turn)


@kernel
def armature_times(L, lookaheads, x):
    """The armature and what is added to it, times rates x in body axes."""
    return add(scale(L.armature, x), added_to(L, lookaheads, x))


@kernel
def ahead_in_world(L, lookaheads, a, c):
    """What ahead() multiplies with, as a matrix in world axes."""
    return columns(ahead(L, lookaheads, a, c, unit(0)), ahead(L, lookaheads, a, c, unit(1)),
                   ahead(L, lookaheads, a, c, unit(2)))


@kernel
def derivative(L, h, turn, move):
    """Change of the joint's own residual, in world axes, when its motion is followed by the twist (turn, move)."""
    k = armature.residual(L, h) + damper.derivative(L)
    stiffness = spring.derivative(L, h)
    j = L.joint_rotation
    rate, moved = spring.rotation_rate(so3.log(j), turn), so3.rotate(j, move)
    m, f = scale(k, rate), scale(k + stiffness, moved)
    m = add_scaled(m, stiffness, spring.torque_rate(L, turn))
    return add(m, ahead(L, L.lookaheads[0], 1.0 / h, 0.5, rate)), add(f, ahead(L, L.lookaheads[1], 1.0 / h, 0.5, moved))


@kernel
def put_stiffness(tree, w, i, h, newton):
    """Set E: the derivative of the joint's own residual with respect to its part of ζ."""
    L, P = link(w, i), side(tree, w, i)
    if newton is None:
        e = scalar(adds(L, h, None))
        P.E = e, NOUGHT, NOUGHT, e
        if tree.passive[i] & DAMPED:
            P.E = (mat_add(e, ahead_in_world(L, L.lookaheads[0], 1.0, 0.5 * h)), NOUGHT, NOUGHT,
                   mat_add(e, ahead_in_world(L, L.lookaheads[1], 1.0, 0.5 * h)))
        if tree.passive[i] & TORSION:
            E11, E12, E21, E22 = P.E
            P.E = mat_add(E11, torsion.to_mass(L, h)), E12, E21, E22
        return
    P.E = ZERO
    if tree.passive[i]:
        (m0, f0), (m1, f1), (m2, f2) = stiffness_column(L, h, 0), stiffness_column(L, h, 1), stiffness_column(L, h, 2)
        (m3, f3), (m4, f4), (m5, f5) = stiffness_column(L, h, 3), stiffness_column(L, h, 4), stiffness_column(L, h, 5)
        P.E = columns(m0, m1, m2), columns(m3, m4, m5), columns(f0, f1, f2), columns(f3, f4, f5)
        if tree.passive[i] & TORSION:
            E11, E12, E21, E22 = P.E
            P.E = mat_add(E11, mat_mul(torsion.derivative(L, h), transpose(so3.matrix(L.dR)))), E12, E21, E22


@kernel
def stiffness_column(L, h, column):
    """Column of E: the increment of the joint is δ = Ad⁻¹ ζ."""
    z, y = unit(column), unit(column - 3)
    turn, move = so3.unrotate(L.dR, z), so3.unrotate(L.dR, sub(y, cross(L.d, z)))
    return derivative(L, h, turn, move)


@kernel
def momentum_as_tau(L):
    orientation = L.rotation
    m, f = L.joint_momentum6
    L.tau6 = so3.rotate(orientation, m), so3.rotate(orientation, f)


@formula
def tau_as_x(L):
    L.x6 = L.tau6


@formula
def add3(out, k, x):
    """out[k] += x, of three numbers."""
    out[k] += x[0]
    out[k + 1] += x[1]
    out[k + 2] += x[2]


@formula
def take3(out, k, c, x):
    """out[k] −= c x, of three numbers."""
    out[k] -= c * x[0]
    out[k + 1] -= c * x[1]
    out[k + 2] -= c * x[2]


@formula
def put3(out, k, x):
    """out[k] = x, of three numbers."""
    out[k], out[k + 1], out[k + 2] = x


@formula
def put4(out, k, x):
    """out[k] = x, of four numbers."""
    out[k], out[k + 1], out[k + 2], out[k + 3] = x


@formula
def turned(L, x, k):
    """Three numbers of body axes, from x[k] on, in world axes."""
    return so3.rotate(L.rotation, read3(x, k))
