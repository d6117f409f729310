"""DOT: u_b · u_a − l, directions at a given angle, of cosine l. The verbs are those of dispatch.py."""

from ...machine.jit import formula, kernel
from ...maths.vec3 import cross, dot, scale
from .markers import direction, turning

ON_JOINTS = False


@formula
def value(rows, r, ends):
    k, ua, ub = rows.scale[r], direction(ends.Ra, rows.ea, r), direction(ends.Rb, rows.eb, r)
    return k * (dot(ua, ub) - rows.length[r]), scale(k, cross(ua, ub)), (0.0, 0.0, 0.0)


@kernel
def bias(rows, r, La, Lb, gap, rate, gravity):
    ua, ub = direction(La.rotation, rows.ea, r), direction(Lb.rotation, rows.eb, r)
    (a1, a2), (b1, b2) = turning(La, ua), turning(Lb, ub)
    return rows.scale[r] * (dot(a2, ub) + 2.0 * dot(a1, b1) + dot(ua, b2))


@formula
def extent(rows, r, far, qa, qb, slope):
    return rows.scale[r]
