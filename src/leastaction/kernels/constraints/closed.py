"""What the kernels read of a model with rows, as one record: the rows, the operations that eliminate them, the memory.

constraint_plan.py makes the list of operations. Python gives the record with arrays, and closed_as_views() turns these
into views.
"""

from collections import namedtuple

from ..machine.jit import formula, kernel
from ..machine.simd import integers, numbers
from .rows import Rows

# rows: see rows.py; ops: the list of operations; targets (6 m): where the numbers of each row go, see
# constraint_plan.Plan; places: where the parts of the memory begin; x: the memory of the rows
Closed = namedtuple("Closed", "rows ops targets places x")

# Number of rows, size of what is cleared before a matrix is begun, and where the parts of the memory of the rows begin:
# - rhs, answer (m): right-hand side and solution; active (m): 1, or 0 for a row that is switched off
# - node (m, NODE): at t_k, wrench (m, f) on link a and gap to link b; of a COUPLE row ∂g/∂q_a and ∂g/∂q_b
# - near (n + 1, 3): see rows.near_origins
# - total, kick (m): multipliers λ of the last step and μ of the last projection, N m s or N s
# - told (TOLD): what the last node was found to be; aside (n, 12): the momenta of its links and joints before the
#   projection (projection.py)
# - scratch of pivots.invert(); square (6 × 6); front: SIDE numbers for every number of the widest front
# - peak (m): the most that the diagonal of W has been
Places = namedtuple("Places", "rows cleared rhs answer active node near total kick told aside scratch square front "
                              "peak")
NODE, TOLD = 9, 6

# An operation. kind: JOINT, BLOCK or EARLY (a block that must be regular); number: of the link, or of the first row;
# count: of neighbours; size: number of rows; W, inverse: addresses of W and of its inverse; first, last: where its
# neighbours begin and end in the list, EACH numbers apart
Operation = namedtuple("Operation", "kind number count size W inverse first last")
JOINT, BLOCK, EARLY = 0, 1, 2
HEAD = 6
# A neighbour. kind: LINK or ROWS; number: of the link, or of the first row; dim: how many numbers it has; at: address
# of the pair; move: NOWHERE, LATER or EARLIER (than the parent), or SELF; to: address of the pair with the parent;
# coupled: address of what a COUPLE row gives to the joint, or −1; own: address of its W
Neighbour = namedtuple("Neighbour", "kind number dim at move to coupled own")
LINK, ROWS = 0, 1
EACH = 8
NOWHERE, LATER, EARLIER, SELF = 0, 1, 2, 3
# After the neighbours, which are in the order in which they go, the address of each pair (p, q), p < q: by q, then p

# One number of a pair, as the verb hand_on of a joint takes it (joints/dispatch.py)
Crossing = namedtuple("Crossing", "x a b t coupled")


@kernel
def closed_as_views(closed):
    """The record through views: passing an array on costs more than many a row does. None of a model without rows."""
    if closed is None:
        return None
    rows = closed.rows
    return Closed(
        Rows(integers(rows.kind), integers(rows.a), integers(rows.b), numbers(rows.sa), numbers(rows.sb),
             numbers(rows.ea), numbers(rows.eb), numbers(rows.length), numbers(rows.coefficients),
             numbers(rows.reference), numbers(rows.scale), integers(rows.loop), integers(rows.root)),
        integers(closed.ops), integers(closed.targets), closed.places, numbers(closed.x))


@formula
def operation(c, n):
    """Operation n of ops[0]."""
    ops, o = c.ops, c.ops[1 + n]
    first = o + HEAD
    return Operation(ops[o], ops[o + 1], ops[o + 2], ops[o + 3], ops[o + 4], ops[o + 5], first,
                     first + EACH * ops[o + 2])


@formula
def neighbour(c, e):
    """The neighbour at e in the list of operations."""
    ops = c.ops
    return Neighbour(ops[e], ops[e + 1], ops[e + 2], ops[e + 3], ops[e + 4], ops[e + 5], ops[e + 6], ops[e + 7])
