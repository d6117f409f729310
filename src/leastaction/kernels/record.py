"""What the loops write down: the nodes that are kept, and the extremes of the invariants over every step."""

from collections import namedtuple

from .jit import kernel
from .layout import MOMENTUM
from .rnea import total_momentum

# q (K, nq), v (K, nv), p (K, nv), energy (K,), momentum (K, 6) of the kept nodes; iterations, residual, status,
# substeps (steps,); extremes (15,): least and greatest energy, greatest kinetic energy, least and greatest momentum (6)
Record = namedtuple("Record", "q v p energy momentum iterations residual status substeps extremes")
EXTREMES = 15


@kernel
def follow(tree, w, kinetic, energy, extremes):
    """Widen the extremes by this node; gives its total momentum (angular, linear). Needs the momenta of the links."""
    angular, linear = total_momentum(tree, w, MOMENTUM)
    extremes[0] = min(extremes[0], energy)
    extremes[1] = max(extremes[1], energy)
    extremes[2] = max(extremes[2], kinetic)
    momentum = angular + linear
    for j in range(6):
        extremes[3 + j] = min(extremes[3 + j], momentum[j])
        extremes[9 + j] = max(extremes[9 + j], momentum[j])
    return angular, linear


@kernel
def write_row(target, k, source, count):
    """By single numbers: taking row k as an array of its own costs more than filling it."""
    for j in range(count):
        target[k, j] = source[j]


@kernel
def record(tree, out, k, q, v, p, energy, momentum):
    """Write a node to row k."""
    write_row(out.q, k, q, tree.nq)
    write_row(out.v, k, v, tree.nv)
    write_row(out.p, k, p, tree.nv)
    out.energy[k] = energy
    for j in range(6):
        out.momentum[k, j] = momentum[j]
