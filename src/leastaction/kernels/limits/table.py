"""What a step with limits works on: the table of limited joints, and its scratch memory."""

from collections import namedtuple
from math import isfinite

from ..layout import LEDGER
from ..machine.jit import kernel
from ..machine.simd import after, numbers

# base: the method that makes the motion between two events (step.Variational, rescue.Rescued, …); count: of rows;
# rubbing: of those with dry friction; rows (count × WIDTH): see below; scratch (SCRATCH, scratch_size)
Limited = namedtuple("Limited", "base count rubbing rows scratch")

# A row of the table: number of the link, least and greatest coordinate, restitution, dry friction (N m, N), and of a
# BALL joint a number that w² of its quaternion is above where it is clear of its limit
LINK, LOW, HIGH, RESTITUTION, FRICTION, CLEAR = range(6)
WIDTH = 6

# locks of the state, of each joint: 0 if free, −1 and 1 if held at its low and high limit; twice that on the way back
# from beyond it
FREE, HELD, RECOVERING = 0.0, 1.0, 2.0

# A node to come back to: configuration and what round-off has kept from it, velocity, momenta (12 n), ledger
Node = namedtuple("Node", "q low v momenta ledger")

# The scratch memory.
# - locks, slip, impulse: of the node before the step
# - node, start: nodes inside the step, where the last event was, and where a trial of friction.py began
# - aside (12 n), a, before (nv): scratch; seen: 1 if ``end`` below is of the node from which the next step starts;
#   plain: 1 if the step has changed no locks
# Of each row:
# - side: −1 or 1 if it touches its low or high limit, else 0; candidate: 1 if it may be held; held: 1 if it is
# - push: impulse or force that holds it, or how fast it moves; speed: rate before an impact or a step; bounce:
#   restitution
# - begin, end: how far it is from an event at the beginning and at the end of a motion: the gap to the nearer limit, or
#   the force by which it is held there; pinned: 1 if it stays held for this step
# - own: the joint's own momentum before dry friction
Scratch = namedtuple("Scratch", "locks slip impulse node start aside a before seen plain side candidate held push "
                                "speed bounce begin end pinned own")
OF_ROWS = 10  # of its parts, the last


def scratch_size(n, nq, nv, count):
    """Numbers that the scratch memory takes."""
    node = 2 * nq + nv + 12 * n + LEDGER
    return 4 * nv + 2 * node + 12 * n + 2 * nv + 2 + OF_ROWS * count


@kernel
def scratch_of(method, tree):
    """Scratch memory through views."""
    nv, count = tree.nv, method.count
    locks = numbers(method.scratch)
    slip = after(locks, nv)
    impulse = after(slip, nv)
    first = after(impulse, 2 * nv)
    size = 2 * tree.nq + nv + 12 * tree.n + LEDGER
    second = after(first, size)
    aside = after(second, size)
    a = after(aside, 12 * tree.n)
    before = after(a, nv)
    seen = after(before, nv)
    plain = after(seen, 1)
    side = after(plain, 1)
    candidate = after(side, count)
    held = after(candidate, count)
    push = after(held, count)
    speed = after(push, count)
    bounce = after(speed, count)
    begin = after(bounce, count)
    end = after(begin, count)
    pinned = after(end, count)
    return Scratch(locks, slip, impulse, node_of(tree, first), node_of(tree, second), aside, a, before, seen, plain,
                side, candidate, held, push, speed, bounce, begin, end, pinned, after(pinned, count))


@kernel
def node_of(tree, first):
    """A node through views."""
    low = after(first, tree.nq)
    v = after(low, tree.nq)
    momenta = after(v, tree.nv)
    return Node(first, low, v, momenta, after(momenta, 12 * tree.n))


@kernel
def tolerance(bound):
    """How near to a limit a joint counts as at it, rad or m: some fifty units in the last place."""
    return 1e-14 * (1.0 + (abs(bound) if isfinite(bound) else 0.0))
