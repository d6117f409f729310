"""Matrices of a whole tree, without a recursion for forces: Jacobians of the bodies, and sums over the links."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from leastaction.model import Model
from leastaction.reference.lie import Ad, Array, inverse
from leastaction.reference.links import Link, links_of
from leastaction.reference.sweep import System


def body_jacobians(links: list[Link], q: Array, nv: int) -> list[Array]:
    """Of every link at q (nq,): the matrix (6, nv) from v to the link's twist in its own frame."""
    jacobians: list[Array] = []
    for link in links:
        J = np.zeros((6, nv))
        if link.parent >= 0:
            J += Ad(inverse(link.pose(q))) @ jacobians[link.parent]
        J[:, link.iv] += link.S
        jacobians.append(J)
    return jacobians


def mass_matrix(model: Model, q: ArrayLike) -> Array:
    """Mass matrix (nv, nv) at q (nq,), armature included, SI units."""
    links, nv = links_of(model), model.nv
    M = np.zeros((nv, nv))
    for link, J in zip(links, body_jacobians(links, np.asarray(q, dtype=float), nv), strict=True):
        M += J.T @ link.G @ J
        M[link.iv, link.iv] += link.joint.armature * np.eye(link.S.shape[1])
    return M


def matrix(system: System, nv: int) -> Array:
    """The matrix (nv, nv) that a System describes: Σ (motion by S)ᵀ K (motion by S⁺) over the links, and E."""
    A, by_S, by_S_plus = np.zeros((nv, nv)), [], []
    for i, above in enumerate(system.parent):
        for moved, own in ((by_S, system.S[i]), (by_S_plus, system.S_plus[i])):
            J = system.X[i] @ moved[above] if above >= 0 else np.zeros((6, nv))
            J[:, system.iv[i]] += own
            moved.append(J)
        A += by_S[i].T @ system.K[i] @ by_S_plus[i]
        A[system.iv[i], system.iv[i]] += system.E[i]
    return A
