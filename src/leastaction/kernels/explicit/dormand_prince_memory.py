"""The memory of DOP853: what outlasts a call of the loop, and what a step needs to work in, through views."""

from collections import namedtuple

from ..machine.jit import kernel
from ..machine.simd import after, numbers
from .dormand_prince_table import STAGES

# clock: see below; q0, v0: at the start of the internal step; q1, v1, a1: at its end, with the acceleration there;
# F (7, 2 nv): of the polynomial between them
Memory = namedtuple("Memory", "clock q0 v0 q1 v1 a1 F")
# The clock. BEGUN: 1 if there is an internal step that reaches beyond the node, or to it; START: of that step, s after
# a node; COUNT: nodes passed since that one; SPAN: length of the step; NEXT: that of the next one, or 0 if unknown
BEGUN, START, COUNT, SPAN, NEXT = 0, 1, 2, 3, 4
CLOCK, ROWS = 5, 7
# k (16, 2 nv): rates of the stages; y: H Σ a k; high, low: estimates of the error; scale: their units; v, q: of a stage
Scratch = namedtuple("Scratch", "k y high low scale v q")


def memory_size(nq, nv):
    """So many numbers in the memory."""
    return CLOCK + 2 * nq + 3 * nv + ROWS * 2 * nv


def room(nq, nv):
    """So many numbers in scratch."""
    return STAGES * 2 * nv + 4 * 2 * nv + nv + nq


@kernel
def memory_as_views(method, tree):
    clock = numbers(method.memory)
    q0 = after(clock, CLOCK)
    v0 = after(q0, tree.nq)
    q1 = after(v0, tree.nv)
    v1 = after(q1, tree.nq)
    a1 = after(v1, tree.nv)
    return Memory(clock, q0, v0, q1, v1, a1, after(a1, tree.nv))


@kernel
def scratch_as_views(method, tree):
    width, k = 2 * tree.nv, numbers(method.scratch)
    y = after(k, STAGES * width)
    high = after(y, width)
    low = after(high, width)
    scale = after(low, width)
    v = after(scale, width)
    return Scratch(k, y, high, low, scale, v, after(v, tree.nv))
