"""The early order: the mass matrix with rows is eliminated in numbers, which tells when a block is regular."""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np

from leastaction.constraint_plan.graph import Graph, eliminate
from leastaction.kernels.layout import DOF

Array = np.ndarray
THRESHOLD = 1e-4  # of a block's least singular value, relative to what it is made of, above which it may go early
UNCOUPLED = 1e-9  # what is left of a block's wrenches, relative to them, where it does not act on a link any more


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
                if gone[last]:
                    continue
                if last >= n and not self._settled(last):
                    if not self._regular(last):
                        continue
                    early.add(last)
                cost += graph.cost(last, graph.front(self.near[last]))
                stack += [y for y in self._eliminate(last) if y >= n]
                gone[last] = True
                found.append(last)

        while waiting:
            i = heapq.heappop(waiting)[1]
            for c in sorted(done.get(i, ()), key=lambda c: graph.front(self.near[c])):
                let_go(c)
            let_go(i)
            if limit is not None and cost >= limit:
                return None
            above = graph.parent[i]
            children[above] -= 1
            if above < n and not children[above]:
                heapq.heappush(waiting, (-graph.depth[above], above))
        for c in sorted(range(n, len(gone)), key=lambda c: graph.front(self.near[c])):
            let_go(c)
        return found, early

    def _settled(self, c: int) -> bool:
        """Whether nothing that is still there can change the pivot of a block: then it goes, whatever its rank.

        At the nearest common ancestor of its links that is so, unless a block that went early has coupled it to others.
        """
        if self.joints_left.get(c, 0):
            return False
        first = self.graph.blocks[c - self.graph.n].first
        size = np.abs(self.numbers.ca[first]).max() + np.abs(self.numbers.cb[first]).max()
        return all(np.abs(self.B[c, y]).max() <= UNCOUPLED * size for y in self.near[c] if y < self.graph.n)

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
