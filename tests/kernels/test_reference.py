"""The kernels against the plain text of the same algorithms, leastaction.reference, on one model of every sort."""

import numpy as np
import pytest
from compiled import JIT

import leastaction as la
from leastaction import reference
from leastaction.reference import difference, increment
from reference.trees import random_model, random_state, random_triplet

H = 2e-3
BOTH = pytest.mark.parametrize("retraction", ["exp", "split"])


def of(*kinds, n=5, several_roots=True):
    """A random tree of such joints, with springs, dampers and armature."""
    return lambda: random_model(np.random.default_rng(3), n, kinds, several_roots=several_roots)


MODELS = {
    "chain": lambda: la.library.chain(6),
    "branching": lambda: la.library.tree(2, 2, "revolute"),
    "balls": lambda: la.library.tree(2, 2, "ball"),
    "ragdoll": la.library.ragdoll,
    "free": of(la.Free, la.Ball, la.Revolute),
    "prismatic": of(la.Prismatic, la.Revolute),
    "helical": of(la.Helical),
    "compound": of(la.Universal, la.Planar, la.Fixed, several_roots=False),
}
EACH = pytest.mark.parametrize("name", MODELS if JIT else ["chain", "helical"])


@BOTH
@EACH
def test_residual_and_jacobian(name, retraction):
    model, rng = MODELS[name](), np.random.default_rng(4)
    q_prev, q, q_next = random_triplet(rng, model, H)
    tau = rng.normal(size=model.nv)
    state = reference.end_of_step(model, q_prev, q, H, tau, retraction=retraction)
    f = reference.drnea(model, state, q_next, H, tau, retraction=retraction)
    scale = np.abs(reference.generalized_momentum(model, state)).max()
    np.testing.assert_allclose(la.discrete_residual(model, q_prev, q, q_next, H, tau, retraction), f, rtol=0,
                               atol=3e-12 * scale)
    J = reference.drnea_derivative(model, q, q_next, H, retraction)
    np.testing.assert_allclose(la.discrete_jacobian(model, q_prev, q, q_next, H, retraction), J, rtol=0,
                               atol=1e-12 * np.abs(J).max())


@EACH
def test_acceleration(name):
    model, rng = MODELS[name](), np.random.default_rng(5)
    q, v = random_state(rng, model)
    tau, wrench = rng.normal(size=model.nv), rng.normal(size=(model.nb, 6))
    a = reference.acceleration(model, q, v, tau, wrench)
    np.testing.assert_allclose(la.forward_dynamics(model, q, v, tau, wrench), a, rtol=0, atol=1e-10 * np.abs(a).max())


@BOTH
@EACH
@pytest.mark.parametrize("root_finder", ["newton", "riqn"])
def test_three_steps(name, retraction, root_finder):
    """From a velocity, under joint forces and wrenches: q and v, by the library's Newton and RIQN."""
    model, rng = MODELS[name](), np.random.default_rng(6)
    q, v = increment(model, model.q0, rng.uniform(-0.5, 0.5, model.nv)), rng.uniform(-1, 1, model.nv)
    tau, wrench = rng.normal(size=model.nv), rng.normal(size=(model.nb, 6))
    finder = {"newton": la.Newton(), "riqn": la.RIQN()}[root_finder]
    traj = la.simulate(model, q, v, dt=H, duration=3 * H, control=tau, wrench=wrench,
                       integrator=la.Variational(root_finder=finder, retraction=retraction))
    state = reference.start(model, q, v)
    for k in range(1, 4):
        state = reference.step(model, state, H, tau, wrench, retraction, root_finder, epsilon=1e-11)
        np.testing.assert_allclose(difference(model, state.q, traj.q[k]), 0, atol=1e-11)
        found = reference.velocity(model, state)
        np.testing.assert_allclose(traj.v[k], found, rtol=0, atol=1e-8 * max(1, np.abs(found).max()))
