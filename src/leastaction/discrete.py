"""The discrete Euler–Lagrange equation of a model, evaluated at configurations that are given."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from leastaction.arguments import finite, shown
from leastaction.compiled import compile_model
from leastaction.dynamics import vector, within_range
from leastaction.kernels import queries
from leastaction.kernels.layout import Way
from leastaction.kernels.stiffness import EXP, SPLIT
from leastaction.model import Model

Array = np.ndarray
RETRACTIONS = {"split": SPLIT, "exp": EXP}


def discrete_residual(
    model: Model,
    q_prev: ArrayLike,
    q: ArrayLike,
    q_next: ArrayLike,
    dt: float,
    tau: ArrayLike | None = None,
    retraction: str = "split",
) -> Array:
    """Evaluate the paper's f(q^{k+1}) = −(D₂L_d + D₁L_d) − forcing, by DRNEA.

    Parameters
    ----------
    q_prev, q, q_next : (nq,) three successive configurations, rad, m, unit quaternions
    dt : time step, s; not zero
    tau : (nv,) joint forces held over both intervals, N m and N; zeros if None
    retraction : "split", or "exp", the paper's

    Returns
    -------
    (nv,) residual impulse at q, body axes for ball and free joints, N m s and N s
    """
    c = compile_model(model)
    a, b, d = (model.check_state(x, None)[0] for x in (q_prev, q, q_next))
    f = np.zeros(model.nv)
    queries.discrete_residual(
        c.system, c.workspace(), a, Way(b, d, _time_step(dt), _retraction(retraction)), vector(model, tau, "tau"), f
    )
    return within_range(f, "the residual")


def discrete_jacobian(
    model: Model, q_prev: ArrayLike, q: ArrayLike, q_next: ArrayLike, dt: float, retraction: str = "split"
) -> Array:
    """Evaluate ∂f/∂q^{k+1} of the discrete residual; it does not depend on q_prev.

    Parameters
    ----------
    q_prev, q, q_next : (nq,) three successive configurations, rad, m, unit quaternions
    dt : time step, s; not zero
    retraction : "split", or "exp", the paper's

    Returns
    -------
    (nv, nv) rows as the residual, columns body-axis increments of q_next, N m s/rad and N s/m
    """
    c = compile_model(model)
    _, b, d = (model.check_state(x, None)[0] for x in (q_prev, q, q_next))
    J = np.zeros((model.nv, model.nv))
    queries.discrete_jacobian(
        c.system, c.workspace(), Way(b, d, _time_step(dt), _retraction(retraction)), np.zeros(model.nv), J
    )
    return within_range(J, "the Jacobian")


def _time_step(dt: float) -> float:
    number = finite(dt)
    if not number:
        raise ValueError(f"dt must be a number other than zero, not {shown(dt)}")
    return number


def _retraction(name: str) -> int:
    if not isinstance(name, str) or name not in RETRACTIONS:
        raise ValueError(f"retraction must be one of {', '.join(map(repr, RETRACTIONS))}, not {shown(name)}")
    return RETRACTIONS[name]
