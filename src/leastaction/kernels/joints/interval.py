"""The limits of a SCREW joint: its coordinate is within an interval. The verbs of a limit are those that cone.py has,
too, for the range of a BALL joint; dispatch.py lists them."""

from ..machine.jit import kernel


@kernel
def bounded(q, k):
    return q[k]


@kernel
def is_clear(q, k, clear):
    return False


@kernel
def along(q, k, x, e):
    return x[e]


@kernel
def second_derivative(q, k, v, a, e):
    return a[e]


@kernel
def put_at(q, low, k, limit):
    q[k], low[k] = limit, 0.0


@kernel
def push_along(L, impulse, k, size):
    L.joint_momentum += size
    impulse[k] += size


@kernel
def prescribe(L, v, k, rate):
    v[k] = rate


@kernel
def set_free(L):
    pass


@kernel
def prescribed(v, k):
    return v[k]


@kernel
def keep_prescribed(v, k, rate):
    v[k] = rate
