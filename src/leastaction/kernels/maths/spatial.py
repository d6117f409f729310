"""Twists and wrenches of links whose frames are parallel, and reading vectors out of q, v and tau."""

from ..machine.jit import formula, kernel
from .vec3 import add, cross


@kernel
def read3(q, k):
    return q[k], q[k + 1], q[k + 2]


@kernel
def read4(q, k):
    return q[k], q[k + 1], q[k + 2], q[k + 3]


@formula
def read6(x, k):
    return (x[k], x[k + 1], x[k + 2]), (x[k + 3], x[k + 4], x[k + 5])


@formula
def put6(x, k, pair):
    x[k], x[k + 1], x[k + 2] = pair[0]
    x[k + 3], x[k + 4], x[k + 5] = pair[1]


@kernel
def shift_twist(turn, move, arm):
    """Twist of the parent, seen at the child's origin."""
    return turn, add(move, cross(turn, arm))


@kernel
def shift_wrench(m, f, arm):
    """Wrench on the child, seen at the parent's origin."""
    return add(m, cross(arm, f)), f


@formula
def less_power(c, turn, move, m, f):
    """c − turn·m − move·f, added up in pairs: a sweep along the tree waits for it at every link."""
    return (c - turn[0] * m[0] - turn[1] * m[1]) - (
        (turn[2] * m[2] + move[0] * f[0]) + (move[1] * f[1] + move[2] * f[2]))
