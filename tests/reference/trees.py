"""Random trees of every joint kind, random states, and hypothesis strategies that shrink to small trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from leastaction.model import (
    Ball,
    Body,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Inertia,
    Joint,
    Model,
    Planar,
    Prismatic,
    Revolute,
    Universal,
)
from leastaction.reference.lie import Array, quat_exp
from leastaction.reference.links import increment

KINDS: tuple[type[Joint], ...] = (Revolute, Prismatic, Helical, Ball, Free, Fixed, Universal, Cylindrical, Planar)
OTHERS = tuple(kind for kind in KINDS if kind is not Cylindrical)  # for bounds that are of certain random trees
MASSLESS = Inertia(0.0)
Rng = np.random.Generator


def random_quaternion(rng: Rng, angle: float = 1.2) -> Array:
    """Unit quaternion (4,) of a rotation by at most `angle`, rad, about a random axis."""
    axis = rng.normal(size=3)
    return quat_exp(rng.uniform(0, angle) * axis / np.linalg.norm(axis))


def random_inertia(rng: Rng) -> Inertia:
    """A full inertia, positive definite and obeying the triangle inequality: that of a cloud of points."""
    points = rng.normal(size=(6, 3)) * rng.uniform(0.1, 0.3, size=3)
    points -= points.mean(axis=0)
    spread = points.T @ points / len(points)
    mass = rng.uniform(0.5, 2.0)
    matrix = mass * (np.trace(spread) * np.eye(3) - spread)
    return Inertia(mass, com=rng.uniform(-0.3, 0.3, size=3), matrix=matrix)


def random_coordinates(rng: Rng, joint: Joint) -> Array:
    """Coordinates (nq,) of a joint, a rotation at most 1.2 rad from neutral."""
    q = rng.uniform(-1, 1, size=joint.nq)
    if isinstance(joint, Ball | Free):
        q[-4:] = random_quaternion(rng)
    return q


def random_joint(rng: Rng, kind: type[Joint], passive: bool) -> Joint:
    """A joint of the given kind with random axes, and random spring, damping and armature when `passive`."""
    axis, other = rng.normal(size=3), rng.normal(size=3)
    geometry: dict[str, object] = {}
    if kind in (Revolute, Prismatic, Helical, Cylindrical):
        geometry["axis"] = axis
    if kind is Helical:
        geometry["pitch"] = rng.uniform(-0.3, 0.3)
    if kind in (Universal, Planar):
        geometry |= {"axis1": axis, "axis2": other if kind is Universal else np.cross(axis, other)}
    bare = kind(**geometry)
    if not passive or kind is Fixed:
        return bare
    size = bare.nv if bare.per_dof and rng.random() < 0.5 else None
    damping, stiffness = rng.uniform(0, 0.5, size), rng.uniform(0, 5, size)
    if kind is Ball and axis[0] > 0:  # bending and torsion apart
        stiffness, geometry["axis"] = (stiffness, 5 * axis[0]), other
    return kind(**geometry, damping=damping, stiffness=stiffness,
                armature=rng.uniform(0, 0.2, size), rest=random_coordinates(rng, bare))


def random_model(rng: Rng, n: int, kinds: Sequence[type[Joint]] = KINDS, passive: bool = True,
                 gravity: bool = True, several_roots: bool = True, reach: int = 4) -> Model:
    """A random tree of n bodies, at least one able to move, half the time added in a shuffled order; a parent comes at
    most `reach` bodies before its child."""
    model = Model(gravity=rng.normal(size=3) * 5 if gravity else (0, 0, 0))
    chosen = [kinds[k] for k in rng.integers(len(kinds), size=n)]
    movable = [kind for kind in kinds if kind is not Fixed]
    if movable and all(kind is Fixed for kind in chosen):
        chosen[-1] = movable[rng.integers(len(movable))]
    bodies: list[Body] = []
    for i, kind in enumerate(chosen):
        is_root = i == 0 or (several_roots and rng.random() < 0.2)
        massless = kind is Fixed and rng.random() < 0.3
        bodies.append(Body(f"body{i}", None if is_root else f"body{rng.integers(max(0, i - reach), i)}",
                           random_joint(rng, kind, passive), rng.uniform(-0.5, 0.5, size=3),
                           random_quaternion(rng), MASSLESS if massless else random_inertia(rng)))
    for i in rng.permutation(n) if rng.random() < 0.5 else range(n):
        b = bodies[i]
        model.add_body(b.name, b.parent, b.joint, b.position, b.quaternion, b.inertia)
    return model


def random_state(rng: Rng, model: Model) -> tuple[Array, Array]:
    """Configuration q (nq,) and velocity v (nv,) of order one, rad, m and s."""
    q = [random_coordinates(rng, body.joint) for body in model.bodies]
    return np.concatenate([np.zeros(0), *q]), rng.uniform(-1, 1, size=model.nv)


def random_triplet(rng: Rng, model: Model, h: float) -> tuple[Array, Array, Array]:
    """Configurations q_prev, q and q_next (nq,) a time h apart, s, of a system that moves and speeds up."""
    q, v = random_state(rng, model)
    a = rng.uniform(-5, 5, size=model.nv)
    return (increment(model, q, -h * v + h**2 / 2 * a), q, increment(model, q, h * v + h**2 / 2 * a))


@st.composite
def models(draw: st.DrawFn, max_n: int = 8, kinds: Sequence[type[Joint]] = KINDS, passive: bool = True,
           gravity: bool = True) -> tuple[Model, Rng]:
    """A random model of 1 to `max_n` bodies and a generator to draw its states from."""
    n = draw(st.integers(1, max_n))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random_model(rng, n, kinds, passive, gravity), rng
