"""What a step with limits works on: the table of limited joints, and what it remembers of a node and of every row."""

from collections import namedtuple
from math import isfinite

from ..machine.jit import kernel
from ..machine.simd import integers, numbers

# base: the method that makes the motion between two events (step.Variational, rescue.Rescued, …); count: of rows;
# rubbing: of those with dry friction; rows: Limits; scratch: memory for Scratch, see machine/scratch.py
Limited = namedtuple("Limited", "base count rubbing rows scratch")

# The table, of each row: number of the link, least and greatest coordinate, restitution, dry friction (N m, N), and of
# a BALL joint a number that w² of its quaternion is above where it is clear of its limit
Limits = namedtuple("Limits", "link low high restitution friction clear")

# locks of the state, of each joint: 0 if it is not locked, −1 and 1 if held at its low and high limit; twice that on
# the way back from beyond it
UNLOCKED, HELD, RECOVERING = 0.0, 1.0, 2.0

# A node to come back to: configuration and what round-off has kept from it, velocity, momenta (reactions.keep_momenta),
# ledger
Node = namedtuple("Node", "q low v momenta ledger")

# What a step remembers.
# - locks, slip, impulse: of the node before the step
# - node, start: nodes inside the step, where the last event was, and where a trial of friction.py began
# - aside (as momenta), a, before (nv): scratch; seen: 1 if ``end`` below is of the node that the next step starts from;
#   plain: 1 if the step has changed no locks; inside: 1 if all joints are known to be free, and inside their limits, at
#   the node from which the next step starts
# Of each row:
# - side: −1 or 1 if it touches its low or high limit, else 0; candidate: 1 if it may be held; held: 1 if it is
# - push: impulse or force that holds it, or how fast it moves; speed: rate before an impact or a step; bounce:
#   restitution
# - begin, end: how far it is from an event at the beginning and at the end of a motion: the gap to the nearer limit, or
#   the force by which it is held there; pinned: 1 if it stays held for this step
# - own: the joint's own momentum before dry friction
Scratch = namedtuple("Scratch", "locks slip impulse node start aside a before seen plain inside side candidate held "
                                "push speed bounce begin end pinned own")


@kernel
def limits_as_views(method):
    """The method, its table and its memory through views, as the kernels here take it."""
    rows = method.rows
    columns = Limits(integers(rows.link), numbers(rows.low), numbers(rows.high), numbers(rows.restitution),
                     numbers(rows.friction), numbers(rows.clear))
    return Limited(method.base, method.count, method.rubbing, columns, numbers(method.scratch))


@kernel
def tolerance(bound):
    """How near to a limit a joint counts as at it, rad or m: some fifty units in the last place."""
    return 1e-14 * (1.0 + (abs(bound) if isfinite(bound) else 0.0))
