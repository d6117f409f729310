"""DIST: (d · d − l²) / 2l, a rod of length l. The verbs are those of dispatch.py."""

from ...machine.jit import formula, kernel
from ...maths.vec3 import cross, dot, scale
from .markers import parting, way_between, width

ON_JOINTS = False


@formula
def value(rows, r, ends):
    k, length = rows.scale[r], rows.length[r]
    ra, d = way_between(rows, r, ends.Ra, ends.Rb, ends.gap)
    f = scale(k / length, d)
    return 0.5 * (dot(f, d) - k * length), cross(ra, f), f


@kernel
def bias(rows, r, La, Lb, gap, rate, gravity):
    d, d1, d2 = parting(rows, r, La, Lb, gap, gravity)
    return rows.scale[r] / rows.length[r] * (dot(d1, d1) + dot(d, d2))


@formula
def extent(rows, r, far, qa, qb, slope):
    return rows.scale[r] * (far + width(rows.sa, r) + width(rows.sb, r))
