"""What is examined, compared or shown: a finished run, or a model that is simulated for it."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leastaction.model import Model
from leastaction.simulation.single import simulate
from leastaction.trajectory import Trajectory

Array = np.ndarray


def run_of(subject: Model | Trajectory, q: ArrayLike | None, v: ArrayLike | None, **options: Any) -> Trajectory:
    """Return a trajectory as it is, or that of a model simulated from q (nq,) and v (nv,) with these options."""
    if isinstance(subject, Model):
        return simulate(subject, q, v, **options)
    _refuse_state(q, v)
    return subject


def start_of(subject: Model | Trajectory, q: ArrayLike | None, v: ArrayLike | None) -> tuple[Model, Array, Array]:
    """Return the model and the state to start from, q (nq,) and v (nv,): as given, or those of a trajectory."""
    if isinstance(subject, Model):
        return subject, *subject.check_state(q, v)
    _refuse_state(q, v)
    return subject.model, subject.q[0].copy(), subject.v[0].copy()


def _refuse_state(q: ArrayLike | None, v: ArrayLike | None) -> None:
    if q is not None or v is not None:
        raise ValueError("q and v are the initial state of a model, but a trajectory was given, which has its own: "
                         "leave them out, or give its model instead")
