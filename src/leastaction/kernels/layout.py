"""Where every number of a body lives: one flat array, bodies in blocks of four.

Body ``i`` is lane ``i % 4`` of block ``i // 4``; row ``r`` of a block holds that quantity for its four bodies, side by
side. So the address of a quantity is ``slot(w, i) + ROW`` with ``ROW`` a constant, and the same rows can be read as one
vector of four bodies. The ground has a slot of its own, after the last body, so that no recursion needs a branch.
"""

from collections import namedtuple

from numba.extending import overload

from .fields import BLOCKS, LANES, MATRIX, NUMBER, PAIR, QUATERNION, SYMMETRIC, VECTOR, Record, Table, records
from .jit import INNER, formula, kernel, part
from .simd import COMPILED, WIDTH, choose, integers, number, numbers, of_columns

SCREW, BALL, FREE = 0, 1, 2  # kinds of joint …
DOF = (1, 3, 6)  # … and their degrees of freedom

PASSIVE, SPRING = 1, 2  # what a joint has: damping or armature; a spring
# What a link is: the last of its parent's children, which leaves → root is the first; one that has children other than
# the next link
LAST, FORK = 1, 2

# n: number of links; nq, nv: of numbers in q and in v; most: degrees of freedom that a joint has at most; slides: 1 if
# some SCREW joint slides, 0 if all only turn: then the linear parts of their axes are zero, and left out of the work;
# end: address past the last block; of each link: parent: index of the parent (n: the ground); kind: of the joint; iq,
# iv: where its numbers start in q and in v; passive: the sum of what it has, or 0; family: the sum of what the link is,
# or 0; matrices, sides: addresses where the articulated matrices and the sides begin; side: number of its side;
# size: of the memory, in numbers
Tree = namedtuple("Tree", "n nq nv most slides end parent kind iq iv passive family "
                          "matrices sides side size")

# What a simulation works on, all of it owned by one simulation. w: all quantities of all links, see below; q, v:
# configuration and velocity of the node; low (nq): what round-off has kept from q; saved_q, saved_low: of the node
# before the step; history (PAST nv): the last increments of the joints, latest first; p: momentum of a node; f, motion,
# found, straight (nv): scratch
State = namedtuple("State", "w q v low saved_q saved_low history p f motion found straight")

LINK, SIDE = Table("Link"), Table("Side")

# What the model says (set once, in the link's own frame)
LINK.take("base_rotation", QUATERNION, "", "parent", "", "orientation of the joint frame")
LINK.take("base_position", VECTOR, "", "parent", "m", "position of the joint frame")
LINK.take("turn", VECTOR, "", "link", "rad/1", "rotation per unit of q of a SCREW joint: axis, or zero")
LINK.take("slide", VECTOR, "", "link", "m/1", "translation per unit of q of a SCREW joint")
LINK.take("mass", NUMBER, "m", "", "kg", "mass")
LINK.take("com", VECTOR, "", "link", "m", "centre of mass")
LINK.take("inertia", SYMMETRIC, "", "link", "kg m²", "inertia about the centre of mass")
LINK.take("damping", NUMBER, "", "joint", "N m s", "damping of the joint")
LINK.take("stiffness", NUMBER, "", "joint", "N m", "stiffness of the joint's spring")
LINK.take("armature", NUMBER, "", "joint", "kg m²", "inertia that the joint itself adds")
CONSTANTS = LINK.size  # the first so many numbers of a link

# The configuration at t_k, in world axes (kinematics.py)
LINK.take("angle", NUMBER, "q", "joint", "rad, m", "coordinate of a SCREW joint")
LINK.take("local_rotation", QUATERNION, "T", "parent", "", "orientation of the link")
LINK.take("local_position", VECTOR, "T", "parent", "m", "position of the link")
LINK.take("rotation", QUATERNION, "", "world", "", "orientation of the link")
LINK.take("origin", VECTOR, "", "world", "m", "position of the link")
LINK.take("arm", VECTOR, "p", "world", "m", "from the parent's origin to this one")
LINK.take("axis", PAIR, "S", "world", "rad/1, m/1", "axis of a SCREW joint, as a twist")
LINK.take("axis_turn", VECTOR, "", "world", "rad/1", "its angular part", at="axis")
LINK.take("axis_move", VECTOR, "", "world", "m/1", "its linear part", at="axis", after=3)
LINK.take("centre", VECTOR, "", "world", "m", "from the link's origin to its centre of mass")
LINK.take("inertia_world", SYMMETRIC, "", "world", "kg m²", "inertia about the centre of mass")

# The motion from t_k to t_{k+1} (drnea.py)
LINK.take("delta", NUMBER, "Δq", "joint", "rad, m", "increment of a SCREW joint")
LINK.take("joint_rotation", QUATERNION, "", "world", "", "rotation of a BALL or FREE joint over the step")
LINK.take("joint_shift", VECTOR, "", "world", "m", "translation of a FREE joint over the step")
LINK.take("saved_delta", NUMBER, "", "", "", "delta of an iterate to which a line search may come back")
LINK.take("saved_rotation", QUATERNION, "", "", "", "joint_rotation of that iterate")
LINK.take("saved_shift", VECTOR, "", "", "", "joint_shift of that iterate")
LINK.take("dR", QUATERNION, "ΔT", "world", "", "rotation of the link over the step")
LINK.take("d", VECTOR, "ΔT", "world", "m", "displacement of the link's origin over the step")
LINK.take("momentum", PAIR, "μ", "world", "kg m²/s, kg m/s", "momentum carried into the step")
LINK.take("joint_momentum", NUMBER, "", "joint", "kg m²/s", "of the joint: armature, half the forcing")
LINK.take("joint_momentum6", PAIR, "", "link", "kg m²/s", "the same of a BALL or FREE joint", at="joint_momentum")
LINK.take("node_momentum", PAIR, "", "world", "", "momentum at the last node")
LINK.take("node_joint_momentum", NUMBER, "", "", "", "joint_momentum at the last node")
LINK.take("node_joint_momentum6", PAIR, "", "", "", "the same of a BALL or FREE joint", at="node_joint_momentum")
LINK.take("push", PAIR, "F", "link", "N m, N", "external wrench")
LINK.take("pushed", NUMBER, "", "", "", "1 if there may be an external wrench")

# Joint-space quantities, up to six numbers a joint
LINK.take("tau", NUMBER, "−Q", "joint", "N m s", "right-hand side at the joint")
LINK.take("tau3", VECTOR, "", "world", "N m s", "the same of a BALL joint", at="tau")
LINK.take("tau6", PAIR, "", "world", "N m s", "the same of a FREE joint", at="tau")
LINK.take("x", NUMBER, "", "joint", "rad", "solution at the joint")
LINK.take("x3", VECTOR, "", "world", "rad", "the same of a BALL joint", at="x")
LINK.take("x6", PAIR, "", "world", "rad, m", "the same of a FREE joint", at="x")
LINK.take("psi", NUMBER, "", "joint", "rad", "deflection of the joint's spring at t_k")
LINK.take("psi6", PAIR, "", "link, world", "rad, m", "of a BALL or FREE joint: rotation, translation", at="psi")

# Recursions (rnea.py, sweep.py)
LINK.take("wrench", PAIR, "F", "world", "N m s, N s", "in DRNEA μ, less what was carried into the step")
LINK.take("screw_rotation", QUATERNION, "", "world", "", "before: rotation of a SCREW joint", at="wrench")
LINK.take("answer", PAIR, "ζ", "world", "rad, m", "motion of the link that a solve gives, or its acceleration")
LINK.take("children", PAIR, "", "world", "N m s, N s", "while a solve goes up: wrenches of the children", at="answer")

# The factored matrix: of the mass matrix, or of Newton's Jacobian (sweep.py)
LINK.take("K", BLOCKS, "K", "world", "kg m²/s", "stiffness of the link itself")
for _name, _after in (("K11", 0), ("K12", 9), ("K21", 18), ("K22", 27)):
    LINK.take(_name, MATRIX, _name, "world", "", "block of K", at="K", after=_after)
LINK.take("column", PAIR, "Â S⁺", "world", "", "of a SCREW joint, about the parent's origin")
LINK.take("row", PAIR, "Sᵀ Â", "world", "", "of a SCREW joint, about the parent's origin")
LINK.take("twist", PAIR, "V", "world", "rad/s, m/s", "velocity of the link, when no Jacobian is factored", at="row")
LINK.take("axis_after", PAIR, "S⁺", "world", "rad/1, m/1", "axis of a SCREW joint, moved by ΔT")
LINK.take("lever", VECTOR, "d", "world", "m", "of a BALL joint: S⁺ ζ = (ζ, d × ζ)", at="axis_after")
LINK.take("inverse", NUMBER, "D⁻¹", "joint", "", "inverse of the pivot Sᵀ Â S⁺ of a SCREW joint")
LINK.take("inverse3", MATRIX, "D⁻¹", "world", "", "the same of a BALL joint", at="inverse")

SIDE.take("E", BLOCKS, "", "world", "", "derivative of the joint's own residual, of a BALL or FREE joint")
ARTICULATED = Table("Articulated")
for _name in ("A11", "A12", "A21", "A22"):
    ARTICULATED.take(_name, MATRIX, _name, "world", "", "block of Â")
ARTICULATED.take("matrix", BLOCKS, "Â", "world", "kg m²/s", "articulated matrix of a link", at="A11")
ROWS = 12 * LANES  # numbers of an articulated matrix of packed rows (matrix6.py)

# A right-hand side and its solution, of four systems with one matrix (sweep.py); of one they are in the link
RIGHT = Table("Right")
for _name, _shape, _at in (
        ("wrench", PAIR, None), ("answer", PAIR, None), ("children", PAIR, "answer"),
        ("tau", NUMBER, None), ("tau3", VECTOR, "tau"), ("tau6", PAIR, "tau"),
        ("x", NUMBER, None), ("x3", VECTOR, "x"), ("x6", PAIR, "x")):
    RIGHT.take(_name, _shape, at=_at)

BLOCK = LINK.block
FACTORS = LINK.fields["K"][0]  # from there to the end of a block
TEAMS = LANES // WIDTH  # to a block
_link, _team = records(LINK)
_side, _ = records(SIDE)
_right, _ = records(RIGHT)


def python_link(w, i):
    """Link i of the memory of one simulation, for Python."""
    return Record(LINK, w, i // LANES * BLOCK + i % LANES)


@formula
def link(w, i):
    """Link i; the ground is number tree.n."""
    return _link(w, 0, i)


@formula
def team(w, k):
    """The k-th of teams(): four links, or one."""
    return _team(w, 0, k)


@formula
def side(tree, w, i):
    """What only a BALL or FREE joint i has."""
    return _side(w, tree.sides, tree.side[i])


if COMPILED:
    def right(r, i):
        """Right-hand side and solution of link i: in the memory of a simulation, or of four right-hand sides."""
        raise NotImplementedError("for kernels only")

    @overload(right, jit_options={"forceinline": True, **INNER})
    def _choose_right(r, i):
        return (lambda r, i: _right(r, 0, i)) if r is of_columns else (lambda r, i: _link(r, 0, i))
else:
    right = link


@formula
def teams(tree):
    """All links, the ground and what fills up the last block, four at a time where that can be."""
    return range(tree.end // BLOCK * TEAMS)


def blocks(n: int) -> int:
    """Number of blocks for n bodies and the ground."""
    return (n + LANES) // LANES


def memory(tree: Tree, lanes: bool) -> Tree:
    """The tree, with the addresses of the memory of one simulation, or of four in lanes."""
    n, sides = tree.n, int(tree.side.max(initial=-1)) + 1
    if lanes:  # every link has a block of its own; loops over blocks leave out the ground, which is after them
        matrices = (n + 1) * BLOCK
        at = matrices + n * ARTICULATED.block
        return tree._replace(end=n * BLOCK, matrices=matrices, sides=at, size=at + sides * SIDE.block)
    end = blocks(n) * BLOCK
    at = end + blocks(n) * LANES * ROWS
    return tree._replace(end=end, matrices=end, sides=at, size=at + blocks(sides) * SIDE.block)


@part
def look(tree):
    """The tree through views, as kernels take it."""
    return Tree(tree.n, tree.nq, tree.nv, tree.most, tree.slides, tree.end, integers(tree.parent),
                integers(tree.kind), integers(tree.iq), integers(tree.iv), integers(tree.passive),
                integers(tree.family), tree.matrices, tree.sides, integers(tree.side), tree.size)


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


def factors_size(tree: Tree) -> int:
    """Numbers that keep_factors() puts aside."""
    return tree.n * (BLOCK - FACTORS) + tree.size - tree.matrices


@kernel
def keep_factors(tree, w, aside):
    """Put the factored Jacobians of four simulations aside: the last fields of every link, matrices and sides."""
    kept = 0
    for block in range(0, tree.end, BLOCK):
        for a in range(block + FACTORS, block + BLOCK, LANES):
            aside[kept] = w[a]
            kept += LANES
    for a in range(tree.matrices, tree.size, LANES):
        aside[kept] = w[a]
        kept += LANES


@kernel
def put_back_factors(tree, w, aside, wanted):
    """Take the new Jacobians only where they are wanted."""
    kept = 0
    for block in range(0, tree.end, BLOCK):
        for a in range(block + FACTORS, block + BLOCK, LANES):
            w[a] = choose(wanted, w[a], aside[kept])
            kept += LANES
    for a in range(tree.matrices, tree.size, LANES):
        w[a] = choose(wanted, w[a], aside[kept])
        kept += LANES
