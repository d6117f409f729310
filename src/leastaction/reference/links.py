"""A model as a list of links, parents first: each is one joint and the frame {i} that the joint moves.

A joint of several parts (universal, planar) is a chain through massless links. A body on a fixed joint is a link
without degrees of freedom, whose inertia is added to that of its parent: together they are one rigid body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leastaction.model import Inertia, Model, Part

from .joints import JOINTS, Joint
from .lie import ORIGIN, Ad, Array, hat, inverse, pose, rotation


@dataclass(frozen=True)
class Link:
    """One link.

    Attributes
    ----------
    parent : λ(i), index of the parent link; −1 for the ground
    body : index of the model's body whose frame this is; −1 within a joint of several parts
    placement : (4, 4) frame of the joint in the frame of the parent, m
    joint : the joint that moves the link
    G : (6, 6) spatial inertia about the link's origin in its axes, kg m², kg m, kg; equation (7)
    iq, iv : where the joint's numbers are in q and v
    """

    parent: int
    body: int
    placement: Array
    joint: Joint
    G: Array
    iq: slice
    iv: slice

    @property
    def S(self) -> Array:
        """S_i (6, n_i): the twist of the link, in its frame, per unit of the joint's rates."""
        return self.joint.S

    @property
    def centre(self) -> Array:
        """(3,) centre of mass in the link's frame, m; its origin for a link without mass."""
        mass = self.G[5, 5]
        return np.array([self.G[2, 4], self.G[0, 5], self.G[1, 3]]) / mass if mass else ORIGIN

    def pose(self, q: Array) -> Array:
        """T_{λ(i),i} (4, 4) at the configuration q (nq,) of the whole model; equation (18)."""
        return self.placement @ self.joint.pose(q[self.iq])


def links_of(model: Model) -> list[Link]:
    """List the links of a model, parents first; its loops are left out."""
    links: list[Link] = []
    last = dict.fromkeys(range(-1, model.nb), -1)  # link of every body and, at −1, of the ground
    for b in model.order():
        body, parent = model.bodies[b], last[int(model.parents[b])]
        placement = pose(rotation(body.quaternion), body.position)
        iq, iv = (int(start[b]) for start in (model.layout.q_start, model.layout.v_start))
        parts: Sequence[Part | None] = body.joint.parts() or [None]
        for k, part in enumerate(parts):
            is_body = k == len(parts) - 1
            nq, nv = (part.nq, part.nv) if part else (0, 0)
            links.append(Link(parent, b if is_body else -1, placement, JOINTS[part.kind](part) if part else Joint(),
                              np.zeros((6, 6)), slice(iq, iq + nq), slice(iv, iv + nv)))
            parent, placement, iq, iv = len(links) - 1, np.eye(4), iq + nq, iv + nv
        last[b] = parent
        carrier, X = links[parent], np.eye(6)  # X takes twists of the carrier to the body's frame
        while not carrier.S.size and carrier.parent >= 0:
            X, carrier = X @ Ad(inverse(carrier.placement)), links[carrier.parent]
        carrier.G[:] += X.T @ spatial_inertia(body.inertia) @ X
    return links


def spatial_inertia(inertia: Inertia) -> Array:
    """G (6, 6) about the body's origin in body axes, kg m², kg m and kg; equation (7) with any centre of mass."""
    m, C = inertia.mass, hat(inertia.com)
    return np.block([[inertia.matrix - m * C @ C, m * C], [-m * C, m * np.eye(3)]])


def increment(model: Model, q: ArrayLike, delta: ArrayLike) -> Array:
    """Return q ⊕ δ (nq,), reached from q (nq,) by the increment δ (nv,), body axes, rad and m."""
    q, delta = np.asarray(q), np.asarray(delta)
    moved = np.array(q, dtype=np.result_type(q, delta, float))
    for link in links_of(model):
        moved[link.iq] = link.joint.move(q[link.iq], delta[link.iv])
    return moved


def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> Array:
    """Return q1 ⊖ q0 (nv,), the increment, body axes, rad and m, that takes q0 to q1 (nq,)."""
    q0, q1 = np.asarray(q0), np.asarray(q1)
    delta = np.zeros(model.nv, dtype=np.result_type(q0, q1, float))
    for link in links_of(model):
        delta[link.iv] = link.joint.difference(q0[link.iq], q1[link.iq])
    return delta
