"""Dynamics of a model in continuous time, one question at a time.

Configurations q (nq,) and velocities v (nv,) are laid out by bodies in the order added. A ball joint is a quaternion
(w, x, y, z) and a body angular velocity; a free joint is position then quaternion, and a body twist (ω, v).

The file is long for its docstrings: the questions share how arguments are read and answers are checked.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from leastaction.arguments import all_finite, copied_row, finite, real_array, shown
from leastaction.compiled import Compiled, compile_model
from leastaction.errors import ModelError
from leastaction.kernels import queries
from leastaction.kernels.constraints import dynamics as constrained
from leastaction.model import Field, Model, merge_fixed
from leastaction.model.arrays import rotation_matrix

Array = np.ndarray


def vector(model: Model, value: ArrayLike | None, name: str) -> Array:
    """Copy a vector (nv,) in the layout of v, zeros for None, or raise a ValueError that says what is wrong."""
    nv = model.layout.nv
    if value is None:
        return np.zeros(nv)
    row = copied_row(value, nv)
    if row is not None:
        return row
    array = real_array(value, name)
    if array.shape != (nv,):
        raise ValueError(f"{name} must have shape ({nv},), not {array.shape}")
    if not all_finite(array):
        raise ValueError(f"{name} has entries that are not finite: {np.flatnonzero(~np.isfinite(array)).tolist()}")
    return array


def link_wrenches(model: Model, wrench: ArrayLike | None) -> Array:
    """Turn wrenches on bodies (..., nb, 6), each in the body's own frame, into wrenches on links (..., n, 6)."""
    c = compile_model(model)
    n = c.tree.n
    if wrench is None:
        return np.zeros((n, 6))
    given = real_array(wrench, "wrench")
    if given.shape[-2:] != (model.nb, 6):
        raise ValueError(f"wrench must have shape (..., {model.nb}, 6), not {given.shape}")
    if not np.isfinite(given).all():
        bodies = sorted({model.names[b] for b in np.argwhere(~np.isfinite(given))[:, -2]})
        raise ValueError(f"wrench is not finite at body '{bodies[0]}'")
    R = rotation_matrix(c.body_quaternion)
    moment, force = (np.einsum("bij,...bj->...bi", R, part) for part in (given[..., :3], given[..., 3:]))
    moment = moment + np.cross(c.body_position, force)
    links = np.zeros((*given.shape[:-2], n + 1, 6))
    np.add.at(np.moveaxis(links, -2, 0), c.link_of_body, np.moveaxis(np.concatenate([moment, force], axis=-1), -2, 0))
    return links[..., :n, :]


def require_regular(model: Model, c: Compiled, singular: int) -> None:
    """Raise the ModelError of a joint whose articulated inertia is not positive."""
    if singular >= 0:
        name = model.names[c.body_of_link[singular]]
        raise ModelError(
            f"the joint of body '{name}' has nothing to move: its articulated inertia is not positive. "
            "Give the body (or one it carries) mass away from the joint's axis, or the joint an armature"
        )


def within_range(found: Array, what: str, forced: tuple[Model, Array] | None = None) -> Array:
    """Return what was found, or raise a ValueError if a number in it is beyond the range of floating-point numbers.

    Parameters
    ----------
    forced : the model and q, if forces between bodies are part of it
    """
    if not all_finite(found):
        why = (at_centre(*forced) if forced else "") or "give smaller ones"
        raise ValueError(f"{what} of this state is beyond the range of numbers: {why}")
    return found


def at_centre(model: Model, q: Array) -> str:
    """Name a field and what is at its centre at q (nq,), where it is infinite; empty if there is no such field."""
    fields = [(name, force) for name, force in model.forces.items() if isinstance(force, Field)]
    if not fields:
        return ""
    merged, placed = merge_fixed(model), poses(model, q)
    for name, force in fields:
        ends: list[tuple[str, int, Array]] = [
            (f"the centre of mass of '{model.names[b]}'", int(b), merged.centre[b]) for b in np.flatnonzero(merged.mass)
            if force.mu]
        if force.body is not None and any(force.dipole):
            ends.append((f"the magnet of '{force.body}'", model.body_index(force.body), np.array(force.point)))
        for what, b, x in ends:
            if np.array_equal(placed[b, :3, :3] @ x + placed[b, :3, 3], force.center):
                return (f"force '{name}' (field) is infinite at its center, and {what} is there: let it start "
                        "elsewhere, or give another center=")
    return ""


def poses(model: Model, q: ArrayLike | None = None) -> Array:
    """World poses of all bodies.

    Parameters
    ----------
    q : (nq,) configuration, rad, m, unit quaternions; q0 if None

    Returns
    -------
    (nb, 4, 4) homogeneous matrices, body frame to world, m
    """
    c = compile_model(model)
    q = model.layout.check_q(model.q0 if q is None else q)
    result = np.zeros((model.nb, 4, 4))
    w = c.lend("poses")
    given = c.system.tree, w, q, c.link_of_body, c.body_position, c.body_quaternion, result
    c.bound(queries.body_poses, *given)(*given)
    c.take_back("poses", w)
    return within_range(result, "a pose")


def jacobian(model: Model, q: ArrayLike | None, body: str) -> Array:
    """Body Jacobian: the twist of a body per unit of every rate.

    Parameters
    ----------
    q : (nq,) configuration, rad, m, unit quaternions; q0 if None
    body : name of the body

    Returns
    -------
    (6, nv) such that J v is the body's twist (ω, v) in its own axes, at its origin, rad/s and m/s
    """
    c = compile_model(model)
    q = model.layout.check_q(model.q0 if q is None else q)
    b = model.body_index(body)
    columns = np.zeros((model.nv, 6))
    link, point = int(c.link_of_body[b]), tuple(c.body_position[b].tolist())
    queries.link_jacobian(c.system.tree, c.workspace(), q, link, point, columns)
    R = poses(model, q)[b, :3, :3]
    return within_range(np.concatenate([R.T @ columns[:, :3].T, R.T @ columns[:, 3:].T]), "the Jacobian")


def mass_matrix(model: Model, q: ArrayLike | None = None) -> Array:
    """Mass matrix M(q), armature included.

    Parameters
    ----------
    q : (nq,) configuration, rad, m, unit quaternions; q0 if None

    Returns
    -------
    (nv, nv) symmetric, kg m², kg m, kg
    """
    c = compile_model(model)
    q = model.layout.check_q(model.q0 if q is None else q)
    M = np.zeros((model.nv, model.nv))
    queries.mass_matrix(c.system.tree, c.workspace(), q, np.zeros(model.nv), M)
    return within_range(M, "the mass matrix")


def inverse_dynamics(
    model: Model, q: ArrayLike | None, v: ArrayLike | None, a: ArrayLike | None, t: float = 0.0
) -> Array:
    """Joint forces that give the accelerations a, against gravity, springs, damping and forces between bodies.

    In a model with loops these are of many the forces with which no loop carries a load.

    Parameters
    ----------
    q : (nq,) configuration, rad, m, unit quaternions; q0 if None
    v : (nv,) velocity, body axes for ball and free joints, rad/s, m/s; v0 if None
    a : (nv,) rate of v, rad/s², m/s²; zeros if None
    t : time, s, for thrusters

    Returns
    -------
    (nv,) joint forces, N m and N
    """
    c = compile_model(model)
    q, v = model.check_state(q, v)
    tau = np.zeros(model.nv)
    w = c.lend("inverse_dynamics")
    given = c.system, w, q, v, vector(model, a, "a"), _time(t), tau
    c.bound(queries.inverse_dynamics, *given)(*given)
    c.take_back("inverse_dynamics", w)
    return within_range(tau, "a joint force", (model, q))


def forward_dynamics(
    model: Model,
    q: ArrayLike | None,
    v: ArrayLike | None,
    tau: ArrayLike | None = None,
    wrench: ArrayLike | None = None,
    t: float = 0.0,
) -> Array:
    """Accelerations under joint forces, gravity, springs, damping, forces between bodies, wrenches, and loops.

    Parameters
    ----------
    q : (nq,) configuration, rad, m, unit quaternions; q0 if None
    v : (nv,) velocity, body axes for ball and free joints, rad/s, m/s; v0 if None
    tau : (nv,) joint forces, N m and N; zeros if None; those of actuators are given by `actuator_forces`
    wrench : (nb, 6) external wrenches (moment, force) in each body's frame about its origin, N m and N; none if None
    t : time, s, for thrusters

    Returns
    -------
    (nv,) rate of v, rad/s² and m/s²
    """
    c = compile_model(model)
    q, v = model.check_state(q, v)
    a = np.zeros(c.nv)
    links = c.no_wrench if wrench is None else link_wrenches(model, wrench)
    if links.ndim != 2:
        raise ValueError(f"wrench must have shape ({model.nb}, 6), not {(*links.shape[:-2], model.nb, 6)}")
    if c.rows is not None:
        return within_range(with_loops(model, c, q, v, vector(model, tau, "tau"), links, _time(t)).a,
                            "an acceleration", (model, q))
    w = c.lend("forward_dynamics")
    given = c.system, w, q, v, vector(model, tau, "tau"), links, _time(t), a
    singular = c.bound(queries.forward_dynamics, *given)(*given)
    c.take_back("forward_dynamics", w)
    require_regular(model, c, singular)
    return within_range(a, "an acceleration", (model, q))


class WithLoops(NamedTuple):
    """Accelerations a (nv,) on the manifold, multipliers f (m,) of the rows, N, and how many rows are redundant."""

    a: Array
    f: Array
    redundant: int


def with_loops(model: Model, c: Compiled, q: Array, v: Array, tau: Array, links: Array, t: float) -> WithLoops:
    """Solve M a − Aᵀ f = τ − bias, A a = −Ȧ v, of a model with loops, in linear time.

    Parameters
    ----------
    q, v, tau : (nq,), (nv,), (nv,) state and joint forces
    links : (n, 6) wrenches on links
    t : time of the forces between bodies, s
    """
    a, f, w = np.zeros(c.nv), np.zeros(len(c.acting)), c.lend("with_loops")
    # Copied, as rows of a file are read-only, which is another kind for Numba
    loaded = constrained.Loaded(q.copy(), v.copy(), tau, links, t)
    singular, redundant, failed = constrained.forward_dynamics(c.system, w, loaded, c.closed(), a, f)
    if failed:  # in the order of the model, made at other configurations: take one that serves here
        closed = c.plan_at(q).closed(c.acting_rows)
        singular, redundant, failed = constrained.forward_dynamics(c.system, w, loaded, closed, a, f)
    c.take_back("with_loops", w)
    require_regular(model, c, singular)
    if failed:
        raise ModelError(f"the loops of {model.name} are in a configuration in which their rows cannot be eliminated "
                         "in the order that was chosen: move it a little")
    return WithLoops(a, c.of_all_rows(f), redundant + c.idle)


def actuator_forces(
    model: Model, q: ArrayLike | None, v: ArrayLike | None, command: ArrayLike | None = None
) -> Array:
    """Joint forces of all actuators at a state, within their efforts, as methods on continuous dynamics have them.

    Parameters
    ----------
    q : (nq,) configuration, rad, m, unit quaternions; q0 if None
    v : (nv,) velocity, body axes for ball and free joints, rad/s, m/s; v0 if None
    command : (nu,) of the actuators; model.command0 if None

    Returns
    -------
    (nv,) joint forces, N m and N, to add to other ``tau`` of `forward_dynamics`
    """
    q, v = model.check_state(q, v)
    given = model.command0 if command is None else real_array(command, "command")
    if given.shape != (model.nu,) or not all_finite(given):
        raise ValueError(f"command must be {model.nu} finite numbers, not {shown(given)}")
    return model.drives.forces(q, v, given)


def _energy_momentum(model: Model, q: ArrayLike | None, v: ArrayLike | None) -> tuple[Any, ...]:
    c = compile_model(model)
    q, v = model.check_state(q, v)
    w = c.lend("energy_momentum")
    kinetic, gravitational, springs, angular, linear = c.bound(
        queries.energy_momentum, c.system, w, q, v)(c.system, w, q, v)
    c.take_back("energy_momentum", w)
    within_range(np.array([kinetic + gravitational + springs, *angular, *linear]), "the energy or the momentum",
                 (model, q))
    return c.ground_energy, kinetic, gravitational, springs, angular, linear


def energy(model: Model, q: ArrayLike | None = None, v: ArrayLike | None = None) -> float:
    """Total energy: kinetic, gravitational (zero at the world's origin) and of the springs.

    Parameters
    ----------
    q : (nq,) configuration, rad, m, unit quaternions; q0 if None
    v : (nv,) velocity, body axes for ball and free joints, rad/s, m/s; v0 if None

    Returns
    -------
    energy, J
    """
    return float(sum(_energy_momentum(model, q, v)[:4]))


def kinetic_energy(model: Model, q: ArrayLike | None = None, v: ArrayLike | None = None) -> float:
    """Kinetic energy ½ vᵀ M v, J, of the state (q (nq,), v (nv,)); armature included."""
    return float(_energy_momentum(model, q, v)[1])


def potential_energy(model: Model, q: ArrayLike | None = None) -> float:
    """Energy of gravity (zero at the world's origin) and springs, J, of the configuration q (nq,)."""
    ground, _, gravitational, springs, _, _ = _energy_momentum(model, q, None)
    return float(ground + gravitational + springs)


def momentum(model: Model, q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
    """Total spatial momentum about the world's origin.

    Parameters
    ----------
    q : (nq,) configuration, rad, m, unit quaternions; q0 if None
    v : (nv,) velocity, body axes for ball and free joints, rad/s, m/s; v0 if None

    Returns
    -------
    (6,) angular then linear momentum, world axes, kg m²/s and kg m/s
    """
    *_, angular, linear = _energy_momentum(model, q, v)
    return np.array(angular + linear)


def increment(model: Model, q: ArrayLike, epsilon: ArrayLike) -> Array:
    """Move a configuration on its manifold.

    Parameters
    ----------
    q : (nq,) configuration, rad, m, unit quaternions
    epsilon : (nv,) increment, rotation vectors and twists in body axes, rad and m

    Returns
    -------
    (nq,) q ⊕ ε: one-DoF joints add, ball and free joints multiply by exp(ε)
    """
    c = compile_model(model)
    q = model.layout.check_q(model.q0 if q is None else q)
    queries.moved(c.system.tree, q, vector(model, epsilon, "epsilon"))
    return within_range(q, "the increment")


def _time(t: float) -> float:
    number = finite(t)
    if number is None:
        raise ValueError(f"t must be a number of seconds, not {shown(t)}")
    return number
