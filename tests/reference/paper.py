"""Algorithms 1 to 4 of Lee, Liu, Park and Srinivasa (WAFR 2016), transcribed line by line in body frames.

To be read beside the paper: names are the paper's, comments give the line. `T[i]` is T_{lambda(i),i}^k, a
function of q^k (the text says k+1, an erratum). DRNEA also runs on complex arrays. Where the paper is silent,
springs, damping and armature of the joints enter the joint impulse Q, and gravity the external impulse.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from leastaction.model import Model

from .joint_impulse import joint_impulse, joint_impulse_derivative
from .lie import Ad, Array, dlog, dlog_derivative, exp, hat, inverse, log
from .links import Link, increment, joint_pose, links_of, subspace


def newton(model: Model, q_prev: ArrayLike, q: ArrayLike, h: float, *, tau: ArrayLike | None = None,
           wrench: ArrayLike | None = None, guess: ArrayLike | None = None, epsilon: float = 1e-11,
           max_iteration: int = 20) -> tuple[Array, int]:
    """Algorithm 1: the next configuration (nq,) and the updates it took; arguments as for `drnea`."""
    q_next = np.array(q if guess is None else guess, dtype=float)  # Alg. 1, line 1, by default IG1
    for iteration in range(max_iteration):  # Alg. 1, lines 2 and 6
        f = drnea(model, q_prev, q, q_next, h, tau, wrench)  # Alg. 1, line 3
        if np.linalg.norm(f) < epsilon:  # Alg. 1, line 4 (the norm is of f alone, not of "f < epsilon")
            return q_next, iteration
        J = drnea_derivative(model, q_prev, q, q_next, h)
        q_next = increment(model, q_next, -np.linalg.solve(J, f))  # Alg. 1, line 5
    raise RuntimeError(f"no convergence in {max_iteration} Newton iterations")


def drnea(model: Model, q_prev: ArrayLike, q: ArrayLike, q_next: ArrayLike, h: float,
          tau: ArrayLike | None = None, wrench: ArrayLike | None = None) -> Array:
    """Algorithm 2: the residual impulse f(q^{k+1}) = -(D2 L_d + D1 L_d) - forcing of a step h, s.

    The printed D1 L_d and D2 L_d have the wrong sign, so that "+ F = 0" contradicts this recursion, which is
    right. dlog is exact: with its series cut short, f would be the derivative of no action.

    Parameters
    ----------
    q_prev, q, q_next : (nq,) configurations at k-1, k and k+1, rad and m, may be complex
    tau : (nv,) joint forces held over both steps, body-frame components, N m and N
    wrench : (nb, 6) moment and force about each body's origin in its frame, held likewise, N m and N

    Returns
    -------
    f : (nv,) residual, body-frame components, N m s and N s
    """
    q_prev, q, q_next = np.asarray(q_prev), np.asarray(q), np.asarray(q_next)
    links, kind = links_of(model), np.result_type(q_prev, q, q_next, float)
    n = len(links)
    T = [joint_pose(link, q) for link in links]
    V_prev = [log(dT_i) / h for dT_i in displacements(links, q_prev, q)]
    V = [log(dT_i) / h for dT_i in displacements(links, q, q_next)]  # Alg. 2, line 4
    F_ext = external_impulses(model, links, T, h, wrench)
    F, f = np.zeros((n, 6), dtype=kind), np.zeros(model.nv, dtype=kind)
    for i in reversed(range(n)):  # Alg. 2, line 6
        link, G = links[i], links[i].G
        mu_prev = dlog(h * V_prev[i]).T @ G @ V_prev[i]
        mu = dlog(h * V[i]).T @ G @ V[i]  # Alg. 2, line 7
        F[i] += mu - Ad(exp(h * V_prev[i])).T @ mu_prev - F_ext[i]  # Alg. 2, line 8, but the sum
        Q = joint_impulse(link, q_prev, q, q_next, h)
        if tau is not None:
            Q = Q + h * np.asarray(tau)[link.iv]
        f[link.iv] = subspace(link).T @ F[i] - Q  # Alg. 2, line 9
        if link.parent >= 0:
            F[link.parent] += Ad(inverse(T[i])).T @ F[i]  # Alg. 2, line 8, the sum, child by child
    return f


def displacements(links: list[Link], q: Array, q_next: Array) -> list[Array]:
    """Displacement (4, 4) of every link over the step from q to q_next (nq,), in its frame at q."""
    dT: list[Array] = []
    for link in links:  # Alg. 2, line 1
        T_next = joint_pose(link, q_next)  # Alg. 2, line 2
        dT_parent = dT[link.parent] if link.parent >= 0 else np.eye(4)
        dT.append(inverse(joint_pose(link, q)) @ dT_parent @ T_next)  # Alg. 2, line 3
    return dT


def external_impulses(model: Model, links: list[Link], T: list[Array], h: float,
                      wrench: ArrayLike | None) -> list[Array]:
    """F_i^{ext,k} (6,) of every link; Alg. 2 has no potential, so gravity enters here, h times its wrench."""
    world: list[Array] = []
    impulses = []
    for i, link in enumerate(links):
        world.append(world[link.parent] @ T[i] if link.parent >= 0 else T[i])
        fall = np.concatenate([np.zeros(3), world[i][:3, :3].T @ np.asarray(model.gravity)])
        impulse = h * link.G @ fall
        if wrench is not None and link.body >= 0:
            impulse = impulse + h * np.asarray(wrench)[link.body]
        impulses.append(impulse)
    return impulses


def riqn(model: Model, q_prev: ArrayLike, q: ArrayLike, h: float, *, tau: ArrayLike | None = None,
         wrench: ArrayLike | None = None, guess: ArrayLike | None = None, epsilon: float = 1e-11,
         max_iteration: int = 100) -> tuple[Array, int]:
    """Algorithm 3: the next configuration (nq,) and the updates it took; arguments as for `drnea`."""
    q_next = np.array(q if guess is None else guess, dtype=float)  # Alg. 3, line 1, by default IG1
    for iteration in range(max_iteration):  # Alg. 3, lines 2 and 7
        e = drnea(model, q_prev, q, q_next, h, tau, wrench)  # Alg. 3, line 3
        if np.linalg.norm(e) < epsilon:  # Alg. 3, line 4
            return q_next, iteration
        step = h * abi(model, q, e)  # Alg. 3, line 5; M(q^k) does not change with the iteration
        q_next = increment(model, q_next, -step)  # Alg. 3, line 6
    raise RuntimeError(f"no convergence in {max_iteration} RIQN iterations")


def abi(model: Model, q: ArrayLike, e: ArrayLike) -> Array:
    """M(q)^-1 e (nv,) by articulated-body inertias, at zero velocity, for a generalised impulse e (nv,)."""
    q, e = np.asarray(q, dtype=float), np.asarray(e, dtype=float)
    links = links_of(model)
    X = [Ad(inverse(joint_pose(link, q))) for link in links]
    A, b = [link.G.copy() for link in links], [np.zeros(6) for _ in links]
    D, u = [np.zeros((0, 0)) for _ in links], [np.zeros(0) for _ in links]
    for i, link in reversed(list(enumerate(links))):
        S = subspace(link)
        armature = 0.0 if link.part is None else link.part.armature
        D[i] = S.T @ A[i] @ S + armature * np.eye(S.shape[1])
        u[i] = e[link.iv] - S.T @ b[i]
        if link.parent >= 0:
            U = A[i] @ S
            A[link.parent] += X[i].T @ (A[i] - U @ np.linalg.solve(D[i], U.T)) @ X[i]
            b[link.parent] += X[i].T @ (b[i] + U @ np.linalg.solve(D[i], u[i]))
    a: list[Array] = []
    rates = np.zeros(model.nv)
    for i, link in enumerate(links):
        S = subspace(link)
        a_i = X[i] @ a[link.parent] if link.parent >= 0 else np.zeros(6)
        rates[link.iv] = np.linalg.solve(D[i], u[i] - S.T @ A[i] @ a_i)
        a.append(a_i + S @ rates[link.iv])
    return rates


def drnea_derivative(model: Model, q_prev: ArrayLike, q: ArrayLike, q_next: ArrayLike, h: float) -> Array:
    """Algorithm 4 (appendix): d f / d q^{k+1} (nv, nv) in body-frame increments; arguments as for `drnea`."""
    q_prev, q, q_next = np.asarray(q_prev), np.asarray(q), np.asarray(q_next)
    links = links_of(model)
    n = len(links)
    T, dT = [joint_pose(link, q) for link in links], displacements(links, q, q_next)
    V = [log(dT_i) / h for dT_i in dT]
    J = np.zeros((model.nv, model.nv), dtype=np.result_type(q_prev, q, q_next, float))
    for j in range(model.nv):  # Alg. 4, line 1
        ddT, dV = [np.zeros((4, 4))] * n, [np.zeros(6)] * n
        for i, link in enumerate(links):  # Alg. 4, line 2
            if link.parent >= 0:
                ddT[i] = inverse(T[i]) @ ddT[link.parent] @ joint_pose(link, q_next)  # Alg. 4, line 4
            if link.iv.start <= j < link.iv.stop:  # delta_ij
                S_j = subspace(link)[:, j - link.iv.start]
                ddT[i] = ddT[i] + dT[i] @ bracket(S_j)  # Alg. 4, line 3 inside line 4
            dV[i] = dlog(h * V[i]) @ unbracket(ddT[i] @ exp(-h * V[i])) / h  # Alg. 4, line 5
        dF = np.zeros((n, 6), dtype=J.dtype)
        for i in reversed(range(n)):  # Alg. 4, line 7
            link, x = links[i], h * V[i]
            dF[i] += dlog_derivative(x, h * dV[i]).T @ link.G @ V[i] + dlog(x).T @ link.G @ dV[i]  # line 8
            J[link.iv, j] = subspace(link).T @ dF[i]  # Alg. 4, line 10
            if link.iv.start <= j < link.iv.stop:
                J[link.iv, j] -= joint_impulse_derivative(link, q, q_next, h)[:, j - link.iv.start]
            if link.parent >= 0:
                dF[link.parent] += Ad(inverse(T[i])).T @ dF[i]  # Alg. 4, line 9; F_ext is a function of q^k
    return J


def bracket(V: Array) -> Array:
    """Twist V (6,) as a 4x4 matrix."""
    return np.block([[hat(V[:3]), V[3:, None]], [np.zeros((1, 4))]])


def unbracket(X: Array) -> Array:
    """Twist (6,) of a 4x4 matrix."""
    return np.array([X[2, 1], X[0, 2], X[1, 0], X[0, 3], X[1, 3], X[2, 3]])
