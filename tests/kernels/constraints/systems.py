"""Random rows on random trees, the plan of their elimination, and the dense matrices to compare with."""

import numpy as np

import leastaction as la
from leastaction.compiled import compile_model
from leastaction.constraint_plan import Graph, Numbers, lay_out, order_by_ancestors, order_early
from leastaction.kernels.constraints import queries
from leastaction.kernels.constraints.rows import COUPLE, Rows, room_for
from leastaction.kernels.layout import SCREW
from leastaction.kernels.machine.memory import python_link


def roots(tree):
    """Root link of the tree that each link is in, and of the ground."""
    root = np.arange(tree.n + 1)
    for i, above in enumerate(tree.parent):
        root[i] = i if above == tree.n else root[above]
    return root


def table(tree, blocks):
    """Rows of several blocks, each a list of (kind, a, b, columns)."""
    rows = [(*row, loop) for loop, block in enumerate(blocks) for row in block]
    m = len(rows)
    columns = {name: np.zeros((m, size)) for name, size in
               (("sa", 3), ("sb", 3), ("ea", 3), ("eb", 3), ("length", 1), ("coefficients", 5), ("reference", 2))}
    for r, row in enumerate(rows):
        for name, value in row[3].items():
            columns[name][r, : np.size(value)] = value
    whole = [np.array([row[k] for row in rows], dtype=np.int64) for k in (0, 1, 2, 4)]
    flat = {name: column.reshape(-1) for name, column in columns.items()}
    return Rows(*whole[:3], **flat, scale=np.ones(m), loop=whole[3], root=roots(tree))


def unit(rng):
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


def random_block(rng, tree):
    """A coupling, or up to six rows between two links."""
    n, screws = tree.n, np.flatnonzero(tree.kind == SCREW)
    if len(screws) and rng.random() < 0.3:
        a = int(rng.choice(screws))
        b = int(rng.choice(np.append(screws[screws != a], n)))
        return [(COUPLE, a, b, {"coefficients": rng.normal(size=1 if b == n else 4), "reference": rng.normal(size=2)})]
    a, b = rng.choice(n + 1, size=2, replace=False).tolist()
    a, b = (b, a) if a == n else (a, b)
    sa, sb = rng.normal(size=(2, 3))
    return [(int(rng.integers(3)), a, b, {"sa": sa, "sb": sb, "ea": unit(rng), "eb": unit(rng), "length": 1.0})
            for _ in range(rng.integers(1, 7))]


class System:
    """A model with hand-made rows."""

    def __init__(self, model, rows):
        self.model, self.rows = model, rows
        self.c = compile_model(model)
        self.m = len(rows.kind)
        self.graph = Graph(self.c.tree, rows)

    def values(self, q):
        """(g, wrenches on a, on b, A) at q, and the memory."""
        w, m = self.c.workspace(), self.m
        found, A = room_for(self.c.tree, self.rows), np.zeros((m, self.c.nv))
        queries.jacobian(self.c.system.tree, w, self.rows, q, found, A)
        return found.g, found.Ca.reshape(m, 6), found.Cb.reshape(m, 6), A, w

    def numbers(self, q):
        _, ca, cb, _, w = self.values(q)
        links = [python_link(w, i) for i in range(self.c.tree.n)]
        return Numbers(np.array([inertia(L) for L in links]), np.array([L.axis for L in links]).reshape(-1, 6),
                       np.array([L.arm for L in links]), np.array([L.armature for L in links]), ca, cb)

    def plan(self, q, early, lockable=()):
        """The list of operations in one of the two orders; ``lockable``: joints that may be locked."""
        if not early:
            return lay_out(self.graph, order_by_ancestors(self.graph), set())
        return lay_out(self.graph, *order_early(self.graph, self.numbers(q)._replace(locked=frozenset(lockable))))


def inertia(L):
    """The 6 × 6 inertia of a link about its origin, world axes."""
    xx, yy, zz, xy, xz, yz = L.inertia_world
    x, y, z = L.centre
    c = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    G = np.zeros((6, 6))
    G[:3, :3] = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - L.mass * c @ c
    G[:3, 3:], G[3:, :3], G[3:, 3:] = L.mass * c, -L.mass * c, L.mass * np.eye(3)
    return G


def dense(K, A0, A1, b, d):
    """Solution of K x − A0ᵀ λ = b, A1 x = −d."""
    n, m = len(K), len(A0)
    found = np.linalg.solve(np.block([[K, -A0.T], [A1, np.zeros((m, m))]]), np.concatenate([b, -d]))
    return found[:n], found[n:]


def random_system(rng, model, q):
    """Random rows that are independent at a configuration."""
    tree, M = compile_model(model).tree, la.mass_matrix(model, q)
    for _ in range(200):
        blocks = [random_block(rng, tree) for _ in range(rng.integers(1, 5))]
        system = System(model, table(tree, blocks))
        if system.m > model.nv:
            continue
        A = system.values(q)[3]
        if np.linalg.cond(A @ np.linalg.solve(M, A.T)) < 1e4:
            return system
    return None
