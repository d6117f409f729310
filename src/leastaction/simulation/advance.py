"""Steps of a simulation: plain ones by the compiled loop, and by the rescue where the plain search fails.

Failure is a value here: what could not be made, simulator.py raises.
"""

from typing import Any

import numpy as np

from leastaction.integrators import Status
from leastaction.kernels.layout import READY, Clock, Forces
from leastaction.kernels.record import LOOK, Record
from leastaction.kernels.rescue import Rescued, RescuedConstrained
from leastaction.simulation.engine import Engine

Array = np.ndarray


def advance(
    engine: Engine, steps: int, forces: Forces, out: Record, first: int, every: int, origin: int
) -> tuple[int, int]:
    """Make steps and fill ``out``, whose first row is of step ``origin``.

    All that changes is in the memory of the kernels, so an exception at any point, of Ctrl-C for instance, finds the
    node after a whole number of steps.

    Returns
    -------
    number of steps made, and the link to blame if some are missing; the node is the last good one then
    """
    k, end, blamed = first, first + steps, -1
    while k < end:
        made, blamed = engine.run(forces, Clock(engine.dt, k, end - k, every, origin, 0, READY), out)
        k += made
        engine.parts = 1 if made else engine.parts
        if k < end:
            if not rescue(engine, k, forces, out, every, origin):
                break
            k += 1  # the rescue made this step: continue with plain steps
    _add_ground(engine, first, k, out, every, origin)
    engine.status = out.status.item(k - origin - (k == end))  # of the last step, or of the one that failed
    return k - first, blamed


def advance_stuck(engine: Engine, forces: Forces, out: Record, k: int) -> bool:
    """Make step k, for which the plain search is known to fail, and fill ``out``; tell whether it was made."""
    made = rescue(engine, k, forces, out, 1, k)
    if made:
        _add_ground(engine, k, k + 1, out, 1, k)
        engine.status = out.status.item(0)
    return made


def rescue(engine: Engine, k: int, forces: Forces, out: Record, every: int, origin: int) -> bool:
    """Make step k, at which the plain search failed, if that is allowed and possible."""
    at, settings = k - origin, engine.settings
    clock = Clock(engine.dt, k, 1, every, origin, 0, READY)
    if out.status[at] == Status.SINGULAR and engine.plan_again() and engine.run(forces, clock, out)[0]:
        return True
    if settings is None or not settings.rescue or out.status[at] == Status.BAD_CONTROL:
        return False
    held = held_forces(engine, forces, k, at)
    if forces.control is not None and len(held[0]) != engine.compiled.nv:
        out.status[at] = Status.BAD_CONTROL
        return False
    # A step that follows one which had to be divided is likely to need nearly as many parts
    parts, spent = max(engine.parts // 2, 1), 0
    again = forces._replace(control=None, tau=held, wrench=row(forces.wrench, at), command=row(forces.command, at))
    failed = out.residual[at], out.status[at]
    while parts <= settings.max_substeps:
        made = engine.run_by(_divided(engine, parts), again, clock, out)
        spent += int(out.iterations[at])
        if made:
            break
        parts *= 2
    out.iterations[at] = spent
    if parts > settings.max_substeps:
        out.residual[at], out.status[at] = failed  # of the plain search, which says more
        engine.parts = 1
        return False
    engine.parts = out.substeps[at] = parts
    return True


def _divided(engine: Engine, parts: int) -> Any:
    """Return the method that makes a step in so many parts."""
    own = engine.base
    if engine.compiled.rows is None:
        return Rescued(own.stages, own.settings, parts)
    return RescuedConstrained(own.stages, own.settings, parts, own.closed, own.events)


def held_forces(engine: Engine, forces: Forces, k: int, at: int) -> Array:
    """Joint forces (1, nv) of step k, its start being the node; (0, nv) if there are none."""
    if forces.control is not None:
        force: Array = forces.control(k * engine.dt, engine.state.q.copy(), engine.state.v.copy())
        return force[None]
    return row(forces.tau, at)


def _add_ground(engine: Engine, first: int, end: int, out: Record, every: int, origin: int) -> None:
    """Add the energy of what is fixed to the ground to that of the nodes that these steps have left in the record."""
    ground = engine.compiled.ground_energy
    if ground:
        for values, spacing in ((out.energy, every), (out.looks, LOOK)):
            values[first // spacing - origin // spacing : end // spacing - origin // spacing] += ground


def row(forces: Array, at: int) -> Array:
    """Forces (R, ...) of one step: (1, ...) or (0, ...)."""
    return forces[at : at + 1] if len(forces) > 1 else forces
