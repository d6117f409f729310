"""The curves beside the picture: the energy error, and both halves of the total momentum."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from leastaction.analysis.symmetry import root_bodies
from leastaction.model import Free
from leastaction.viewers.outline import GROUND, carriers

if TYPE_CHECKING:
    from leastaction.trajectory import Trajectory

Array = np.ndarray

FLAT = 1e-3  # % of the peak kinetic energy: an energy error below this is drawn as a level line
STILL = 1e-6  # part of the greatest momentum possible: the same for momenta
POINTS = 600  # of a curve in a page, about two for every pixel
POSED = 1000  # nodes at which the centre of mass is computed from the poses


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves that share a pair of axes.

    Attributes
    ----------
    title, unit : plain text
    curves : values (N,) at the kept nodes, by their labels; one curve alone has an empty label
    least : the vertical axis reaches from -least to least, or further
    """

    title: str
    unit: str
    curves: dict[str, Array]
    least: float


def panels(traj: "Trajectory", radius: float) -> list[Panel]:
    """Choose what to draw beside a run.

    The angular momentum is about the world's origin if the model hangs on the ground. If it floats, it is about the
    centre of mass, as gravity does not change that one.

    Parameters
    ----------
    traj : the run
    radius : of the model, m
    """
    floats = all(isinstance(traj.model.bodies[i].joint, Free) for i in root_bodies(traj.model))
    angular = about_centre(traj) if floats else traj.momentum[:, :3]
    greatest = float(np.sqrt(2.0 * traj.model.total_mass * traj.peak_kinetic_energy))
    greatest = greatest if 0 < greatest < np.inf else 1.0
    title = "energy change" if traj.judgement.reason or traj.loses_energy else "energy error"
    return [
        Panel(title, "% of peak kinetic energy", {"": 100.0 * traj.energy_error}, FLAT),
        Panel("angular momentum", f"{'about COM, ' if floats else ''}kg m²/s", _along_axes(angular),
              STILL * greatest * radius),
        Panel("linear momentum", "kg m/s", _along_axes(traj.momentum[:, 3:]), STILL * greatest),
    ]


def about_centre(traj: "Trajectory") -> Array:
    """Return the angular momentum (N, 3) about the centre of mass at the kept nodes, world axes, kg m²/s."""
    linear = traj.momentum[:, 3:]
    return traj.momentum[:, :3] - np.cross(_centres(traj), linear)


def _centres(traj: "Trajectory") -> Array:
    """Centre of mass (N, 3) at the kept nodes, m: from the poses at some, between them from the linear momentum."""
    inertias = [body.inertia for body in traj.model.bodies]
    moves = np.array(carriers(traj.model)) != GROUND
    masses = moves * np.array([inertia.mass for inertia in inertias])
    local = np.array([inertia.com for inertia in inertias])
    some = np.unique(np.linspace(0, len(traj) - 1, POSED).astype(int))
    poses = traj.poses(steps=some)
    centres = np.einsum("fbij,bj->fbi", poses[..., :3, :3], local) + poses[..., :3, 3]
    known = np.einsum("b,fbi->fi", masses, centres) / masses.sum()
    velocity = traj.momentum[:, 3:] / masses.sum()
    travelled = np.zeros_like(velocity)
    travelled[1:] = np.cumsum(0.5 * np.diff(traj.t)[:, None] * (velocity[1:] + velocity[:-1]), axis=0)
    missed = known - travelled[some]
    place: Array = travelled + np.stack([np.interp(traj.t, traj.t[some], column) for column in missed.T], axis=1)
    return place


def _along_axes(vectors: Array) -> dict[str, Array]:
    return dict(zip("xyz", vectors.T, strict=True))
