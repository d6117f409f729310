"""Trajectories that stay in their file, and runs that are written to one."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from leastaction.compiled import compile_model
from leastaction.errors import FileError, StepError
from leastaction.files import checkpoint, sums, writer
from leastaction.files.columns import BLOCK, FORCES, NODES, ROWS, STATISTICS, Column, columns
from leastaction.files.contents import Contents, contents
from leastaction.files.reading import mapped, plain_faults
from leastaction.files.statistics import tally
from leastaction.integrators import Status
from leastaction.kernels.record import by_name
from leastaction.model.unhonoured import settled
from leastaction.simulation import hints
from leastaction.simulation.judgement import EnergyWatch
from leastaction.simulation.progress import Progress
from leastaction.simulation.run import OnFailure, Run
from leastaction.simulation.simulator import Simulator
from leastaction.trajectory import NO_EVENTS, Control, Origin, Trajectory


def _column(name: str) -> Any:
    """An array that is read from the file, and checked, when it is first used."""
    def get(self: StoredTrajectory) -> np.ndarray:
        return self.read(name)

    return cached_property(get)


class StoredTrajectory(Trajectory):
    """A trajectory in a file: the same attributes, each array read when it is first used.

    Its check sums are compared then, and a FileError says which rows are damaged. ``iterations`` (a sum), ``residual``,
    ``status`` and ``substeps`` (the worst) are of the steps between two kept nodes; with record_every = 1 that is each
    step.
    """

    path: Path
    description: dict[str, Any]
    _contents: Contents
    _last: Any  # the checkpoint up to which it is read
    _given: dict[str, Control]
    t: Any = _column("t")
    q: Any = _column("q")
    v: Any = _column("v")
    p: Any = _column("p")
    energy: Any = _column("energy")
    momentum: Any = _column("momentum")
    ledger: Any = _column("ledger")
    impulse: Any = _column("impulse")
    iterations: Any = _column("iterations")
    residual: Any = _column("residual")
    status: Any = _column("status")
    substeps: Any = _column("substeps")

    def __init__(
        self, path: Path, control: Control = None, wrench: Control = None, command: Control = None, older: bool = False
    ) -> None:
        source = contents(path.absolute())
        if not source.is_run:
            raise FileError(f"{path} is a checkpoint, not a run: la.Simulator.restore(path) goes on from it")
        last, model, description = checkpoint.latest(source, older), source.model, source.description
        settled(model)  # the start of the run has warned of what does not act
        given = {"control": control, "wrench": wrench, "command": command}
        for name in FORCES:
            if given[name] is not None and description[name] != "function":
                raise ValueError(f"the run in {path} was made with {name} = {description[name]}: give no {name}")
        with plain_faults(path):
            extremes = by_name(np.array(last["extremes"]))
            vars(self).update(
                path=source.path, model=model, integrator=source.integrator, dt=float(description["dt"]),
                record_every=description["record_every"], description=description, tally=tally(last),
                energy_range=extremes.energy + compile_model(model).ground_energy,
                momentum_range=extremes.momentum, peak_kinetic_energy=float(extremes.kinetic),
                looks=EnergyWatch(0.0).restore(last).looks(), failure=_failure(source, last),
                events=np.array(last["events"]) if "events" in last.dtype.names else NO_EVENTS,
                _contents=source, _last=last, _given=given,
            )

    def __len__(self) -> int:
        return self.steps // self.record_every + 1

    @cached_property
    def origin(self) -> Origin | None:
        """The integrator and forces by which the run can be repeated; None if functions drove it and are not given."""
        if any(self.description[name] == "function" and self._given[name] is None for name in FORCES):
            return None
        control, wrench, command = (_force(self._contents, name, self._given[name]) for name in FORCES)
        return Origin(control, wrench, command, self.description["control_every"], self.model.revision)

    def read(self, name: str, first: int = 0, last: int | None = None) -> np.ndarray:
        """Read some rows of an array, after comparing the check sums of the blocks of 1024 rows in which they lie.

        An attribute like ``q`` reads and checks all its rows at once. This is for the intact rows of a damaged file,
        and for a few rows of a large one.

        Parameters
        ----------
        name : "t", "q", "v", "p", "energy", "momentum", "ledger", "impulse", "iterations", "residual",
            "status" or "substeps"
        first, last : the rows from the first on and before the last; all unless given

        Returns
        -------
        (last − first, ...) the rows, which cannot be written to

        Raises
        ------
        FileError
            Naming the rows that are damaged, and those that are intact.
        """
        if name not in ROWS:
            raise ValueError(f"there is no array {name!r}; there are {', '.join(ROWS)}")
        complete = self.steps // self.record_every + (name in NODES)
        rows = len(self) if name in NODES else -(-self.steps // self.record_every)
        last = rows if last is None else last
        if not 0 <= first <= last <= rows:
            raise ValueError(f"first and last must be rows of {name}, from 0 to {rows}, not {first!r} and {last!r}")
        layout = columns(self.model, self.planned, self.record_every, self._contents.ledger)
        values = mapped(self.path, name, layout[name], rows, "r" if rows == complete else "c")
        table = mapped(self.path, "sums", layout["sums"], complete // BLOCK)
        column = ROWS.index(name)
        sums.check(self.path, name, values[:complete], first, min(last, complete), table[:, column],
                   self._last["rows"][column])
        if rows > complete:  # the writer may have changed this row since: the checkpoint holds it as it was
            values[complete] = self._last["open"][STATISTICS.index(name)]
            values.flags.writeable = False
        return values[first:last]

    def verify(self) -> None:
        """Read all arrays and compare their check sums; raises a FileError that names the rows which are damaged."""
        for name in ROWS:
            self.read(name)
        _ = self.origin

    @property
    def finished(self) -> bool:
        """Whether the run went to its end."""
        return self.steps == self.planned

    @property
    def planned(self) -> int:
        """Number of steps that the run is to have."""
        return int(self.description["steps"])

    def _nearest(self, step: int) -> Simulator:
        found = checkpoint.before(self._contents, step)
        if found is None or "w" not in found.dtype.names or self.description["layout"] != checkpoint.layout_key():
            return super()._nearest(step)
        return checkpoint.restored(self._contents, found)


def _force(source: Contents, name: str, given: Control) -> Control:
    """Return the control, wrench or command of a run: what was given, or what its file holds."""
    if source.description[name] != "array":
        return given
    place = source.places[name]
    values = mapped(source.path, name, Column(place.shape, place.dtype, ""), place.shape[0])
    if sums.check_sum(values) != source.description["sums"][name]:
        raise FileError(f"the {name} in {source.path} is damaged, so no part of the run can be made again; its results "
                        "can be read")
    return values


def _failure(source: Contents, last: Any) -> StepError | None:
    if last["failed_status"] == 0:
        return None
    model, description = source.model, source.description
    step, status = int(last["steps"]), Status(int(last["failed_status"]))
    driven = status != Status.BAD_CONTROL and any(description[name] != "none" for name in FORCES)
    joint = "" if last["failed_body"] < 0 else model.names[int(last["failed_body"])]
    q = np.array(last["q"])
    singular = "" if status == Status.BAD_CONTROL else hints.singular(compile_model(model), q)
    return StepError(
        status.meaning, step, step * description["dt"], float(last["failed_residual"]), joint, q,
        np.array(last["v"]), np.array(last["p"]),
        " ".join(filter(None, (hints.FORCED if driven else "", singular, source.integrator.advice(status)))),
    )


def open_run(
    path: str | Path, control: Control = None, wrench: Control = None, command: Control = None, older: bool = False
) -> StoredTrajectory:
    """Open the trajectory in a file; its arrays are read, and checked, when they are first asked for.

    Parameters
    ----------
    path : file written by ``simulate(..., out=path)`` or `Trajectory.save`; it may still be growing
    control, wrench, command : the functions that drove the run, if there were any: files cannot hold them, and
        `Trajectory.at` and `Trajectory.accuracy` need them
    older : whether to read the run up to the checkpoint before the latest, with a warning, if the latest is damaged

    Raises
    ------
    FileError
        If the file is damaged or not one of leastaction; see docs/files.md for what is checked, and when.
    """
    return StoredTrajectory(Path(path), control, wrench, command, older)


def stream(
    run: Run, path: Path, checkpoint_every: int | None, overwrite: bool, progress: Progress, on_failure: OnFailure
) -> StoredTrajectory:
    """Make a run that is written to a file as it goes."""
    regular = writer.new_file(run, path, checkpoint_every, overwrite)
    writer.make(run, writer.Writer(path, run.sim, run.every, regular), progress, on_failure)
    control, wrench, command = (force if callable(force) else None for force in run.origin[:3])
    return StoredTrajectory(path, control, wrench, command)
