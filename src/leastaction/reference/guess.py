"""Where the search for q^{k+1} begins (paper, section 3.3), and the equations of motion of which IG3 makes use."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from leastaction.model import Model

from .drnea import external, gather
from .drnea_derivative import mass_system
from .lie import Ad, Array, ad, inverse
from .links import increment, links_of
from .passive import joint_force
from .sweep import factor, solve


def initial_guess(model: Model, q: ArrayLike, v: ArrayLike, h: float, guess: str = "IG3",
                  tau: ArrayLike | None = None, wrench: ArrayLike | None = None) -> Array:
    """q^{k+1}_(0) (nq,) from q^k (nq,) and q̇^k (nv,), which the paper takes as (q^k − q^{k−1})/Δt."""
    if guess == "IG1":  # stay
        return np.array(q, dtype=float)
    if guess == "IG2":  # explicit Euler
        return increment(model, q, h * np.asarray(v))
    if guess == "IG3":  # semi-implicit Euler
        return increment(model, q, h * (np.asarray(v) + h * acceleration(model, q, v, tau, wrench)))
    raise ValueError(f"guess must be 'IG1', 'IG2' or 'IG3', not {guess!r}")


def acceleration(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None,
                 wrench: ArrayLike | None = None) -> Array:
    """q̈ = M⁻¹(Q − C q̇) (nv,), the rate of v, body axes, rad/s² and m/s²; equation (23)."""
    system = mass_system(model, q)
    return solve(system, factor(system, symmetric=True), -rnea(model, q, v, tau, wrench))


def rnea(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None,
         wrench: ArrayLike | None = None) -> Array:
    """C q̇ − Q (nv,), N m and N: the recursive Newton–Euler algorithm, of which DRNEA is the discrete sibling."""
    links, q, v = links_of(model), np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    V, a, F = np.zeros((3, len(links), 6))
    force = np.zeros(model.nv) if tau is None else np.array(tau, dtype=float)
    for i, link in enumerate(links):  # root → leaves
        own = link.S @ v[link.iv]
        if link.parent >= 0:
            X = Ad(inverse(link.pose(q)))
            V[i], a[i] = X @ V[link.parent], X @ a[link.parent]
        V[i] += own
        a[i] += ad(V[i]) @ own
        F[i] = link.G @ a[i] - ad(V[i]).T @ link.G @ V[i]
        force[link.iv] += joint_force(link.joint, q[link.iq], v[link.iv])
    return gather(links, q, F - external(model, links, q, wrench)) - force  # leaves → root
