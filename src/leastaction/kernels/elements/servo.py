"""The servo of a SCREW joint: u = clip(kp (target − q) + kd (rate − q̇), ±effort), pushing the joint's coordinate up.

Target and rate are commands, which the loop sets at every step; without a command the servo is off. Over a step of h in
which the joint moves by δ it gives the impulse h u, found with the step, with q + δ/2 and δ/h in place of q and q̇:
(h/2 + σ) u of it at t_k, the rest at t_{k+1}. With σ = 0 that is the midpoint rule, of second order. By that rule a
damper beyond y = 2, y = h kd N with the joint's mobility N, turns the rate round at every step. So σ goes over to h/2
from y = RESOLVED on, as for a damper (lookahead.py): then the rate becomes 1/(1 + y) of what it was (implicit Euler),
and the slow motion at −kp/kd goes on as by the midpoint rule. Where that is too fast as well, x = h kp / kd, q is taken
later in the step, by ``servo_late``.

A node then carries the momentum P = M v − σ u: its velocity is the root v of M v = P + σ u(q, v), with u bounded as in
the step (momentum.velocity_of).
"""

from ..layout import SERVO
from ..machine.jit import formula, kernel
from ..machine.memory import link, seen_as
from ..machine.simd import choose, less, number
from .lookahead import TINY, share


@formula
def bounded(L, force):
    return L.servo * min(max(force, -L.servo_effort), L.servo_effort)


@formula
def force(L, rate):
    """In continuous time, at the joint's angle and this rate."""
    return bounded(L, L.servo_kp * (L.target - L.angle) + L.servo_kd * (L.rate - rate))


@formula
def rate_gain(L):
    """Force per rate: kd, and what a late kp adds."""
    return L.servo_kd + L.servo_late * L.servo_kp


@formula
def asked(L, h, delta):
    """The force over a step of h that moves the joint by delta, before it is bounded."""
    return L.servo_kp * (L.target - L.angle - 0.5 * delta) + L.servo_kd * L.rate - rate_gain(L) * (delta / h)


@formula
def impulse(L, h, delta):
    """Over the whole step."""
    return h * bounded(L, asked(L, h, delta))


@formula
def residual(L, h, delta):
    """What it gives at t_k."""
    L.servo_span = h
    return (0.5 * h + L.servo_lookahead) * bounded(L, asked(L, h, delta))


@formula
def carry(L, h, delta):
    """What it gives at t_{k+1}. Whether it is bounded there, is first taken to be as in the step."""
    L.asked = asked(L, h, delta)
    L.exerted = bounded(L, L.asked)
    return (0.5 * h - L.servo_lookahead) * L.exerted


@formula
def slope(L, h):
    """h times what it takes at t_k per unit of the increment, where it is not bounded."""
    return L.servo * (0.5 * h + L.servo_lookahead) * (0.5 * h * L.servo_kp + rate_gain(L))


@formula
def derivative(L, h):
    return choose(less(abs(asked(L, h, L.delta)), L.servo_effort), slope(L, h) / h, 0.0)


@formula
def within_bounds(L, x):
    """The step x of Newton's method, for which the force was linear or constant, with the bounds: the same equation of
    the joint alone, without others. Else a search would go to and fro between the bounds. Needs residual()."""
    h, bound = L.servo_span, L.servo_effort
    share, fall = L.servo * (0.5 * h + L.servo_lookahead), 0.5 * L.servo_kp + rate_gain(L) / h
    now, whole = asked(L, h, L.delta), 1.0 / max(L.inverse, TINY)
    rest = whole - L.servo_pivot
    load = whole * x - share * min(max(now, -bound), bound)  # = rest x' − share clip(now − fall x')
    free = (load + share * now) / max(rest + share * fall, TINY)
    then = now - fall * free
    found = choose(less(bound, then), (load + share * bound) / rest, free)
    found = choose(less(then, -bound), (load - share * bound) / rest, found)
    return choose(less(0.0, L.inverse) * less(0.0, rest), found, x)


# At a node


@formula
def still(L):
    """The force that is asked for at rest."""
    return L.servo_kp * (L.target - L.angle) + L.servo_kd * L.rate


@formula
def ahead(L, v):
    """σ u(q, v), which the node's momentum does not have yet."""
    return L.servo_lookahead * bounded(L, still(L) - rate_gain(L) * v)


@formula
def brakes(L):
    """By how much σ u(q, v) falls per rate: what the servo adds to the mass matrix of a node."""
    return choose(less(abs(L.asked), L.servo_effort), slope(L, 0.0), 0.0)


@formula
def at_rest(L):
    """What σ u(q, v) has besides −brakes() v."""
    return L.servo_lookahead * choose(less(abs(L.asked), L.servo_effort), L.servo * still(L), bounded(L, L.asked))


@formula
def look_at_bound(L, v):
    """Set what is asked for at a node with the rate v. Gives more than 0 if brakes() or at_rest() change by that."""
    before, L.asked = L.asked, still(L) - rate_gain(L) * v
    was, is_free = less(abs(before), L.servo_effort), less(abs(L.asked), L.servo_effort)
    return L.servo * L.servo_lookahead * (abs(is_free - was) + (1.0 - is_free) * less(before * L.asked, 0.0))


@formula
def set_weights(L, h, mobility):
    """Set how far ahead the force is seen, never less than before, given how easily the joint moves at the node."""
    inertia = max(1.0 / mobility - brakes(L), TINY)
    lookahead = (0.5 - share(h * L.servo_kd / inertia)) * h
    late = 1.0 - 2.0 * share(h * L.servo_kp / max(L.servo_kd, TINY))
    L.servo_inertia = inertia
    L.servo_lookahead = max(L.servo_lookahead, lookahead)
    L.servo_late = max(L.servo_late, lookahead * late)


@formula
def retarget(L, target, rate, v, h):
    """Take a command at a node with a rate of about v, before a step of h.

    A force that jumps and is seen ahead acts σ too early. That is right where the joint follows within the step; but if
    the servo stays at its bound, it would come half a step too soon: then the momentum keeps the velocity as it is.
    """
    other = less(0.0, abs(target - L.target) + abs(rate - L.rate) + (1.0 - L.servo))
    before = L.servo * L.exerted  # in the last step: v is not known well enough for a stiff kd
    L.servo, L.target, L.rate = 1.0, target, rate
    after = force(L, v)
    delta = h * (v + 0.5 * h * after / max(L.servo_inertia, TINY))  # if that force acts throughout
    then = asked(L, h, delta)
    stays = min(max(abs(then) / max(L.servo_effort, TINY) - 1.0, 0.0), 1.0) * less(0.0, then * after)
    L.joint_momentum -= L.servo_lookahead * other * stays * (after - before)


@kernel
def set_commands(tree, state, row, servos, h):
    """Set what is asked of the servos, in the order of their links: targets, then rates; of one simulation or of four.
    Without a row, servos being 0, they are off."""
    w = state.w
    given, j = seen_as(w, row), 0
    for i in range(tree.n):
        if tree.passive[i] & SERVO:
            L, k = link(w, i), tree.iv[i]
            if servos > 0:  # the velocity of a node within a run is known only where someone looks
                v = choose(state.known[0], state.history[k] / h, state.v[k])
                retarget(L, given[j], given[servos + j], v, h)
            else:  # at the first node of a run; the velocity stays
                L.joint_momentum += ahead(L, state.v[k])
                L.servo = number(w, 0.0)
            j += 1


@kernel
def switch_off(tree, w):
    """Let no servo act, until it is commanded."""
    for i in range(tree.n):
        if tree.passive[i] & SERVO:
            link(w, i).servo = 0.0
