"""The reference against the action itself, by complex steps, against dense matrices, and against its own identities."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings

from leastaction import reference
from leastaction.model import Ball, Free, Inertia, Model, Planar, Revolute, Universal
from leastaction.reference import difference, increment, lie

from . import action, dense
from .trees import KINDS, models, random_model, random_state, random_triplet

H = 0.01
few = settings(max_examples=12, deadline=None)
BOTH = pytest.mark.parametrize("retraction", ["exp", "split"])


@BOTH
@few
@given(drawn=models(max_n=5))
def test_drnea_is_the_derivative_of_the_action(retraction, drawn):
    model, rng = drawn
    q_prev, q, q_next = random_triplet(rng, model, H)
    forces = rng.normal(size=model.nv), rng.normal(size=(len(model.bodies), 6))
    state = reference.end_of_step(model, q_prev, q, H, *forces, retraction)
    f = reference.drnea(model, state, q_next, H, *forces, retraction)
    expected = action.residual(model, q_prev, q, q_next, H, *forces, retraction)
    np.testing.assert_allclose(f, expected, atol=1e-11)
    assert np.abs(f).max() > 1e-4


@BOTH
@few
@given(drawn=models(max_n=5))
def test_momentum_of_a_state_is_that_of_the_action(retraction, drawn):
    model, rng = drawn
    q_prev, q, _ = random_triplet(rng, model, H)
    state = reference.end_of_step(model, q_prev, q, H, retraction=retraction)
    p = action.momenta(model, q_prev, q, H, retraction)[1] + action.half_impulses(model, q_prev, q, H)[1]
    np.testing.assert_allclose(reference.generalized_momentum(model, state), p, atol=1e-11)


@BOTH
@few
@given(drawn=models(max_n=5))
def test_derivative_of_drnea(retraction, drawn):
    """Algorithm 4, and the same matrix assembled from K link by link."""
    model, rng = drawn
    triplet = random_triplet(rng, model, H)
    J = action.jacobian(model, *triplet, H, retraction)
    allowed = 1e-11 * np.abs(J).max()
    np.testing.assert_allclose(reference.drnea_derivative(model, *triplet[1:], H, retraction), J, atol=allowed)
    system = reference.newton_system(model, *triplet[1:], H, retraction)
    np.testing.assert_allclose(dense.matrix(system, model.nv), J, atol=allowed)


@BOTH
@pytest.mark.parametrize("kind", KINDS)
def test_jacobian_by_differences_of_the_action(kind, retraction):
    rng = np.random.default_rng(3)
    model = random_model(rng, 2, kinds=(kind, Revolute))
    q_prev, q, q_next = random_triplet(rng, model, H)
    step = 1e-5 * np.eye(model.nv)
    columns = [(action.residual(model, q_prev, q, increment(model, q_next, s), H, retraction=retraction)
                - action.residual(model, q_prev, q, increment(model, q_next, -s), H, retraction=retraction)) / 2e-5
               for s in step]
    J = action.jacobian(model, q_prev, q, q_next, H, retraction)
    np.testing.assert_allclose(np.transpose(columns), J, atol=1e-7 * np.abs(J).max())


@BOTH
@pytest.mark.parametrize("shape", [(), (3,)], ids=["one", "three"])
@pytest.mark.parametrize("transposed", [False, True], ids=["plain", "transposed"])
@few
@given(drawn=models(max_n=6))
def test_sweep_is_the_dense_solve(shape, transposed, retraction, drawn):
    """The Jacobian, which is not symmetric, and the mass matrix; one right-hand side and several."""
    model, rng = drawn
    _, q, q_next = random_triplet(rng, model, 0.1)
    r = rng.normal(size=(model.nv, *shape))
    for system, symmetric in ((reference.newton_system(model, q, q_next, 0.1, retraction), False),
                              (reference.mass_system(model, q), True)):
        A = dense.matrix(system, model.nv)
        x = reference.solve(system, reference.factor(system, symmetric), r, transposed)
        exact = np.linalg.solve(A.T if transposed else A, r)
        np.testing.assert_allclose(x, exact, rtol=0, atol=1e-12 * np.linalg.cond(A) * np.abs(exact).max())


@few
@given(models(max_n=6))
def test_mass_system_is_the_mass_matrix(drawn):
    model, rng = drawn
    q, v = random_state(rng, model)
    M = dense.mass_matrix(model, q)
    np.testing.assert_allclose(dense.matrix(reference.mass_system(model, q), model.nv), M, atol=1e-12)
    state = reference.start(model, q, v)
    np.testing.assert_allclose(reference.generalized_momentum(model, state), M @ v, atol=1e-12 * np.linalg.cond(M))
    np.testing.assert_allclose(reference.velocity(model, state), v, atol=1e-12 * np.linalg.cond(M))


@BOTH
def test_all_root_finders_and_guesses_find_the_same_root(retraction):
    rng = np.random.default_rng(5)
    model = random_model(rng, 6)
    q_prev, q, _ = random_triplet(rng, model, H)
    tau = rng.normal(size=model.nv)
    state = reference.end_of_step(model, q_prev, q, H, tau, retraction=retraction)
    updates, roots = {}, []
    for finder in ("newton", "riqn", "dense_newton"):
        for guess in ("IG1", "IG2", "IG3"):
            root, updates[finder, guess] = reference.find_root(model, state, H, tau, None, retraction, finder, guess,
                                                               epsilon=1e-11)
            roots.append(root)
    left = action.residual(model, q_prev, q, roots[0], H, tau, retraction=retraction)
    np.testing.assert_allclose(left, 0, atol=1e-10)
    np.testing.assert_allclose([difference(model, roots[0], root) for root in roots], 0, atol=1e-11)
    for guess in ("IG1", "IG2", "IG3"):
        assert updates["newton", guess] == updates["dense_newton", guess] < updates["riqn", guess]
    for finder in ("newton", "riqn"):
        assert updates[finder, "IG3"] <= updates[finder, "IG2"] <= updates[finder, "IG1"] > updates[finder, "IG3"]


@BOTH
def test_a_step_back_undoes_a_step(retraction):
    rng = np.random.default_rng(6)
    model = random_model(rng, 5)
    for body in model.bodies:  # a damper takes energy whichever way time runs
        object.__setattr__(body.joint, "damping", 0.0)
    q, v = random_state(rng, model)
    there = reference.step(model, reference.start(model, q, v), H, retraction=retraction, epsilon=1e-12)
    back = reference.step(model, there, -H, retraction=retraction, epsilon=1e-12)
    np.testing.assert_allclose(difference(model, q, back.q), 0, atol=1e-12)
    np.testing.assert_allclose(reference.velocity(model, back), v, atol=1e-10)
    assert np.abs(difference(model, q, there.q)).max() > 1e-3


def test_a_step_that_does_not_converge_says_so():
    model = random_model(np.random.default_rng(7), 3)
    with pytest.raises(ArithmeticError, match=r"riqn has not converged in 50 updates.*smaller h"):
        reference.step(model, reference.start(model), H, root_finder="riqn", epsilon=1e-30)
    with pytest.raises(ValueError, match="root_finder must be one of 'newton', 'riqn', 'dense_newton', not 'bfgs'"):
        reference.step(model, reference.start(model), H, root_finder="bfgs")
    with pytest.raises(ValueError, match="retraction must be one of 'exp', 'split', not 'cayley'"):
        reference.step(model, reference.start(model), H, retraction="cayley")
    with pytest.raises(ValueError, match="guess must be 'IG1', 'IG2' or 'IG3', not 'IG4'"):
        reference.step(model, reference.start(model), H, guess="IG4")


@few
@given(models(max_n=4))
def test_discrete_momentum_tends_to_mass_times_velocity(drawn):
    model, rng = drawn
    q, v = random_state(rng, model)
    h = 1e-5
    before, after = action.momenta(model, increment(model, q, -h / 2 * v), increment(model, q, h / 2 * v), h)
    np.testing.assert_allclose((before + after) / 2, dense.mass_matrix(model, q) @ v, atol=1e-6)


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


@BOTH
def test_free_floating_tree_keeps_its_spatial_momentum(retraction):
    rng = np.random.default_rng(8)
    model = random_model(rng, 1, kinds=(Free,), passive=False, gravity=False)
    root = model.bodies[0].name
    for k in range(3):
        model.add_body(f"limb{k}", parent=root, joint=Ball(), position=rng.normal(size=3),
                       inertia=Inertia(1.0, com=rng.normal(size=3), matrix=np.eye(3)))
    state, totals = reference.start(model, *random_state(rng, model)), []
    for _ in range(4):
        whole = reference.generalized_momentum(model, state)[:6]  # the root joint carries the whole tree's
        totals.append(lie.Ad(lie.inverse(action.poses(model, state.q)[0])).T @ whole)
        state = reference.step(model, state, H, retraction=retraction, epsilon=1e-12)
    np.testing.assert_allclose(totals, totals[:1] * 4, atol=1e-11)


def test_the_reference_loads_no_numba():
    """What it takes to read and run it: NumPy. Import-linter sees to the imports; this, to what is loaded."""
    code = ("import sys\nfrom leastaction import Model, reference\nfrom leastaction.model import library\n"
            "model = library.chain(2)\nreference.step(model, reference.start(model), 1e-3)\n"
            "print([name for name in sys.modules if name.split('.')[0] == 'numba' or 'leastaction.kernels' in name])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "[]"
