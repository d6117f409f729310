"""Algorithm 4 (the paper's appendix), the derivative of DRNEA, and the same derivative link by link.

If a link is displaced on, ΔT_i ↦ exp(ζ_i) ΔT_i, its momentum changes by K_i ζ_i. Algorithm 4 follows this through the
tree for one column of the Jacobian after the other, in O(n²). `newton_system` leaves it where it is, in O(n): sweep.py
solves with it without ever forming the Jacobian.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from leastaction.model import Model

from .drnea import displacements
from .lie import Ad, Array, bracket, inverse, unbracket
from .links import Link, links_of
from .passive import joint_impulse_derivative
from .retractions import RETRACTIONS, chosen
from .sweep import System


def drnea_derivative(model: Model, q: ArrayLike, q_next: ArrayLike, h: float, retraction: str = "exp") -> Array:
    """Algorithm 4: J_f (nv, nv), the change of `drnea` per unit of increments of q_next (nq,), body axes.

    It depends on the step from q to q_next alone, not on what was before.
    """
    links, q, q_next = links_of(model), np.asarray(q), np.asarray(q_next)
    dT, J = displacements(links, q, q_next), np.zeros((model.nv, model.nv))
    for j in range(model.nv):  # Alg. 4, line 1
        ddT, dF = np.zeros((len(links), 4, 4)), np.zeros((len(links), 6))
        for i, link in enumerate(links):  # line 2: root → leaves
            if link.parent >= 0:
                ddT[i] = inverse(link.pose(q)) @ ddT[link.parent] @ link.pose(q_next)  # line 4
            if link.iv.start <= j < link.iv.stop:  # δ_ij = 1
                ddT[i] += dT[i] @ bracket(link.S[:, j - link.iv.start])  # line 3, inside of line 4
            zeta = unbracket(ddT[i] @ inverse(dT[i]))
            dF[i] = momentum_derivative(link, dT[i], zeta, h, retraction)  # lines 5 and 8
        for i, link in reversed(list(enumerate(links))):  # line 7: leaves → root
            J[link.iv, j] = link.S.T @ dF[i]  # line 10
            if link.iv.start <= j < link.iv.stop:
                dQ = joint_impulse_derivative(link.joint, q[link.iq], q_next[link.iq], h)
                J[link.iv, j] -= dQ[:, j - link.iv.start]
            if link.parent >= 0:
                dF[link.parent] += Ad(inverse(link.pose(q))).T @ dF[i]  # line 9; F_ext is a function of q^k
    return J


def momentum_derivative(link: Link, dT: Array, zeta: Array, h: float, retraction: str) -> Array:
    """Change (6,) of μ_i when the displacement dT (4, 4) of the link becomes exp(ζ) dT, to first order in ζ (6,)."""
    retract, c, G = chosen(RETRACTIONS, retraction, "retraction"), link.centre, link.G
    x = retract.inverse(dT, c)
    dx = retract.dinverse(x, c) @ zeta  # Alg. 4, line 5, times Δt
    return (retract.ddinverse(x, dx, c).T @ G @ x + retract.dinverse(x, c).T @ G @ dx) / h  # line 8


def mass_system(model: Model, q: ArrayLike) -> System:
    """Return the mass matrix M(q) link by link, for sweep.py."""
    links, q = links_of(model), np.asarray(q, dtype=float)
    return System(
        parent=[link.parent for link in links],
        iv=[link.iv for link in links],
        X=[Ad(inverse(link.pose(q))) for link in links],
        S=[link.S for link in links],
        S_plus=[link.S for link in links],
        K=[link.G for link in links],
        E=[link.joint.armature * np.eye(link.S.shape[1]) for link in links],
    )


def newton_system(model: Model, q: ArrayLike, q_next: ArrayLike, h: float, retraction: str = "exp") -> System:
    """Return J_f link by link, for sweep.py: an increment δ of joint i displaces its link by ζ_i = Ad_{ΔT_i} S_i δ."""
    links, q, q_next = links_of(model), np.asarray(q, dtype=float), np.asarray(q_next, dtype=float)
    moving = list(zip(links, displacements(links, q, q_next), strict=True))
    return mass_system(model, q)._replace(
        S_plus=[Ad(dT) @ link.S for link, dT in moving],
        K=[np.transpose([momentum_derivative(link, dT, zeta, h, retraction) for zeta in np.eye(6)])
           for link, dT in moving],
        E=[-joint_impulse_derivative(link.joint, q[link.iq], q_next[link.iq], h) for link in links],
    )
