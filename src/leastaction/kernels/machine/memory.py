"""The memory of a simulation: links one by one or four at a time, articulated matrices, and what few links have.

In the memory of one simulation, body ``i`` is lane ``i % 4`` of block ``i // 4``: four bodies side by side, number by
number, so that the same text works on one of them or on all four. In that of four simulations (lanes.py) every body has
a block of its own. The ground is a link too, the last, so that no recursion needs a branch.
"""

from numba.extending import overload

from ..layout import ARTICULATED, LINK, RIGHT, ROWS, SIDE, State, System, Tree
from .fields import LANES, Record, records
from .jit import INNER, formula, kernel, part
from .simd import COMPILED, WIDTH, choose, in_columns, in_lanes, integers, number, numbers, of_columns, of_fours

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


if COMPILED:
    def alike(w, array):
        """An array (nv,), or of four simulations (4 nv,), as the numbers of w."""
        raise NotImplementedError("for kernels only")

    @overload(alike, jit_options={"forceinline": True, **INNER})
    def _choose_alike(w, array):
        return (lambda w, array: in_lanes(array)) if w is of_fours else (lambda w, array: array)
else:
    def alike(w, array):
        return array


@formula
def teams(tree):
    """All links, the ground and what fills up the last block, four at a time where that can be."""
    return range(tree.end // BLOCK * TEAMS)


def blocks(n: int) -> int:
    """Number of blocks for n bodies and the ground."""
    return (n + LANES) // LANES


def addressed(tree: Tree, lanes: bool) -> Tree:
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
def look_at(system):
    """A system through views, as kernels take it."""
    return System(look(system.tree), system.rest, system.gravity, system.elements)


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


def room_for(n: int, nv: int) -> int:
    """Numbers that the memory for four right-hand sides takes: the rows themselves, and a record for every link."""
    return LANES * nv + (n + 1) * RIGHT.block


@kernel
def side_by_side(rows, first, room):
    """Four rows from number ``first`` on, the last one repeated, as fours at the beginning of ``room``; and the rest
    of it as memory for right-hand sides."""
    nv, one = rows.shape[1], numbers(room)
    for lane in range(LANES):
        for j in range(nv):
            one[LANES * j + lane] = rows[min(first + lane, len(rows) - 1), j]
    return in_lanes(room), in_columns(room[LANES * nv :])


@kernel
def one_below_the_other(four, rows, first):
    """The inverse of side_by_side()."""
    for lane in range(min(LANES, len(rows) - first)):
        for j in range(rows.shape[1]):
            rows[first + lane, j] = four[j][lane]


@kernel
def put_lane(one, j, lane, x):
    """Set one lane of four numbers, through a view of single ones."""
    one[LANES * j + lane] = x


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
