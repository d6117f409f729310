"""SciPy's DOP853 on our forward dynamics, as an oracle for ours: y = (q, v), quaternions as four plain numbers.

The method does not know that their norm is one: it is restored where the dynamics are asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import leastaction as la
from leastaction.model import Free


def unit(model: la.Model, q: np.ndarray) -> np.ndarray:
    """Configurations (..., nq) with their quaternions normalised."""
    q = q.copy()
    for at in model.layout.quaternions:
        q[..., at : at + 4] /= np.linalg.norm(q[..., at : at + 4], axis=-1, keepdims=True)
    return q


def rate(model: la.Model, y: np.ndarray, force: Any = None) -> np.ndarray:
    """ẏ: q̇ is v, of quaternions ½ q ⊗ ω, of the position of a free body R v."""
    y = np.asarray(y, dtype=float)
    q, v = unit(model, y[: model.nq]), y[model.nq :]
    change = np.empty(model.nq)
    for body, i, k in zip(model.bodies, model.layout.q_start, model.layout.v_start, strict=False):
        joint = body.joint
        if joint.nq == joint.nv:
            change[i : i + joint.nq] = v[k : k + joint.nv]
            continue
        at = i + 3 if isinstance(joint, Free) else i
        w, a, u = v[k : k + 3], y[at], y[at + 1 : at + 4]
        change[at], change[at + 1 : at + 4] = -0.5 * (u @ w), 0.5 * (a * w + np.cross(u, w))
        if isinstance(joint, Free):
            s, n, move = q[at], q[at + 1 : at + 4], v[k + 3 : k + 6]
            turned = 2.0 * np.cross(n, move)
            change[i : i + 3] = move + s * turned + np.cross(n, turned)
    return np.concatenate([change, la.forward_dynamics(model, q, v, force)])


def dop853(model: la.Model, t: Any, tol: float, force: Any = None) -> tuple[np.ndarray, np.ndarray, int]:
    """Configurations (N, nq) and velocities (N, nv) at times t, from the model's own start, and the evaluations."""
    start = np.concatenate([model.q0, model.v0])
    found = solve_ivp(lambda _, y: rate(model, y, force), (t[0], t[-1]), start, method="DOP853", rtol=tol, atol=tol,
                      t_eval=t)
    return unit(model, found.y[: model.nq].T), found.y[model.nq :].T, found.nfev
