"""Forward dynamics with loops against dense systems and statics, and Runge–Kutta 4 by it."""

import numpy as np
import pytest
from mechanisms import Z, floating_loop, four_bar, moving_four_bar, random_state, rod
from systems import dense, random_system

import leastaction as la
from leastaction.compiled import compile_model
from leastaction.kernels.constraints import dynamics
from reference.trees import random_model, random_triplet


def forward(c, rows, plan, q, v, tau):
    a, f = np.zeros(c.nv), np.zeros(len(rows.kind))
    given = dynamics.Loaded(np.asarray(q, float), np.asarray(v, float), tau, np.zeros((c.tree.n, 6)), 0.0)
    dynamics.forward_dynamics(c.system, c.workspace(), given, plan.closed(rows), a, f)
    return a, f


def test_against_dense_systems():
    """Ȧ v by differences of A along the motion."""
    count, eps = 0, 1e-4
    for seed in range(40):
        rng = np.random.default_rng(seed)
        model = random_model(rng, int(rng.integers(2, 8)))
        q, v, tau = random_triplet(rng, model, 0.01)[1], *rng.normal(size=(2, model.nv))
        system = random_system(rng, model, q)
        if system is None:
            continue
        a, f = forward(system.c, system.rows, system.plan(q, False), q, v, tau)
        along = {k: system.values(la.increment(model, q, k * eps * v))[3] @ v for k in (-2, -1, 1, 2)}
        bias = (8 * (along[1] - along[-1]) - (along[2] - along[-2])) / (12 * eps)
        A, load = system.values(q)[3], tau - la.inverse_dynamics(model, q, v, np.zeros(model.nv))
        expected = dense(la.mass_matrix(model, q), A, A, load, bias)
        for found, value in zip((a, f), expected, strict=True):
            assert np.abs(found - value).max() < 1e-8 * np.abs(value).max()
        count += 1
    assert count > 30


@pytest.mark.parametrize("angle", [0.4, 0.8, 1.2])
def test_thrust_of_an_arch_at_rest(angle):
    """Two rods that lean against each other: thrust (w/2) cot α, and nothing moves."""
    model = la.Model(gravity=(0, -9.81, 0))
    span = 2 * np.cos(angle)
    model.add_body("left", parent=None, joint=la.Revolute(axis=Z), inertia=rod(1.0))
    model.add_body("right", parent=None, joint=la.Revolute(axis=Z), position=(span, 0, 0), inertia=rod(1.0))
    model.add_loop("crown", "left", "right", joint=la.Ball(), position=(1, 0, 0), other_position=(1, 0, 0))
    c = compile_model(model)
    a, f = forward(c, c.acting_rows, c.plan, [angle, np.pi - angle], [0, 0], np.zeros(2))
    np.testing.assert_allclose(a, 0, atol=1e-11)
    directions = c.acting_rows.eb.reshape(-1, 3)  # in the frame of the right rod, turned by π − α
    force = f @ directions @ turned(np.pi - angle).T
    np.testing.assert_allclose(force, [-0.5 * 9.81 / np.tan(angle), 0, 0], atol=1e-10)


def turned(angle):
    return np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]])


def test_runge_kutta_4():
    """Of order four, closed at every node, and it tends to the variational step's motion."""
    model = floating_loop()
    q, v = random_state(model)
    exact = la.simulate(model, q, v, dt=0.01, duration=0.4, integrator=la.Variational(order=8)).q[-1]
    errors = []
    for dt in (0.02, 0.01):
        run = la.simulate(model, q, v, dt=dt, duration=0.4, integrator=la.RungeKutta4())
        errors.append(np.abs(run.q[-1] - exact).max())
        assert la.closure(model, run.q[-1]).max() < 1e-13
        assert np.abs(la.constraint_jacobian(model, run.q[-1]) @ run.v[-1]).max() < 1e-12
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.3)


def test_runge_kutta_4_drifts_and_the_variational_step_does_not():
    model = four_bar()
    q, v = moving_four_bar(model)
    run = la.simulate(model, q, v, dt=5e-3, duration=50.0, record_every=10, integrator=la.RungeKutta4())
    quarters = (run.energy[1:] - run.energy[0]).reshape(4, -1).mean(axis=1)
    assert (np.diff(np.abs(quarters)) > 0).all()


def test_dop853_keeps_its_tolerance(tmp_path):
    """Against the variational step of order eight, closed at every node, also within internal steps, and a run that is
    cut has the same bits."""
    model = four_bar()
    q, v = moving_four_bar(model)
    exact = la.simulate(model, q, v, dt=1e-3, duration=1.0, record_every=20, integrator=la.Variational(order=8)).q
    for tol in (1e-6, 1e-9, 1e-12):
        run = la.simulate(model, q, v, dt=0.02, duration=1.0, integrator=la.DormandPrince8(tol))
        assert np.count_nonzero(run.iterations == 0) > 5  # nodes that a polynomial gives
        assert np.abs(run.q - exact).max() < 30 * tol
        assert run.closure.max() < 1e-13
        assert max(np.abs(la.constraint_jacobian(model, a) @ b).max()
                   for a, b in zip(run.q, run.v, strict=True)) < 1e-12
    la.simulate(model, q, v, dt=0.02, steps=17, integrator=la.DormandPrince8(1e-12), out=tmp_path / "run.h5")
    again = la.resume(tmp_path / "run.h5", steps=50)
    np.testing.assert_array_equal(again.q, run.q)
    np.testing.assert_array_equal(again.v, run.v)
    held = la.simulate(model, q, v, dt=0.02, duration=1.0, control=np.zeros(3), integrator=la.DormandPrince8(1e-12))
    assert np.abs(held.q - exact).max() < 3e-11  # of steps that end at nodes
    assert held.closure.max() < 1e-13


def test_the_energy_of_dop853_is_kept_to_its_tolerance():
    model = four_bar()
    run = la.simulate(model, *moving_four_bar(model), dt=0.05, duration=10.0, integrator=la.DormandPrince8(1e-10))
    assert np.abs(run.energy - run.energy[0]).max() < 1e-8
