"""From an order of links and blocks to a list of operations, and to the addresses of all numbers in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leastaction.constraint_plan.graph import Block, Graph, eliminate
from leastaction.kernels.constraints.closed import TOLD, Closed, Places, python_row, room_of_rows
from leastaction.kernels.constraints.pivots import SCRATCH, SIDE
from leastaction.kernels.constraints.rows import Rows
from leastaction.kernels.layout import DOF
from leastaction.kernels.machine.fields import LANES
from leastaction.kernels.machine.fronts import LINK_ROOM, SQUARE
from leastaction.kernels.machine.operations import BLOCK, EARLIER, EARLY, JOINT, LATER, NOWHERE, SELF

Array = np.ndarray


@dataclass(frozen=True)
class Plan:
    """What the kernels read of the rows of a model, beside the rows themselves.

    Attributes
    ----------
    ops : operations, as kernels/machine/operations.py says
    places : where the parts of the memory of the rows begin
    targets : (m, 6) for both links of a row: addresses of its numbers at t_k and at t_{k+1}, and their distance in
        memory; an address is −1 for the ground. Of a COUPLE row the first is that of both numbers
    size : numbers of the memory
    cost : multiplications that factoring takes for the rows
    width : numbers that the widest front has
    early : whether blocks go before their loop is done
    """

    ops: Array
    places: Places
    targets: Array
    size: int
    cost: int
    width: int
    early: bool

    def closed(self, rows: Rows) -> Closed:
        """Return what the kernels take of these rows, with fresh memory; all rows are switched on."""
        closed = Closed(rows, self.ops, self.targets.reshape(-1), self.places, np.zeros(self.size))
        for r in range(self.places.rows):
            python_row(closed, r).active = 1.0
        return closed


def lay_out(graph: Graph, order: list[int], early: set[int]) -> Plan:
    """Turn an order of nodes into operations and addresses."""
    n, near, at = graph.n, graph.neighbours(), {node: k for k, node in enumerate(order)}
    count = graph.rows
    size, pairs = 0, {}

    def take(numbers: int) -> int:
        nonlocal size
        size += numbers
        return size - numbers

    def pair(x: int, y: int) -> int:
        key = (x, y) if at[x] < at[y] else (y, x)
        if key not in pairs:
            pairs[key] = take(2 * graph.size(key[0]) * room(graph.size(key[1])))
        return pairs[key]

    diagonal = [take(block.size**2) for block in graph.blocks]
    joints = [take(4) if block.couple else -1 for block in graph.blocks]
    inverse = [0] * len(graph.blocks)
    ops: list[list[int]] = []
    square = take(SQUARE)
    cost = width = widest = 0
    for node in order:
        mine = sorted(eliminate(graph, near, node), key=at.__getitem__)
        front = graph.front(set(mine))
        cost, width = cost + graph.cost(node, front), max(width, front)
        widest = max(widest, sum(room(graph.size(y)) for y in mine))
        above = graph.parent[node] if node < n else n
        if node < n:
            op = [JOINT, node, len(mine), DOF[graph.kind[node]], 0, 0]
        else:
            block = graph.blocks[node - n]
            inverse[node - n] = take(block.size**2)
            op = [EARLY if node in early else BLOCK, block.first, len(mine), block.size, diagonal[node - n],
                  inverse[node - n]]
        for y in mine:
            move = NOWHERE if above == n else SELF if y == above else LATER if at[above] < at[y] else EARLIER
            joint = -1
            if y >= n and graph.blocks[y - n].couple and node in graph.blocks[y - n][2:4]:
                joint = joints[y - n] + 2 * (node == graph.blocks[y - n].b)
            to = square if move == SELF else pair(above, y) if move != NOWHERE else -1
            op += [int(y >= n), graph.blocks[y - n].first if y >= n else y, graph.size(y), room(graph.size(y)),
                   pair(node, y), move, to, joint, diagonal[y - n] if y >= n else -1]
        op += [pair(mine[p], mine[q]) for q in range(len(mine)) for p in range(q)]
        ops.append(op)
    cleared = size
    targets = np.full((count, 6), -1, dtype=np.int64)
    for c, block in enumerate(graph.blocks):
        for k in range(block.size):
            for s, link in enumerate((block.a, block.b)):
                if link < n:
                    targets[block.first + k, 3 * s : 3 * s + 3] = _target(graph, block, k, joints[c] + 2 * s,
                                                                          pair(link, n + c), at[link] < at[n + c])
    places = Places(
        rows=count, cleared=cleared, row=take(room_of_rows(count)), near=take(3 * (n + 1)), told=take(TOLD),
        aside=take(12 * n), scratch=take(SCRATCH), square=square, front=take(2 * SIDE * widest), wide=widest)
    starts = np.cumsum([1 + len(ops), *map(len, ops)])[:-1]
    packed = np.concatenate([[len(ops)], starts, *ops]).astype(np.int64)
    return Plan(packed, places, targets, size, cost, width, bool(early))


def room(size: int) -> int:
    """Room that so many numbers have in a row of a pair: whole fours."""
    return (size + LANES - 1) // LANES * LANES


def _target(graph: Graph, block: Block, k: int, joint: int, pair: int, first: bool) -> tuple[int, int, int]:
    """Where row k of a block has its numbers of t_k and of t_{k+1} for a link, which is eliminated first, or not."""
    if block.couple:
        return joint, joint, 0
    if first:
        return pair + k, pair + SIDE * room(block.size) + k, room(block.size)
    return pair + LINK_ROOM * (block.size + k), pair + LINK_ROOM * k, 1
