"""One step of the library against the paper's root finders on the same tree.

The library steps from (q, p); the paper from two configurations. They are the same map when p is the discrete momentum
with which the first interval arrives.
"""

import numpy as np
import pytest
from compiled import JIT
from hypothesis import given, settings

import leastaction as la
from leastaction import reference
from leastaction.reference import difference
from reference import action
from reference.trees import models, random_model, random_triplet

H = 0.01
PAPER = la.Variational(retraction="exp")
few = settings(max_examples=12 if JIT else 3)


def arriving_momentum(model, q_prev, q, h, retraction="exp"):
    """p = D₂L_d + f⁺ of the interval that ends in q."""
    return action.momenta(model, q_prev, q, h, retraction)[1] + action.half_impulses(model, q_prev, q, h)[1]


@few
@given(models(max_n=5))
def test_step_is_the_root_of_the_papers_equation(drawn):
    model, rng = drawn
    q_prev, q, _ = random_triplet(rng, model, H)
    exact, _ = reference.find_root(model, reference.end_of_step(model, q_prev, q, H), H)
    q_next, p_next = la.variational_step(model, q, arriving_momentum(model, q_prev, q, H), H, PAPER)
    np.testing.assert_allclose(difference(model, exact, q_next), 0, atol=1e-10)
    p_exact = arriving_momentum(model, q, exact, H)
    np.testing.assert_allclose(p_next, p_exact, rtol=0, atol=1e-9 * np.abs(p_exact).max())


def test_same_root_as_the_papers_riqn():
    rng = np.random.default_rng(5)
    model = random_model(rng, 5)
    q_prev, q, _ = random_triplet(rng, model, H)
    exact, _ = reference.find_root(model, reference.end_of_step(model, q_prev, q, H), H, root_finder="riqn")
    q_next, _ = la.variational_step(model, q, arriving_momentum(model, q_prev, q, H), H, PAPER)
    np.testing.assert_allclose(difference(model, exact, q_next), 0, atol=1e-10)


@pytest.mark.parametrize("tol", [1e-12, la.peers.Absolute(1e-12)], ids=["scaled", "absolute"])
@pytest.mark.parametrize("retraction", ["split", "exp"])
@pytest.mark.parametrize("guess", ["current", "euler", "dynamics", "extrapolated"])
def test_residual_of_the_step_is_at_round_off(tol, guess, retraction):
    rng = np.random.default_rng(9)
    model = random_model(rng, 4)
    q_prev, q, _ = random_triplet(rng, model, H)
    p = arriving_momentum(model, q_prev, q, H, retraction)
    integrator = la.Variational(root_finder=la.RIQN(tol=tol), guess=guess, retraction=retraction)
    q_next, _ = la.variational_step(model, q, p, H, integrator)
    left = la.discrete_residual(model, q_prev, q, q_next, H, retraction=retraction)
    assert np.abs(left).max() < 1e-12 * np.abs(p).max()
