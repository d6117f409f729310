"""Springs, dampers and armature of a joint, of which the paper does not speak: they are part of its joint impulse Q.

With e the joint's motion over a step h and ψ its motion away from rest, armature adds I_a|e|²/2h to the discrete
Lagrangian, a spring −(h/2) ψ̄ᵀK ψ̄ with ψ̄ = (ψ0 + ψ1)/2, and a damper acts with the impulse −(c/2) e at both ends of the
step.
"""

from __future__ import annotations

from .joints import Joint
from .lie import Array


def joint_impulse(joint: Joint, q: Array, other: Array, h: float) -> Array:
    """Impulse Q (n_i), N m s and N s, body axes, at the end q of the step from q to `other` in the time h, s.

    The impulse at the end q of the step from `other` to q is −joint_impulse(joint, q, other, −h): forces that follow
    from an action, and dampers, look the same when time runs backwards.
    """
    push = -(joint.damping / 2 + joint.armature / h) * joint.motion(q, other)
    stretch = joint.motion(joint.rest, q) + joint.motion(joint.rest, other)
    pull = -h / 4 * joint.motion_derivative(joint.rest, q).T @ joint.K @ stretch
    return joint.body_axes(q) @ push + pull


def joint_impulse_derivative(joint: Joint, q: Array, q_next: Array, h: float) -> Array:
    """Change (n_i, n_i) of `joint_impulse` at q per unit of an increment of q_next."""
    push = -(joint.damping / 2 + joint.armature / h) * joint.motion_derivative(q, q_next)
    pull = joint.motion_derivative(joint.rest, q).T @ joint.K @ joint.motion_derivative(joint.rest, q_next)
    return joint.body_axes(q) @ push - h / 4 * pull


def joint_force(joint: Joint, q: Array, v: Array) -> Array:
    """Force (n_i), N m and N, of spring, damper and the drift of the armature, in continuous time."""
    pull = -joint.motion_derivative(joint.rest, q).T @ joint.K @ joint.motion(joint.rest, q)
    return pull - joint.damping * v - joint.armature * joint.drift(v)
