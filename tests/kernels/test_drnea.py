"""DRNEA and its derivative against the discrete action and against the paper's own algorithms, on random trees.

Errors are relative to the discrete momenta, whose difference the residual is.
"""

import numpy as np
import pytest
from compiled import JIT
from hypothesis import given, settings

import leastaction as la
from leastaction import reference
from reference import action
from reference.trees import KINDS, models, random_model, random_triplet

some = settings(max_examples=25 if JIT else 5)
MANY = 12 if JIT else 5


def momentum_scale(model, before, q, after, h):
    return np.abs(np.concatenate([*action.momenta(model, before, q, h), *action.momenta(model, q, after, h)])).max()


def check_residual(model, rng, h):
    triplet = random_triplet(rng, model, h)
    tau = rng.normal(size=model.nv)
    # 1e-12 at a step of 10 ms; the references divide the round-off of poses by h
    allowed = 1e-14 / abs(h) * momentum_scale(model, *triplet, h)
    for retraction in ("split", "exp"):
        f = la.discrete_residual(model, *triplet, h, tau, retraction)
        expected = action.residual(model, *triplet, h, tau, retraction=retraction)
        np.testing.assert_allclose(f, expected, rtol=0, atol=allowed)
        state = reference.end_of_step(model, *triplet[:2], h, tau, retraction=retraction)
        by_reference = reference.drnea(model, state, triplet[2], h, tau, retraction=retraction)
        np.testing.assert_allclose(f, by_reference, rtol=0, atol=allowed)


def check_jacobian(model, rng, h):
    """Against complex steps through the reference's DRNEA."""
    before, q, after = random_triplet(rng, model, h)
    for retraction in ("exp", "split"):
        exact = action.jacobian(model, before, q, after, h, retraction)
        J = la.discrete_jacobian(model, before, q, after, h, retraction)
        np.testing.assert_allclose(J, exact, rtol=0, atol=1e-12 * np.abs(exact).max())


@some
@given(models(max_n=6))
def test_residual_is_minus_the_derivative_of_the_action(drawn):
    check_residual(*drawn, 0.01)


@some
@given(models(max_n=6))
def test_jacobian_is_the_derivative_of_the_residual(drawn):
    check_jacobian(*drawn, 0.01)


@pytest.mark.parametrize("h", [0.3, 1e-4, -0.02])
@pytest.mark.parametrize("kind", KINDS)
def test_every_joint_kind_at_large_small_and_negative_steps(kind, h):
    """At h = 0.3 bodies turn by more than the polynomials cover, so the closed forms serve."""
    rng = np.random.default_rng(4)
    model = random_model(rng, 3, kinds=(kind, la.Revolute), passive=abs(h) < 0.1)   # damping that the step resolves
    check_residual(model, rng, h)
    check_jacobian(model, rng, h)


def test_all_joint_kinds_in_one_tree():
    rng = np.random.default_rng(6)
    model = random_model(rng, MANY)
    assert len({type(body.joint) for body in model.bodies}) >= min(MANY // 2, len(KINDS))
    check_residual(model, rng, 0.01)
    check_jacobian(model, rng, 0.01)


def test_residual_does_not_depend_on_the_sign_of_quaternions():
    rng = np.random.default_rng(7)
    model = random_model(rng, 3, kinds=(la.Ball, la.Free))
    before, q, after = random_triplet(rng, model, 0.01)
    f = la.discrete_residual(model, before, q, after, 0.01)
    turned = after.copy()
    for at in model.layout.quaternions:
        turned[at : at + 4] *= -1
    np.testing.assert_allclose(la.discrete_residual(model, before, q, turned, 0.01), f, rtol=0, atol=1e-14)
    assert np.abs(f).max() > 1e-4


def test_tau_enters_as_an_impulse_held_over_both_intervals():
    rng = np.random.default_rng(8)
    model = random_model(rng, 4)
    triplet, tau = random_triplet(rng, model, 0.01), rng.normal(size=model.nv)
    with_tau, without = (la.discrete_residual(model, *triplet, 0.01, force) for force in (tau, None))
    np.testing.assert_allclose(with_tau, without - 0.01 * tau, rtol=0, atol=1e-13)
