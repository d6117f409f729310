"""The rows of loops at a configuration: how far they are open, how fast they open, their Jacobian, its rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leastaction.compiled import Compiled, compile_model
from leastaction.compiled_rows import must_point_alike
from leastaction.dynamics import poses, within_range
from leastaction.errors import ModelError
from leastaction.kernels.constraints import queries
from leastaction.kernels.constraints.rows import room_for
from leastaction.kernels.layout import LINK
from leastaction.model import Coupling, Loop, Model, Rod
from leastaction.model.arrays import rotation_matrix

Array = np.ndarray
RANK = 1e-8  # singular values, relative to the greatest, below which rows count as redundant
COUNTED = 250_000  # entries of a Jacobian, beyond which a text about a model does not wait for its singular values
OPEN = 1e-8  # of the size of a model, beyond which a loop is not closed
ALIKE = 0.5  # cosine of directions that must agree: it is 1 if they do, 0 or −1 if a loop is closed the wrong way round


def closure(model: Model, q: ArrayLike | None = None) -> Array:
    """Tell how far each loop and coupling is from being closed.

    Parameters
    ----------
    q : (nq,) configuration, rad, m, unit quaternions; q0 if None

    Returns
    -------
    (number of loops,) of each of model.loops, m: the norm of its rows, where angles count by the length of the loop; of
    a rod what its ends are too near or too far apart
    """
    c = compile_model(model)
    q, _ = model.check_state(q, None)
    return np.array(list(gaps(model, within_range(values(c, q), "a closure")).values()))


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


def elimination(model: Model) -> str | None:
    """Say how wide fronts are in eliminating rows, and how many rows are redundant; None for a model with faults."""
    try:
        c = compile_model(model)
    except ModelError:
        return None
    told = f"rows are eliminated in fronts of up to {c.plan.width} numbers"
    m = len(c.rows.kind)  # type: ignore[union-attr]
    if m * model.nv > COUNTED:
        return told
    redundant = m - rank(jacobian(c, model.q0))
    if not redundant:
        return told
    worst, gap = max(gaps(model, values(c, model.q0)).items(), key=lambda one: one[1])
    where = f", where '{worst}' is open by {gap:.3g} m" if gap > OPEN * size(c) else ""
    return f"{told}; {redundant} of {m} {'is' if redundant == 1 else 'are'} redundant at q0{where}"


def values(c: Compiled, q: Array) -> Array:
    """All rows g (m,) at a configuration, m."""
    return wrenches(c, q)[0]


def wrenches(c: Compiled, q: Array) -> tuple[Array, Array, Array]:
    """All rows g (m,), and their wrenches (m, 6) on links a and b about the origins of these, world axes."""
    if c.rows is None:
        return np.zeros(0), np.zeros((0, 6)), np.zeros((0, 6))
    found, w = room_for(c.tree, c.rows), c.lend("rows")
    queries.values(c.system.tree, w, c.rows, q.copy(), found)  # rows of a file are read-only: another kind for Numba
    c.take_back("rows", w)
    return found.g, found.Ca.reshape(-1, 6), found.Cb.reshape(-1, 6)


def jacobian(c: Compiled, q: Array) -> Array:
    """A (m, nv) at a configuration."""
    if c.rows is None:
        return np.zeros((0, c.nv))
    A, w = np.zeros((len(c.rows.kind), c.nv)), c.lend("rows")
    queries.jacobian(c.system.tree, w, c.rows, q.copy(), room_for(c.tree, c.rows), A)
    c.take_back("rows", w)
    return A


def opening(c: Compiled, q: Array, v: Array) -> tuple[Array, Array]:
    """All rows g (m,), m, and the rates A v (m,), m/s, at a state, in linear time."""
    if c.rows is None:
        return np.zeros(0), np.zeros(0)
    found, w = room_for(c.tree, c.rows), c.lend("rows")
    queries.rates(c.system.tree, w, c.rows, q.copy(), v.copy(), found)
    c.take_back("rows", w)
    return found.g, found.rate


def by_loop(model: Model, g: Array) -> dict[str, float]:
    """Norms of the numbers of rows (m,), by the names of their loops."""
    if not model.loops:
        return {}
    starts = np.cumsum([0, *(loop.rows for loop in model.loops)])
    sizes = np.sqrt(np.add.reduceat(g * g, starts[:-1]))
    return {loop.name: size for loop, size in zip(model.loops, sizes.tolist(), strict=True)}


def gaps(model: Model, g: Array) -> dict[str, float]:
    """How far each loop is open, m, by its name: the row of a rod, (d² − l²)/2l, becomes its distance, |d − l|."""
    found = by_loop(model, g)
    starts = np.cumsum([0, *(loop.rows for loop in model.loops)]).tolist()
    for loop, row in zip(model.loops, starts, strict=False):
        if isinstance(loop, Loop) and isinstance(loop.joint, Rod):
            length = loop.joint.length
            found[loop.name] = float(abs(2.0 * g[row] / (np.sqrt(max(1.0 + 2.0 * g[row] / length, 0.0)) + 1.0)))
    return found


def size(c: Compiled) -> float:
    """Length, m, to whose round-off loops can be closed: the greatest of the model's own distances."""
    rows: Any = c.rows
    return float(np.abs(np.concatenate([c.constants[:, LINK.rows("base_position")].ravel(), rows.sa, rows.sb])).max()
                 ) or 1.0


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
