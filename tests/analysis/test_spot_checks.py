"""The spot checks tell a symplectic, reversible step from one that is not."""

import numpy as np
import pytest

import leastaction as la
from leastaction.analysis.spot_checks import at_rest_in_the_world, irreversibility, symplecticity
from reference.trees import random_model, random_state

GOOD = [la.Variational(), la.Variational(order=4), la.Variational(retraction="exp"),
        la.Variational(root_finder=la.RIQN())]
BAD = [la.SemiImplicitEuler(), la.RungeKutta4()]


def state(seed):
    """A random tree of every joint, moving fast."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, 6, passive=False)
    q, v = random_state(rng, model)
    return model, q, la.mass_matrix(model, q) @ (5 * v)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("integrator", GOOD, ids=str)
def test_variational_steps_pass(integrator, seed):
    model, q, p = state(seed)
    assert symplecticity(model, integrator, q, p, 5e-3).defect < 1e-9
    assert irreversibility(model, integrator, q, p, 5e-3).defect < 1e-9


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("integrator", BAD, ids=lambda i: type(i).__name__)
def test_others_do_not(integrator, seed):
    model, q, p = state(seed)
    assert symplecticity(model, integrator, q, p, 2e-2).defect > 1e-7
    assert irreversibility(model, integrator, q, p, 2e-2).defect > 1e-7


def test_a_loose_solver_shows():
    model, q, p = state(0)
    loose = la.Variational(root_finder=la.RIQN(tol=1e-4))
    assert irreversibility(model, loose, q, p, 5e-3).defect > 1e-8


def test_a_body_far_away_and_fast_is_examined_as_if_it_were_near():
    model = la.library.ragdoll()
    run = la.simulate(model, dt=1e-3, duration=20.0, record_every=1000)
    q, p = at_rest_in_the_world(model, run.q[-1], run.v[-1])
    near = [check(model, run.integrator, q, p, 1e-3) for check in (symplecticity, irreversibility)]
    assert all(spot.passed and spot.defect < 1e-10 for spot in near)
    assert np.abs(run.q[-1]).max() > 1000 and np.abs(q).max() < 10
