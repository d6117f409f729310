"""The order in which joints and rows are eliminated from a tree with closed loops, as a list of operations.

A block of rows (a loop or a coupling) can go when all joints of its loop are gone, at the nearest common ancestor of
the two links; or before, as soon as its own pivot is regular with the links that it acts on held. In the first order a
link carries all rows that are open in its subtree, in the second it is coupled to links instead. Which is cheaper
depends on the mechanism: both are counted here, once for a model, and kernels/constraints/elimination.py does what the
list says.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from leastaction.kernels.constraints.closed import (
    BLOCK,
    EARLIER,
    EARLY,
    JOINT,
    LATER,
    NODE,
    NOWHERE,
    SELF,
    TOLD,
    Closed,
    Places,
)
from leastaction.kernels.constraints.pivots import SCRATCH, SIDE
from leastaction.kernels.constraints.rows import COUPLE, Rows
from leastaction.kernels.layout import DOF, Tree

Array = np.ndarray
THRESHOLD = 1e-3  # of a block's least singular value, relative to what it is made of, above which it may go early
NARROW = 6  # a front that is no wider than this cannot become cheaper: one link alone has six numbers


@dataclass(frozen=True)
class Plan:
    """What the kernels read of the rows of a model, beside the rows themselves.

    Attributes
    ----------
    ops : operations, as kernels/constraints/elimination.py says
    places : where the parts of the memory of the rows begin
    targets : (m, 6) for both links of a row: addresses of its numbers at t_k and at t_{k+1}, and their distance in
        memory; an address is −1 for the ground. Of a COUPLE row the first is that of both numbers
    size : numbers of the memory
    cost : multiplications that factoring takes for the rows
    width : numbers that the widest front has
    early : whether blocks go before their loop is done
    zero_rows : rows that no joint can change, as those that keep a planar mechanism in its plane; they are in no block
    """

    ops: Array
    places: Places
    targets: Array
    size: int
    cost: int
    width: int
    early: bool
    zero_rows: int

    def scratch(self) -> Array:
        """Return fresh memory, all rows being active that are no zero rows."""
        scratch = np.zeros(self.size)
        scratch[self.places.active : self.places.active + self.places.rows] = self.targets.max(axis=1) >= 0
        return scratch

    def closed(self, rows: Rows) -> Closed:
        """Return what the kernels take of these rows, with fresh memory."""
        return Closed(rows, self.ops, self.targets.reshape(-1), self.places, self.scratch())


class Block(NamedTuple):
    """Rows that are eliminated together: the first, how many, and the two links; n is the ground."""

    first: int
    size: int
    a: int
    b: int
    couple: bool


class Graph:
    """What the symbolic elimination knows: nodes are links, 0 … n − 1, and then blocks of rows."""

    def __init__(self, tree: Tree, rows: Rows, zero_rows: Array | None = None) -> None:
        self.n, self.parent, self.kind = tree.n, tree.parent.tolist(), tree.kind.tolist()
        self.rows = len(rows.kind)
        self.blocks = blocks(rows, np.zeros(self.rows, dtype=bool) if zero_rows is None else zero_rows)
        root = rows.root.tolist()
        self.depth = [0] * (self.n + 1)
        for i, above in enumerate(self.parent):
            self.depth[i] = self.depth[above] + 1 if above < self.n else 1
        self.ancestor = [self._common(block, root) for block in self.blocks]

    def _common(self, block: Block, root: list[int]) -> int:
        """Link at which all joints of the block's loop are gone; n, the ground, for many."""
        a, b = block.a, block.b
        if b == self.n or root[a] != root[b]:
            return int(self.parent[a]) if block.couple and b == self.n else self.n
        if block.couple:
            a, b = self.parent[a], self.parent[b]
        while a != b:
            if self.depth[a] >= self.depth[b]:
                a = self.parent[a]
            else:
                b = self.parent[b]
        return int(a)

    def size(self, node: int) -> int:
        """Numbers of a node."""
        return 6 if node < self.n else self.blocks[node - self.n].size

    def neighbours(self) -> list[set[int]]:
        """Neighbours of all nodes before anything is eliminated."""
        near: list[set[int]] = [set() for _ in range(self.n + len(self.blocks))]
        for c, block in enumerate(self.blocks, self.n):
            for link in (block.a, block.b):
                if link < self.n:
                    near[link].add(c)
                    near[c].add(link)
        return near

    def front(self, near: set[int]) -> int:
        """Numbers of all neighbours."""
        return sum(map(self.size, near))

    def cost(self, node: int, front: int) -> int:
        """Multiplications that it takes to eliminate a node with such a front."""
        if node < self.n:
            freedom: int = DOF[self.kind[node]]
            return 2 * freedom * front**2 + 12 * (freedom + 1) * front
        size = self.size(node)
        return 2 * size * front**2 + size**2 * (front + size)


def common_ancestors(tree: Tree, rows: Rows) -> Array:
    """Return for each row (m,) the link at which all joints of its loop are gone; n for the ground."""
    graph, found = Graph(tree, rows), np.full(len(rows.kind), tree.n)
    for block, ancestor in zip(graph.blocks, graph.ancestor, strict=True):
        found[block.first : block.first + block.size] = ancestor
    return found


def blocks(rows: Rows, zero_rows: Array) -> list[Block]:
    """Return the rows of each loop as a block, without those that are zero (m,)."""
    kind, a, b, loop = (column.tolist() for column in (rows.kind, rows.a, rows.b, rows.loop))
    found: list[Block] = []
    for r in np.flatnonzero(~zero_rows).tolist():
        same = bool(found) and loop[r] == loop[found[-1].first] and r == found[-1].first + found[-1].size < (
            found[-1].first + SIDE)
        if same and (a[r], b[r], False) == (*found[-1][2:4], found[-1].couple or kind[r] == COUPLE):
            found[-1] = found[-1]._replace(size=found[-1].size + 1)
        else:
            found.append(Block(r, 1, a[r], b[r], kind[r] == COUPLE))
    return found


def eliminate(graph: Graph, near: list[set[int]], node: int) -> list[int]:
    """Eliminate a node symbolically. Gives its neighbours."""
    mine = sorted(near[node])
    for y in mine:
        near[y].discard(node)
        near[y].update(mine)
        near[y].discard(y)
    if node < graph.n and graph.parent[node] < graph.n:
        above = graph.parent[node]
        for y in mine:
            if y != above:
                near[y].add(above)
                near[above].add(y)
    near[node] = set()
    return mine


def order_by_ancestors(graph: Graph) -> list[int]:
    """Return links from leaves to roots, and every block when its loop is done, those of fewest neighbours first."""
    near, order = graph.neighbours(), []
    done: dict[int, list[int]] = {}
    for c, ancestor in enumerate(graph.ancestor, graph.n):
        done.setdefault(ancestor, []).append(c)
    for i in range(graph.n - 1, -2, -1):
        heap = [(graph.front(near[c]), c) for c in done.get(i if i >= 0 else graph.n, ())]
        heapq.heapify(heap)
        while heap:
            front, c = heapq.heappop(heap)
            now = graph.front(near[c])
            if now != front:
                heapq.heappush(heap, (now, c))
                continue
            order.append(c)
            eliminate(graph, near, c)
        if i >= 0:
            order.append(i)
            eliminate(graph, near, i)
    return order


def fronts_by_ancestors(graph: Graph) -> tuple[list[int], int]:
    """Return the fronts of the joints in the order by ancestors, and what they cost, without going through with it."""
    rows = [0] * (graph.n + 1)
    for block, ancestor in zip(graph.blocks, graph.ancestor, strict=True):
        for link in {block.a, block.b} - {graph.n}:
            rows[link] += block.size
            rows[ancestor] -= block.size
    total = 0
    for i in range(graph.n - 1, -1, -1):
        total += graph.cost(i, rows[i])
        rows[graph.parent[i]] += rows[i]
    return rows[: graph.n], total


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
            pairs[key] = take(2 * graph.size(x) * graph.size(y))
        return pairs[key]

    diagonal = [take(block.size**2) for block in graph.blocks]
    joints = [take(4) if block.couple else -1 for block in graph.blocks]
    inverse = [0] * len(graph.blocks)
    ops: list[list[int]] = []
    cost = width = 0
    for node in order:
        mine = sorted(eliminate(graph, near, node), key=at.__getitem__)
        front = graph.front(set(mine))
        cost, width = cost + graph.cost(node, front), max(width, front)
        above = graph.parent[node] if node < n else n
        if node < n:
            op = [JOINT, node, len(mine), 0, 0, 0]
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
            op += [int(y >= n), graph.blocks[y - n].first if y >= n else y, graph.size(y), pair(node, y), move,
                   pair(above, y) if move in (LATER, EARLIER) else -1, joint, diagonal[y - n] if y >= n else -1]
        op += [pair(mine[p], mine[q]) for q in range(len(mine)) for p in range(q)]
        ops.append(op)
    peak = take(count)
    cleared = size
    targets = np.full((count, 6), -1, dtype=np.int64)
    for c, block in enumerate(graph.blocks):
        for k in range(block.size):
            for s, link in enumerate((block.a, block.b)):
                if link < n:
                    targets[block.first + k, 3 * s : 3 * s + 3] = _target(graph, block, k, joints[c] + 2 * s,
                                                                          pair(link, n + c), at[link] < at[n + c])
    places = Places(
        rows=count, cleared=cleared, rhs=take(count), answer=take(count), active=take(count), node=take(NODE * count),
        near=take(3 * (n + 1)), total=take(count), kick=take(count), told=take(TOLD), aside=take(12 * n),
        scratch=take(SCRATCH), square=take(36), front=take(SIDE * max(width, 1)), peak=peak)
    starts = np.cumsum([1 + len(ops), *map(len, ops)])[:-1]
    packed = np.concatenate([[len(ops)], starts, *ops]).astype(np.int64)
    return Plan(packed, places, targets, size, cost, width, bool(early),
                count - sum(block.size for block in graph.blocks))


def _target(graph: Graph, block: Block, k: int, joint: int, pair: int, first: bool) -> tuple[int, int, int]:
    """Where row k of a block has its numbers of t_k and of t_{k+1} for a link, which is eliminated first, or not."""
    if block.couple:
        return joint, joint, 0
    if first:
        return pair + SIDE * k, pair + SIDE * (block.size + k), 1
    return pair + SIDE * block.size + k, pair + k, block.size


class Numbers(NamedTuple):
    """A configuration as the early order needs it.

    Of links: inertia (n, 6, 6), axes (n, 6) of SCREW joints, arms (n, 3) and armatures (n,); of rows: both wrenches
    (m, 6). ``locked``: joints that limits or dry friction may lock; a block that goes early must be regular without
    them, and is then regular whichever of them are locked.
    """

    inertia: Array
    axis: Array
    arm: Array
    armature: Array
    ca: Array
    cb: Array
    locked: frozenset[int] = frozenset()


def plan(tree: Tree, rows: Rows, zero_rows: Array, tried: Iterable[Numbers]) -> Plan:
    """Make the cheapest list of operations that is found.

    Parameters
    ----------
    tree, rows : of the model
    zero_rows : (m,) rows that no joint can change
    tried : configurations in which the early order finds out which blocks are regular
    """
    graph = Graph(tree, rows, zero_rows)
    widths, least = fronts_by_ancestors(graph)
    if max(widths, default=0) <= NARROW:
        plain = lay_out(graph, order_by_ancestors(graph), set())
        if plain.width <= NARROW:
            return plain
    best: Plan | None = None
    for numbers in tried:
        found = order_early(graph, numbers, best.cost if best else None)
        if found is not None:
            best = lay_out(graph, *found)
    if best is not None and least >= best.cost:
        return best
    plain = lay_out(graph, order_by_ancestors(graph), set())
    return best if best is not None and best.cost < plain.cost else plain


def order_early(graph: Graph, numbers: Numbers, limit: int | None = None) -> tuple[list[int], set[int]] | None:
    """Return the deepest links first, and every block as soon as it is regular; and which blocks go early.

    None if that costs more than the limit, or the configuration is too bad to tell.
    """
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            return Early(graph, numbers).order(limit)
    except (FloatingPointError, np.linalg.LinAlgError):
        return None


class Early:
    """The elimination of the mass matrix with rows, in numbers, which tells when a block is regular."""

    def __init__(self, graph: Graph, numbers: Numbers) -> None:
        self.graph, self.numbers = graph, numbers
        self.near = graph.neighbours()
        self.B: dict[tuple[int, int], Any] = {(i, i): numbers.inertia[i].copy() for i in range(graph.n)}
        self.joints_left: dict[int, int] = {}  # of couplings, whose joints must be gone
        for c, block in enumerate(graph.blocks, graph.n):
            own = slice(block.first, block.first + block.size)
            self.B[c, c] = np.zeros((block.size, block.size))
            if block.couple:
                self.joints_left[c] = 1 + (block.b < graph.n)
            for link, wrench in ((block.a, numbers.ca[own]), (block.b, numbers.cb[own])):
                if link < graph.n:
                    part = np.zeros_like(wrench) if block.couple else wrench
                    self._add(c, link, part)
                    self._add(link, c, -part.T)

    def _add(self, x: int, y: int, value: Array) -> None:
        self.B[x, y] = self.B[x, y] + value if (x, y) in self.B else value

    def order(self, limit: int | None) -> tuple[list[int], set[int]] | None:
        """Go through with it. Gives the order of all nodes, and which blocks go early; or None, at the limit."""
        graph, n = self.graph, self.graph.n
        children = [0] * (n + 1)
        for above in graph.parent:
            children[above] += 1
        waiting = [(-graph.depth[i], i) for i in range(n) if not children[i]]
        heapq.heapify(waiting)
        done: dict[int, list[int]] = {}
        for c, ancestor in enumerate(graph.ancestor, n):
            done.setdefault(ancestor, []).append(c)
        found: list[int] = []
        early: set[int] = set()
        gone = [False] * (n + len(graph.blocks))
        cost = 0

        def let_go(node: int) -> None:
            nonlocal cost
            stack = [node]
            while stack:
                last = stack.pop()
                if gone[last] or (last != node and not self._regular(last)):
                    continue
                if last != node:
                    early.add(last)
                cost += graph.cost(last, graph.front(self.near[last]))
                stack += [y for y in self._eliminate(last) if y >= n]
                gone[last] = True
                found.append(last)

        while waiting:
            i = heapq.heappop(waiting)[1]
            for c in sorted(done.get(i, ()), key=lambda c: graph.front(self.near[c])):
                if not gone[c]:
                    let_go(c)
            let_go(i)
            if limit is not None and cost >= limit:
                return None
            above = graph.parent[i]
            children[above] -= 1
            if above < n and not children[above]:
                heapq.heappush(waiting, (-graph.depth[above], above))
        for c in sorted(done.get(n, ()), key=lambda c: graph.front(self.near[c])):
            if not gone[c]:
                let_go(c)
        return found, early

    def _regular(self, c: int) -> bool:
        """Whether a block may go though links of its loop are still there."""
        if self.joints_left.get(c, 0):
            return False
        links = [y for y in self.near[c] if y < self.graph.n]
        whole = np.linalg.norm(self.B[c, c], 2) + sum(
            np.linalg.norm(self.B[c, y] @ np.linalg.pinv(self.B[y, y]) @ self.B[y, c], 2) for y in links)
        return bool(np.linalg.svd(self.B[c, c], compute_uv=False)[-1] > THRESHOLD * whole)

    def _eliminate(self, node: int) -> list[int]:
        """Eliminate a node in numbers and symbolically. Gives its neighbours."""
        graph, B = self.graph, self.B
        mine = sorted(self.near[node])
        if node >= graph.n:
            inverse = np.linalg.pinv(B[node, node], rcond=1e-9)
            for y in mine:
                left = B[y, node] @ inverse
                for k in mine:
                    self._add(y, k, -left @ B[node, k])
        else:
            self._eliminate_joint(node, mine)
        for y in mine:
            del B[node, y], B[y, node]
        return eliminate(graph, self.near, node)

    def _eliminate_joint(self, i: int, mine: list[int]) -> None:
        graph, B = self.graph, self.B
        freedom, above = DOF[graph.kind[i]], graph.parent[i]
        S = self.numbers.axis[i][:, None] if freedom == 1 else np.eye(6)[:, :freedom]
        A, X = B[i, i], np.eye(6)
        x, y_, z = self.numbers.arm[i]
        X[3:, :3] = [[0, z, -y_], [-z, 0, x], [y_, -x, 0]]  # the twist (ω, v) of the parent: (ω, v + ω × arm)
        D = np.zeros((freedom, freedom)) if i in self.numbers.locked else np.linalg.inv(
            S.T @ A @ S + self.numbers.armature[i] * np.eye(freedom))
        U, V = A @ S, S.T @ A  # Vᵀ for U would make round-off grow from joint to joint
        right, left = {}, {}
        for y in mine:
            right[y], left[y] = S.T @ B[i, y], B[y, i] @ S
            if self.joints_left.get(y, 0) and i in graph.blocks[y - graph.n][2:4]:
                block = graph.blocks[y - graph.n]
                slope = (self.numbers.ca if i == block.a else self.numbers.cb)[block.first, 0]
                right[y], left[y] = right[y] - slope, left[y] + slope
                self.joints_left[y] -= 1
        for y in mine:
            for k in mine:
                self._add(y, k, -left[y] @ D @ right[k])
            if above < graph.n:
                self._add(y, above, (B[y, i] - left[y] @ D @ V) @ X)
                self._add(above, y, X.T @ (B[i, y] - U @ D @ right[y]))
        if above < graph.n:
            self._add(above, above, X.T @ (A - U @ D @ V) @ X)
