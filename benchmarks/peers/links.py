"""A Model as every peer can take it: bodies that move, each on one elementary joint, depth first."""

from dataclasses import dataclass

import numpy as np

import leastaction as la
from benchmarks.peers.engine import UnsupportedError
from leastaction.model import Part, merge_fixed
from leastaction.model.arrays import product, rotated, rotation_matrix

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Link:
    """One elementary joint and what it moves.

    Parameters
    ----------
    name : of its body, and a number where a joint has several parts
    parent : index of the parent link, -1 for the ground
    position : (3,) of the joint's frame in the parent link's, m
    quaternion : (4,) of the same
    part : the elementary joint
    mass : kg; zero inside a joint of several parts
    com : (3,) centre of mass, own frame, m
    inertia : (3, 3) about the centre of mass, own axes, kg m²
    q, v : where the joint is in the model's q and v
    """

    name: str
    parent: int
    position: Array
    quaternion: Array
    part: Part
    mass: float
    com: Array
    inertia: Array
    q: slice
    v: slice

    @property
    def rotation(self) -> Array:
        """(3, 3) axes of the joint's frame in the parent link's."""
        return rotation_matrix(self.quaternion)


def _depth_first(parents: list[int]) -> list[int]:
    """Order bodies so that every subtree is in one piece, as Pinocchio and MuJoCo number theirs."""
    children: dict[int, list[int]] = {}
    for b, parent in enumerate(parents):
        children.setdefault(parent, []).append(b)
    order, stack = [], children.get(-1, [])[::-1]
    while stack:
        order.append(stack.pop())
        stack += children.get(order[-1], [])[::-1]
    return order


def links(model: la.Model) -> list[Link]:
    """List the links of a model; fixed joints are gone, and joints of several parts have become chains."""
    merged, parents, made = merge_fixed(model), model.parents.tolist(), []
    link_of = {-1: -1}  # by index of the body that carries it
    for b in _depth_first(parents):
        if merged.carrier[b] != b:
            continue
        body, above = model.bodies[b], parents[b]
        position, quaternion, on = body.position, body.quaternion, -1
        if above >= 0:
            position = merged.position[above] + np.array(rotated(merged.quaternion[above], position))
            quaternion = np.array(product(merged.quaternion[above], quaternion))
            on = link_of[int(merged.carrier[above])]
        at_q, at_v = model.layout.q_slice(b).start, model.layout.v_slice(b).start
        parts = body.joint.parts()
        for k, part in enumerate(parts):
            if part.damping or part.stiffness or part.armature:
                raise UnsupportedError(f"body '{body.name}' has damping, a spring or armature: use `frictionless`")
            last = k == len(parts) - 1
            mass = float(merged.mass[b]) if last else 0.0
            made.append(Link(
                body.name if last else f"{body.name}.{k}", on, position, quaternion, part, mass,
                merged.first_moment[b] / mass if mass else np.zeros(3),
                merged.inertia_com[b] if last else np.zeros((3, 3)),
                slice(at_q, at_q + part.nq), slice(at_v, at_v + part.nv),
            ))
            on, at_q, at_v = len(made) - 1, at_q + part.nq, at_v + part.nv
            position, quaternion = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        link_of[b] = on
    return made
