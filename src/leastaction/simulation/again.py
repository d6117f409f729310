"""Runs made again, bit for bit, for what was not kept of them."""

import numpy as np

from leastaction.arguments import finite, shown
from leastaction.simulation.progress import Progress
from leastaction.simulation.run import Keeper, Run
from leastaction.trajectory import Node, Trajectory


def node_at(traj: Trajectory, t: float) -> Node:
    """Return the node of a run nearest to a time, made again from the nearest place if it was not kept."""
    if not (finite(t) is not None and -0.5 * traj.dt <= t <= (traj.steps + 0.5) * traj.dt):
        raise ValueError(f"t must be within the run, from 0 to {traj.steps * traj.dt:g} s, not {shown(t)}")
    step = min(round(t / traj.dt), traj.steps)
    row = step // traj.record_every
    if step % traj.record_every == 0:
        return Node(step * traj.dt, traj.q[row].copy(), traj.v[row].copy(), traj.p[row].copy(),
                    float(traj.energy[row]), traj.momentum[row].copy())
    run = begin_again(traj, step, f"the node at {step * traj.dt:g} s was not kept, and to make it again")
    go_on(run, step)
    sim = run.sim
    return Node(sim.t, sim.q, sim.v, sim.p, sim.energy, sim.momentum)


def begin_again(traj: Trajectory, step: int, why: str) -> Run:
    """Return a run like this one, at the latest node not after a step from which it is known how to go on.

    Parameters
    ----------
    why : the forces must be known: begins the sentence that says so where they are not
    """
    if traj.origin is None:
        raise ValueError(f"{why} the forces of the run must be known. Functions cannot be stored: "
                         "la.open(path, control=..., wrench=..., command=...) takes them")
    if traj.origin.revision != traj.model.revision:
        raise ValueError(f"model '{traj.model.name}' was changed after the run: simulate it again first")
    control, wrench, command, control_every, _ = traj.origin
    planned = [len(np.asarray(forces)) for forces, held in ((control, 1), (wrench, 2), (command, 1))
               if forces is not None and not callable(forces) and np.ndim(forces) > held]
    return Run(traj._nearest(step), max([traj.steps, *planned]), traj.record_every, control, wrench, command,
               control_every)


def go_on(run: Run, step: int) -> None:
    """Make the steps up to one, and keep nothing of them."""
    run.make(step, Keeper(run.sim, run.every), Progress(step, False))
