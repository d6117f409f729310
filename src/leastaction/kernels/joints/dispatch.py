"""The verbs of a joint, chosen by its kind.

A kind is a file with these verbs, as screw.py, ball.py and free.py are; layout.KINDS lists them. L is the link that
the joint moves, k where the joint's numbers begin (in q or in v, as the argument before it), and an increment ε of a
joint is in the layout of v: δ, a rotation vector, or a twist, the latter two in body axes at t_k.

Kinds are told apart nowhere else, but where a matter is of one kind alone: the range of a BALL joint (cone.py, limits/,
constraints/held.py), and what SCREW joints do four at a time.
"""

from importlib import import_module

from ..layout import BALL, KINDS
from ..machine.jit import formula, kernel
from . import cone, interval

kinds = [import_module(f".{name}", __package__) for name in KINDS]


def chosen(verb, make):
    """The function of a kind and the verb's arguments that calls the verb of that kind."""
    *others, last = (getattr(kind, verb) for kind in kinds)

    def choose(kind, *args):
        return last(*args)

    for number, own in reversed(list(enumerate(others))):
        choose = either(number, own, formula(choose))
    return make(choose)


def either(number, own, otherwise):
    """The function that calls a verb if the kind has this number, else another function."""

    def choose(kind, *args):
        if kind == number:
            return own(*args)
        return otherwise(kind, *args)

    return choose


coordinate = chosen("coordinate", formula)  # (L, q, k): take what the poses of four SCREW joints are made of
pose = chosen("pose", kernel)  # (L, q, k): set the pose in the parent's frame, after those of SCREW joints are
twist = chosen("twist", formula)  # (L, rates, k): the twist across the joint, world axes
force = chosen("force", formula)  # (L, m, f, out, k): out = Sᵀ (m, f)
move_by = chosen("move_by", kernel)  # (q, k, epsilon, e): q ← q ⊕ ε
increment_rate = chosen("increment_rate", kernel)  # (epsilon, v, out, k): rate of ε when q ⊕ ε moves with v
unit = chosen("unit", kernel)  # (q, k, out, e): set 1 + the size of the coordinates, by which errors of ε are measured
spin = chosen("spin", kernel)  # (v, k): rad/s at which ε moves on a chart that is singular at 2π

set_motion = chosen("set_motion", kernel)  # (L, epsilon, k): move by an increment, starting from q0
get_motion = chosen("get_motion", kernel)  # (L, epsilon, k): the increment; the inverse of set_motion
motion_between = chosen("motion_between", kernel)  # (L, q0, q1, k): set the motion that takes q0 to q1
improve = chosen("improve", kernel)  # (L, fraction): let the motion be followed by a fraction of x
displace = chosen("displace", formula)  # (L, slides, dR, d): ΔT of the link, from that of its parent
guess_locked = chosen("guess_locked", kernel)  # (L, v, h, out, k): let its guess be h v if it is locked
apply = chosen("apply", kernel)  # (L, q, low, k): advance q by the motion; low: what round-off has kept from q

deflect = chosen("deflect", kernel)  # (L, q, rest, k): set the spring's deflection at q; gives its energy
residual = chosen("residual", kernel)  # (L, h, passive): set tau to minus the joint's own residual: what it carries,
# less the D₁ terms of armature, damping and spring
carry = chosen("carry", kernel)  # (L, h, passive): set the momentum that it carries out of the step: the D₂ terms
start_ahead = chosen("start_ahead", kernel)  # (L): let a momentum M v be that of a step which sees the spring ahead
add_derivative = chosen("add_derivative", kernel)  # (L, h, twist, jacobian, k, column): add the change of the
# joint's own residual when its motion is followed by a twist
passive_force = chosen("passive_force", kernel)  # (L, v, out, k): add damping and spring forces at rates v
armature_force = chosen("armature_force", kernel)  # (L, v, a, out, k): add what the armature needs
kick = chosen("kick", kernel)  # (L, tau, k, h): add the impulse of joint forces over a time h
own_momentum = chosen("own_momentum", kernel)  # (L, v, k): set the momentum of the armature at rates v
give_momentum = chosen("give_momentum", kernel)  # (L, p, k): set the momentum that the joint carries
add_momentum = chosen("add_momentum", kernel)  # (L, p, k): p += what it carries
momentum_as_tau = chosen("momentum_as_tau", kernel)  # (L): let it be the right-hand side

put_tau = chosen("put_tau", kernel)  # (L, tau, k): set the right-hand side
take_tau = chosen("take_tau", kernel)  # (L, f, k): f −= the right-hand side
tau_as_x = chosen("tau_as_x", kernel)  # (L): let the right-hand side be the solution
put_right = chosen("put_right", kernel)  # (L, R, b, k, transposed): as put_tau, in the memory of right-hand sides
get_x = chosen("get_x", kernel)  # (L, R, x, k): the solution

eliminate = chosen("eliminate", formula)  # (tree, w, i, h, newton): let joint i give way, and pass what is left of the
# articulated matrix to the parent. Gives the sign of the pivot's determinant
up = chosen("up", formula)  # (tree, w, r, i, L, R, wrench, transposed): eliminate, set x = D⁻¹u, u = tau − Sᵀ wrench.
# Gives xᵀu, and the wrench on the parent
down = chosen("down", formula)  # (tree, w, r, i, L, R, twist, fraction, newton, transposed): substitute,
# x ← x − D⁻¹ Sᵀ Â X ζ of the parent. Gives ζ of the link. The joint moves by a fraction of x, unless that is None
hand_on = chosen("hand_on", formula)  # (tree, w, i, L, number, newton): let numbers of a neighbour y pass, a Crossing
# of machine/fronts.py: their columns of B[z, y] and their rows of B[y, z]. Keep Sᵀ B[z, y], B[y, z] S⁺ and
# B[y, z] S⁺ D⁻¹. Gives columns and rows as the parent sees them
show_x = chosen("show_x", formula)  # (L, x, k): write the solution to x
lessen_x = chosen("lessen_x", formula)  # (tree, w, i, L, x, k): take D⁻¹ times the numbers in x from the solution
regular = chosen("regular", kernel)  # (tree, w, i): whether the pivot of the mass matrix is positive
mobilise = chosen("mobilise", kernel)  # (tree, w, i, h, Y): the mobility of link i, from that of its parent; sets how
# far ahead a damped joint sees its force in steps of h (mobility.py)
take_added = chosen("take_added", kernel)  # (L, v, p, k): p −= the momentum of the armature that this adds
added_energy = chosen("added_energy", kernel)  # (L, v, k): twice the kinetic energy of the armature that this adds
weight = chosen("weight", kernel)  # (L, h, factor): a scale of f²/M
note_impulse = chosen("note_impulse", kernel)  # (tree, w, i, L, impulse, k): add what has held the joint, once its
# motion has been found


def of_limit(verb):
    """The same for what limits ask of a joint: of a SCREW joint it is in interval.py, of a BALL joint in cone.py."""
    of_screw, of_ball = getattr(interval, verb), getattr(cone, verb)

    def choose(kind, *args):
        if kind == BALL:
            return of_ball(*args)
        return of_screw(*args)

    return kernel(choose)


bounded = of_limit("bounded")  # (q, k): the number that has limits: a coordinate, or the angle of a BALL joint
is_clear = of_limit("is_clear")  # (q, k, clear): whether it is seen to be inside its limits at once, by limits.Limits
along = of_limit("along")  # (q, k, x, e): the part of x, numbers in the layout of v from e on, along that number
second_derivative = of_limit("second_derivative")  # (q, k, v, a, e): of that number, at the accelerations a
put_at = of_limit("put_at")  # (q, low, k, limit): put it at a limit
push_along = of_limit("push_along")  # (L, impulse, k, size): give the joint an impulse along it; impulse[k] += that
prescribe = of_limit("prescribe")  # (L, v, k, rate): let a joint that is driven have this rate
prescribed = of_limit("prescribed")  # (v, k): the rate of a driven joint, if it is not known to its link
keep_prescribed = of_limit("keep_prescribed")  # (v, k, rate): set that again after a step
set_free = of_limit("set_free")  # (L): prescribe no rate
