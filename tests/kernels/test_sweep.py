"""Newton's direction in O(n) against a dense solve, on random trees with every joint kind and passive forces."""

import numpy as np
import pytest
from compiled import JIT
from hypothesis import given, settings

import leastaction as la
from leastaction.compiled import compile_model
from leastaction.discrete import RETRACTIONS
from leastaction.kernels import joints, queries, root, sweep
from leastaction.kernels.layout import Way
from leastaction.kernels.machine.jit import entry
from leastaction.kernels.machine.memory import tree_as_views
from leastaction.kernels.machine.simd import numbers
from reference import action
from reference.trees import KINDS, OTHERS, models, random_model, random_triplet

some = settings(max_examples=25 if JIT else 4)
BOTH = pytest.mark.parametrize("retraction", RETRACTIONS)
MANY = 12 if JIT else 5


@entry
def sweeps(tree, w, h, retraction, exact, x):
    """Newton's direction in x, at the motion that discrete_residual() left in w; gives whether det J is positive, and
    the norm."""
    tree, w = tree_as_views(tree), numbers(w)
    positive = sweep.factor_jacobian(tree, w, h, retraction, exact) > 0.0
    norm = sweep.up(tree, w, w, None)
    sweep.down(tree, w, w, None, True, None)
    joints.get_solution(tree, w, w, x)
    return positive, norm


def newton_direction(model, triplet, h, retraction, exact=True):
    """Direction x (nv,), residual f (nv,), whether det J is positive, and the norm by which to stop."""
    c, (q_prev, q, q_next), number = compile_model(model), triplet, RETRACTIONS[retraction]
    w, f, x = c.workspace(), np.zeros(model.nv), np.zeros(model.nv)
    queries.discrete_residual(c.system, w, q_prev, Way(q, q_next, h, number), np.zeros(model.nv), f)
    positive, norm = sweeps(c.system.tree, w, h, number, exact, x)
    return x, f, positive, norm


def check_direction(model, triplet, h, retraction):
    x, f, positive, _ = newton_direction(model, triplet, h, retraction)
    J = la.discrete_jacobian(model, *triplet, h, retraction=retraction)
    dense = -np.linalg.solve(J, f)
    np.testing.assert_allclose(x, dense, rtol=0, atol=1e-9 * np.abs(dense).max())
    assert not (positive and np.linalg.slogdet(J)[0] * np.sign(h) ** model.nv < 0)


@BOTH
@some
@given(drawn=models(max_n=8))
def test_direction_is_the_dense_solve(retraction, drawn):
    model, rng = drawn
    check_direction(model, random_triplet(rng, model, 0.01), 0.01, retraction)


@BOTH
@pytest.mark.parametrize("h", [0.3, 1e-4, -0.02])
@pytest.mark.parametrize("kind", KINDS)
def test_every_joint_kind_at_large_small_and_negative_steps(kind, h, retraction):
    rng = np.random.default_rng(4)
    model = random_model(rng, 3, kinds=(kind, la.Revolute))
    check_direction(model, random_triplet(rng, model, h), h, retraction)


@BOTH
def test_all_joint_kinds_in_one_tree(retraction):
    rng = np.random.default_rng(6)
    model = random_model(rng, MANY)
    check_direction(model, random_triplet(rng, model, 0.01), 0.01, retraction)


@BOTH
def test_children_far_from_their_parents(retraction):
    rng = np.random.default_rng(7)
    model = random_model(rng, 192 if JIT else MANY, reach=1000)
    check_direction(model, random_triplet(rng, model, 0.01), 0.01, retraction)


@BOTH
@some
@given(drawn=models(max_n=4))
def test_residual_is_minus_the_derivative_of_its_action(retraction, drawn):
    model, rng = drawn
    damping = max(np.max(body.joint.damping, initial=0.0) for body in model.bodies)
    least = np.linalg.eigvalsh(la.mass_matrix(model)).min() / 10  # elsewhere it may be less
    h = min(0.05, 0.5 * least / damping) if damping else 0.05  # else damping is seen ahead, which no action does
    triplet = random_triplet(rng, model, h)
    f = la.discrete_residual(model, *triplet, h, retraction=retraction)
    arrived, left = (action.momenta(model, *pair, h, retraction) for pair in (triplet[:2], triplet[1:]))
    allowed = 1e-12 * np.abs(np.concatenate([*arrived, *left])).max()
    np.testing.assert_allclose(f, action.residual(model, *triplet, h, retraction=retraction), rtol=0, atol=allowed)
    by_other = la.discrete_residual(model, *triplet, h, retraction="exp" if retraction == "split" else "split")
    turning = any(isinstance(body.joint, la.Ball | la.Free) for body in model.bodies)
    assert not turning or np.abs(f - by_other).max() > allowed  # it is another action


@BOTH
@some
@given(drawn=models(max_n=5))
def test_jacobian_is_the_derivative_of_the_residual(retraction, drawn):
    """By central differences of fourth order, for both retractions alike."""
    model, rng = drawn
    h, eps = 0.05, 1e-3
    before, q, after = random_triplet(rng, model, h)

    def residual(step):
        return la.discrete_residual(model, before, q, la.increment(model, after, step), h, retraction=retraction)

    columns = [(8 * (residual(e) - residual(-e)) - (residual(2 * e) - residual(-2 * e))) / (12 * eps)
               for e in eps * np.eye(model.nv)]
    J = la.discrete_jacobian(model, before, q, after, h, retraction=retraction)
    np.testing.assert_allclose(J, np.transpose(columns), rtol=0, atol=1e-9 * np.abs(J).max())


def test_direction_to_second_order_errs_by_the_cube_of_the_motion():
    """The same velocity over h, h/2, …; and the norm by which to stop is √(fᵀM⁻¹f h) in the limit."""
    rng = np.random.default_rng(8)
    model = random_model(rng, 6, kinds=OTHERS, passive=False)
    q, v = la.increment(model, model.q0, rng.uniform(-1, 1, model.nv)), rng.uniform(-1, 1, model.nv)
    errors, norms = [], []
    for h in (0.04, 0.02, 0.01):
        triplet = la.increment(model, q, -h * v), q, la.increment(model, q, h * v)
        exact, f, _, norm = newton_direction(model, triplet, h, "exp")
        cheap = newton_direction(model, triplet, h, "exp", exact=False)[0]
        errors.append(np.abs(cheap - exact).max() / np.abs(exact).max())
        norms.append(abs(norm / (h * f @ np.linalg.solve(la.mass_matrix(model, q), f)) - 1))
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 3, atol=0.15)
    np.testing.assert_allclose(np.log2(np.divide(norms[:-1], norms[1:])), 1, atol=0.1)


@pytest.mark.parametrize("kinds", [(la.Revolute,), (la.Ball,), (la.Free,)], ids=["hinges", "balls", "free"])
def test_a_negative_determinant_is_never_called_positive(kinds):
    """Motions so long that J has either sign; to second order, that holds up to what root.py calls coarse."""
    seen = set()
    for seed in range(300 if JIT else 120):
        rng = np.random.default_rng(seed)
        model = random_model(rng, 3, kinds, passive=False)
        after = la.increment(model, model.q0, 1.5 * rng.uniform(-1, 1, model.nv))
        triplet = model.q0, model.q0, after
        positive = newton_direction(model, triplet, 0.01, "exp")[2]
        sign = float(np.linalg.slogdet(la.discrete_jacobian(model, *triplet, 0.01, "exp"))[0])
        assert not (positive and sign < 0)
        seen.add((positive, sign))
    assert {(True, 1.0), (False, -1.0)} <= seen


def test_second_order_tells_the_sign_of_the_determinant_up_to_coarse_steps():
    """Motions of links as far as root.COARSE allows, their centres going as far as they like."""
    seen = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        model = random_model(rng, 3, passive=False)
        after = la.increment(model, model.q0, 0.7 * rng.uniform(-1, 1, model.nv))
        triplet = model.q0, model.q0, after
        turned = [np.arccos(min((np.trace(a[:3, :3].T @ b[:3, :3]) - 1) / 2, 1.0)) for a, b in
                  zip(la.poses(model, model.q0), la.poses(model, after), strict=True)]
        if np.cos(max(turned) / 2) > root.COARSE:
            seen += 1
            assert newton_direction(model, triplet, 0.01, "exp", exact=False)[2] == newton_direction(
                model, triplet, 0.01, "exp")[2]
    assert seen > 20
