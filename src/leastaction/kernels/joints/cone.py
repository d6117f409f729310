"""The range of a BALL joint: the angle θ by which it is turned from its zero orientation is at most ``cone``.

θ grows at the rate n·ω, n being the axis of that rotation, which is the same in the axes of the body and of the parent.
At its limit the joint is held along n and keeps two of its three degrees of freedom. In the articulated recursion
(sweep.py) that is a pivot with one row and one column more,
    D z = u + n₀ λ,   n₁·z = y,
n₀ being the axis at t_k, where the impulse λ acts, and n₁ that at the end of the motion. Its solution is
    z = D_l⁻¹ u + g y,   D_l⁻¹ = D⁻¹ − g rᵀ,   g = D⁻¹ n₀ / (rᵀ n₀),   rᵀ = n₁ᵀ D⁻¹,   λ = (y − rᵀ u) / (rᵀ n₀).
y is what the angle lacks: Newton's method asks for the angle at the end of the step, the velocity of a node for a rate
of it, mostly zero, and accelerations for what keeps that rate while n turns.
"""

from math import cos, sin, sqrt

from ..elements.spring import shorter
from ..layout import BALL
from ..machine.jit import formula, kernel
from ..machine.matrix6 import add_to_matrix, alike, matrix, nine, shift6
from ..machine.memory import lanes_of, link, side
from ..machine.simd import below, choose, less, sign
from ..maths import so3
from ..maths.mat3 import determinant, mat_add, mat_hat, mat_mul, mat_sub, mat_vec, outer, vec_mat
from ..maths.spatial import read3, read4, shift_wrench
from ..maths.vec3 import add_scaled, dot, scale

GRAIN = 2e-15  # rad: an angle that is off by less is right, to round-off


@kernel
def angle_and_axis(q):
    """θ of a rotation, 0 to π, and its axis; zero for no rotation."""
    turn = so3.log(shorter(q))
    theta = sqrt(dot(turn, turn))
    return theta, scale(1.0 / max(theta, 1e-300), turn)


@kernel
def of_joint(q, k):
    """θ and the axis, body axes, of the joint whose quaternion is q[k]."""
    return angle_and_axis(read4(q, k))


@kernel
def turned(L):
    """The rotation of a BALL joint from its zero orientation, body axes, at the node."""
    return so3.multiply(so3.inverse(L.base_rotation), L.local_rotation)


@kernel
def turned_after(L):
    """The same after the present motion; axes of the world, the parent being where it was."""
    return so3.multiply(L.joint_rotation, so3.conjugate_by(L.rotation, turned(L)))


@kernel
def axis_in_world(L):
    """The axis of the joint's rotation at the node, world axes."""
    _, axis = angle_and_axis(turned(L))
    return so3.rotate(L.rotation, axis)


@formula
def is_held(tree, w, L):
    """Whether a BALL joint is held along its axis. In lanes none is, and LLVM leaves the branch out."""
    return lanes_of(w) == 1 and tree.locks != 0 and below(L.free, 0.5)


@kernel
def eliminate(tree, w, i, h, newton, whole):
    """As ball.eliminate(), of a joint that is held, given D⁻¹: it gives way in two directions only."""
    L, A = link(w, i), matrix(w, tree, i)
    (A11, A12, A21, A22), E = nine(A), side(tree, w, i).E[0]
    inverse, row = lock(tree, w, i, h, whole, newton)
    L.inverse3 = inverse
    if tree.parent[i] < tree.n:
        # Â − (D₁, D₂) D_l⁻¹ (Â₁₁, Â₁₂), where 1 − D₁ D_l⁻¹ = E D⁻¹ + D₁ g rᵀ
        D1, D2 = mat_add(A11, mat_hat(A12, L.lever)), mat_add(A21, mat_hat(A22, L.lever))
        P = mat_add(mat_mul(E, whole), outer(mat_vec(D1, side(tree, w, i).give), row))
        R = mat_mul(D2, inverse)
        left = (mat_mul(P, A11), mat_mul(P, A12), mat_sub(A21, mat_mul(R, A11)), mat_sub(A22, mat_mul(R, A12)))
        add_to_matrix(w, tree, tree.parent[i], alike(A, shift6(left, L.arm)))
    return sign(determinant(whole) * L.pivot)  # of h det D times h/(rᵀ n₀)


@kernel
def lock(tree, w, i, h, inverse, newton):
    """Hold joint i, given D⁻¹: D_l⁻¹ and r. Sets g as ``give``, what takes u to λ as ``take`` and ``column``, and the
    pivot 1/(rᵀ n₀)."""
    L, P = link(w, i), side(tree, w, i)
    A11, A12, _, _ = nine(matrix(w, tree, i))
    before = axis_in_world(L)
    after = before
    P.span = h
    if newton is None:
        P.span, L.miss = 1.0, L.cone_rate
    else:
        _, axis = angle_and_axis(turned_after(L))
        after = so3.rotate(L.dR, so3.unrotate(L.joint_rotation, axis))
    row, give = vec_mat(after, inverse), mat_vec(inverse, before)
    pivot = 1.0 / dot(row, before)
    give, take = scale(pivot, give), scale(pivot, row)
    L.pivot, P.hold_axis, P.give, P.take = pivot, before, give, take
    L.column = shift_wrench(vec_mat(take, A11), vec_mat(take, A12), L.arm)
    if newton is not None:
        L.row = L.column
    return mat_sub(inverse, outer(give, row)), row


@kernel
def up(tree, w, i, x, u):
    """The solution, given D_l⁻¹ u; its part of the norm; and −λ, where the parent rests. The norm is that of what moves
    the joint, u without what the limit takes: x is across n₁, so that n₀ would count by the way between the two."""
    L, P = link(w, i), side(tree, w, i)
    y, taken = P.span * L.miss, dot(P.take, u)
    norm = dot(x, add_scaled(u, -taken, P.hold_axis)) + L.pivot * y * y
    return add_scaled(x, y, P.give), norm, taken - L.pivot * y


@kernel
def miss(L, h):
    """Set the rate at which the angle would have to grow in the step besides, to end where it is wanted: at the limit,
    or where its own rate takes it."""
    theta, _ = angle_and_axis(turned_after(L))
    start, _ = angle_and_axis(turned(L))
    wanted = choose(L.cone_rate, start + L.cone_rate * h, L.cone)
    gap = wanted - theta
    L.miss = choose(less(GRAIN, abs(gap)), gap / h, 0.0)


@kernel
def misses(tree, w, h):
    """The same of all joints that are held."""
    for i in range(tree.n):
        if tree.kind[i] == BALL and is_held(tree, w, link(w, i)):
            miss(link(w, i), h)


@kernel
def bias(theta, axis, omega):
    """What θ̈ has besides n·ω̇, as n turns with the body: ṅ·ω = ½ cot(θ/2) |ω − (n·ω) n|², ω in body axes."""
    along, half = dot(axis, omega), so3.half_angle(theta)
    return 0.5 * half[0] / max(half[1], 1e-300) * (dot(omega, omega) - along * along)


@kernel
def keep_rates(tree, w, v):
    """Let the angles of held joints keep their rates in the next solve, which is for accelerations at the rates v."""
    for i in range(tree.n):
        L = link(w, i)
        if tree.kind[i] == BALL and is_held(tree, w, L):
            theta, axis = angle_and_axis(turned(L))
            L.miss = -bias(theta, axis, read3(v, tree.iv[i]))


@kernel
def have_rates(tree, w):
    """Let them have their rates, in solves for velocities."""
    for i in range(tree.n):
        L = link(w, i)
        if tree.kind[i] == BALL and is_held(tree, w, L):
            L.miss = L.cone_rate


@kernel
def add_impulse(L, impulse, k, size):
    """impulse[k] += an impulse of this size about the axis at the node, body axes."""
    _, axis = angle_and_axis(turned(L))
    for j in range(3):
        impulse[k + j] += size * axis[j]


# The verbs of a limit, as interval.py has them for SCREW joints


@kernel
def bounded(q, k):
    theta, _ = of_joint(q, k)
    return theta


@kernel
def is_clear(q, k, clear):
    return q[k] ** 2 > clear


@kernel
def along(q, k, x, e):
    _, axis = of_joint(q, k)
    return dot(axis, read3(x, e))


@kernel
def second_derivative(q, k, v, a, e):
    theta, axis = of_joint(q, k)
    return dot(axis, read3(a, e)) + bias(theta, axis, read3(v, e))


@kernel
def put_at(q, low, k, limit):
    turn = 1.0 if q[k] >= 0.0 else -1.0
    _, axis = of_joint(q, k)
    q[k], low[k] = turn * cos(0.5 * limit), 0.0
    for j in range(3):
        q[k + 1 + j], low[k + 1 + j] = turn * sin(0.5 * limit) * axis[j], 0.0


@kernel
def push_along(L, impulse, k, size):
    _, axis = angle_and_axis(turned(L))
    m, f = L.joint_momentum6
    L.joint_momentum6 = add_scaled(m, size, axis), f
    add_impulse(L, impulse, k, size)


@kernel
def prescribe(L, v, k, rate):
    L.cone_rate = rate


@kernel
def set_free(L):
    L.cone_rate = 0.0


@kernel
def prescribed(v, k):
    return 0.0


@kernel
def keep_prescribed(v, k, rate):
    pass
