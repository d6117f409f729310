"""A SCREW joint: one degree of freedom, a turn about an axis and a slide along it. It moves by ``delta`` over a step.

The verbs are those of dispatch.py. What follows them is of all SCREW joints at once, four at a time where that can be.
The file is long, as dispatch.py takes all verbs of a kind from one: they are short, and in groups by headings.
"""

from ..elements import armature, damper, lookahead, servo, spring
from ..layout import DAMPED, SERVO
from ..machine.fronts import columns_and_rows, coupling, keep1
from ..machine.jit import formula, kernel
from ..machine.matrix6 import (
    afresh, matrix, nine, pass_on, row_dot, row_numbers, row_of, row_shift, times,
)
from ..machine.memory import link
from ..machine.simd import below, choose, less, sign
from ..maths import so3
from ..maths.spatial import less_power, shift_twist, shift_wrench
from ..maths.vec3 import add, add_scaled, cross, dot, scale
from .compensated import add_compensated
from .regular import SINGULAR, own_terms
from .seen_from import less_outers, shift_mobility

# The configuration


@formula
def coordinate(L, q, k):
    """The pose is set from it by local_pose()."""
    L.angle = q[k]


@formula
def pose(L, q, k):
    """Set by local_pose(), with others."""


@formula
def twist(L, rates, k):
    return scale(rates[k], L.axis_turn), scale(rates[k], L.axis_move)


@formula
def force(L, m, f, out, k):
    out[k] = dot(L.axis_turn, m) + dot(L.axis_move, f)


@formula
def move_by(q, k, epsilon, e):
    q[k] += epsilon[e]


@formula
def increment_rate(epsilon, v, out, k):
    out[k] = v[k]


@formula
def unit(q, k, out, e):
    out[e] = 1.0 + abs(q[k])


@formula
def spin(v, k):
    return 0.0


# The motion over a step


@formula
def set_motion(L, epsilon, k):
    L.delta = epsilon[k]


@formula
def get_motion(L, epsilon, k):
    epsilon[k] = L.delta


@formula
def motion_between(L, q0, q1, k):
    L.delta = q1[k] - q0[k]


@formula
def follow(L, fraction, x):
    """Let the motion be followed by a fraction of x; by none if that is None."""
    if fraction is not None:
        L.delta += fraction * x


@formula
def improve(L, fraction):
    follow(L, fraction, L.x)


@formula
def guess_locked(L, v, h, out, k):
    out[k] = choose(L.free, out[k], h * v[k])


@formula
def displace(L, slides, dR, d):
    arm = L.arm
    if slides:
        t = scale(L.delta, L.axis_move)
        d, arm = add(d, t), add(arm, t)
    # ΔR_i = ΔR_λ j,  d_i = d_λ + (ΔR_λ − 1) p_i + ΔR_λ t
    d = add(d, so3.rotate_less_one(dR, arm))
    return so3.multiply(dR, L.screw_rotation), d


@formula
def apply(L, q, low, k):
    add_compensated(q, low, k, L.delta)


# Forces inside the joint, and its momentum


@formula
def deflect(L, q, rest, k):
    L.psi = q[k] - rest[k]
    return 0.5 * L.stiffness * L.psi * L.psi


@formula
def residual(L, h, passive):
    tau = L.joint_momentum
    if passive:
        delta = L.delta
        tau -= (armature.residual(L, h) + damper.residual(L)) * delta
        tau -= spring.screw_impulse(L, h, delta)
        if passive & SERVO:
            tau += servo.residual(L, h, delta)
    L.tau = tau


@formula
def carry(L, h, passive):
    L.joint_momentum = 0.0
    if passive:
        delta = L.delta
        L.joint_momentum = (armature.carry(L, h) - damper.carry(L)) * delta - spring.screw_impulse(L, h, delta)
        if passive & SERVO:
            L.joint_momentum += servo.carry(L, h, delta)


@formula
def start_ahead(L):
    L.joint_momentum -= L.lookahead * L.stiffness * L.psi


@formula
def take_added(L, v, p, k):
    p[k] -= (L.armature - L.own_armature) * v[k]


@formula
def added_energy(L, v, k):
    return (L.armature - L.own_armature) * v[k] * v[k]


@formula
def adds(L, h, newton):
    """What the joint itself adds to its pivot: armature, damping and spring."""
    if newton is None:
        return L.armature + 0.5 * h * L.damping + 0.25 * h * h * L.stiffness
    return armature.derivative(L, h) + damper.derivative(L) + spring.derivative(L, h)


@formula
def add_derivative(L, h, twist, jacobian, k, column):
    jacobian[k, k] += L.armature / h + 0.5 * L.damping + 0.25 * h * L.stiffness + servo.derivative(L, h)


@formula
def passive_force(L, v, out, k):
    out[k] -= damper.force(L, v[k])
    out[k] -= L.stiffness * L.psi


@formula
def armature_force(L, v, a, out, k):
    out[k] += L.armature * a[k]


@formula
def kick(L, tau, k, h):
    L.joint_momentum += h * tau[k]


@formula
def own_momentum(L, v, k):
    L.joint_momentum = armature.momentum(L) * v[k]


@formula
def give_momentum(L, p, k):
    L.joint_momentum = p[k]


@formula
def add_momentum(L, p, k):
    p[k] += L.joint_momentum


@formula
def momentum_as_tau(L):
    L.tau = L.joint_momentum


# Right-hand sides and solutions


@formula
def put_tau(L, tau, k):
    L.tau = tau[k]


@formula
def take_tau(L, f, k):
    f[k] -= L.tau


@formula
def tau_as_x(L):
    L.x = L.tau


@formula
def put_right(L, R, b, k, transposed):
    R.tau = b[k]


@formula
def get_x(L, R, x, k):
    x[k] = R.x


# The articulated recursion (sweep.py)


@formula
def eliminate(tree, w, i, h, newton):
    L = link(w, i)
    arm, axis, A = L.arm, L.axis, matrix(w, tree, i)
    row = row_of(A, axis, tree.slides)
    if newton is not None:
        afresh(w)  # nine numbers a block would be kept on the stack for the other product: read them again
        A, axis = matrix(w, tree, i), L.axis_after
        um, uf = times(A, axis)
    pivot = row_dot(row, axis) + adds(L, h, newton)
    if tree.passive[i] & SERVO:
        if newton is None:
            pivot += servo.brakes(L) if h == 0.0 else servo.slope(L, h)
        else:
            L.servo_pivot = servo.derivative(L, h)
            pivot += L.servo_pivot
    inverse = 1.0 / pivot
    if tree.locks:  # a locked joint does not give way: its link rides on its parent
        L.pivot = pivot
        inverse = inverse * L.free
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
    if newton is None:
        return pivot
    return choose(L.free, sign(pivot * h), 1.0) if tree.locks else sign(pivot * h)


@formula
def up(tree, w, r, i, L, R, wrench, transposed):
    (m, f), (turn, move) = wrench, L.axis if transposed is None else L.axis_after
    u = R.tau - dot(turn, m)
    if tree.slides or transposed is not None:
        u -= dot(move, f)
    if tree.locks:
        R.hold = u
    x = L.inverse * u
    R.x = x
    um, uf = L.column if transposed is None else L.row
    m, f = shift_wrench(m, f, L.arm)
    return x * u, (add_scaled(m, x, um), add_scaled(f, x, uf))


@formula
def down(tree, w, r, i, L, R, twist, fraction, newton, transposed):
    turn, move = twist
    rm, rf = L.column if newton is None or transposed is not None else L.row
    # The pivot goes with what is known before: nothing waits for that product then
    x = less_power(R.x, scale(L.inverse, rm), scale(L.inverse, rf), turn, move)
    if fraction is not None and newton is not None and tree.passive[i] & SERVO:
        x = servo.within_bounds(L, x)
    R.x = x
    follow(L, fraction, x)
    turn, move = shift_twist(turn, move, L.arm)
    own_turn, own_move = L.axis if newton is None or transposed is not None else L.axis_after
    return add_scaled(turn, x, own_turn), add_scaled(move, x, own_move)


# With rows (constraints/elimination.py)


@formula
def hand_on(tree, w, i, L, number, newton):
    ((m, f), (rm, rf)), (turn, move), (taken, added) = columns_and_rows(number), L.axis, coupling(number)
    after_turn, after_move = L.axis if newton is None else L.axis_after
    u = dot(turn, m) + dot(move, f) - taken
    v = dot(after_turn, rm) + dot(after_move, rf) + added
    s, r = L.inverse * u, L.inverse * v
    keep1(number, u, v, r)
    (um, uf), (vm, vf) = L.column, L.column if newton is None else L.row
    (m, f), (rm, rf) = shift_wrench(m, f, L.arm), shift_wrench(rm, rf, L.arm)
    return (add_scaled(m, -s, um), add_scaled(f, -s, uf)), (add_scaled(rm, -r, vm), add_scaled(rf, -r, vf))


@formula
def show_x(L, x, k):
    x[k] = L.x


@formula
def lessen_x(tree, w, i, L, x, k):
    if tree.locks:
        L.hold -= x[k]
    L.x -= L.inverse * x[k]


@kernel
def regular(tree, w, i):
    L, A = link(w, i), nine(matrix(w, tree, i))
    turn, move = L.axis
    return below(SINGULAR * own_terms(A[0], A[3], turn, move), 1.0 / L.inverse)


@kernel
def mobilise(tree, w, i, h, Y):
    L = link(w, i)
    k = scale(L.inverse, L.column[0]), scale(L.inverse, L.column[1])
    turn, move = times(Y, k)
    mobility = L.inverse + dot(k[0], turn) + dot(k[1], move)
    turn, move = shift_twist(turn, move, L.arm)
    if tree.passive[i] & DAMPED:
        lookahead.set_screw(L, h, mobility)
    if tree.passive[i] & SERVO:
        servo.set_weights(L, h, mobility)
    # Y' − S gᵀ − g Sᵀ + N S Sᵀ = Y' − S aᵀ − a Sᵀ with a = g − N S/2
    turn = add_scaled(turn, -0.5 * mobility, L.axis_turn)
    move = add_scaled(move, -0.5 * mobility, L.axis_move)
    Y11, Y12, Y21, Y22 = shift_mobility(Y, L.arm)
    return (less_outers(Y11, L.axis_turn, turn, turn, L.axis_turn), less_outers(
        Y12, L.axis_turn, move, turn, L.axis_move), less_outers(Y21, L.axis_move, turn, move, L.axis_turn), less_outers(
        Y22, L.axis_move, move, move, L.axis_move))


@formula
def weight(L, h, factor):
    return L.inverse * factor


@formula
def note_impulse(tree, w, i, L, impulse, k):
    impulse[k] -= (1.0 - L.free) * L.hold


# All SCREW joints at once; in a team that has others, what is set for those is overwritten or not read


@formula
def local_pose(L, slides):
    """Set the pose in the parent's frame of the link of a SCREW joint, or of four, from its coordinate."""
    angle = L.angle
    c, s = so3.half_angle(angle)
    x, y, z = scale(s, L.turn)
    # Without a turn the joint slides, and the link keeps its axes: |turn| is 1 or 0
    turning = dot(L.turn, L.turn)
    base = L.base_rotation
    L.local_rotation = so3.multiply(base, (1.0 + turning * (c - 1.0), x, y, z))
    place = L.base_position
    if slides:
        place = add(place, so3.rotate(base, scale(angle, L.slide)))
    L.local_position = place


@kernel
def far_pose(L):
    """Set the rotation in the parent's frame where the angle is very many turns; of four, only of those."""
    a, b, c, d = L.local_rotation
    p, q, r, s = so3.multiply(L.base_rotation, so3.exp(scale(L.angle, L.turn)))
    far = less(so3.MANY_TURNS, abs(L.angle))
    L.local_rotation = choose(far, p, a), choose(far, q, b), choose(far, r, c), choose(far, s, d)


@formula
def set_rotation(L):
    """Set the rotation of a SCREW joint, or of four, that moves by delta."""
    axis, delta = L.axis_turn, L.delta
    c, k = so3.half_angle_cos_sinc(delta * delta)
    x, y, z = scale(k * delta, axis)
    L.screw_rotation = 1.0 + dot(axis, axis) * (c - 1.0), x, y, z  # the axis is zero if the joint only slides


@formula
def move_axis(L, slides):
    """Set S⁺ of a SCREW joint, or of four: its axis, moved by ΔT."""
    turn, move = L.axis
    turn = so3.rotate(L.dR, turn)
    moved = cross(L.d, turn)
    if slides:
        moved = add(moved, so3.rotate(L.dR, move))
    L.axis_after = turn, moved
