"""The transcription of the paper against the action itself, and against its own identities."""

import numpy as np
import pytest
from hypothesis import given, settings

from leastaction.model import Ball, Free, Inertia, Model, Planar, Revolute, Universal

from . import action, lie, paper
from .links import difference, increment, mass_matrix
from .trees import KINDS, models, random_model, random_state, random_triplet

H = 0.01
few = settings(max_examples=12, deadline=None)


@few
@given(models(max_n=5))
def test_drnea_is_the_derivative_of_the_action(drawn):
    model, rng = drawn
    triplet = random_triplet(rng, model, H)
    tau, wrench = rng.normal(size=model.nv), rng.normal(size=(len(model.bodies), 6))
    f = paper.drnea(model, *triplet, H, tau, wrench)
    np.testing.assert_allclose(f, action.residual(model, *triplet, H, tau, wrench), atol=1e-11)
    assert np.abs(f).max() > 1e-4


@few
@given(models(max_n=5))
def test_derivative_of_drnea(drawn):
    model, rng = drawn
    triplet = random_triplet(rng, model, H)
    J = action.jacobian(model, *triplet, H)
    np.testing.assert_allclose(paper.drnea_derivative(model, *triplet, H), J, atol=1e-11 * np.abs(J).max())


@pytest.mark.parametrize("kind", KINDS)
def test_jacobian_by_differences_of_the_action(kind):
    rng = np.random.default_rng(3)
    model = random_model(rng, 2, kinds=(kind, Revolute))
    q_prev, q, q_next = random_triplet(rng, model, H)
    step = 1e-5 * np.eye(model.nv)
    columns = [(action.residual(model, q_prev, q, increment(model, q_next, s), H)
                - action.residual(model, q_prev, q, increment(model, q_next, -s), H)) / 2e-5 for s in step]
    J = action.jacobian(model, q_prev, q, q_next, H)
    np.testing.assert_allclose(np.transpose(columns), J, atol=1e-7 * np.abs(J).max())


def test_newton_and_riqn_find_the_same_root():
    rng = np.random.default_rng(5)
    model = random_model(rng, 6)
    q_prev, q, _ = random_triplet(rng, model, H)
    tau = rng.normal(size=model.nv)
    by_newton, few_updates = paper.newton(model, q_prev, q, H, tau=tau)
    by_riqn, more_updates = paper.riqn(model, q_prev, q, H, tau=tau)
    np.testing.assert_allclose(difference(model, by_newton, by_riqn), 0, atol=1e-11)
    np.testing.assert_allclose(action.residual(model, q_prev, q, by_newton, H, tau), 0, atol=1e-10)
    assert 1 < few_updates < more_updates


@few
@given(models(max_n=6))
def test_abi_inverts_the_mass_matrix(drawn):
    model, rng = drawn
    q, e = random_state(rng, model)
    np.testing.assert_allclose(mass_matrix(model, q) @ paper.abi(model, q, e), e, atol=1e-10)


@few
@given(models(max_n=4))
def test_discrete_momentum_tends_to_mass_times_velocity(drawn):
    model, rng = drawn
    q, v = random_state(rng, model)
    h = 1e-5
    before, after = action.momenta(model, increment(model, q, -h / 2 * v), increment(model, q, h / 2 * v), h)
    np.testing.assert_allclose((before + after) / 2, mass_matrix(model, q) @ v, atol=1e-6)


@few
@given(models(max_n=5))
def test_increment_and_difference(drawn):
    model, rng = drawn
    q, v = random_state(rng, model)
    np.testing.assert_allclose(difference(model, q, increment(model, q, v)), v, atol=1e-13)


def test_compound_joints_are_what_the_conventions_say():
    a1, a2, q = np.array([1.0, 2.0, 2.0]) / 3, np.array([2.0, -2.0, 1.0]) / 3, np.array([0.3, -0.4, 0.7])
    inertia = Inertia(1.0, matrix=np.eye(3))

    def turn(axis, angle):
        return lie.pose(lie.rotation(lie.quat_exp(axis * angle)), np.zeros(3))

    universal = Model()
    universal.add_body("link", joint=Universal(axis1=a1, axis2=a2), inertia=inertia)
    np.testing.assert_allclose(action.poses(universal, q[:2])[0], turn(a1, q[0]) @ turn(a2, q[1]), atol=1e-15)
    planar = Model()
    planar.add_body("link", joint=Planar(axis1=a1, axis2=a2), inertia=inertia)
    expected = lie.pose(np.eye(3), a1 * q[0] + a2 * q[1]) @ turn(np.cross(a1, a2), q[2])
    np.testing.assert_allclose(action.poses(planar, q)[0], expected, atol=1e-15)


def test_free_floating_tree_keeps_its_spatial_momentum():
    rng = np.random.default_rng(8)
    model = random_model(rng, 1, kinds=(Free,), passive=False, gravity=False)
    root = model.bodies[0].name
    for k in range(3):
        model.add_body(f"limb{k}", parent=root, joint=Ball(), position=rng.normal(size=3),
                       inertia=Inertia(1.0, com=rng.normal(size=3), matrix=np.eye(3)))
    q_prev, q, _ = random_triplet(rng, model, H)
    totals = []
    for _ in range(4):
        q_next, _ = paper.newton(model, q_prev, q, H, epsilon=1e-12)
        whole = action.momenta(model, q, q_next, H)[0][:6]  # the root joint carries the whole tree's
        totals.append(lie.Ad(lie.inverse(action.poses(model, q)[0])).T @ whole)
        q_prev, q = q, q_next
    np.testing.assert_allclose(totals, totals[:1] * 4, atol=1e-11)
