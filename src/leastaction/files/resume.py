"""Runs that go on."""

from __future__ import annotations

from pathlib import Path

from leastaction.files import checkpoint, writer
from leastaction.files.extend import extend
from leastaction.files.stored import StoredTrajectory
from leastaction.judgement import warn
from leastaction.progress import Progress
from leastaction.run import OnFailure, Run, step_count
from leastaction.trajectory import Control


def resume(
    path: str | Path, *, steps: int | None = None, duration: float | None = None, control: Control = None,
    wrench: Control = None, progress: bool | None = None, on_failure: OnFailure = "raise",
) -> StoredTrajectory:
    """Go on with a run that was interrupted, from the last step its file holds to its planned end, bit for bit.

    Parameters
    ----------
    path : file written by ``simulate(..., out=path)``
    steps, duration : new length of the whole run, to extend it: its number of steps, or s
    control, wrench : the functions that drove the run, if there were any: files cannot hold them
    progress : whether to show a bar; None shows it for runs of more than about two seconds at a terminal
    on_failure : "raise" or "truncate", as in `simulate`
    """
    path = Path(path)
    traj = StoredTrajectory(path, control, wrench)
    planned = traj.planned if steps is duration is None else step_count(traj.dt, duration, steps)
    if planned < traj.planned:
        raise ValueError(f"the run in {path} has {traj.planned} steps already, so it cannot have {planned}")
    if traj.steps == planned:
        return traj
    if traj.origin is None:
        raise ValueError(f"the run in {path} was driven by a function, which a file cannot hold: give it again, "
                         "la.resume(path, control=..., wrench=...)")
    if planned > traj.planned:
        extend(path, traj, planned)
    last, regular = checkpoint.latest(path), traj.description["checkpoint_every"]
    sim = checkpoint.restored(path, traj.description, traj.model, last)
    run = Run(sim, planned, traj.record_every, traj.origin.control, traj.origin.wrench)
    keeper = writer.Writer(path, sim, traj.record_every, regular)
    keeper.statistics.restore(last)
    keeper.watch.restore(last)
    writer.make(run, keeper, Progress(planned, progress, sim.steps), on_failure)
    return warn(StoredTrajectory(path, control, wrench))
