"""Links and blocks of rows as a graph, and the order that eliminates every block at the nearest common ancestor."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from leastaction.kernels.constraints.pivots import SIDE
from leastaction.kernels.constraints.rows import JOINTS, Rows
from leastaction.kernels.layout import DOF, Tree

Array = np.ndarray


class Block(NamedTuple):
    """Rows that are eliminated together: the first, how many, and the two links; n is the ground."""

    first: int
    size: int
    a: int
    b: int
    couple: bool


class Graph:
    """What the symbolic elimination knows: nodes are links, 0 … n − 1, and then blocks of rows."""

    def __init__(self, tree: Tree, rows: Rows) -> None:
        self.n, self.parent, self.kind = tree.n, tree.parent.tolist(), tree.kind.tolist()
        self.rows = len(rows.kind)
        self.blocks = blocks(rows)
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


def blocks(rows: Rows) -> list[Block]:
    """Return the rows of each loop as a block."""
    kind, a, b, loop = (column.tolist() for column in (rows.kind, rows.a, rows.b, rows.loop))
    found: list[Block] = []
    for r in range(len(kind)):
        same = bool(found) and loop[r] == loop[found[-1].first] and found[-1].size < SIDE
        if same and (a[r], b[r], False) == (*found[-1][2:4], found[-1].couple or kind[r] in JOINTS):
            found[-1] = found[-1]._replace(size=found[-1].size + 1)
        else:
            found.append(Block(r, 1, a[r], b[r], kind[r] in JOINTS))
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
