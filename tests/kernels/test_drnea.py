"""DRNEA and its derivative against the discrete action and against the paper's own algorithms, on random trees.

Errors are relative to the discrete momenta, whose difference the residual is.
"""

import numpy as np
import pytest
from compiled import JIT
from hypothesis import given, settings

import leastaction as la
from reference import action, paper
from reference.links import increment
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
    np.testing.assert_allclose(f, paper.drnea(model, *triplet, h, tau), rtol=0, atol=allowed)


def check_jacobian(model, rng, h, split=True):
    """Against complex steps through the paper's DRNEA, and for split, which takes longer, differences of the action."""
    before, q, after = random_triplet(rng, model, h)
    exact = action.jacobian(model, before, q, after, h)
    J = la.discrete_jacobian(model, before, q, after, h, "exp")
    np.testing.assert_allclose(J, exact, rtol=0, atol=1e-12 * np.abs(exact).max())
    if not (JIT and split):
        return
    J, steps = la.discrete_jacobian(model, before, q, after, h, "split"), 1e-4 * np.eye(model.nv)
    ends = [[action.residual(model, before, q, increment(model, after, sign * step), h, retraction="split")
             for sign in (2, 1, -1, -2)] for step in steps]
    differences = [(8 * (b - c) - (a - d)) / 12e-4 for a, b, c, d in ends]
    np.testing.assert_allclose(J, np.array(differences).reshape(-1, model.nv).T, rtol=0,
                               atol=1e-9 / min(abs(h), 0.1) * np.abs(exact).max(initial=0.0))


@some
@given(models(max_n=6))
def test_residual_is_minus_the_derivative_of_the_action(drawn):
    check_residual(*drawn, 0.01)


@some
@given(models(max_n=6))
def test_jacobian_is_the_derivative_of_the_residual(drawn):
    check_jacobian(*drawn, 0.01, split=False)


@pytest.mark.parametrize("h", [0.3, 1e-4, -0.02])
@pytest.mark.parametrize("kind", KINDS)
def test_every_joint_kind_at_large_small_and_negative_steps(kind, h):
    """At h = 0.3 bodies turn by more than the polynomials cover, so the closed forms serve."""
    rng = np.random.default_rng(4)
    model = random_model(rng, 3, kinds=(kind, la.Revolute))
    check_residual(model, rng, h)
    check_jacobian(model, rng, h, split=h > 0.1)


def test_all_joint_kinds_in_one_tree():
    rng = np.random.default_rng(6)
    model = random_model(rng, MANY)
    assert len({type(body.joint) for body in model.bodies}) >= min(MANY // 2, len(KINDS))
    check_residual(model, rng, 0.01)
    check_jacobian(model, rng, 0.01, split=False)


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
