"""Many runs of one model at once: four side by side in the lanes of SIMD, and groups of four on several threads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leastaction.arguments import real_array, whole
from leastaction.compiled import compile_model
from leastaction.errors import ModelError
from leastaction.integrators import Status, as_integrator, point_to_integrator
from leastaction.kernels.record import Record
from leastaction.model import Model
from leastaction.model.unhonoured import tell
from leastaction.simulation.group import Member, naming, rows_of, suits
from leastaction.simulation.judgement import warn_of_many
from leastaction.simulation.members import run_members
from leastaction.simulation.progress import Progress
from leastaction.simulation.run import NODE, tell_end
from leastaction.simulation.single import prepare
from leastaction.trajectories import Trajectories
from leastaction.trajectory import Control, Trajectory
from leastaction.variants import GRAVITY, variants

Array = np.ndarray


@point_to_integrator
def simulate_many(
    model: Model,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    control: Control | Sequence[Control] = None,
    command: Control | Sequence[Control] = None,
    gravity: ArrayLike | None = None,
    mass: ArrayLike | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Trajectories:
    """Simulate B copies of a model that differ in their start, their control or their parameters.

    A member that fails does not stop the others: its trajectory ends early and has the StepError as its ``failure``,
    and its rows of the stacked arrays repeat its last kept node from there on.
    The bits of a result do not depend on the other members, on their number and order, or on the threads. They agree
    with those of `simulate` for the member alone up to round-off, 1e-13 after a step, because sums are made in another
    order. Members with a function for control or wrench, or with another root finder than `Newton` or the guess
    "dynamics", run one by one: their bits are those of `simulate`.

    Parameters
    ----------
    model : the system
    q : (B, nq) initial configurations, rad, m, unit quaternions; or (nq,) for all; model.q0 if None
    v : (B, nv) initial velocities, body axes for ball and free joints, rad/s, m/s; or (nv,) for all; model.v0 if None
    control, command : as for `simulate`, the same for all; or a list of B such
    gravity : (B, 3) acceleration of free fall of each member, world frame, m/s²; the model's if None
    mass : (B, nb) masses of the bodies of each member, kg; inertias grow in proportion. The model's if None
    threads : how many to use; None for as many as there are processors
    progress : whether to show a bar, of members; None shows it for runs of more than about two seconds at a terminal
    options : anything else that `simulate` takes: dt, duration or steps, integrator, wrench, control_every,
        record_every, ignore

    Returns
    -------
    Trajectories
        Stacked arrays ``q`` (B, N, nq), ``energy`` (B, N) and so on of the N kept nodes, ``steps`` (B,), and a sequence
        of B `Trajectory`, which are views of them.

    Raises
    ------
    ValueError
        When sizes do not agree, naming the argument; when what a member is given is wrong, naming the member.
    """
    sizes = {
        name: len(np.asarray(value))
        for name, value, axes in (("q", q, 2), ("v", v, 2), ("gravity", gravity, 2), ("mass", mass, 2))
        if value is not None and np.ndim(value) == axes
    }
    for name, given in (("control", control), ("command", command)):
        if isinstance(given, list | tuple):
            sizes[name] = len(given)
    if not sizes:
        raise ValueError("give at least one of q (B, nq), v (B, nv), gravity (B, 3), mass (B, nb), a list of controls "
                         "or of commands")
    if len(set(sizes.values())) > 1:
        hint = "; a list has an entry for each member, an array is the same for all" if sizes.keys() & {
            "control", "command"} else ""
        raise ValueError("simulate_many: the numbers of members differ: "
                         + ", ".join(f"{k} has {n}" for k, n in sizes.items()) + hint)
    if "on_failure" in options:
        raise ValueError("simulate_many always keeps what was made before a failure: on_failure cannot be given")
    if options.get("out") is not None:
        raise ValueError("simulate_many keeps its runs in memory: give out to simulate, one run a file")
    if threads is not None:
        threads = whole("threads", threads, 1)
    count = next(iter(sizes.values()))
    q, v = (real_array(x, name) if name in sizes else x for name, x in (("q", q), ("v", v)))
    tell(model, options.get("ignore", ()))
    model = model.without(options.get("ignore", ()))
    models = _variants(model, gravity, mass, count)
    controls, commands = (given if isinstance(given, list | tuple) else [given] * count for given in (control, command))
    members = []
    for b in range(count):
        with naming(b):
            compile_model(models[b])  # which finds what is wrong with it
            state = models[b].check_state(_own(q, "q" in sizes, b), _own(v, "v" in sizes, b))
        members.append(Member(b, models[b], *state, controls[b], commands[b]))  # type: ignore[arg-type]
    options["integrator"] = as_integrator(options.get("integrator"))
    together = (one for one in members if suits(options["integrator"], one, options.get("wrench")))
    first = next(together, members[0] if members else Member(0, model, model.q0, model.v0, None))
    like = prepare(first.model, first.q, first.v, control=first.control, command=first.command,
                   **options)  # checks what they have in common
    tell_end(like)
    with Progress(count, progress, unit="run") as bar:
        record, runs = run_members(members, like, options, threads=threads or os.cpu_count() or 1, stop=Event(),
                                   update=bar.update, begun=first)
    t = np.arange(1 + like.steps // like.every) * like.every * like.sim.dt
    finished = tuple(replace(run, t=t[: len(run)]) for run in runs if isinstance(run, Trajectory))
    for b, run in enumerate(finished):
        _fill_up(rows_of(record, b), run)
    warn_of_many(finished)
    return Trajectories(model, like.sim.integrator, like.sim.dt, like.every, t, *record[:-1], finished)


def _fill_up(record: Record, made: Trajectory) -> None:
    """Fill the rows after the end of a failed run: its last kept node, and its status for steps that were not made."""
    if made.failure is None:
        return
    nodes, steps = len(made), len(made.iterations)
    for name in NODE:
        getattr(record, name)[nodes:] = getattr(record, name)[nodes - 1]
    record.iterations[steps:], record.residual[steps:], record.substeps[steps:] = 0, 0.0, 1
    record.status[steps:] = next(status for status in Status if status.meaning == made.failure.status)


def _own(values: ArrayLike | None, many: bool, b: int) -> ArrayLike | None:
    return np.asarray(values)[b] if many else values


def _each(label: str, values: ArrayLike, size: int, count: int) -> Array:
    """Return ``size`` numbers for each member, which were given for each or once for all."""
    array = real_array(values, label)
    if array.shape not in ((size,), (count, size)):
        raise ValueError(f"{label} must have the shape ({size},) or ({count}, {size}), not {array.shape}")
    return np.broadcast_to(array, (count, size))


def _variants(model: Model, gravity: ArrayLike | None, mass: ArrayLike | None, count: int) -> list[Model]:
    """Return the model of every member; the given one where nothing differs."""
    changes = {}
    if gravity is not None:
        changes[GRAVITY] = _each("gravity", gravity, 3, count)
    if mass is not None:
        masses = _each("mass", mass, model.nb, count)
        changes |= {("mass", b): masses[:, b] for b in range(model.nb)}
    made = []
    for b, one in enumerate(variants(model, changes, count) if changes else [model] * count):
        if isinstance(one, ModelError):
            raise ModelError(f"member {b}: {one}")
        made.append(one)
    return made
