"""The list of operations by which joints and rows are eliminated, as constraint_plan/ makes it: one array of integers,
``c.ops`` of the record Closed of constraints/closed.py.
"""

from collections import namedtuple

from .jit import formula

# An operation. kind: JOINT, BLOCK or EARLY (a block that must be regular); number: of the link, or of the first row;
# count: of neighbours; size: how many numbers it eliminates; W, inverse: addresses of W and of its inverse; stride: how
# many rows B[z, y] has; first, last: where its neighbours begin and end in the list
Operation = namedtuple("Operation", "kind number count size W inverse stride first last")
JOINT, BLOCK, EARLY = 0, 1, 2
HEAD = 6
# A neighbour. kind: LINK or ROWS; number: of the link, or of the first row; dim: how many numbers it has; room: that
# these have in a row, whole fours; at: address of the pair; move: NOWHERE, LATER or EARLIER (than the parent), or SELF;
# to: address of the pair with the parent, or of the square; coupled: address of what a COUPLE row gives to the joint,
# or −1; own: address of its W
Neighbour = namedtuple("Neighbour", "kind number dim room at move to coupled own")
LINK, ROWS = 0, 1
EACH = 9
NOWHERE, LATER, EARLIER, SELF = 0, 1, 2, 3
# After the neighbours, which are in the order in which they go, the address of each pair (p, q), p < q: by q, then p


@formula
def operation(c, n):
    """Operation n of ops[0]."""
    ops, o = c.ops, c.ops[1 + n]
    first = o + HEAD
    return Operation(ops[o], ops[o + 1], ops[o + 2], ops[o + 3], ops[o + 4], ops[o + 5],
                     6 if ops[o] == JOINT else ops[o + 3], first, first + EACH * ops[o + 2])


@formula
def of_joint(z, freedom):
    """The operation of a joint again: where its sizes are known to the compiler, sweeps take a tenth less."""
    return Operation(JOINT, z.number, z.count, freedom, z.W, z.inverse, 6, z.first, z.last)


@formula
def neighbours(z):
    """Range over the neighbours of a pivot, to be read by neighbour()."""
    return range(z.first, z.last, EACH)


@formula
def neighbour(c, e):
    ops = c.ops
    return Neighbour(ops[e], ops[e + 1], ops[e + 2], ops[e + 3], ops[e + 4], ops[e + 5], ops[e + 6], ops[e + 7],
                     ops[e + 8])


@formula
def earlier(z, e):
    """Range over the neighbours of a pivot that go before the one at e."""
    return range(z.first, e, EACH)


@formula
def pair_of(c, z, number):
    """Address of a pair of neighbours, which are counted by the later one, then by the earlier one."""
    return c.ops[z.last + number]
