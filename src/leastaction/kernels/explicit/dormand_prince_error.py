"""The error of a step of DOP853, in units of tol (1 + |y|), and the joint where it is largest."""

from math import inf, sqrt

from ..joints import dispatch as joint
from ..layout import DOF
from ..machine.columns import matrix_row
from ..machine.jit import kernel, part
from ..machine.simd import after
from .common import combine
from .dormand_prince_table import END, ERROR, STAGES


@kernel
def set_scale(tree, q, v, tol, scale):
    """Units of the error, tol (1 + |y|): y is v, and for ε the coordinate itself."""
    for i in range(tree.n):
        joint.unit(tree.kind[i], q, tree.iq[i], scale, tree.iv[i])
    of_v = after(scale, tree.nv)
    for j in range(tree.nv):
        scale[j] *= tol
        of_v[j] = tol * (1.0 + abs(v[j]))


@kernel
def mean_square(x, scale, width):
    total = 0.0
    for j in range(width):
        total += (x[j] / scale[j]) ** 2
    return total / width


@part
def error_of(table, tree, m, d, tol, span):
    """Error of the step that is in scratch, in units of what is allowed."""
    nv, width = tree.nv, 2 * tree.nv
    combine(matrix_row(table, ERROR, STAGES), END, d.k, width, span, d.high)
    combine(matrix_row(table, ERROR + 1, STAGES), END, d.k, width, span, d.low)
    high = low = 0.0
    for j in range(width):
        unit = d.scale[j]
        if j >= nv:
            unit = max(unit, tol * (1.0 + abs(m.v0[j - nv] + d.y[j])))
        high += (d.high[j] / unit) ** 2
        low += (d.low[j] / unit) ** 2
    below = high + 0.01 * low
    return high / sqrt(below * width) if below > 0.0 else 0.0 * below


@kernel
def worst(tree, d):
    """The joint with the largest error."""
    found, most = 0, -1.0
    for i in range(tree.n):
        for e in range(tree.iv[i], tree.iv[i] + DOF[tree.kind[i]]):
            for j in (e, tree.nv + e):
                size = abs(d.high[j] / d.scale[j])
                if not size < inf:
                    return i
                if size > most:
                    found, most = i, size
    return found
