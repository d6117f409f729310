"""Making one chunk: draw its members, simulate them, write them."""

import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from threading import Event
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from leastaction.ensemble.chunk_file import ChunkData, check_chunk, write_chunk
from leastaction.ensemble.draw import Drawn
from leastaction.ensemble.fingerprint import require_same
from leastaction.ensemble.folder import Folder, Stored
from leastaction.ensemble.functions import unpacked
from leastaction.ensemble.index import Summary
from leastaction.ensemble.layout import Layout
from leastaction.ensemble.plan import Plan, read_arrays
from leastaction.ensemble.statistics import partials
from leastaction.errors import FileError, ModelError, StepError
from leastaction.files.reading import plain_faults
from leastaction.model import Model
from leastaction.simulation.group import Member
from leastaction.simulation.judgement import keeps_energy
from leastaction.simulation.members import Result, run_members
from leastaction.simulation.run import Run
from leastaction.simulation.single import prepare
from leastaction.trajectory import Trajectory

Array = np.ndarray
KNOWN = 4  # plans that a worker remembers


class Work(NamedTuple):
    """What a worker needs: the folder, the content of plan.json, the plan, the sizes, a run that all members share."""

    folder: Folder
    stored: Stored
    plan: Plan
    layout: Layout
    like: Run


_works: "OrderedDict[tuple[str, bytes, bytes], Work]" = OrderedDict()
_lock = threading.Lock()


def make_chunk(
    path: str, number: int, functions: bytes | Mapping[str, Any] | None = None, threads: int = 1,
    stop: Event | None = None,
) -> Summary:
    """Make a chunk of the ensemble in a folder, unless it is there already, and return its summary.

    Parameters
    ----------
    path : of the folder
    number : of the chunk
    functions : those of the plan by name, packed or as they are
    threads : how many to use
    stop : set by another thread to end this with a KeyboardInterrupt
    """
    began = perf_counter()
    work = _work(path, functions)
    try:
        return check_chunk(work.folder, number, work.stored)
    except FileError:
        pass  # not there, or damaged
    first, count = work.layout.range(number)
    data = simulate(work, first, count, threads, stop or Event())
    summary = write_chunk(work.folder, number, data, work.stored.fingerprint, work.stored.digest)
    return replace(summary, seconds=perf_counter() - began)


def _work(path: str, functions: bytes | Mapping[str, Any] | None) -> Work:
    """Read the plan of a folder, once for a worker."""
    folder = Folder(path)
    try:
        content = folder.plan.read_bytes()
    except OSError:
        content = b""  # reading the plan names the fault
    packed = functions if isinstance(functions, bytes) else b"" if not functions else str(id(functions)).encode()
    key = os.path.abspath(path), content, packed
    with _lock:
        if key not in _works:
            stored = folder.read_plan()
            require_same(stored.fingerprint, str(folder.path))
            with plain_faults(folder.plan):
                plan = Plan.of(stored.plan, read_arrays(folder), unpacked(functions))
                layout = Layout.of(stored.plan, stored.chunk)
            _works[key] = Work(folder, stored, plan, layout, start(plan))
            while len(_works) > KNOWN:
                _works.popitem(last=False)
        return _works[key]


def start(plan: Plan) -> Run:
    """Return the run of the model itself, at its start, with all that members have in common."""
    return prepare(plan.model, None, None, control=plan.control, command=plan.command, **plan.options)


def simulate(work: Work, first: int, count: int, threads: int, stop: Event) -> ChunkData:
    """Draw and simulate the members from ``first`` on."""
    plan, layout = work.plan, work.layout
    drawn = plan.draw(first, count)
    rows = np.full(count, -1)
    members: list[Member] = []
    for b, model in enumerate(drawn.models):
        if isinstance(model, Model):
            rows[b] = len(members)
            members.append(Member(len(members), model, drawn.q[b], drawn.v[b], plan.control, plan.command))
    record, runs = run_members(members, work.like, plan.options, threads=threads, stop=stop, forgive=True)
    results = [runs[row] if row >= 0 else drawn.models[b] for b, row in enumerate(rows.tolist())]
    made = np.array([len(one) if isinstance(one, Trajectory) else 0 for one in results])
    nodes = {}
    for name in layout.quantities:
        values = getattr(record, name)
        if len(members) < count:
            values = np.full((count, *values.shape[1:]), np.nan)
            values[rows >= 0] = getattr(record, name)
        for short in np.flatnonzero(made < len(layout.recorded)):
            values[short, made[short] :] = np.nan
        nodes[name] = values
    statistics = partials(first, nodes, made)
    chosen = slice(None) if layout.keep == "all" else layout.kept  # which copies nothing
    kept = {} if layout.keep == "statistics" else {name: values[:, chosen] for name, values in nodes.items()}
    return _data(first, drawn, results, kept, statistics)


def _data(first: int, drawn: Drawn, results: list[Any], kept: dict[str, Array], statistics: Any) -> ChunkData:
    """Return the content of a chunk's file."""
    count = len(results)
    steps, warned, reasons = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool), [""] * count
    failed_t, last_q, last_v = np.zeros(count), drawn.q.copy(), drawn.v.copy()
    for b, one in enumerate(results):
        if isinstance(one, Trajectory):
            steps[b], warned[b] = one.steps, not keeps_energy(one)
            failed_t[b] = one.steps * one.dt
        failure = one.failure if isinstance(one, Trajectory) else one
        if failure is not None:
            reasons[b] = _reason(failure)
        if isinstance(failure, StepError):
            failed_t[b], last_q[b], last_v[b] = failure.time, failure.q, failure.v
    return ChunkData(first, drawn.parameters, kept, steps, warned, reasons, failed_t, last_q, last_v, statistics)


def _reason(failure: StepError | Result | ValueError) -> str:
    """Say why a member failed, without what differs between members that fail alike: the time is stored beside it."""
    if isinstance(failure, StepError):
        return failure.status + (f", worst at the joint of '{failure.joint}'" if failure.joint else "")
    text = "; ".join(failure.faults) if isinstance(failure, ModelError) else str(failure)
    head, colon, rest = text.partition(": ")
    return rest if colon and head.startswith("member ") else text
