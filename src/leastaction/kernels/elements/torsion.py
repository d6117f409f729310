"""Torsion of a BALL joint apart from its bending: its spring has V = ½ ψᵀ K ψ, K = k (1 − a aᵀ) + (k + κ) a aᵀ.

ψ = log(rest⁻¹ q) is the deflection, a rotation vector; a, fixed in the body, is the axis of torsion, k the stiffness of
bending, k + κ that of torsion. ½ k |ψ|² is the spring of spring.py, and what is here is the rest, ½ κ (a·ψ)². It acts
in the same way, at the mean deflection of the step. As it sees one direction only, all its derivatives have rank one.

If the joint is damped beyond what the step resolves, elements/lookahead.py sees its force ahead: by one time in bending
and by another in torsion, so that a thin rod, which hardly resists being twisted, keeps its bending of second order.
The axes of bending all have lookaheads[0]; here is by how much the armature and the damping about the axis differ from
theirs.
"""

from math import sqrt

from ..machine.jit import formula, kernel
from ..maths import so3
from ..maths.mat3 import determinant, mat_add, mat_inverse, mat_scale, mat_vec, outer, square_of
from ..maths.vec3 import add_scaled, dot
from . import lookahead, spring


@formula
def energy(L, twist):
    c = dot(L.turn, twist)
    return 0.5 * L.torsion * c * c


@kernel
def force(L, twist):
    """−∂V/∂q in continuous time, body axes."""
    x, y, z = spring.torque(twist, L.turn)
    k = -L.torsion * dot(L.turn, twist)
    return k * x, k * y, k * z


@kernel
def residual(L, h, m):
    """The moment m, world axes, less what the torsion takes at t_k."""
    twist, _, mean, _ = spring.deflections(L)
    pull = so3.rotate(L.rotation, spring.torque(twist, L.turn))
    m = add_scaled(m, -0.5 * h * L.torsion * dot(L.turn, mean), pull)
    turned = dot(L.axis_turn, so3.log(L.joint_rotation))
    return add_scaled(m, -(armature(L) / h + 0.5 * damping(L)) * turned, L.axis_turn)


@kernel
def carry(L, h, m):
    """The moment m, body axes, less what the torsion takes at t_{k+1}."""
    _, twist, mean, _ = spring.deflections(L)
    m = add_scaled(m, -0.5 * h * L.torsion * dot(L.turn, mean), spring.torque(twist, L.turn))
    turned = dot(L.axis_turn, so3.log(L.joint_rotation))
    return add_scaled(m, (armature(L) / h - 0.5 * damping(L)) * turned, L.turn)


@kernel
def derivative(L, h):
    """Change of the residual, per unit of a turn in world axes at t_k by which the joint's motion is followed, 3×3."""
    before, after, _, _ = spring.deflections(L)
    pull = so3.rotate(L.rotation, spring.torque(before, L.turn))
    rate = so3.rotate(L.rotation, spring.torque(after, L.turn))  # a·ψ1 changes by this · turn
    turned = spring.torque(so3.log(L.joint_rotation), L.axis_turn)
    return mat_add(mat_scale(0.25 * h * L.torsion, outer(pull, rate)),
                   mat_scale(armature(L) / h + 0.5 * damping(L), outer(L.axis_turn, turned)))


@kernel
def to_mass(L, h):
    """What is added to the mass matrix of a step of h, world axes, 3×3."""
    return square_of(L.axis_turn, armature(L) + 0.5 * h * damping(L) + 0.25 * h * h * L.torsion)


# Damping that the step does not resolve


@formula
def armature(L):
    """What a joint that sees its forces ahead has of armature about its axis, beyond that about the others."""
    ahead, k = L.torsion_lead, L.stiffness + L.torsion
    return ahead * (L.own_damping + 2.0 * ahead * L.torsion_late * k) - lookahead.armature(L, L.lookaheads[0][0])


@formula
def damping(L):
    """The same of damping."""
    k = L.stiffness + L.torsion
    return L.torsion_lead * (1.0 + 2.0 * L.torsion_late) * k - lookahead.damping(L, L.lookaheads[0][0])


@formula
def start(L, twist):
    """What a momentum M v has less about the axis, beyond that about the others, where forces are seen ahead."""
    return (L.torsion_lead * (L.stiffness + L.torsion) - L.lookaheads[0][0] * L.stiffness) * dot(L.turn, twist)


@kernel
def look_ahead(L, h, N):
    """Set what the joint sees ahead, given its block of M⁻¹ for turns in world axes."""
    a, c, (bending, _, _) = L.axis_turn, L.own_damping, L.lookaheads[0]
    along = dot(a, mat_vec(N, a))
    half = 0.5 * (N[0] + N[4] + N[8] - along)
    product = determinant(N) * dot(a, mat_vec(mat_inverse(N), a))  # of the two mobilities across the axis
    across = half + sqrt(max(half * half - product, 0.0 * half))  # the greater of them
    torsion = lookahead.ahead(h, c, along, lookahead.armature(L, bending) + armature(L), L.torsion_lead)
    lookahead.set_late(L, h, c, L.stiffness)
    bending = lookahead.ahead(h, c, across, lookahead.armature(L, bending), bending)
    L.torsion_late = 0.5 - lookahead.share(h * (L.stiffness + L.torsion) / max(c, lookahead.TINY))
    L.torsion_lead = torsion
    L.lookaheads = (bending, bending, bending), L.lookaheads[1]
