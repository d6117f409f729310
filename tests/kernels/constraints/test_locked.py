"""Locked joints beside rows, against dense solves of what may still move: both matrices, both orders of elimination."""

import numpy as np
import pytest
from systems import random_system

import leastaction as la
from leastaction.discrete import RETRACTIONS
from leastaction.kernels.constraints import solve
from leastaction.kernels.layout import SCREW, Way
from leastaction.kernels.machine.memory import python_link
from reference.trees import random_model, random_triplet

H = 0.01
SYSTEMS = 60


def locked_systems(least):
    """Random systems with some of their SCREW joints locked, and how many joints may be."""
    for seed in range(SYSTEMS):
        rng = np.random.default_rng(1000 + seed)
        model = random_model(rng, int(rng.integers(3, 10)))
        _, q, q_next = random_triplet(rng, model, H)
        system = random_system(rng, model, q)
        if system is None:
            continue
        screws = np.flatnonzero(system.c.tree.kind == SCREW)
        locked = screws[rng.random(len(screws)) < least]
        if len(locked):
            system.c = system.c.with_numbers(tree=system.c.tree._replace(locks=1))
            yield rng, system, q, q_next, locked, screws


def workspace(c, locked):
    w = c.workspace()
    for i in locked:
        python_link(w, i).free = 0.0
    return w


def constrained(K, A0, A1, b, d, free):
    """The solution of K x − A0ᵀ λ = b, A1 x = −d with x = 0 but where it is free; the smallest where rows follow from
    others, and whether they do not."""
    n, m = int(free.sum()), len(A0)
    matrix = np.block([[K[np.ix_(free, free)], -A0[:, free].T], [A1[:, free], np.zeros((m, m))]])
    sizes = np.linalg.svd(A1[:, free], compute_uv=False) if n else np.zeros(m)
    found = np.linalg.lstsq(matrix, np.concatenate([b[free], -d]), rcond=1e-11)[0]
    x = np.zeros(len(K))
    x[free] = found[:n]
    clear = [size for size in sizes if 1e-10 * sizes[0] < size < 1e-3 * sizes[0]] == [] if n else True
    return x, found[n:], clear and n >= m and sizes[-1] > 1e-3 * sizes[0], clear


def held(w, tree, i, newton):
    """What holds a joint, by the last solve."""
    L = python_link(w, i)
    answer = np.concatenate(python_link(w, int(tree.parent[i])).answer)
    return np.concatenate(L.row if newton else L.column) @ answer - L.hold


@pytest.mark.parametrize("newton", [False, True], ids=["mass", "jacobian"])
@pytest.mark.parametrize("early", [False, True], ids=["ancestors", "early"])
def test_locked_joints_do_not_move_and_are_held(early, newton):
    independent = redundant = went_early = 0
    for rng, system, q, q_next, locked, screws in locked_systems(0.4):
        model, c, plan = system.model, system.c, system.plan(q, early, screws.tolist())
        A0 = system.values(q)[3]
        A1 = system.values(q_next)[3] if newton else A0
        K = la.discrete_jacobian(model, q, q, q_next, H) if newton else la.mass_matrix(model, q)
        at = c.tree.iv[locked]
        free = np.ones(model.nv, dtype=bool)
        free[at] = False
        b, d = rng.normal(size=model.nv), -A1[:, free] @ rng.normal(size=int(free.sum()))
        expected, _, full, clear = constrained(K, A0, A1, b, d, free)
        if not clear or not (full or not newton):
            continue
        x, y, w = b.copy(), d.copy(), workspace(c, locked)
        if newton:
            solve.solve_jacobian(c.system, w, Way(q, q_next, H, RETRACTIONS["split"]), plan.closed(system.rows), x, y)
        else:
            solve.solve_mass(c.system.tree, w, q, plan.closed(system.rows), x, y)
        scale = np.abs(expected).max()
        assert (x[at] == 0.0).all()
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-9 * scale)
        left = K @ x - A0.T @ y - b  # what the locks do, and nothing else
        size = np.abs(K @ x).max() + np.abs(b).max() + np.abs(A0.T @ y).max()
        assert np.abs(left[free]).max() < 1e-9 * size
        for i, v in zip(locked, at, strict=True):
            assert held(w, c.tree, i, newton) == pytest.approx(left[v], abs=1e-9 * size)
        independent, redundant, went_early = independent + full, redundant + (not full), went_early + plan.early
    assert independent >= 15 and (newton or redundant >= 5)
    assert went_early == 0 if not early else went_early >= 3
