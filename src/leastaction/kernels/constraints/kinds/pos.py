"""POS: u_b · d, the distance of marker a from a plane of b. The verbs are those of dispatch.py."""

from ...machine.jit import formula, kernel
from ...maths.vec3 import cross, dot, scale
from .markers import direction, parting, turning, way_between, width

ON_JOINTS = False


@formula
def value(rows, r, ends):
    ra, d = way_between(rows, r, ends.Ra, ends.Rb, ends.gap)
    f = scale(rows.scale[r], direction(ends.Rb, rows.eb, r))
    return dot(f, d), cross(ra, f), f


@kernel
def bias(rows, r, La, Lb, gap, rate, gravity):
    d, d1, d2 = parting(rows, r, La, Lb, gap, gravity)
    u = direction(Lb.rotation, rows.eb, r)
    u1, u2 = turning(Lb, u)
    return rows.scale[r] * (dot(u2, d) + 2.0 * dot(u1, d1) + dot(u, d2))


@formula
def extent(rows, r, far, qa, qb, slope):
    return rows.scale[r] * (far + width(rows.sa, r) + width(rows.sb, r))
