"""States that are closed: the one near a given state, and the one that a simulation starts from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from leastaction.closures import RANK, by_loop, gaps, jacobian, opening, reversed_loop, size, values
from leastaction.compiled import Compiled, compile_model
from leastaction.dynamics import increment, mass_matrix
from leastaction.errors import AssemblyError, ModelError
from leastaction.kernels.constraints.solve import solve_mass
from leastaction.model import Loop, Model, Rod

Array = np.ndarray
ROUND_OFF = 1e-14  # of the size of a model, below which no iteration can make a closure smaller
CLOSED = 1e-10  # of the size of a model: what a closure may be at most
NEARLY = 1e-8  # of the size or the speed of a model: what is put right at the start without a word
LONGEST = 0.5  # rad or m that a joint moves at most in one iteration
DAMPING = (0.0, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)  # of an iteration, relative to the greatest singular value
PROGRESS = 1e-6  # fraction of the closure, less than which no iteration may gain
ITERATIONS = 200
DENSE = 3000  # degrees of freedom, beyond which no dense matrix is made
TINY = 1e-12  # of the mean diagonal entry, added to a mass matrix: massless joints follow the others


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
    names = [keep] if isinstance(keep, str) else list(keep) if isinstance(keep, Iterable) else None
    if names is None or not all(isinstance(name, str) for name in names):
        raise ValueError(f"keep must be names of joints, such as keep='crank', not {keep!r}")
    for name in names:
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
        for way in _ways(model, c, q, -g, free):
            tried = increment(model, q, way * min(1.0, LONGEST / max(float(np.abs(way).max()), 1e-300)))
            g_tried = values(c, tried)
            if float(np.linalg.norm(g_tried)) < (1.0 - PROGRESS) * float(np.linalg.norm(g)):
                break
        else:
            break
        q, g = tried, g_tried
    worst, distance = _worst(gaps(model, g))
    held = "" if free.all() else ", with the joints that keep= names held"
    if not distance <= CLOSED * size(c):
        way_out = "Check its lengths and frames, or start nearer to a closed configuration"
        loop = next(one for one in model.loops if one.name == worst)
        if isinstance(loop, Loop) and isinstance(loop.joint, Rod) and distance >= (1.0 - CLOSED) * loop.joint.length:
            way_out = "A rod whose ends coincide has no direction: start with its ends apart"
        raise AssemblyError(f"{model.name} cannot be assembled from there{held}: loop '{worst}' stays open by "
                            f"{distance:.3g} m. {way_out}", worst, distance)
    name = reversed_loop(model, q)
    if name is not None:
        raise AssemblyError(
            f"{model.name} cannot be assembled from there{held}: loop '{name}' would close with its two ends turned "
            "against each other. Start with less than 90° between them, or check its quaternions", name, distance)
    return q


def _consistent(model: Model, c: Compiled, q: Array, v: Array, free: Array) -> Array:
    """Return the velocity (nv,) nearest to v at which no loop opens; only joints that are free change theirs."""
    worst, rate = "", np.inf
    for _ in range(2):  # the second projection takes away what round-off left of the first
        for way in _ways(model, c, q, -opening(c, q, v)[1], free):
            nearest = v + way
            worst, rate = _worst(by_loop(model, opening(c, q, nearest)[1]))
            if rate <= CLOSED * size(c) * max(1.0, float(np.abs(nearest).max())):
                break
        else:
            raise AssemblyError(f"no velocity of the other joints suits those that keep= names: loop '{worst}' opens "
                                f"by {rate:.3g} m/s. Keep fewer joints", worst, rate)
        v = nearest
    return v


def _worst(found: dict[str, float]) -> tuple[str, float]:
    """Return the loop that is furthest from closed, or opens fastest, and by how much."""
    worst = max(found, key=lambda name: found[name])
    return worst, found[worst]


def _ways(model: Model, c: Compiled, q: Array, b: Array, free: Array) -> Iterator[Array]:
    """Yield motions x (nv,) with A x = b as nearly as can be, the least by their kinetic energy, zero where not free.

    The first ones solve it, by a sweep in linear time if all joints are free. Those that follow are damped the more
    (Levenberg–Marquardt), down to short ways of the steepest descent.
    """
    if free.all():
        yield _by_a_sweep(c, q, b)
    if model.nv <= DENSE:
        yield from _by_matrices(mass_matrix(model, q), jacobian(c, q), b, free)


def _by_a_sweep(c: Compiled, q: Array, b: Array) -> Array:
    """Solve M x − Aᵀ λ = 0, A x = b; zeros where that fails."""
    x, w = np.zeros(c.nv), c.lend("solve")
    _, lost = solve_mass(c.system.tree, w, q, c.closed(), x, -b[c.acting])
    c.take_back("solve", w)
    return x if not lost and np.isfinite(x).all() else np.zeros(c.nv)


def _by_matrices(M: Array, A: Array, b: Array, free: Array) -> Iterator[Array]:
    """Do as `_ways` with dense matrices."""
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


def started(model: Model, c: Compiled, q: Array, v: Array) -> tuple[Array, Array]:
    """Return the state (nq,), (nv,) that a simulation starts from: closed, and such that no loop opens.

    What is off by less than 1e-8 of the model's size, or of its speed, is put right; more is a ValueError.
    """
    if c.rows is None:
        return q, v
    (g, rate), length = opening(c, q, v), size(c)
    speed = length * float(np.abs(v).max())
    for found, limit, unit, what in ((gaps(model, g), NEARLY * length, "m", "is open"),
                                     (by_loop(model, rate), NEARLY * speed, "m/s", "opens")):
        worst, most = _worst(found)
        if not most <= limit:
            raise ValueError(f"loop '{worst}' of {model.name} {what} by {most:.3g} {unit} at the start: q, v = "
                             "la.assemble(model, q, v), or --assemble of the command, gives a closed state near it")
    name = reversed_loop(model, q)
    if name is not None:
        raise ValueError(f"loop '{name}' of {model.name} is closed with its two ends turned against each other at the "
                         "start: start with less than 90° between them, or check its quaternions")
    free = np.ones(c.nv, dtype=bool)
    if float(np.abs(g).max()) > ROUND_OFF * length:
        q = _closed(model, c, q, free)
    elif float(np.abs(rate).max()) <= ROUND_OFF * speed:
        return q, v
    return q, _consistent(model, c, q, v, free)
