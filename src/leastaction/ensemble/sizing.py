"""The size of a chunk, about a second of work that fits in memory; and whether an ensemble fits on the disk."""

import shutil
from math import floor, log2, prod
from pathlib import Path
from threading import Event
from time import perf_counter
from typing import Any

import numpy as np

from leastaction.ensemble.engines import Engine
from leastaction.ensemble.layout import Layout
from leastaction.ensemble.plan import Plan
from leastaction.errors import FileError
from leastaction.kernels.layout import LANES
from leastaction.model import Model
from leastaction.simulation.group import Member
from leastaction.simulation.members import run_members
from leastaction.simulation.single import prepare

WORK = 1.0  # s that a chunk takes
LEAST_WORK = 0.1  # s that it takes if there would be fewer than SEVERAL chunks for each worker
SEVERAL = 4
MOST_BYTES = 64e6  # of the recorded nodes of a chunk
LOOK = 0.05  # s that are timed


def chunk_size(plan: Plan, engine: Engine) -> int:
    """Return a number of members for the chunks of an engine, a power of two; it never changes a number."""
    model, nodes = plan.model, 1 + plan.steps // plan.record_every
    bytes_of_one = 8 * nodes * (model.nq + 2 * model.nv + 7)
    cost = seconds_of_one(plan) / engine.threads
    several = max(plan.members / (SEVERAL * engine.workers), LEAST_WORK / cost)
    most = min(WORK / cost, several, MOST_BYTES / bytes_of_one)
    return int(max(LANES, 2 ** floor(log2(max(most, 1)))))


def require_room(path: Path, plan: Plan) -> None:
    """Raise a FileError if the members of a plan cannot fit on the disk of a folder, before hours are spent on them."""
    layout = Layout.of(plan.to_dict(), 1)
    nodes = 0 if plan.keep == "statistics" else len(layout.kept)
    drawn = sum(target.size or 1 for *_, named in plan.sources for target in named)
    numbers = nodes * sum(prod(layout.entries(name)) for name in plan.quantities) + drawn + 1  # and the steps
    needed, there = 8 * plan.members * numbers, next(one for one in (path, *path.absolute().parents) if one.exists())
    free = shutil.disk_usage(there).free
    if needed > free:
        raise FileError(f"{path} would take {needed / 1e9:.3g} GB, and its disk has {free / 1e9:.3g} GB left: keep "
                        "fewer nodes, by keep='last' or 'statistics' or a greater record_every, or choose another disk")


def seconds_of_one(plan: Plan) -> float:
    """Time the first members over some steps, on one thread, and return what a whole member will take, s."""
    drawn = plan.draw(0, min(LANES, plan.members))
    states = [(model, q, v) for model, q, v in zip(drawn.models, drawn.q, drawn.v, strict=True)
              if isinstance(model, Model)] or [(plan.model, plan.model.q0, plan.model.v0)]
    steps, spent = 0, 0.0
    while steps < plan.steps and spent < LOOK:
        first, steps = steps == 0, min(plan.steps, max(8, 4 * steps))
        options = {**plan.options, "steps": steps, "record_every": min(plan.record_every, steps),
                   "wrench": _cut(plan.wrench, 2, steps)}
        control, command = _cut(plan.control, 1, steps), _cut(plan.command, 1, steps)
        members = [Member(b, *state, control, command) for b, state in enumerate(states)]
        like = prepare(plan.model, None, None, control=control, command=command, **options)
        began = perf_counter()
        run_members(members, like, options, threads=1, stop=Event(), forgive=True)
        spent = 0.0 if first else perf_counter() - began  # the first time, kernels are compiled
    return max(spent, 1e-6) / len(states) * plan.steps / max(steps, 1) + 1e-6


def _cut(forces: Any, held: int, steps: int) -> Any:
    """Return the forces of the first steps; an array of ``held`` axes is constant in time and stays as it is."""
    if forces is None or callable(forces) or np.ndim(forces) <= held:
        return forces
    return np.asarray(forces)[:steps]
