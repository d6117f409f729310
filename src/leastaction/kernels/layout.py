"""Where every number of a body lives: one flat array, bodies in blocks of four.

Body ``i`` is lane ``i % 4`` of block ``i // 4``; row ``r`` of a block holds that quantity for its four bodies, side by
side. So the address of a quantity is ``slot(w, i) + ROW`` with ``ROW`` a constant, and the same rows can be read as one
vector of four bodies. The ground has a slot of its own, after the last body, so that no recursion needs a branch.
"""

from collections import namedtuple

from numba.extending import overload

from .jit import INNER, formula, kernel, part
from .simd import COMPILED, integers, number, numbers, of_fours

LANES = 4
SCREW, BALL, FREE = 0, 1, 2  # kinds of joint …
DOF = (1, 3, 6)  # … and their degrees of freedom

PASSIVE, SPRING = 1, 2  # what a joint has: damping or armature; a spring
# What a link is: without children; the last of its parent's, which leaves → root is the first; one that has children
# other than the next link; one that has children in a later stretch (see below)
LEAF, LAST, FORK, AHEAD = 1, 2, 4, 8

# n: number of links; nq, nv: of numbers in q and in v; most: degrees of freedom that a joint has at most; slides: 1 if
# some SCREW joint slides, 0 if all only turn: then the linear parts of their axes are zero, and left out of the work;
# end: address past the last block; of each link: parent: index of the parent (n: the ground); kind: of the joint; iq,
# iv: where its numbers start in q and in v; passive: the sum of what it has, or 0; family: the sum of what the link is,
# or 0
Tree = namedtuple("Tree", "n nq nv most slides end parent kind iq iv passive family")

# What a simulation works on, all of it owned by one simulation. w: all quantities of all links, see below; q, v:
# configuration and velocity of the node; low (nq): what round-off has kept from q; saved_q, saved_low: of the node
# before the step; history (PAST nv): the last increments of the joints, latest first; p: momentum of a node; f, motion,
# found, straight (nv): scratch
State = namedtuple("State", "w q v low saved_q saved_low history p f motion found straight")

_rows = 0


def _take(count: int) -> int:
    """Reserve ``count`` rows; gives the address of the first, relative to a slot."""
    global _rows
    first = LANES * _rows
    _rows += count
    return first


# What the model says (set once, in the link's own frame)
PLACE_Q = _take(4)  # orientation of the joint frame in the parent's frame, quaternion
PLACE_P = _take(3)  # its position
TURN = _take(3)  # rotation per unit of q of a SCREW joint: axis, or zero
SLIDE = _take(3)  # translation per unit of q
MASS = _take(1)
COM = _take(3)  # centre of mass
INERTIA = _take(6)  # about the centre of mass
DAMPING = _take(1)
STIFFNESS = _take(1)
ARMATURE = _take(1)
CONSTANTS = LANES * _rows  # end of these

# The configuration at t_k, in world axes (kinematics.py)
ANGLE = _take(1)  # coordinate of a SCREW joint
LOCAL_Q = _take(4)  # pose of the link in its parent's frame: quaternion …
LOCAL_P = _take(3)  # … and position
Q = _take(4)  # orientation of the link, quaternion
O = _take(3)
ARM = _take(3)  # p_i: from the parent's origin to this one
S = _take(6)  # joint axis of a SCREW joint: angular and linear part
COM_W = _take(3)  # from the link's origin to its centre of mass
INERTIA_C = _take(6)  # inertia about the centre of mass

# The motion from t_k to t_{k+1} (drnea.py)
DELTA = _take(1)  # q1 − q0 of a SCREW joint
J = _take(4)  # rotation of a BALL or FREE joint over the step, in world axes
T = _take(3)  # translation of the joint over the step
SAVED = _take(8)  # DELTA, J and T of an iterate to which a line search may come back
DQ = _take(4)  # ΔR_i: rotation of the link over the step
D = _take(3)  # d_i: displacement of its origin
MOMENTUM = _take(6)  # momentum carried into the step, about the link's origin …
JOINT_P = _take(6)  # … and by the joint itself, in body axes: armature, and half of the forcing
NODE = _take(12)  # both, as they were at the last node
PUSH = _take(6)  # external wrench on the link, in its own frame (moment, force) …
PUSHED = _take(1)  # … 1 if there may be one

# Joint-space quantities, up to six numbers a joint; TAU and X in world axes
TAU = _take(6)  # right-hand side at the joint
X = _take(6)  # solution at the joint
PSI = _take(6)  # deflection of the joint's spring at t_k: rotation in body axes, translation in world axes

# Recursions (rnea.py, aba.py)
F = _take(6)  # wrench on the link itself: in DRNEA μ_i, the discrete momentum, less what was carried into the step
SCREW_J = F  # before that, in DRNEA: rotation of a SCREW joint over the step, in world axes, four rows
TWIGS = _take(6)  # wrenches of the children of a FORK, summed
V = _take(6)  # twist
A = _take(6)  # acceleration
IA = _take(48)  # articulated inertia (articulated.py) of a link with a BALL joint; of a FREE one, its inverse pivot
U = _take(6)  # Î S of a SCREW joint, shifted to the parent's origin
DINV = _take(9)  # inverse of the pivot Sᵀ Î S of a SCREW or BALL joint; of a FREE one, what the joint adds to Î

# Newton's sweep, unsymmetric (newton.py)
K = _take(36)  # stiffness of the link itself, four blocks of nine numbers
KA = _take(48)  # articulated stiffness (articulated.py) of a link with a BALL joint; of a FREE one, its inverse pivot
NU = _take(6)  # Â S⁺ of a SCREW joint, shifted to the parent's origin
NW = _take(6)  # Sᵀ Â of a SCREW joint, shifted likewise
NS = _take(6)  # S⁺ of a SCREW joint; d of a BALL joint
ND = _take(9)  # inverse of the pivot Sᵀ Â S⁺ of a SCREW or BALL joint
NE = _take(36)  # derivative of the joint's own residual, for BALL and FREE joints, nine numbers a block

BLOCK = LANES * (_rows + _rows % 2)  # whole cache lines
STRETCH = 64  # links of which all that an evaluation works on fits into the nearest cache
SHELF = 12 * LANES  # numbers of one articulated matrix on the shelf (articulated.py), which comes after the blocks


def blocks(n: int) -> int:
    """Number of blocks for n bodies and the ground."""
    return (n + LANES) // LANES


def size(n: int) -> int:
    """Numbers of the memory of n bodies and the ground: blocks, and the shelf of the longest stretch."""
    return blocks(n) * BLOCK + min(blocks(n) * LANES, STRETCH) * SHELF


@part
def look(tree):
    """The tree through views, as kernels take it."""
    return Tree(tree.n, tree.nq, tree.nv, tree.most, tree.slides, tree.end, integers(tree.parent),
                integers(tree.kind), integers(tree.iq), integers(tree.iv), integers(tree.passive),
                integers(tree.family))


def _in_blocks(w, i):
    """Address of body i in w: in a block of four; of four simulations (a view in fours), in a block of its own."""
    return (i >> 2) * BLOCK + (i & 3)


def _by_itself(w, i):
    return i * BLOCK


if COMPILED:
    def slot(w, i):
        """For kernels only: see _in_blocks."""
        raise NotImplementedError

    @overload(slot, jit_options={"forceinline": True, **INNER})
    def _slot(w, i):
        return _by_itself if w is of_fours else _in_blocks
else:
    slot = _in_blocks


@formula
def stretches(tree):
    """Where the stretches of a tree begin. Loops that follow each other do so stretch by stretch, from root to leaves:
    then what one leaves is still near for the next. The last begins at n or before it, n being the ground, whose block
    may be one of its own."""
    return range(0, tree.n + 1, STRETCH)


@formula
def stretch(tree, w, first):
    """The stretch that begins with link number ``first``: its links and their blocks."""
    end = first + STRETCH
    return range(first, min(end, tree.n)), range(slot(w, first), min(slot(w, end), tree.end), BLOCK)


@kernel
def zeros(w):
    """A vector of three zeros, of the numbers that w holds."""
    zero = number(w, 0.0)
    return zero, zero, zero


@part
def see(state):
    """A state through views: passing an array on, or taking one from a tuple, costs more than many a kernel does."""
    return State(numbers(state.w), numbers(state.q), numbers(state.v), numbers(state.low), numbers(state.saved_q),
                 numbers(state.saved_low), numbers(state.history), numbers(state.p), numbers(state.f),
                 numbers(state.motion), numbers(state.found), numbers(state.straight))


@kernel
def copy(source, target, count):
    """target ← source, by a plain loop: Numba's slice assignment costs a second of compiling for its error messages."""
    for j in range(count):
        target[j] = source[j]


@kernel
def clear(target, count):
    for j in range(count):
        target[j] = 0.0


@kernel
def get3(w, a):
    return w[a], w[a + LANES], w[a + 2 * LANES]


@kernel
def get4(w, a):
    return w[a], w[a + LANES], w[a + 2 * LANES], w[a + 3 * LANES]


@kernel
def get6(w, a):
    return w[a], w[a + LANES], w[a + 2 * LANES], w[a + 3 * LANES], w[a + 4 * LANES], w[a + 5 * LANES]


@kernel
def get9(w, a):
    return get6(w, a) + get3(w, a + 6 * LANES)


@kernel
def get33(w, a):
    """A twist or a wrench: angular part, linear part."""
    return get3(w, a), get3(w, a + 3 * LANES)


@kernel
def put3(w, a, x):
    w[a], w[a + LANES], w[a + 2 * LANES] = x


@kernel
def put4(w, a, x):
    w[a], w[a + LANES], w[a + 2 * LANES], w[a + 3 * LANES] = x


@kernel
def put6(w, a, x):
    w[a], w[a + LANES], w[a + 2 * LANES], w[a + 3 * LANES], w[a + 4 * LANES], w[a + 5 * LANES] = x


@kernel
def put9(w, a, x):
    put6(w, a, (x[0], x[1], x[2], x[3], x[4], x[5]))
    put3(w, a + 6 * LANES, (x[6], x[7], x[8]))


@kernel
def put33(w, a, m, f):
    put3(w, a, m)
    put3(w, a + 3 * LANES, f)


@kernel
def add33(w, a, m, f):
    """Add a wrench to what is there."""
    put33(w, a, (w[a] + m[0], w[a + LANES] + m[1], w[a + 2 * LANES] + m[2]),
          (w[a + 3 * LANES] + f[0], w[a + 4 * LANES] + f[1], w[a + 5 * LANES] + f[2]))
