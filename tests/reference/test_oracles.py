"""Pinocchio, MuJoCo and the plain references agree with each other on random models."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from leastaction.model import (
    Ball,
    Fixed,
    Free,
    Helical,
    Inertia,
    Model,
    Planar,
    Prismatic,
    Revolute,
    Universal,
)
from leastaction.reference import lie
from leastaction.reference.links import increment, links_of

from . import action
from .dense import body_jacobians, mass_matrix
from .trees import models, random_model, random_state

pytest.importorskip("mujoco")
pytest.importorskip("pinocchio")
from .mujoco_model import MujocoModel
from .pinocchio_model import PinocchioModel

IN_MUJOCO = (Revolute, Prismatic, Ball, Fixed, Universal, Planar)
few = settings(max_examples=15, deadline=None)


def check_against_references(oracle, model, rng, carried_by_ground):
    """An oracle against products of poses, and identities between energy, momentum and Jacobian."""
    q, v = random_state(rng, model)
    T = action.poses(model, q)
    np.testing.assert_allclose(oracle.poses(q), T, atol=1e-13)
    np.testing.assert_allclose(oracle.mass_matrix(q), mass_matrix(model, q), atol=1e-12)
    links = links_of(model)
    momentum = np.zeros(6)
    for link, J in zip(links, body_jacobians(links, q, model.nv), strict=True):
        if link.body >= 0:
            np.testing.assert_allclose(oracle.jacobian(q, link.body), J, atol=1e-13)
            momentum += lie.Ad(lie.inverse(T[link.body])).T @ link.G @ J @ v
    np.testing.assert_allclose(oracle.momentum(q, v), momentum, atol=1e-12)
    np.testing.assert_allclose(oracle.kinetic_energy(q, v), v @ mass_matrix(model, q) @ v / 2, rtol=1e-12)
    if not carried_by_ground:
        energy = action.gravitational_energy(model, q)
        np.testing.assert_allclose(oracle.gravitational_energy(q), energy, atol=1e-12)
    # power balance: v' tau = d(T + P)/dt along a motion of rate a
    a, h = rng.normal(size=model.nv), 1e-4

    def total(t):
        moved = increment(model, q, t * v + t**2 / 2 * a)
        rate = v + t * a
        return oracle.kinetic_energy(moved, rate) + oracle.gravitational_energy(moved)

    power = v @ oracle.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(power, (total(h) - total(-h)) / (2 * h), atol=1e-5 * (1 + abs(power)))


def ground_carries_mass(model):
    """Whether a body is welded to the ground, directly or through others."""
    welded = {None}
    for _ in model.bodies:
        welded |= {b.name for b in model.bodies if isinstance(b.joint, Fixed) and b.parent in welded}
    return len(welded) > 1


@few
@given(models(max_n=8))
def test_pinocchio(drawn):
    model, rng = drawn
    check_against_references(PinocchioModel(model), model, rng, ground_carries_mass(model))


@few
@given(models(max_n=8, kinds=IN_MUJOCO))
def test_mujoco(drawn):
    model, rng = drawn
    check_against_references(MujocoModel(model), model, rng, False)


def with_free_roots(rng, n):
    """A random tree hung on two free bodies."""
    model = random_model(rng, n, kinds=IN_MUJOCO, several_roots=False)
    bodies = list(model.bodies)
    hung = Model(gravity=model.gravity)
    for name in ("base", "other"):
        hung.add_body(name, joint=Free(armature=0.1), position=rng.normal(size=3),
                      quaternion=lie.quat_exp(rng.normal(size=3)),
                      inertia=Inertia(2.0, com=rng.normal(size=3), matrix=np.diag([1.0, 2.0, 2.5])))
    for body in bodies:
        hung.add_body(body.name, parent=body.parent or "base", joint=body.joint, position=body.position,
                      quaternion=body.quaternion, inertia=body.inertia)
    return hung


@pytest.mark.parametrize("seed", range(4))
def test_pinocchio_and_mujoco_agree(seed):
    rng = np.random.default_rng(seed)
    model = with_free_roots(rng, 6)
    ours, theirs = PinocchioModel(model), MujocoModel(model)
    check_against_references(theirs, model, rng, False)
    q, v = random_state(rng, model)
    a = rng.normal(size=model.nv)
    tau = ours.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(theirs.inverse_dynamics(q, v, a), tau, rtol=0, atol=1e-13 * np.abs(tau).max())
    np.testing.assert_allclose(ours.mass_matrix(q), theirs.mass_matrix(q), atol=1e-12)
    np.testing.assert_allclose(ours.momentum(q, v), theirs.momentum(q, v), atol=1e-12)
    for oracle, there, back in ((ours, ours.to_pinocchio, ours.from_pinocchio),
                                (theirs, theirs.to_mujoco, theirs.from_mujoco)):
        for got, given_ in zip(back(*there(q, v)), (q, v), strict=True):
            np.testing.assert_allclose(got, given_, atol=1e-14, err_msg=type(oracle).__name__)


def test_mujoco_says_what_it_cannot_do():
    inertia = Inertia(1.0, matrix=np.eye(3))
    helix = Model()
    helix.add_body("screw", joint=Helical(axis=(0, 0, 1), pitch=0.1), inertia=inertia)
    with pytest.raises(NotImplementedError, match="helical"):
        MujocoModel(helix)
    nested = Model()
    nested.add_body("base", joint=Ball(), inertia=inertia)
    nested.add_body("floating", parent="base", joint=Free(), inertia=inertia)
    with pytest.raises(NotImplementedError, match="free"):
        MujocoModel(nested)


@few
@given(models(max_n=5))
def test_inverse_dynamics_is_the_limit_of_the_discrete_residual(drawn):
    """With armature, free joints below bodies included: the only check of these that knows no formula for them."""
    model, rng = drawn
    bare = Model(gravity=model.gravity)
    for b in model.bodies:
        joint = replace(b.joint, stiffness=0.0, damping=0.0)
        bare.add_body(b.name, b.parent, joint, b.position, b.quaternion, b.inertia)
    q, v = random_state(rng, bare)
    a, h = rng.normal(size=bare.nv), 1e-3
    before, after = (increment(bare, q, s * h * v + h**2 / 2 * a) for s in (-1, 1))
    tau = PinocchioModel(bare).inverse_dynamics(q, v, a)
    scale = 1 + np.abs(tau).max()
    np.testing.assert_allclose(action.residual(bare, before, q, after, h) / h, tau, rtol=0, atol=1e-5 * scale)
