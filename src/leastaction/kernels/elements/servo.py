"""The servo of a SCREW joint: u = clip(kp (target − q) + kd (rate − q̇), ±effort), pushing the joint's coordinate up.

Target and rate are commands, which the loop sets at every step; without a command the servo is off. Over a step of h in
which the joint moves by δ it gives the impulse h u, found with the step, with q + w δ and δ/h in place of q and q̇: the
part ``early`` of it at t_k, the rest at t_{k+1}. Halves of both, w = early = ½, are the midpoint rule, of second order.
By that rule a damper beyond y = 2, y = h kd N with the joint's mobility N, turns the rate round at every step. So
``early`` goes over to 1 from y = RESOLVED on: then the rate becomes 1/(1 + y) of what it was (implicit Euler), and the
slow motion at −kp/kd goes on as by the midpoint rule. Where that is too fast as well, x = h kp / kd, w goes over to 1.
"""

from ..layout import SERVO
from ..machine.jit import formula, kernel
from ..machine.memory import link, seen_as
from ..machine.simd import choose, less, number
from .lead import TINY, share


@formula
def force(L, rate):
    """In continuous time, at the joint's angle and this rate."""
    asked = L.servo_kp * (L.target - L.angle) + L.servo_kd * (L.rate - rate)
    return L.servo * min(max(asked, -L.servo_effort), L.servo_effort)


@formula
def asked(L, h, delta):
    """The force over a step of h that moves the joint by delta, before it is bounded."""
    return L.servo_kp * (L.target - L.angle - L.servo_mean * delta) + L.servo_kd * (L.rate - delta / h)


@formula
def impulse(L, h, delta):
    """Over the whole step."""
    return h * L.servo * min(max(asked(L, h, delta), -L.servo_effort), L.servo_effort)


@formula
def residual(L, h, delta):
    """What it gives at t_k."""
    return L.servo_early * impulse(L, h, delta)


@formula
def carry(L, h, delta):
    """What it gives at t_{k+1}."""
    return (1.0 - L.servo_early) * impulse(L, h, delta)


@formula
def slope(L, h):
    """What it takes at t_k per unit of the increment, where it is not bounded."""
    return L.servo * L.servo_early * (h * L.servo_mean * L.servo_kp + L.servo_kd)


@formula
def derivative(L, h):
    return choose(less(abs(asked(L, h, L.delta)), L.servo_effort), slope(L, h), 0.0)


@formula
def set_weights(L, h, mobility):
    """Set how much of the impulse is early, never less than before, given how easily the joint moves."""
    early = 1.0 - share(h * L.servo_kd * mobility)
    L.servo_early = max(L.servo_early, early)
    late = share(h * L.servo_kp / max(L.servo_kd, TINY))
    L.servo_mean = max(L.servo_mean, 0.5 + (2.0 * early - 1.0) * (0.5 - late))


@kernel
def set_commands(tree, w, row, servos):
    """Set what is asked of the servos, in the order of their links: targets, then rates; of one simulation or of four.
    Without a row, servos being 0, they are off."""
    given, j = seen_as(w, row), 0
    for i in range(tree.n):
        if tree.passive[i] & SERVO:
            L = link(w, i)
            L.servo = number(w, 1.0 if servos > 0 else 0.0)
            if servos > 0:
                L.target, L.rate = given[j], given[servos + j]
            j += 1
