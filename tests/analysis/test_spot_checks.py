"""The spot checks tell a symplectic, reversible step from one that is not."""

import numpy as np
import pytest

import leastaction as la
from leastaction.analysis.spot_checks import irreversibility, symplecticity
from reference.trees import random_model, random_state

GOOD = [la.Variational(), la.Variational(order=4), la.Variational(retraction="cayley"),
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
    assert symplecticity(model, integrator, q, p, 5e-3) < 1e-9
    assert irreversibility(model, integrator, q, p, 5e-3) < 1e-9


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("integrator", BAD, ids=lambda i: type(i).__name__)
def test_others_do_not(integrator, seed):
    model, q, p = state(seed)
    assert symplecticity(model, integrator, q, p, 2e-2) > 1e-7
    assert irreversibility(model, integrator, q, p, 2e-2) > 1e-7


def test_a_loose_solver_shows():
    model, q, p = state(0)
    loose = la.Variational(root_finder=la.RIQN(tol=1e-4))
    assert irreversibility(model, loose, q, p, 5e-3) > 1e-8
