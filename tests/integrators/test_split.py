"""The split retraction: free fall is exact, and rotation and translation do not mix."""

import numpy as np
import pytest

import leastaction as la

SPLIT = la.Variational(retraction="split")


def tumbling(gravity):
    model = la.Model(gravity=gravity)
    model.add_body("box", joint=la.Free(), inertia=la.Inertia.box(2.0, (0.3, 0.2, 0.1), com=(0.1, -0.2, 0.3)))
    return model


def test_free_fall_does_not_know_of_the_spin():
    """The centre of mass of a tumbling body follows the parabola of the discrete times exactly."""
    model, v = tumbling((0, 0, -9.81)), [3.0, -2.0, 1.0, 0.5, 0.2, 2.0]
    traj = la.simulate(model, v=v, dt=0.01, steps=200, integrator=SPLIT)
    com = np.array([T[:3, :3] @ model.bodies[0].inertia.com + T[:3, 3] for T in traj.poses("box")])
    start = np.cross(v[:3], com[0]) + v[3:]
    exact = com[0] + traj.t[:, None] * start + 0.5 * traj.t[:, None] ** 2 * model.gravity
    np.testing.assert_allclose(com, exact, rtol=0, atol=1e-11)
    weightless = la.simulate(tumbling((0, 0, 0)), v=v, dt=0.01, steps=200, integrator=SPLIT)
    np.testing.assert_allclose(traj.q[:, 3:], weightless.q[:, 3:], rtol=0, atol=1e-11)


def test_a_falling_ragdoll_is_right_to_a_thousandth_of_the_error_of_exp():
    model = la.library.ragdoll()
    fine = la.simulate(model, dt=2e-3, duration=2.0, integrator=la.Variational(order=6, retraction="split"))
    errors = {}
    for name in ("exp", "split"):
        traj = la.simulate(model, dt=2e-3, duration=2.0, integrator=la.Variational(retraction=name))
        errors[name] = np.abs(traj.q[-1] - fine.q[-1]).max()
    assert errors["split"] < 1e-3 * errors["exp"]


@pytest.mark.parametrize("root_finder", [la.RIQN(), la.Newton(chord=False)])
def test_root_finders_agree(root_finder):
    model = la.library.ragdoll()
    runs = [la.simulate(model, dt=1e-3, steps=200, integrator=la.Variational(retraction="split", root_finder=finder))
            for finder in (la.Newton(), root_finder)]
    np.testing.assert_allclose(runs[0].q[-1], runs[1].q[-1], rtol=0, atol=1e-9)


@pytest.mark.parametrize("order", [2, 4])
def test_order(order):
    model = la.library.double_pendulum()
    q = [la.simulate(model, dt=h, duration=1.0, integrator=la.Variational(order=order, retraction="split")).q[-1]
         for h in (0.02, 0.01, 0.005)]
    observed = np.log2(np.abs(q[0] - q[1]).max() / np.abs(q[1] - q[2]).max())
    assert abs(observed - order) < 0.15
