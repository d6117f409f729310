"""Whether anything moves: a run that stays at an equilibrium says nothing about the method that made it."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from leastaction.trajectory import Trajectory

MOTIONLESS = 1e-24  # of the kinetic energy that free fall over the run and springs could give: 1e-12 of the speed


def at_rest(run: "Trajectory") -> bool:
    """Tell whether nothing moves in a run but by round-off.

    The peak kinetic energy is compared with that of all bodies after free fall for the whole time, and with the energy
    of all springs when displaced by one unit (rad, m). Round-off at an equilibrium gives some 1e-34 of it, for many
    links, too.
    """
    model, time = run.model, run.steps * run.dt
    falling = 0.5 * model.total_mass * float(np.sum(np.square(model.gravity))) * time**2
    parts = [part for body in model.bodies for part in body.joint.parts()]
    springs = sum(0.5 * (part.stiffness + max(part.torsion, 0.0)) for part in parts)
    return run.steps > 0 and run.peak_kinetic_energy <= MOTIONLESS * (falling + springs)
