"""Closed loops at a configuration: how far they are open, their Jacobian, and the nearest state that is closed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leastaction.compiled import Compiled, compile_model
from leastaction.compiled_rows import must_point_alike
from leastaction.dynamics import increment, mass_matrix, poses, within_range
from leastaction.errors import AssemblyError, ModelError
from leastaction.kernels.constraints import queries
from leastaction.kernels.layout import LINK
from leastaction.model import Coupling, Model
from leastaction.model.arrays import rotation_matrix

Array = np.ndarray
RANK = 1e-8  # singular values, relative to the greatest, below which rows count as redundant
ROUND_OFF = 1e-14  # of the size of a model, below which no iteration can make a closure smaller
CLOSED = 1e-10  # of the size of a model: what a closure may be at most
ALIKE = 0.5  # cosine of directions that must agree: it is 1 if they do, 0 or −1 if a loop is closed the wrong way round
LONGEST = 0.5  # rad or m that a joint moves at most in one iteration
DAMPING = (0.0, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)  # of an iteration, relative to the greatest singular value
PROGRESS = 1e-6  # fraction of the closure, less than which no iteration may gain
ITERATIONS = 200
TINY = 1e-12  # of the mean diagonal entry, added to a mass matrix: massless joints follow the others


def closure(model: Model, q: ArrayLike | None = None) -> Array:
    """Tell how far each loop and coupling is from being closed.

    Parameters
    ----------
    q : (nq,) configuration, rad, m, unit quaternions; q0 if None

    Returns
    -------
    (number of loops,) norm of the rows of each of model.loops, m; angles count by the length of the loop
    """
    c = compile_model(model)
    q, _ = model.check_state(q, None)
    return np.array(list(by_loop(model, within_range(values(c, q), "a closure")).values()))


def constraint_jacobian(model: Model, q: ArrayLike | None = None) -> Array:
    """Jacobian A of all rows: A v is the rate at which loops open.

    Parameters
    ----------
    q : (nq,) configuration, rad, m, unit quaternions; q0 if None

    Returns
    -------
    (m, nv) loops in the order added, m per unit of every rate; angles count by the length of the loop
    """
    c = compile_model(model)
    q, _ = model.check_state(q, None)
    return within_range(jacobian(c, q), "the Jacobian")


def mobility(model: Model, q: ArrayLike | None = None) -> int:
    """Count the degrees of freedom that the loops leave at q (nq,): nv less the rank of their Jacobian."""
    return model.nv - rank(constraint_jacobian(model, q))


def rank(A: Array) -> int:
    """Count the independent rows of a Jacobian (m, nv)."""
    sizes = np.linalg.svd(A, compute_uv=False) if A.size else np.zeros(1)
    return int(np.count_nonzero(sizes > RANK * sizes[0]))


def assemble(
    model: Model, q: ArrayLike | None = None, v: ArrayLike | None = None, keep: str | Iterable[str] = ()
) -> tuple[Array, Array]:
    """Find a closed state near (q, v), as the masses weigh it.

    The configuration comes by Gauss–Newton steps, each the least in the metric of the mass matrix, the velocity by one
    projection, so that no loop opens: A v = 0.

    Parameters
    ----------
    q : (nq,) configuration, rad, m, unit quaternions; q0 if None
    v : (nv,) velocity, body axes for ball and free joints, rad/s, m/s; v0 if None
    keep : names of joints, or of the bodies they carry, that stay where they are and keep their velocities

    Returns
    -------
    q (nq,), v (nv,)

    Raises
    ------
    AssemblyError
        If the loops cannot be closed from there, with the worst loop and how far it stays open.
    """
    c = compile_model(model)
    q, v = model.check_state(q, v)
    if c.rows is None:
        return q, v
    free = np.ones(model.nv, dtype=bool)
    for name in [keep] if isinstance(keep, str) else keep:
        free[model.v_slice(name)] = False
    if not free.any():
        raise ValueError("keep= names every joint that moves: let at least one of them go")
    q = _closed(model, c, q, free)
    return q, _consistent(model, c, q, v, free)


def _closed(model: Model, c: Compiled, q: Array, free: Array) -> Array:
    """Close the loops by damped Gauss–Newton steps of the joints that are free (nv,)."""
    g = values(c, q)
    for _ in range(ITERATIONS):
        if float(np.abs(g).max()) <= ROUND_OFF * size(c):
            break
        steps = _least_motions(mass_matrix(model, q), jacobian(c, q), -g, free)
        for way in steps:  # the whole way, then ever shorter ones, towards the steepest descent
            tried = increment(model, q, way * min(1.0, LONGEST / max(float(np.abs(way).max()), 1e-300)))
            g_tried = values(c, tried)
            if float(np.linalg.norm(g_tried)) < (1.0 - PROGRESS) * float(np.linalg.norm(g)):
                break
        else:
            break
        q, g = tried, g_tried
    open_by = by_loop(model, g)
    worst = max(open_by, key=lambda name: open_by[name])
    held = "" if free.all() else ", with the joints that keep= names held"
    if not open_by[worst] <= CLOSED * size(c):
        raise AssemblyError(
            f"{model.name} cannot be assembled from there{held}: loop '{worst}' stays open by {open_by[worst]:.3g} m. "
            "Check its lengths and frames, or start nearer to a closed configuration", worst, open_by[worst])
    name = reversed_loop(model, q)
    if name is not None:
        raise AssemblyError(
            f"{model.name} cannot be assembled from there{held}: loop '{name}' would close with its two ends turned "
            "against each other. Start with less than 90° between them, or check its quaternions", name, open_by[name])
    return q


def _consistent(model: Model, c: Compiled, q: Array, v: Array, free: Array) -> Array:
    """Return the velocity (nv,) nearest to v at which no loop opens; only joints that are free change theirs."""
    A = jacobian(c, q)
    v = v + next(_least_motions(mass_matrix(model, q), A, -A @ v, free))
    rates = by_loop(model, A @ v)
    worst = max(rates, key=lambda name: rates[name])
    if not rates[worst] <= CLOSED * float(np.abs(A).max() * max(1.0, np.abs(v).max())):
        raise AssemblyError(
            f"no velocity of the other joints suits those that keep= names: loop '{worst}' opens by "
            f"{rates[worst]:.3g} m/s. Keep fewer joints", worst, rates[worst])
    return v


def _least_motions(M: Array, A: Array, b: Array, free: Array) -> Iterator[Array]:
    """Yield x (nv,) with A x = b as nearly as can be, the least by its kinetic energy, zero where not free.

    The first solves it; those that follow are damped the more (Levenberg–Marquardt).
    """
    M = M[np.ix_(free, free)] + TINY * np.trace(M) / len(M) * np.eye(int(free.sum()))
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        raise ModelError("the mass matrix is not positive: give every body mass, or its joint an armature") from None
    U, sizes, V = np.linalg.svd(np.linalg.solve(L, A[:, free].T).T, full_matrices=False)  # of A L⁻ᵀ
    kept = sizes > RANK * sizes[0]
    for damping in DAMPING:
        along = sizes[kept] / (sizes[kept] ** 2 + (damping * sizes[0]) ** 2) * (U.T @ b)[kept]
        x = np.zeros(len(free))
        x[free] = np.linalg.solve(L.T, V[kept].T @ along)
        yield x


def reversed_loop(model: Model, q: Array) -> str | None:
    """Name a closed loop whose ends are turned against each other: axes antiparallel, or a weld by 180°."""
    world = None
    for loop in model.loops:
        along = np.zeros((0, 3)) if isinstance(loop, Coupling) else must_point_alike(loop)
        if isinstance(loop, Coupling) or not len(along):
            continue
        world = poses(model, q) if world is None else world
        ends = [along @ rotation_matrix(loop.quaternion).T @ _axes(model, world, loop.body).T,
                along @ rotation_matrix(loop.other_quaternion).T @ _axes(model, world, loop.other).T]
        if float(np.sum(ends[0] * ends[1], axis=1).min()) < ALIKE:
            return loop.name
    return None


def _axes(model: Model, world: Array, name: str | None) -> Array:
    axes: Array = np.eye(3) if name is None else world[model.body_index(name), :3, :3]
    return axes


def by_loop(model: Model, g: Array) -> dict[str, float]:
    """Norms of the numbers of rows (m,), by the names of their loops."""
    if not model.loops:
        return {}
    starts = np.cumsum([0, *(loop.rows for loop in model.loops)])
    sizes = np.sqrt(np.add.reduceat(g * g, starts[:-1]))
    return {loop.name: size for loop, size in zip(model.loops, sizes.tolist(), strict=True)}


def size(c: Compiled) -> float:
    """Length, m, to whose round-off loops can be closed: the greatest of the model's own distances."""
    rows: Any = c.rows
    return float(np.abs(np.concatenate([c.constants[:, LINK.rows("base_position")].ravel(), rows.sa, rows.sb])).max()
                 ) or 1.0


def values(c: Compiled, q: Array) -> Array:
    """All rows g (m,) at a configuration, m."""
    return wrenches(c, q)[0]


def wrenches(c: Compiled, q: Array) -> tuple[Array, Array, Array]:
    """All rows g (m,), and their wrenches (m, 6) on links a and b about the origins of these, world axes."""
    if c.rows is None:
        return np.zeros(0), np.zeros((0, 6)), np.zeros((0, 6))
    m = len(c.rows.kind)
    g, on_a, on_b = np.zeros(m), np.zeros(6 * m), np.zeros(6 * m)
    w = c.lend("rows")
    queries.values(c.system.tree, w, c.rows, q, np.zeros(3 * c.tree.n + 3), g, on_a, on_b)
    c.take_back("rows", w)
    return g, on_a.reshape(-1, 6), on_b.reshape(-1, 6)


def jacobian(c: Compiled, q: Array) -> Array:
    """A (m, nv) at a configuration."""
    if c.rows is None:
        return np.zeros((0, c.nv))
    m = len(c.rows.kind)
    A, w = np.zeros((m, c.nv)), c.lend("rows")
    queries.jacobian(c.system.tree, w, c.rows, q, np.zeros(3 * c.tree.n + 3), np.zeros(m), np.zeros(6 * m),
                     np.zeros(6 * m), np.zeros(c.nv), A)
    c.take_back("rows", w)
    return A


def opening(c: Compiled, q: Array, v: Array) -> tuple[Array, Array]:
    """All rows g (m,), m, and the rates A v (m,), m/s, at a state, in linear time."""
    if c.rows is None:
        return np.zeros(0), np.zeros(0)
    m = len(c.rows.kind)
    g, rate, w = np.zeros(m), np.zeros(m), c.lend("rows")
    queries.rates(c.system.tree, w, c.rows, q, v, np.zeros(3 * c.tree.n + 3), g, np.zeros(6 * m), np.zeros(6 * m), rate)
    c.take_back("rows", w)
    return g, rate
