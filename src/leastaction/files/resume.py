"""Runs that go on."""

from __future__ import annotations

from pathlib import Path

from leastaction.errors import FileError
from leastaction.files import checkpoint, environment, writer
from leastaction.files.extend import extend
from leastaction.files.stored import StoredTrajectory
from leastaction.simulation.judgement import warn
from leastaction.simulation.progress import Progress
from leastaction.simulation.run import OnFailure, Run, step_count
from leastaction.trajectory import Control


def resume(
    path: str | Path, *, steps: int | None = None, duration: float | None = None, control: Control = None,
    wrench: Control = None, command: Control = None, progress: bool | None = None, on_failure: OnFailure = "raise",
    allow_other_bits: bool = False,
) -> StoredTrajectory:
    """Go on with a run that was interrupted, from the last step its file holds to its planned end, bit for bit.

    Parameters
    ----------
    path : file written by ``simulate(..., out=path)``
    steps, duration : new length of the whole run, to extend it: its number of steps, or s
    control, wrench, command : the functions that drove the run, if there were any: files cannot hold them
    progress : whether to show a bar; None shows it for runs of more than about two seconds at a terminal
    on_failure : "raise" or "truncate", as in `simulate`
    allow_other_bits : whether to go on also where the run was begun with another version of leastaction, Python, NumPy
        or Numba, another LEASTACTION_SIMD or another kind of processor. Then the rest agrees with an uninterrupted run
        to round-off, not bit for bit

    Raises
    ------
    FileError
        If the file is damaged, or if one of those differs and ``allow_other_bits`` is not set.
    """
    path = Path(path)
    traj = StoredTrajectory(path, control, wrench, command, older=True)
    planned = traj.planned if steps is duration is None else step_count(traj.dt, duration, steps)
    if planned < traj.planned:
        raise ValueError(f"the run in {path} is planned to have {traj.planned} steps: it can be extended, not "
                         f"shortened to {planned}")
    if traj.steps == planned:
        return traj
    if traj.origin is None:
        raise ValueError(f"the run in {path} was driven by a function, which a file cannot hold: give it again, "
                         "la.resume(path, control=..., wrench=..., command=...)")
    differs = environment.differences(traj.description["made_by"])
    if differs and not allow_other_bits:
        raise FileError(f"the run in {path} was begun elsewhere, so its rest cannot be made bit for bit: {differs}. Go "
                        "on there, or accept results that agree to round-off: la.resume(path, allow_other_bits=True), "
                        "leastaction resume --allow-other-bits")
    sim = checkpoint.restored(traj._contents, traj._last)
    if planned > traj.planned:
        extend(path, traj, planned)
    run = Run(sim, planned, traj.record_every, *traj.origin[:4])
    keeper = writer.Writer(path, sim, traj.record_every, traj.description["checkpoint_every"])
    writer.make(run, keeper, Progress(planned, progress, sim.steps), on_failure)
    return warn(StoredTrajectory(path, control, wrench, command))
