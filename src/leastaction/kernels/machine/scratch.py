"""The scratch memory of a step with limits: where each part of limits.table.Scratch lies."""

from ..layout import LEDGER
from ..limits.table import Node, Scratch
from .jit import kernel
from .simd import after

OF_ROWS = 10  # of its parts, the last
MOMENTA = 15  # numbers of a link: its momentum, that of its joint, and what rounding has kept from the former


def scratch_size(n, nq, nv, count):
    """Numbers that the scratch memory takes, for n links and ``count`` rows."""
    node = 2 * nq + nv + MOMENTA * n + LEDGER
    return 4 * nv + 2 * node + MOMENTA * n + 2 * nv + 3 + OF_ROWS * count


@kernel
def scratch_of(locks, tree, count):
    """Scratch memory that begins at the view ``locks``, through views."""
    nv = tree.nv
    slip = after(locks, nv)
    impulse = after(slip, nv)
    first = after(impulse, 2 * nv)
    size = 2 * tree.nq + nv + MOMENTA * tree.n + LEDGER
    second = after(first, size)
    aside = after(second, size)
    a = after(aside, MOMENTA * tree.n)
    before = after(a, nv)
    seen = after(before, nv)
    plain = after(seen, 1)
    inside = after(plain, 1)
    side = after(inside, 1)
    candidate = after(side, count)
    held = after(candidate, count)
    push = after(held, count)
    speed = after(push, count)
    bounce = after(speed, count)
    begin = after(bounce, count)
    end = after(begin, count)
    pinned = after(end, count)
    return Scratch(locks, slip, impulse, node_of(tree, first), node_of(tree, second), aside, a, before, seen, plain,
                   inside, side, candidate, held, push, speed, bounce, begin, end, pinned, after(pinned, count))


@kernel
def node_of(tree, first):
    """A node through views."""
    low = after(first, tree.nq)
    v = after(low, tree.nq)
    momenta = after(v, tree.nv)
    return Node(first, low, v, momenta, after(momenta, MOMENTA * tree.n))
