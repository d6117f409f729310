"""Large trees: where in the tree a link is must not show."""

import numpy as np
import pytest

import leastaction as la
from reference.trees import random_model, random_state


def copies(model: la.Model, count: int) -> la.Model:
    """Several of a model side by side, which do not touch each other."""
    many = la.Model(model.gravity)
    for k in range(count):
        for body in model.bodies:
            parent = None if body.parent is None else f"{body.parent} {k}"
            many.add_body(f"{body.name} {k}", parent, body.joint, body.position, body.quaternion, body.inertia)
    many.q0, many.v0 = np.tile(model.q0, count), np.tile(model.v0, count)
    return many


@pytest.mark.parametrize("finder", [la.Newton(), la.RIQN()], ids=["Newton", "RIQN"])
@pytest.mark.parametrize(("model", "count"), [(la.library.chain(48), 4), (la.library.ragdoll(), 10)],
                         ids=["chain", "ragdoll"])
def test_a_system_moves_alike_wherever_it_is_in_the_tree(model, count, finder):
    many = copies(model, count)
    traj = la.simulate(many, dt=1e-3, steps=200, integrator=la.Variational(root_finder=finder))
    q = traj.q[-1].reshape(count, model.nq)
    assert np.abs(q[0] - model.q0).max() > 0.01
    np.testing.assert_allclose(q[1:], np.tile(q[0], (count - 1, 1)), atol=1e-10)


def by_recursion(model, q, x):
    """M x, without gravity and springs, by inverse dynamics: no matrix is factored."""
    still = np.zeros(model.nv)
    return la.inverse_dynamics(model, q, still, x) - la.inverse_dynamics(model, q, still, still)


@pytest.mark.parametrize("n", [63, 64, 65])
def test_the_equations_hold_whatever_is_left_of_the_last_block(n):
    """The mass matrix takes the velocity to the momentum; and the energy stays."""
    traj = la.simulate(la.library.chain(n), dt=1e-3, steps=100)
    model, q, v = traj.model, traj.q[-1], traj.v[-1]
    np.testing.assert_allclose(by_recursion(model, q, v), traj.p[-1], rtol=1e-9, atol=1e-9)
    assert traj.max_energy_error < 1e-3


def test_children_far_from_their_parents():
    rng = np.random.default_rng(5)
    model = random_model(rng, 192, reach=1000)
    q, v = random_state(rng, model)
    tau = rng.uniform(-1, 1, model.nv)
    a = la.forward_dynamics(model, q, v, tau)
    np.testing.assert_allclose(la.inverse_dynamics(model, q, v, a), tau, rtol=0, atol=1e-9 * np.abs(a).max())
    np.testing.assert_allclose(la.mass_matrix(model, q) @ a, by_recursion(model, q, a), rtol=0,
                               atol=1e-12 * np.abs(a).max())
