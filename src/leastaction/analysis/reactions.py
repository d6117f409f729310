"""What the loops of a run carry, and how well they stay closed, at the nodes that were kept."""

from typing import Any

import numpy as np

from leastaction.closures import opening, wrenches
from leastaction.compiled import Compiled, compile_model
from leastaction.dynamics import actuator_forces, link_wrenches, poses, vector, with_loops
from leastaction.model import Coupling, Loop, Model
from leastaction.model.arrays import rotation_matrix
from leastaction.trajectory import Control, Trajectory

Array = np.ndarray


def openings(run: Trajectory) -> tuple[Array, Array]:
    """Return the greatest row g (N,), m, and the greatest rate A v (N,), m/s, of every kept node."""
    c = compile_model(run.model)
    if c.rows is None:
        return np.zeros(len(run)), np.zeros(len(run))
    found = [opening(c, q, v) for q, v in zip(run.q, run.v, strict=True)]
    return np.array([abs(g).max() for g, _ in found]), np.array([abs(rate).max() for _, rate in found])


def row_forces(run: Trajectory) -> Array:
    """Return the forces (N, m) of all rows at the kept nodes, N, angles counting by the loop's length.

    They solve M a − Aᵀ f = τ − bias with A a = −Ȧ v, τ being the joint forces of the step that begins at the node. Rows
    that follow from others share what they carry; their sum Aᵀ f is unique.
    """
    c = compile_model(run.model)
    return np.array([with_loops(run.model, c, run.q[k], run.v[k], *forces_at(run, k), float(run.t[k])).f
                     for k in range(len(run))])


def forces_at(run: Trajectory, k: int) -> tuple[Array, Array]:
    """Return the joint forces (nv,) and the wrenches on links (n, 6) of the step that begins at kept node k.

    Actuators are included, at the command of that step, and so are limits and dry friction, by their means until the
    next kept node. At the end of the run the forces are those of its last step, or what the functions give there.
    """
    if run.origin is None:
        raise ValueError("what the loops carry depends on the forces of the run, which are not known. Functions cannot "
                         "be stored: la.open(path, control=..., wrench=..., command=...) takes them")
    control, wrench, command, control_every, _ = run.origin
    model, step = run.model, k * run.record_every
    tick = step - step % control_every
    tau = vector(model, _given(run, control, step, tick, 1), "control")
    if model.nu:
        tau = tau + actuator_forces(model, run.q[k], run.v[k], _given(run, command, step, tick, 1))
    if len(run) > 1:
        last = min(k, len(run) - 2)
        tau = tau + run.limit_force[last] + run.dry_friction[last]
    return tau, np.ascontiguousarray(link_wrenches(model, _given(run, wrench, step, step, 2)))


def _given(run: Trajectory, force: Control, step: int, tick: int, held: int) -> Any:
    """Return what was given for a step: by a function at its tick, or by an array, whose rows have so many axes."""
    if callable(force):
        node = run.at(tick * run.dt)
        return force(node.t, node.q, node.v)
    return force[min(step, len(force) - 1)] if force is not None and np.ndim(force) > held else force  # type: ignore


def reaction(run: Trajectory, name: str) -> Array:
    """Return what a loop does to its body: (N, 6); or what a coupling does to its two joints: (N, 2)."""
    model, c = run.model, compile_model(run.model)
    loop = next((loop for loop in model.loops if loop.name == name), None)
    if loop is None:
        known = ", ".join(f"'{loop.name}'" for loop in model.loops) or "none"
        raise ValueError(f"there is no loop '{name}' in {model.name}; its loops and couplings are {known}")
    rows = np.flatnonzero(c.rows.loop == model.loops.index(loop))  # type: ignore[union-attr]
    f = run._row_forces[:, rows]
    on = [[side[rows] for side in wrenches(c, q)[1:]] for q in run.q]
    if isinstance(loop, Coupling):
        return np.array([[f[k] @ side[:, 0] for side in on[k]] for k in range(len(run))])
    return np.array([_on_body(model, c, loop, run.q[k], f[k], on[k], int(rows[0])) for k in range(len(run))])


def _on_body(model: Model, c: Compiled, loop: Loop, q: Array, f: Array, on: list[Array], row: int) -> Array:
    """Return the wrench (6,) of a loop on its body about its marker, world axes."""
    rows: Any = c.rows
    b = model.body_index(loop.body)
    which = 0 if rows.a[row] == c.link_of_body[b] else 1
    moment, force = np.split(f @ on[which], 2)
    body = poses(model, q)[b, :3, :3]
    if which == 1:  # the body is fixed to the ground, about whose origin the wrench is
        marker = poses(model, q)[b, :3, 3] + body @ loop.position
    else:
        link = body @ rotation_matrix(c.body_quaternion[b]).T
        marker = link @ rows.sa[3 * row : 3 * row + 3]
    return np.concatenate([moment - np.cross(marker, force), force])
