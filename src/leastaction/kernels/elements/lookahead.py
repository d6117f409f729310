"""Damping that the step does not resolve: the damper and the spring of such a joint are seen ahead of time.

By the midpoint rule a damper turns the rate of a joint into (1 − y/2) / (1 + y/2) of it, y = h c N with the joint's
mobility N: beyond y = 2 it changes sign at every step instead of dying out. If the force c q̇ + k q of damper and spring
is taken a time σ ahead of that rule, at q + σ q̇ and q̇ + σ q̈, the joint has in effect

    the armature A + σ c  and the damping c + σ k

in place of A and c, and all else stays as it is: the step, its Jacobian, an energy that never rises, which is now that
with the armature (the model's own may, a little: docs/derivation.md). As σ → h/2 the rate goes to 1/(1 + y) of what it
was, the step of implicit Euler, with no sign that alternates however many joints are coupled; the slow motion at −k/c
of an overdamped spring is not slowed. σ is exactly zero up to y = RESOLVED, where the step is of second order and the
same as without, and rises from there with a continuous slope.
Where the slow motion is too fast for the step as well, x = h k / c, the spring is evaluated later than in the middle of
the step: c + 2 σ (½ − share(x)) k in place of c.
"""

from ..machine.jit import formula

RESOLVED = 0.5  # y up to which the step resolves the damping; with all joints of a chain coupled, they ring from 0.75
TINY = 1e-300


@formula
def share(y):
    """1 − w: the share of a force that is left to the end of the step, ½ where it is resolved and 0 far beyond."""
    s = min(RESOLVED / max(y, RESOLVED), 1.0)
    return 0.5 * s * s * (3.0 - 2.0 * s)


@formula
def ahead(h, c, mobility, added, before):
    """How far ahead the force of a damper c is seen, never less than ``before``: so the energy cannot grow by it. The
    mobility is that of the joint with the armature that was added before."""
    inertia = max(1.0 / mobility - added, TINY)
    return max(before, (0.5 - share(h * c / inertia)) * h)


@formula
def set_late(L, h, c, k):
    L.late = 0.5 - share(h * k / max(c, TINY))


@formula
def armature(L, lookahead):
    """What a joint that sees its force so far ahead has of armature besides its own."""
    return lookahead * (L.own_damping + 2.0 * lookahead * L.late * L.stiffness)


@formula
def damping(L, lookahead):
    """What it has of damping besides its own."""
    return lookahead * (1.0 + 2.0 * L.late) * L.stiffness


@formula
def set_screw(L, h, mobility):
    """Set what a SCREW joint sees ahead, given its mobility."""
    set_late(L, h, L.own_damping, L.stiffness)
    L.lookahead = ahead(h, L.own_damping, mobility, L.armature - L.own_armature, L.lookahead)
    L.armature = L.own_armature + armature(L, L.lookahead)
    L.damping = L.own_damping + damping(L, L.lookahead)


@formula
def set_three(L, h, mobility, lookaheads):
    """What a joint of several degrees of freedom sees ahead along three axes, given its mobilities and what it did."""
    (x, y, z), c = lookaheads, L.own_damping
    return (ahead(h, c, mobility[0], armature(L, x), x), ahead(h, c, mobility[1], armature(L, y), y),
            ahead(h, c, mobility[2], armature(L, z), z))


@formula
def armatures(L, lookaheads):
    """As armature(), along three axes."""
    return armature(L, lookaheads[0]), armature(L, lookaheads[1]), armature(L, lookaheads[2])


@formula
def dampings(L, lookaheads):
    """As damping(), along three axes."""
    return damping(L, lookaheads[0]), damping(L, lookaheads[1]), damping(L, lookaheads[2])
