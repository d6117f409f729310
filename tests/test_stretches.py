"""Kernels go along a tree stretch by stretch (layout.STRETCH): where a stretch ends must not show."""

import numpy as np
import pytest

import leastaction as la
from leastaction.kernels.layout import STRETCH


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
@pytest.mark.parametrize(("model", "count"), [(la.library.chain(3 * STRETCH // 4), 4), (la.library.ragdoll(), 10)],
                         ids=["chain", "ragdoll"])
def test_a_system_moves_alike_wherever_it_is_in_the_tree(model, count, finder):
    many = copies(model, count)
    assert many.nb > 2 * STRETCH
    traj = la.simulate(many, dt=1e-3, steps=200, integrator=la.Variational(root_finder=finder))
    q = traj.q[-1].reshape(count, model.nq)
    assert np.abs(q[0] - model.q0).max() > 0.01
    np.testing.assert_allclose(q[1:], np.tile(q[0], (count - 1, 1)), atol=1e-10)


@pytest.mark.parametrize("n", [STRETCH - 1, STRETCH, STRETCH + 1])
def test_the_equations_hold_about_the_end_of_a_stretch(n):
    """The dense mass matrix, which has no stretches, takes the velocity to the momentum; and the energy stays."""
    traj = la.simulate(la.library.chain(n), dt=1e-3, steps=100)
    model, q, v = traj.model, traj.q[-1], traj.v[-1]
    np.testing.assert_allclose(la.mass_matrix(model, q) @ v, traj.p[-1], rtol=1e-9, atol=1e-9)
    assert traj.max_energy_error < 1e-3
