"""Finished trajectories in other forms: a file like that of a run, a table, a pandas DataFrame, an xarray Dataset."""

import csv
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leastaction.files import checkpoint, environment
from leastaction.files.columns import CHECKPOINTS, FORCES, ROWS, Column, columns
from leastaction.files.container import create, written_aside
from leastaction.files.contents import MEANING, NO_FAILURE, record_type, type_to_list
from leastaction.files.describe import integrator_to_dict
from leastaction.files.reading import places
from leastaction.files.statistics import Statistics
from leastaction.files.stored import StoredTrajectory
from leastaction.files.sums import Sums
from leastaction.integrators import Status
from leastaction.model import Model, losses
from leastaction.simulation.judgement import EnergyWatch
from leastaction.simulation.run import NODE, STEP
from leastaction.trajectories import Trajectories
from leastaction.trajectory import Trajectory

if TYPE_CHECKING:
    import pandas
    import xarray

MOMENTA = ("angular x", "angular y", "angular z", "linear x", "linear y", "linear z")
BLOCK = 4096  # rows of a table made at a time


def save(traj: Trajectory, path: Path, overwrite: bool = False) -> Path:
    """Write a trajectory to a file that `open_run` reads; if it is in a file already, that file is copied."""
    with written_aside(path, overwrite) as part:
        if isinstance(traj, StoredTrajectory):
            shutil.copyfile(traj.path, part)
        else:
            _write(traj, part)
    return path


def _write(traj: Trajectory, path: Path) -> None:
    statistics = Statistics.of(traj)
    rows = {"t": traj.t, **{name: getattr(traj, name) for name in NODE + STEP}}
    controlled = traj.origin is None or traj.origin.control is not None
    ledger = traj.integrator.ledger(traj.model, controlled)
    room, sums = columns(traj.model, traj.steps, traj.record_every, ledger), Sums()
    table = np.zeros(room["sums"].shape, room["sums"].dtype)
    for column, name in enumerate(ROWS):
        complete = traj.steps // traj.record_every if name in STEP else None
        values = np.ascontiguousarray(rows[name], dtype=room[name].dtype)
        for block, total in sums.take(name, 0, values[:complete]):
            table[block, column] = total
    content = {"steps": traj.steps, "extremes": _extremes(traj), **_last(traj), **statistics.fields(),
               **EnergyWatch.of(traj.looks, traj.steps).fields(), "rows": sums.open, "commit": 1}
    if traj.events.size:
        content["events"] = traj.events
    kind = record_type(content)
    rows |= {"sums": table, "committed": np.array(len(traj)), "commits": np.array(1),
             CHECKPOINTS: np.frombuffer(checkpoint.pack(content) * 2, kind)}
    create(path, {**_description(traj), "record": type_to_list(kind)}, _forces(traj),
           {**room, CHECKPOINTS: Column((2,), kind, MEANING)})
    with path.open("rb+") as file:
        for name, place in places(path).items():
            if name in rows:
                file.seek(place.offset)
                file.write(np.ascontiguousarray(rows[name], dtype=place.dtype).tobytes())


def _extremes(traj: Trajectory) -> np.ndarray:
    """Return the extremes of the invariants as the loops keep them: energies without what is fixed to the ground."""
    ground = traj._nearest(0)._engine.compiled.ground_energy
    return np.concatenate([traj.energy_range - ground, [traj.peak_kinetic_energy], traj.momentum_range.ravel(),
                           [0.0]])


def _last(traj: Trajectory) -> dict[str, Any]:
    """Return the last node, and why the run ended there."""
    failure = traj.failure
    if failure is None:
        return {"q": traj.q[-1], "v": traj.v[-1], "p": traj.p[-1], **NO_FAILURE}
    code = next(status for status in Status if status.meaning == failure.status)
    return {"q": failure.q, "v": failure.v, "p": failure.p, "failed_status": int(code),
            "failed_body": traj.model.body_index(failure.joint) if failure.joint else -1,
            "failed_residual": failure.residual}


def _forces(traj: Trajectory) -> dict[str, np.ndarray]:
    """Return the forces that a file can hold."""
    given = {} if traj.origin is None else dict(zip(FORCES, traj.origin, strict=False))
    return {name: np.asarray(value) for name, value in given.items() if value is not None and not callable(value)}


def _description(traj: Trajectory) -> dict[str, Any]:
    forces = dict.fromkeys(FORCES, "function")  # forces that are not known are treated like functions
    if traj.origin is not None:
        for name, value in zip(FORCES, traj.origin, strict=False):
            forces[name] = "none" if value is None else "function" if callable(value) else "array"
    return {
        "model": traj.model.to_dict(), "integrator": integrator_to_dict(traj.integrator), "dt": traj.dt,
        "layout": checkpoint.layout_key(), "made_by": environment.here(), "steps": traj.steps,
        "record_every": traj.record_every, "checkpoint_every": traj.steps + 1, **forces,
        "control_every": 1 if traj.origin is None else traj.origin.control_every,
    }


def joint_labels(model: Model) -> tuple[list[str], list[str]]:
    """Name every entry of q and of v by its body, numbered where a joint has several."""
    labels: tuple[list[str], list[str]] = ([], [])
    for body in model.bodies:
        for found, count in zip(labels, (body.joint.nq, body.joint.nv), strict=True):
            found += [body.name] if count == 1 else [f"{body.name}[{j}]" for j in range(count)]
    return labels


def column_labels(model: Model) -> list[str]:
    """Name the columns of a table of nodes: q, v, p, energy and momentum."""
    in_q, in_v = joint_labels(model)
    return [*(f"q {name}" for name in in_q), *(f"v {name}" for name in in_v), *(f"p {name}" for name in in_v), "energy",
            *MOMENTA]


def _labels(run: Trajectory | Trajectories) -> list[str]:
    """Name the columns of the table of a run or of a batch: with a ledger, also what has left by its entries."""
    return column_labels(run.model) + [f"lost {name}" for name in losses.ENTRIES[: run.ledger.shape[-1]]]


def _table(run: Trajectory | Trajectories, rows: Any) -> np.ndarray:
    """Return the columns that `_labels` names, (rows, columns), for some of the nodes of a run or of a batch."""
    return np.column_stack([getattr(run, name)[rows] for name in NODE if name != "impulse"])


def to_csv(traj: Trajectory, path: Path) -> Path:
    """Write the kept nodes as a table; every number reads back bit for bit."""
    with written_aside(path, overwrite=True) as part, part.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["t", *_labels(traj)])
        for first in range(0, len(traj), BLOCK):
            rows = slice(first, first + BLOCK)
            table.writerows(np.column_stack([traj.t[rows], _table(traj, rows)]).tolist())
    return path


def to_pandas(run: Trajectory | Trajectories) -> "pandas.DataFrame":
    """Return the kept nodes as a table over time, or over member and time."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas needs pandas: pip install 'leastaction[pandas]'") from None
    labels = _labels(run)
    if isinstance(run, Trajectory):
        return pandas.DataFrame(_table(run, slice(None)), pandas.Index(run.t, name="t"), labels)
    own = np.arange(len(run.t)) <= run.steps[:, None] // run.record_every  # a failed run repeats its last node
    member, node = np.nonzero(own)
    index = pandas.MultiIndex.from_arrays([member, run.t[node]], names=["member", "t"])
    return pandas.DataFrame(_table(run, own), index, labels)


def to_xarray(run: Trajectory | Trajectories) -> "xarray.Dataset":
    """Return the kept nodes as a Dataset over time, joints and axes; the description is in its attributes.

    That of a batch is over member too, and has the steps that each one made.
    """
    try:
        import xarray
    except ImportError:
        raise ImportError("to_xarray needs xarray: pip install 'leastaction[xarray]'") from None
    in_q, in_v = joint_labels(run.model)
    over = {"q": ("t", "in_q"), "v": ("t", "in_v"), "p": ("t", "in_v"), "energy": ("t",), "momentum": ("t", "axis")}
    meanings = columns(run.model, 0, 1, 0)
    coords: dict[str, Any] = {"t": ("t", run.t, {"units": "s"}), "in_q": in_q, "in_v": in_v, "axis": list(MOMENTA)}
    more: dict[str, Any] = {}
    if run.ledger.shape[-1]:
        over["ledger"], coords["lost"] = ("t", "lost"), list(losses.ENTRIES)
    if isinstance(run, Trajectories):
        over = {name: ("member", *dims) for name, dims in over.items()}
        coords["member"] = np.arange(len(run))
        more["steps"] = "member", run.steps, {"meaning": "steps made; after them the last kept node is repeated"}
        description = {"model": run.model.to_dict(), "integrator": integrator_to_dict(run.integrator), "dt": run.dt,
                       "steps": int(run.steps.max(initial=0)), "record_every": run.record_every}
    else:
        description = _description(run)
    nodes = {name: (dims, getattr(run, name), {"meaning": meanings[name].meaning}) for name, dims in over.items()}
    return xarray.Dataset({**nodes, **more}, coords, {"description": json.dumps(description)})
