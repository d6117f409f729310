"""Algorithm 2, the discrete recursive Newton–Euler algorithm (DRNEA): how far q^{k+1} is from the next configuration.

The equation at t_k balances two steps. The one from q^{k−1} is over: `end_of_step` gives the momentum with which every
link arrives at t_k. The one to q^{k+1} is sought: `drnea` gives the momentum with which every link would have to leave,
less that with which it arrives. A motion may also begin with a velocity (`start`), of which the paper does not speak.
Algorithm 2 leaves out gravity: it belongs to the external impulse F^ext, half of which acts at either end of a step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from leastaction.model import Model

from .lie import Ad, Array, inverse
from .links import Link, difference, links_of
from .passive import joint_impulse
from .retractions import RETRACTIONS, chosen


class State(NamedTuple):
    """What a step begins with, at t_k.

    Attributes
    ----------
    q : (nq,) configuration q^k, rad, m, unit quaternions
    v : (nv,) velocity by which the next configuration is guessed, body axes, rad/s and m/s
    P : (n, 6) momentum with which each link arrives, link's frame, kg m²/s and kg m/s
    Q : (nv,) the same of the joints themselves (armature, spring, damper, joint force), body axes
    """

    q: Array
    v: Array
    P: Array
    Q: Array


def drnea(model: Model, state: State, q_next: ArrayLike, h: float, tau: ArrayLike | None = None,
          wrench: ArrayLike | None = None, retraction: str = "exp") -> Array:
    """Algorithm 2: the residual impulse f(q^{k+1}) (nv,) = −(D₂L_d + D₁L_d) − forcing, N m s and N s; equation (22).

    Parameters
    ----------
    state : what the step begins with, from `start`, `end_of_step` or `step`
    q_next : (nq,) q^{k+1}, rad, m, unit quaternions; may be complex
    h : Δt, s
    tau : (nv,) joint forces held over the step, body axes, N m and N
    wrench : (nb, 6) moment and force on each body about its origin in its frame, held likewise, N m and N
    retraction : "exp", the paper's, or "split", the default of the library
    """
    links, q, q_next = links_of(model), state.q, np.asarray(q_next)
    F_ext = h / 2 * external(model, links, q, wrench)  # the other half is in P
    Q = joint_impulses(model, links, q, q_next, h, tau)
    dT = displacements(links, q, q_next)  # Alg. 2, lines 1 to 3
    mu = np.array([momentum(link, dT_i, h, retraction) for link, dT_i in zip(links, dT, strict=True)])  # lines 4, 7
    return gather(links, q, mu - state.P - F_ext) - state.Q - Q  # lines 6, 8 and 9


def displacements(links: list[Link], q: Array, q_next: Array) -> list[Array]:
    """ΔT_i (4, 4) of every link over the step from q to q_next (nq,), in its frame at q; equation (19)."""
    dT: list[Array] = []
    for link in links:  # Alg. 2, line 1: root → leaves
        T, T_next = link.pose(q), link.pose(q_next)  # line 2; T_{λ,i}^k is a function of q^k, not of q^{k+1}
        dT_parent = dT[link.parent] if link.parent >= 0 else np.eye(4)
        dT.append(inverse(T) @ dT_parent @ T_next)  # line 3
    return dT


def momentum(link: Link, dT: Array, h: float, retraction: str) -> Array:
    """μ_i (6,) of a link that moves by dT (4, 4) in the time h, in its frame before; equations (10) and (21b)."""
    retract, c = chosen(RETRACTIONS, retraction, "retraction"), link.centre
    x = retract.inverse(dT, c)
    V = x / h  # Alg. 2, line 4
    return retract.dinverse(x, c).T @ link.G @ V  # line 7


def gather(links: list[Link], q: Array, F: Array) -> Array:
    """S_iᵀ F_i (nv,) of impulses F (n, 6) on the links, each with those that its children pass on; equation (21a)."""
    F = F.copy()
    f = np.zeros(sum(link.S.shape[1] for link in links), dtype=F.dtype)
    for i, link in reversed(list(enumerate(links))):  # Alg. 2, line 6: leaves → root
        f[link.iv] = link.S.T @ F[i]  # line 9
        if link.parent >= 0:
            F[link.parent] += Ad(inverse(link.pose(q))).T @ F[i]  # line 8, the sum over the children
    return f


def external(model: Model, links: list[Link], q: Array, wrench: ArrayLike | None) -> Array:
    """Wrench (n, 6) of gravity and of `wrench` on every link at q, link's frame, N m and N; F^ext is h times it."""
    forces, world = np.zeros((len(links), 6), np.result_type(q, float)), list[Array]()
    for i, link in enumerate(links):
        world.append((world[link.parent] if link.parent >= 0 else np.eye(4)) @ link.pose(q))
        fall = np.concatenate([np.zeros(3), world[i][:3, :3].T @ model.gravity])
        forces[i] = link.G @ fall
        if wrench is not None and link.body >= 0:
            forces[i] += np.asarray(wrench)[link.body]
    return forces


def joint_impulses(model: Model, links: list[Link], q: Array, other: Array, h: float, tau: ArrayLike | None) -> Array:
    """Half of Q (nv,), N m s and N s: its part at q, of the step from q to `other` in the time h."""
    Q = np.zeros(model.nv, np.result_type(q, other, float))
    for link in links:
        Q[link.iv] = joint_impulse(link.joint, q[link.iq], other[link.iq], h)
    return Q if tau is None else Q + h / 2 * np.asarray(tau)


def end_of_step(model: Model, q_prev: ArrayLike, q: ArrayLike, h: float, tau: ArrayLike | None = None,
                wrench: ArrayLike | None = None, retraction: str = "exp") -> State:
    """Return the state at the end of the step from q^{k−1} to q^k (nq,); other arguments as for `drnea`.

    P_i = [Ad_{exp(Δt V_i^{k−1})}]ᵀ μ_i^{k−1} + F_i^ext/2 of Alg. 2, line 8: the momentum of the step, in the link's new
    frame, and what gravity and wrenches add to it at its end.
    """
    links, q_prev, q = links_of(model), np.asarray(q_prev), np.asarray(q)
    F_ext = h / 2 * external(model, links, q, wrench)
    Q = -joint_impulses(model, links, q, q_prev, -h, tau)  # seen from its end, the step runs backwards
    dT = displacements(links, q_prev, q)
    mu = np.array([Ad(dT_i).T @ momentum(link, dT_i, h, retraction) for link, dT_i in zip(links, dT, strict=True)])
    return State(q, difference(model, q_prev, q) / h, mu + F_ext, Q)


def start(model: Model, q: ArrayLike | None = None, v: ArrayLike | None = None) -> State:
    """Return the state at the beginning of a motion from q (nq,) and v (nv,); q0 and v0 of the model unless given."""
    links, (q, v) = links_of(model), model.check_state(q, v)
    V, Q = np.zeros((len(links), 6)), np.zeros(model.nv)
    for i, link in enumerate(links):
        V[i] = link.S @ v[link.iv]  # errata of the paper: the parent's twist belongs to V_i
        if link.parent >= 0:
            V[i] += Ad(inverse(link.pose(q))) @ V[link.parent]
        Q[link.iv] = link.joint.armature * v[link.iv]
    return State(q, v, np.array([link.G @ V_i for link, V_i in zip(links, V, strict=True)]), Q)


def generalized_momentum(model: Model, state: State) -> Array:
    """Return p = M(q) q̇ (nv,) of a state, body axes, kg m²/s and kg m/s."""
    return gather(links_of(model), state.q, state.P) + state.Q
