"""The sweep with rows against dense solves: random trees, all joints and kinds of rows, both orders of elimination."""

from itertools import islice

import numpy as np
import pytest
from systems import dense, random_system

import leastaction as la
from leastaction.discrete import RETRACTIONS
from leastaction.kernels.constraints import solve
from leastaction.kernels.constraints.closed import python_row
from leastaction.kernels.constraints.rows import COUPLE, DIST, DOT, POS
from leastaction.kernels.layout import BALL, FREE, SCREW, Way
from reference.trees import random_model, random_triplet

H = 0.01
SYSTEMS = 110


def systems():
    for seed in range(SYSTEMS):
        rng = np.random.default_rng(seed)
        model = random_model(rng, int(rng.integers(2, 10)))
        _, q, q_next = random_triplet(rng, model, H)
        found = random_system(rng, model, q)
        if found is not None:
            yield rng, found, q, q_next


def miss(found, expected):
    return max(np.abs(a - b).max() / np.abs(b).max() for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("early", [False, True], ids=["ancestors", "early"])
def test_random_systems(early):
    """Both matrices, ≥ 100 systems."""
    count, went_early, kinds, joints = 0, 0, set(), set()
    for rng, system, q, q_next in systems():
        model, c, plan = system.model, system.c, system.plan(q, early)
        A0, A1 = system.values(q)[3], system.values(q_next)[3]
        b, d = rng.normal(size=model.nv), rng.normal(size=system.m)
        x, y = b.copy(), d.copy()
        solve.solve_mass(c.system.tree, c.workspace(), q, plan.closed(system.rows), x, y)
        assert miss((x, y), dense(la.mass_matrix(model, q), A0, A0, b, d)) < 1e-9
        x, y = b.copy(), d.copy()
        solve.solve_jacobian(c.system, c.workspace(), Way(q, q_next, H, RETRACTIONS["split"]),
                             plan.closed(system.rows), x, y)
        J = la.discrete_jacobian(model, q, q, q_next, H)
        assert miss((x, y), dense(J, A0, A1, b, d)) < 1e-9
        count, went_early = count + 1, went_early + plan.early
        kinds |= set(system.rows.kind.tolist())
        joints |= set(c.tree.kind.tolist())
    assert count >= 100
    assert kinds == {POS, DOT, DIST, COUPLE}
    assert joints == {SCREW, BALL, FREE}
    assert went_early == 0 if not early else went_early > 10


@pytest.mark.parametrize("early", [False, True], ids=["ancestors", "early"])
def test_rows_that_are_switched_off_do_not_act(early):
    """As if they were not there; their multipliers are zero."""
    for rng, system, q, _ in islice(systems(), 25):
        model, c, plan = system.model, system.c, system.plan(q, early)
        on = rng.random(system.m) < 0.6
        closed = plan.closed(system.rows)
        for r in np.flatnonzero(~on):
            python_row(closed, r).active = 0.0
        A, b, d = system.values(q)[3], rng.normal(size=model.nv), rng.normal(size=system.m)
        d[~on] = 0.0
        x, y = b.copy(), d.copy()
        solve.solve_mass(c.system.tree, c.workspace(), q, closed, x, y)
        expected, multipliers = dense(la.mass_matrix(model, q), A[on], A[on], b, d[on])
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
        np.testing.assert_allclose(y[on], multipliers, rtol=0, atol=1e-9 * np.abs(multipliers).max(initial=1.0))
        assert (y[~on] == 0).all()
