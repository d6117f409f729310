"""The memory of a simulation: links one by one or four at a time, articulated matrices, and what only few links have.

In the memory of one simulation, link ``i`` has place ``i % 4`` in block ``i // 4``: four links side by side, number by
number, so that the same text works on one link or on four. In the memory of four simulations (lanes.py) every link has
a block of its own. The ground is the last link, so that no recursion needs a branch.
"""

import numpy as np
from numba.extending import overload

from ..layout import ARTICULATED, EXTREMES, LEDGER, LINK, PAST, RIGHT, ROWS, SIDE, WEIGHTS, WHOLE, State, System, Tree
from .fields import LANES, Record, records
from .jit import INNER, formula, kernel, part
from .simd import (
    COMPILED, WIDTH, after, choose, in_columns, in_fours, in_lanes, integers, number, numbers, of_columns, of_fours,
)

BLOCK = LINK.block
FACTORS = LINK.fields["K"][0]  # the factors of a link begin here and end with the block
TEAMS = LANES // WIDTH  # teams in a block
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
    """The fields that only a BALL or FREE joint i has."""
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
    def lanes_of(w):
        """How many simulations the memory w is of: 1 or 4."""
        raise NotImplementedError("for kernels only")

    @overload(lanes_of, jit_options={"forceinline": True, **INNER})
    def _choose_lanes_of(w):
        return (lambda w: LANES) if w is of_fours else (lambda w: 1)
else:
    def lanes_of(w):
        return 1


if COMPILED:
    def seen_as(w, array):
        """The numbers of an array as those of a memory: of one simulation, or of four side by side."""
        raise NotImplementedError("for kernels only")

    @overload(seen_as, jit_options={"forceinline": True, **INNER})
    def _choose_seen_as(w, array):
        return (lambda w, array: in_lanes(array)) if w is of_fours else (lambda w, array: numbers(array))
else:
    def seen_as(w, array):
        return array.ravel()


@formula
def teams(tree):
    """Range over teams of four links, or of one without SIMD: all links, the ground, and the rest of the last block."""
    return range(tree.end // BLOCK * TEAMS)


def blocks(n: int) -> int:
    """Number of blocks for n bodies and the ground."""
    return (n + LANES) // LANES


def addressed(tree: Tree, lanes: bool) -> Tree:
    """Return the tree with the addresses of its parts in the memory of one simulation, or of four in lanes."""
    n, sides = tree.n, int(tree.side.max(initial=-1)) + 1
    if lanes:  # every link has a block of its own; loops over blocks stop before that of the ground
        matrices = (n + 1) * BLOCK
        at = matrices + n * ARTICULATED.block
        return tree._replace(end=n * BLOCK, matrices=matrices, sides=at, size=at + sides * SIDE.block)
    end = blocks(n) * BLOCK
    at = end + blocks(n) * LANES * ROWS
    return tree._replace(end=end, matrices=end, sides=at, size=at + blocks(sides) * SIDE.block)


def packed(tree: Tree) -> np.ndarray:
    """Return the tree as one array: a call from Python with one array costs less than with many."""
    return np.concatenate([np.array(tree[:WHOLE]), *tree[WHOLE:]]).astype(np.int64)


@part
def system_as_views(system):
    """A system through views, as kernels take it."""
    return System(tree_as_views(system.tree), system.rest, system.gravity, system.elements)


@part
def tree_as_views(tree):
    """The tree through views, as kernels take it, from one array (packed)."""
    t = integers(tree)
    n = t[0]
    return Tree(n, t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], after(t, WHOLE), after(t, WHOLE + n),
                after(t, WHOLE + 2 * n), after(t, WHOLE + 3 * n), after(t, WHOLE + 4 * n), after(t, WHOLE + 5 * n),
                after(t, WHOLE + 6 * n))


@kernel
def zeros(w):
    """Three zeros of the kind of number that w holds: one number each, or four."""
    zero = number(w, 0.0)
    return zero, zero, zero


def sizes(tree: Tree, lanes: int) -> State:
    """Return how many numbers each part of a state takes, for one simulation or for four in lanes."""
    nq, nv, locked = tree.nq, tree.nv, tree.locks * tree.nv
    factors = factors_size(tree) // LANES if lanes > 1 else 0
    each = State(w=tree.size // lanes, q=nq, v=nv, p=nv, low=nq, saved_q=nq, saved_low=nq, history=PAST * nv, held=nv,
                 locks=locked, slip=locked, impulse=3 * locked, ledger=LEDGER, saved_ledger=LEDGER, twice=1, energy=1,
                 total=6, extremes=EXTREMES, made=1, known=1, factored=1, forced=1, alive=1, scale=1, weights=WEIGHTS,
                 f=nv, motion=nv, found=nv, straight=nv, aside=EXTREMES, gravity=3, factors=factors)
    return State(*(lanes * size for size in each))


def parts(room: np.ndarray, tree: Tree, lanes: int) -> State:
    """Return the parts of a state as arrays, which are views of ``room``."""
    ends = np.cumsum(sizes(tree, lanes)).tolist()
    return State(*(room[begin:end] for begin, end in zip([0, *ends], ends, strict=False)))


@part
def state_as_views(tree, room, lanes):
    """A state through views: passing an array on, or taking one from a tuple, costs more than many a kernel does."""
    nq, nv = lanes * tree.nq, lanes * tree.nv
    w = numbers(room)
    q = after(w, tree.size)
    v = after(q, nq)
    p = after(v, nv)
    low = after(p, nv)
    saved_q = after(low, nq)
    saved_low = after(saved_q, nq)
    history = after(saved_low, nq)
    held = after(history, PAST * nv)
    locked = tree.locks * nv
    locks = after(held, nv)
    slip = after(locks, locked)
    impulse = after(slip, locked)
    ledger = after(impulse, 3 * locked)
    saved_ledger = after(ledger, LEDGER * lanes)
    twice = after(saved_ledger, LEDGER * lanes)
    energy = after(twice, lanes)
    total = after(energy, lanes)
    extremes = after(total, 6 * lanes)
    made = after(extremes, EXTREMES * lanes)
    known = after(made, lanes)
    factored = after(known, lanes)
    forced = after(factored, lanes)
    alive = after(forced, lanes)
    scale = after(alive, lanes)
    weights = after(scale, lanes)
    f = after(weights, WEIGHTS * lanes)
    motion = after(f, nv)
    found = after(motion, nv)
    straight = after(found, nv)
    aside = after(straight, nv)
    gravity = after(aside, EXTREMES * lanes)
    return State(w, q, v, p, low, saved_q, saved_low, history, held, locks, slip, impulse, ledger,
                 saved_ledger, twice, energy, total, extremes, made, known, factored, forced, alive, scale, weights, f,
                 motion, found, straight, aside, gravity, after(gravity, 3 * lanes))


@part
def lanes_as_views(s):
    """A state of four simulations, from views of single numbers."""
    return State(
        in_fours(s.w), in_lanes(s.q), in_lanes(s.v), in_lanes(s.p), in_lanes(s.low), in_lanes(s.saved_q),
        in_lanes(s.saved_low), in_lanes(s.history), in_lanes(s.held),
        in_lanes(s.locks), in_lanes(s.slip), in_lanes(s.impulse), in_lanes(s.ledger),
        in_lanes(s.saved_ledger), in_lanes(s.twice), in_lanes(s.energy),
        in_lanes(s.total), in_lanes(s.extremes), in_lanes(s.made), in_lanes(s.known), in_lanes(s.factored),
        in_lanes(s.forced), in_lanes(s.alive), in_lanes(s.scale), in_lanes(s.weights), in_lanes(s.f),
        in_lanes(s.motion), in_lanes(s.found), in_lanes(s.straight), in_lanes(s.aside), in_lanes(s.gravity),
        in_fours(s.factors))


@kernel
def copy(source, target, count):
    """target ← source, by a loop: Numba's slice assignment takes a second to compile, because of its error messages."""
    for j in range(count):
        target[j] = source[j]


@kernel
def clear(target, count):
    for j in range(count):
        target[j] = 0.0


def room_for(n: int, nv: int) -> int:
    """Return how many numbers the memory for four right-hand sides takes: the rows, and a record for every link."""
    return LANES * nv + (n + 1) * RIGHT.block


@kernel
def side_by_side(rows, first, room):
    """Copy four rows, from row ``first`` on, to the beginning of ``room``, number by number side by side; the last row
    fills up missing ones. Return views of these fours, and of the rest of ``room`` as memory for right-hand sides."""
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


def factors_size(tree: Tree) -> int:
    """Return how many numbers keep_factors() copies."""
    return tree.n * (BLOCK - FACTORS) + tree.size - tree.matrices


@kernel
def keep_factors(tree, w, aside):
    """Copy the factored Jacobians of four simulations to ``aside``: the last fields of every link, matrices, sides."""
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
    """Copy factored Jacobians back from ``aside`` in the lanes where ``wanted`` is 0; the others keep the new ones."""
    kept = 0
    for block in range(0, tree.end, BLOCK):
        for a in range(block + FACTORS, block + BLOCK, LANES):
            w[a] = choose(wanted, w[a], aside[kept])
            kept += LANES
    for a in range(tree.matrices, tree.size, LANES):
        w[a] = choose(wanted, w[a], aside[kept])
        kept += LANES
