"""One recursion solves all linear systems of a tree in O(n): the articulated-body algorithm.

A `System` describes a matrix A (nv, nv) without writing it down. Given rates x (nv,), the links move by ζ, from root to
leaves, and answer with the impulses that the joints feel, from leaves to root:

    ζ_i = X_i ζ_λ(i) + S⁺_i x_i        F_i = K_i ζ_i + Σ_c X_cᵀ F_c        (A x)_i = S_iᵀ F_i + E_i x_i

- K = G, S⁺ = S, E = armature: A is the mass matrix, and the recursion is Featherstone's articulated-body algorithm
  (*Rigid Body Dynamics Algorithms*, chapter 7). It is symmetric. RIQN, Algorithm 3, needs no other.
- K_i = ∂μ_i/∂ζ_i, S⁺_i = Ad_{ΔT_i} S_i, E = −∂Q/∂q: A is the Jacobian of DRNEA, and the same recursion, unsymmetric,
  is Newton's method in O(n). It is not in the paper; docs/derivation.md derives it.

To solve A x = r, each joint in turn, from leaves to root, is eliminated. What the parent then feels of the subtree is
    Â_i = K_i + Σ_c X_cᵀ (Â_c − U_c D_c⁻¹ W_c) X_c,    U = Â S⁺,    W = Sᵀ Â,    D = Sᵀ Â S⁺ + E.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .lie import Array


class System(NamedTuple):
    """A matrix (nv, nv), link by link, parents first; everything is in the frame of the link at t_k.

    Attributes
    ----------
    parent : λ(i), −1 for the ground
    iv : where the joint's numbers are in x and r
    X : (6, 6) takes twists of the parent to the link's frame
    S : (6, n_i) motion subspace of the joint, on which impulses are projected
    S_plus : (6, n_i) motion of the link per unit of x_i
    K : (6, 6) impulse of the link per unit of its motion
    E : (n_i, n_i) what the joint itself adds
    """

    parent: list[int]
    iv: list[slice]
    X: list[Array]
    S: list[Array]
    S_plus: list[Array]
    K: list[Array]
    E: list[Array]


class Factors(NamedTuple):
    """U (6, n_i), W (n_i, 6) and D (n_i, n_i) of every link."""

    U: list[Array]
    W: list[Array]
    D: list[Array]


def factor(system: System, symmetric: bool = False) -> Factors:
    """Eliminate the joints, leaves → root; `symmetric` promises that K = Kᵀ, E = Eᵀ and S⁺ = S, so that W = Uᵀ."""
    parent, _, X, S, S_plus, K, E = system
    A = [K_i.copy() for K_i in K]
    U, W, D = list(S), list(S), list(E)
    for i in reversed(range(len(parent))):
        U[i] = A[i] @ S_plus[i]
        W[i] = U[i].T if symmetric else S[i].T @ A[i]
        D[i] = S[i].T @ U[i] + E[i]
        if parent[i] >= 0:
            A[parent[i]] += X[i].T @ (A[i] - U[i] @ np.linalg.solve(D[i], W[i])) @ X[i]
    return Factors(U, W, D)


def up(system: System, factors: Factors, r: Array) -> list[Array]:
    """Carry r (nv,) or (nv, m) from leaves to root: u_i (n_i,) or (n_i, m) is what joint i still has to balance."""
    parent, iv, X, S, *_ = system
    b = [np.zeros((6, *r.shape[1:])) for _ in parent]  # impulse that the link has to bear already
    u = [r[rows] for rows in iv]
    for i in reversed(range(len(parent))):
        u[i] = u[i] - S[i].T @ b[i]
        if parent[i] >= 0:
            b[parent[i]] += X[i].T @ (b[i] + factors.U[i] @ np.linalg.solve(factors.D[i], u[i]))
    return u


def down(system: System, factors: Factors, u: list[Array]) -> Array:
    """Find the unknowns x (nv,) or (nv, m) from root to leaves."""
    parent, iv, X, _, S_plus, *_ = system
    x = np.zeros((sum(len(u_i) for u_i in u), *u[0].shape[1:]))
    zeta: list[Array] = []
    for i, u_i in enumerate(u):
        carried = X[i] @ zeta[parent[i]] if parent[i] >= 0 else np.zeros((6, *u_i.shape[1:]))
        x[iv[i]] = np.linalg.solve(factors.D[i], u_i - factors.W[i] @ carried)
        zeta.append(carried + S_plus[i] @ x[iv[i]])
    return x


def solve(system: System, factors: Factors, r: Array, transposed: bool = False) -> Array:
    """Solve A x = r, or Aᵀ x = r, for one right-hand side (nv,) or several (nv, m) at once, in O(n m).

    Aᵀ is the system with S and S⁺ exchanged and K, E transposed; so its factors are those of A, exchanged too.
    """
    if transposed:
        S, S_plus = system.S_plus, system.S
        system = system._replace(S=S, S_plus=S_plus)
        U, W, D = ([M.T for M in part] for part in factors)
        factors = Factors(W, U, D)
    return down(system, factors, up(system, factors, r))
