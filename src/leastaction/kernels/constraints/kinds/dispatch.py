"""The verbs of a row, chosen by its kind: the only place where kinds of rows are told apart.

A kind is a file with these verbs; its number is its place in KINDS. What no kind here has gives NaN, which stops a run
at once: nothing is taken for another kind. A row acts on two links by a wrench (m, f) on link a about its origin, and
by the opposite one on link b; or on two SCREW joints (ON_JOINTS), then (m, f) begins with ∂g/∂q_a and ∂g/∂q_b.
"""

from collections import namedtuple
from math import nan

from ...machine.jit import formula
from . import couple, dist, dot, pos

KINDS = (pos, dot, dist, couple)
POS, DOT, DIST, COUPLE = range(len(KINDS))

# What a row sees. Ra, Rb: orientations of its links; gap: o_a − o_b between their origins, world axes; qa, qb: of its
# joints, 0 for the ground
Ends = namedtuple("Ends", "Ra Rb gap qa qb")


def _of_kinds(functions, unknown, number=0):
    """The function that calls that of a kind."""
    if number == len(functions):
        return formula(unknown)
    mine, others = functions[number], _of_kinds(functions, unknown, number + 1)

    def choose(kind, *args):
        if kind == number:
            return mine(*args)
        return others(kind, *args)

    return formula(choose)


def _chosen(verb, unknown):
    return _of_kinds([getattr(one, verb) for one in KINDS], unknown)


def _no_value(kind, rows, r, ends):
    return nan, (nan, nan, nan), (nan, nan, nan)


value = _chosen("value", _no_value)  # (kind, rows, r, ends): g, and ∂g/∂(twist of link a) as a wrench m, f
bias = _chosen("bias", lambda kind, rows, r, La, Lb, gap, rate, gravity: nan)  # Ȧ v, for links that have their twists
# and the accelerations that velocities alone give them (rnea.link_forces for a = 0); rate: of joint b
extent = _chosen("extent", lambda kind, rows, r, far, qa, qb, slope: nan)  # the size of what g is the difference of;
# far: of the origins of both links, slope: ∂g/∂q_b

JOINTS = frozenset(number for number, one in enumerate(KINDS) if one.ON_JOINTS)


def _acts(on_joints):
    return formula(lambda: on_joints)


on_joints = _of_kinds([_acts(one.ON_JOINTS) for one in KINDS], lambda kind: False)  # (kind)
