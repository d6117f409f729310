"""Continuous dynamics against Pinocchio and MuJoCo on random trees, and the identities between the queries."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import leastaction as la
from leastaction.reference import links
from reference.trees import models, random_model, random_state

pytest.importorskip("mujoco")
pytest.importorskip("pinocchio")
from reference.mujoco_model import MujocoModel
from reference.pinocchio_model import PinocchioModel

IN_MUJOCO = (la.Revolute, la.Prismatic, la.Ball, la.Fixed, la.Universal, la.Planar)
some = settings(max_examples=40)


def close(got, expected, relative=1e-11):
    """Equal to a fraction of the largest entry."""
    expected = np.asarray(expected)
    assert np.shape(got) == expected.shape
    np.testing.assert_allclose(got, expected, rtol=0, atol=relative * max(np.abs(expected).max(initial=0), 1e-3))


def without_springs(model):
    """The same bodies with springs and dampers off, which the peers do not have."""
    bare = la.Model(gravity=model.gravity)
    for b in model.bodies:
        joint = replace(b.joint, stiffness=0.0, damping=0.0)
        bare.add_body(b.name, b.parent, joint, b.position, b.quaternion, b.inertia)
    return bare


def check_against(peer, model, rng):
    q, v = random_state(rng, model)
    a = rng.normal(size=model.nv)
    close(la.poses(model, q), peer.poses(q))
    for b, name in enumerate(model.names):
        close(la.jacobian(model, q, name), peer.jacobian(q, b))
    close(la.mass_matrix(model, q), peer.mass_matrix(q))
    close(la.inverse_dynamics(model, q, v, a), peer.inverse_dynamics(q, v, a))
    close(la.momentum(model, q, v), peer.momentum(q, v))
    close(la.kinetic_energy(model, q, v), peer.kinetic_energy(q, v))
    # potentials differ by what is fixed to the ground, so their difference is compared
    other, _ = random_state(rng, model)
    here, there = la.potential_energy(model, q), la.potential_energy(model, other)
    expected = peer.gravitational_energy(q) - peer.gravitational_energy(other)
    np.testing.assert_allclose(here - there, expected, rtol=0, atol=1e-11 * (abs(here) + abs(there) + 1e-3))
    close(la.energy(model, q, v), la.kinetic_energy(model, q, v) + la.potential_energy(model, q), 1e-14)


@some
@given(models(max_n=10))
def test_pinocchio_agrees(drawn):
    model, rng = without_springs(drawn[0]), drawn[1]
    check_against(PinocchioModel(model), model, rng)


@some
@given(models(max_n=10, kinds=IN_MUJOCO))
def test_mujoco_agrees(drawn):
    model, rng = without_springs(drawn[0]), drawn[1]
    check_against(MujocoModel(model), model, rng)


def with_free_root(rng):
    """A random tree on a free body with an armature; its joints have armatures, balls among them."""
    model = la.Model(gravity=(1.0, -2.0, -9.0))
    model.add_body("base", joint=la.Free(armature=0.3), position=(0.1, 0.2, 0.3), quaternion=(0.8, 0.0, 0.6, 0.0),
                   inertia=la.Inertia(2.0, (0.1, -0.2, 0.05), np.diag([1.0, 2.0, 2.5])))
    for b in random_model(rng, 6, kinds=(la.Ball, la.Revolute, la.Planar), several_roots=False).bodies:
        model.add_body(b.name, b.parent or "base", b.joint, b.position, b.quaternion, b.inertia)
    return model


@pytest.mark.parametrize("peer", [PinocchioModel, MujocoModel])
@pytest.mark.parametrize("seed", range(3))
def test_free_root_and_armatures(peer, seed):
    rng = np.random.default_rng(seed)
    model = without_springs(with_free_root(rng))
    assert sum(bool(b.joint.armature) for b in model.bodies) > 3
    check_against(peer(model), model, rng)


@some
@given(models(max_n=10))
def test_forward_dynamics_solves_the_equation_of_motion(drawn):
    """M a + b = τ + Σ Jᵀ w, springs and damping included, to 1e-10 of the largest term."""
    model, rng = drawn
    q, v = random_state(rng, model)
    tau, wrench = rng.normal(size=model.nv), rng.normal(size=(model.nb, 6))
    a = la.forward_dynamics(model, q, v, tau, wrench)
    M, bias = la.mass_matrix(model, q), la.inverse_dynamics(model, q, v, None)
    pushes = sum(la.jacobian(model, q, name).T @ w for name, w in zip(model.names, wrench, strict=True))
    largest = max(np.abs(term).max() for term in (M * a, bias, tau, pushes))
    np.testing.assert_allclose(M @ a + bias - tau - pushes, 0, atol=1e-10 * largest)
    np.testing.assert_allclose(la.inverse_dynamics(model, q, v, a), tau + pushes, rtol=0, atol=1e-10 * largest)


@some
@given(models(max_n=6))
def test_power_balance_with_springs_and_damping(drawn):
    """Without applied forces energy falls at the rate Σ c |v|² that the dampers take."""
    model, rng = drawn
    q, v = random_state(rng, model)
    a, h = la.forward_dynamics(model, q, v), 1e-4
    ends = [la.energy(model, la.increment(model, q, s * h * v + h**2 / 2 * a), v + s * h * a) for s in (1, -1)]
    taken = 0.0
    for link in links.links_of(model):
        taken += link.joint.damping * v[link.iv] @ v[link.iv]
    scale = abs(v) @ abs(la.mass_matrix(model, q)) @ abs(a) + 1
    np.testing.assert_allclose((ends[0] - ends[1]) / (2 * h), -taken, rtol=0, atol=1e-5 * scale)


@some
@given(models(max_n=6))
def test_increment_is_that_of_the_reference(drawn):
    model, rng = drawn
    q, v = random_state(rng, model)
    np.testing.assert_allclose(la.increment(model, q, v), links.increment(model, q, v), atol=1e-14)
    np.testing.assert_allclose(la.increment(model, q, np.zeros(model.nv)), q, atol=1e-15)


@some
@given(models(max_n=6))
def test_jacobian_is_the_rate_of_the_pose(drawn):
    model, rng = drawn
    q, v = random_state(rng, model)
    T, h = la.poses(model, q), 1e-6
    ahead, behind = (la.poses(model, la.increment(model, q, s * h * v)) for s in (1, -1))
    for b, name in enumerate(model.names):
        rate = np.linalg.inv(T[b]) @ (ahead[b] - behind[b]) / (2 * h)
        twist = [rate[2, 1], rate[0, 2], rate[1, 0], *rate[:3, 3]]
        np.testing.assert_allclose(la.jacobian(model, q, name) @ v, twist, atol=1e-7)


def test_defaults_are_the_initial_state():
    model = la.library.ragdoll()
    assert la.energy(model) == la.energy(model, model.q0, model.v0)
    np.testing.assert_array_equal(la.mass_matrix(model), la.mass_matrix(model, model.q0))
