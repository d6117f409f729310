"""Trajectories that stay in their file, and runs that are written to one."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from leastaction import hints
from leastaction.compiled import compile_model
from leastaction.errors import FileError, StepError
from leastaction.files import checkpoint, writer
from leastaction.files.container import describe, read
from leastaction.files.describe import integrator_from_dict
from leastaction.files.statistics import tally
from leastaction.integrators import Status
from leastaction.judgement import EnergyWatch
from leastaction.kernels.record import MOMENTA
from leastaction.model import Model
from leastaction.model.unhonoured import settled
from leastaction.progress import Progress
from leastaction.run import OnFailure, Run
from leastaction.simulator import Simulator
from leastaction.trajectory import Control, Origin, Trajectory

FORCES = ("control", "wrench")


def _column(name: str, nodes: bool = True) -> Any:
    """An array that is looked up in the file when first asked for."""
    def get(self: StoredTrajectory) -> np.ndarray:
        steps, every = self.steps, self.record_every
        return read(self.path, name, steps // every + 1 if nodes else -(-steps // every))

    return cached_property(get)


class StoredTrajectory(Trajectory):
    """A trajectory in a file: the same attributes, each array looked up when it is first asked for.

    ``iterations`` (a sum), ``residual``, ``status`` and ``substeps`` (the worst) are of the steps between two kept
    nodes; with record_every = 1 that is each step.
    """

    path: Path
    description: dict[str, Any]
    q: Any = _column("q")
    v: Any = _column("v")
    p: Any = _column("p")
    energy: Any = _column("energy")
    momentum: Any = _column("momentum")
    iterations: Any = _column("iterations", nodes=False)
    residual: Any = _column("residual", nodes=False)
    status: Any = _column("status", nodes=False)
    substeps: Any = _column("substeps", nodes=False)

    def __init__(self, path: Path, control: Control = None, wrench: Control = None) -> None:
        description, names = describe(path)
        if "t" not in names:
            raise FileError(f"{path} is a checkpoint, not a run: la.Simulator.restore(path) goes on from it")
        last, model = checkpoint.latest(path), Model.from_dict(description["model"])
        settled(model)  # when the run began, it was said what of the model does not act
        extremes = np.array(last["extremes"])
        given = _forces(path, description, {"control": control, "wrench": wrench})
        every, dt = description["record_every"], description["dt"]
        vars(self).update(
            path=path.absolute(), model=model, integrator=integrator_from_dict(description["integrator"]), dt=dt,
            record_every=every, description=description, tally=tally(last),
            t=np.arange(int(last["steps"]) // every + 1) * every * dt,
            energy_range=extremes[:2] + compile_model(model).ground_energy,
            momentum_range=extremes[MOMENTA].reshape(2, 6), peak_kinetic_energy=float(extremes[2]),
            looks=EnergyWatch(0.0).restore(last).looks(),
            failure=_failure(model, description, last),
            origin=None if given is None else Origin(*given, model.revision),
        )

    @property
    def finished(self) -> bool:
        """Whether the run went to its end."""
        return self.steps == self.planned

    @property
    def planned(self) -> int:
        """Number of steps that the run is to have."""
        return int(self.description["steps"])

    def _nearest(self, step: int) -> Simulator:
        description = self.description
        found = checkpoint.before(self.path, step, description["checkpoint_every"])
        if found is None or "w" not in found.dtype.names or description["layout"] != checkpoint.layout_key():
            return super()._nearest(step)
        return checkpoint.restored(self.path, description, self.model, found)


def _forces(path: Path, description: dict[str, Any], given: dict[str, Control]) -> tuple[Control, Control] | None:
    """Return the control and wrench of a run; None if they were functions and are not given."""
    forces: dict[str, Control] = {}
    for name in FORCES:
        kind = description[name]
        if given[name] is not None and kind != "function":
            raise ValueError(f"the run in {path} was made with {name} = {kind}: give no {name}")
        forces[name] = read(path, name).copy() if kind == "array" else given[name]
    lost = any(description[name] == "function" and given[name] is None for name in FORCES)
    return None if lost else (forces["control"], forces["wrench"])


def _failure(model: Model, description: dict[str, Any], last: Any) -> StepError | None:
    if last["failed_status"] == 0:
        return None
    step, status = int(last["steps"]), Status(int(last["failed_status"]))
    driven = status != Status.BAD_CONTROL and any(description[name] != "none" for name in FORCES)
    joint = "" if last["failed_body"] < 0 else model.names[int(last["failed_body"])]
    return StepError(
        status.meaning, step, step * description["dt"], float(last["failed_residual"]), joint, np.array(last["q"]),
        np.array(last["v"]), np.array(last["p"]),
        hints.FORCED if driven else "",
    )


def open_run(path: str | Path, control: Control = None, wrench: Control = None) -> StoredTrajectory:
    """Open the trajectory in a file; its arrays are read as they are looked at.

    Parameters
    ----------
    path : file written by ``simulate(..., out=path)`` or `Trajectory.save`; it may still be growing
    control, wrench : the functions that drove the run, if there were any: files cannot hold them, and `Trajectory.at`
        and `Trajectory.accuracy` need them
    """
    return StoredTrajectory(Path(path), control, wrench)


def stream(
    run: Run, path: Path, checkpoint_every: int | None, overwrite: bool, progress: Progress, on_failure: OnFailure
) -> StoredTrajectory:
    """Make a run that is written to a file as it goes."""
    regular = writer.new_file(run, path, checkpoint_every, overwrite)
    writer.make(run, writer.Writer(path, run.sim, run.every, regular), progress, on_failure)
    return StoredTrajectory(path, *(force if callable(force) else None for force in run.origin[:2]))
