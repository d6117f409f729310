"""Solves with a factored matrix of the tree, also transposed and of several right-hand sides, against dense solves."""

import numpy as np
import pytest
from compiled import JIT
from hypothesis import given, settings

import leastaction as la
from leastaction.compiled import compile_model
from leastaction.discrete import RETRACTIONS
from leastaction.kernels import queries
from leastaction.kernels.layout import Way
from leastaction.kernels.machine.memory import room_for
from reference.trees import KINDS, models, random_model, random_triplet

some = settings(max_examples=15 if JIT else 3)
TRANSPOSED = pytest.mark.parametrize("transposed", [None, True], ids=["plain", "transposed"])
H = 0.02


def room_of(c):
    return np.zeros(room_for(c.tree.n, c.nv))


def check_jacobian(model, rng, transposed, count, h=H, retraction="split"):
    before, q, after = random_triplet(rng, model, h)
    c, rows = compile_model(model), rng.normal(size=(count, model.nv))
    J = la.discrete_jacobian(model, before, q, after, h, retraction)
    expected = np.linalg.solve(J.T if transposed else J, rows.T).T
    way = Way(q, after, h, RETRACTIONS[retraction])
    queries.solve_discrete_jacobian(c.system, c.workspace(), way, rows, room_of(c), transposed)
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@TRANSPOSED
@some
@given(drawn=models(max_n=8))
def test_jacobian_of_random_trees(transposed, drawn):
    model, rng = drawn
    check_jacobian(model, rng, transposed, 3)


@TRANSPOSED
@pytest.mark.parametrize("kind", KINDS)
def test_every_joint_with_springs_and_damping_at_a_long_step(kind, transposed):
    rng = np.random.default_rng(3)
    check_jacobian(random_model(rng, 4, kinds=(kind, la.Revolute)), rng, transposed, 2, 0.3)


@TRANSPOSED
@pytest.mark.parametrize("count", [1, 4, 5, 11])
def test_any_number_of_right_hand_sides(count, transposed):
    """They go four at a time: the last four may be fewer."""
    rng = np.random.default_rng(count)
    check_jacobian(random_model(rng, 6), rng, transposed, count)


def test_transposed_and_plain_differ():
    """Else a test of the transposed solve could not fail."""
    rng = np.random.default_rng(1)
    model = random_model(rng, 6)
    J = la.discrete_jacobian(model, *random_triplet(rng, model, 0.3), 0.3)
    assert np.abs(J - J.T).max() > 0.01 * np.abs(J).max()


@some
@given(drawn=models(max_n=8))
def test_mass_matrix_of_random_trees(drawn):
    model, rng = drawn
    _, q, _ = random_triplet(rng, model, H)
    c, rows = compile_model(model), rng.normal(size=(5, model.nv))
    expected = np.linalg.solve(la.mass_matrix(model, q), rows.T).T
    queries.solve_mass(c.system.tree, c.workspace(), q, rows, room_of(c))
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
