"""The impulses λ and μ of loops in the discrete equations of a run, against the discrete Lagrangian."""

import numpy as np
import pytest

import leastaction as la
from reference import action
from reference.mechanisms import bricard, floating_loop, four_bar, gear_train

DT = 2e-3


@pytest.mark.parametrize("retraction", ["split", "exp"])
@pytest.mark.parametrize("make", [four_bar, floating_loop, gear_train, bricard])
def test_they_solve_the_discrete_equations(make, retraction):
    """p + Aᵀλ = −D₁L_d and p = D₂L_d + Aᵀμ at every node, of regular and of redundant rows."""
    model = make()
    integrator = la.Variational(retraction=retraction)
    run = la.simulate(model, dt=DT, steps=5, integrator=integrator)
    lam, mu = run.multipliers
    assert (mu[0] == 0).all() and np.isnan(lam[-1]).all() and np.abs(lam[:-1]).max() > 1e-4
    for k in range(5):
        leaving, arriving = action.momenta(model, run.q[k], run.q[k + 1], DT, retraction)
        A, B = (la.constraint_jacobian(model, q) for q in run.q[k : k + 2])
        np.testing.assert_allclose(run.p[k] + A.T @ lam[k], leaving, rtol=0, atol=1e-10)
        np.testing.assert_allclose(run.p[k + 1] - B.T @ mu[k + 1], arriving, rtol=0, atol=1e-10)
    residual = la.discrete_residual(model, *run.q[2:5], DT, retraction=retraction)
    np.testing.assert_allclose(residual, la.constraint_jacobian(model, run.q[3]).T @ (lam + mu)[3], rtol=0, atol=1e-10)


def test_with_joint_forces_and_nodes_that_are_not_kept():
    model, tau = four_bar(), np.array([2.0, 0.0, -1.0])
    every = la.simulate(model, dt=DT, steps=12, control=tau)
    thin = la.simulate(model, dt=DT, steps=12, control=lambda t, q, v: tau, record_every=4)
    for k in (0, 4, 8):
        push, _ = action.half_impulses(model, every.q[k], every.q[k + 1], DT, tau)
        leaving, _ = action.momenta(model, every.q[k], every.q[k + 1], DT, "split")
        A = la.constraint_jacobian(model, every.q[k])
        np.testing.assert_allclose(every.p[k] + push + A.T @ every.multipliers.lam[k], leaving, rtol=0, atol=1e-10)
    np.testing.assert_allclose(thin.multipliers, np.array(every.multipliers)[:, ::4], rtol=0, atol=1e-11)


def test_their_sum_is_the_force_of_the_rows_to_second_order():
    """(μ + λ)/h against the acceleration-level multipliers, by a dense solve with Ȧ v by differences."""
    model, k, errors = four_bar(la.Ball()), 8, []
    for halving in range(4):
        part = 2**halving
        run = la.simulate(model, dt=2 * DT / part, steps=20 * part)
        at = k * part
        q, v, step = run.q[at], run.v[at], 1e-5
        A, M = la.constraint_jacobian(model, q), la.mass_matrix(model, q)
        ahead, behind = (la.constraint_jacobian(model, q + s * step * v) @ v for s in (1, -1))
        system = np.block([[M, -A.T], [A, np.zeros((3, 3))]])
        rhs = np.concatenate([-la.inverse_dynamics(model, q, v, None), -(ahead - behind) / (2 * step)])
        forces = np.linalg.lstsq(system, rhs, rcond=1e-12)[0][3:]
        found = (run.multipliers.mu[at] + run.multipliers.lam[at]) / run.dt
        errors.append(np.abs(found - forces).max())
    slopes = np.log2(np.divide(errors[:-1], errors[1:]))
    np.testing.assert_allclose(slopes, 2.0, atol=0.05)


@pytest.mark.parametrize("angle", [0.3, 0.8, 1.2])
def test_at_rest_half_of_the_thrust_comes_at_either_end_of_a_step(angle):
    """2 λ/h and 2 μ/h of an arch of two rods: (w/2) cot α along the ground, and no lift. A gap of round-off that a step
    closes counts by m/h²: so the step is long."""
    h = 0.02
    model = la.Model((0, 0, -9.81))
    rod = la.Inertia.rod(3.0, 1.0, axis=(1, 0, 0), com=(0.5, 0, 0))
    model.add_body("left", None, la.Revolute((0, -1, 0)), inertia=rod)
    model.add_body("right", None, la.Revolute((0, -1, 0)), (2 * np.cos(angle), 0, 0), inertia=rod)
    model.add_loop("crown", "left", "right", joint=la.Ball(), position=(1, 0, 0), other_position=(1, 0, 0))
    run = la.simulate(model, (angle, np.pi - angle), np.zeros(2), dt=h, steps=5)
    thrust = 0.5 * 3.0 * 9.81 / np.tan(angle)
    lam, mu = run.multipliers
    for impulses in (lam[:-1], mu[1:]):
        np.testing.assert_allclose(np.linalg.norm(2 * impulses / h, axis=1), thrust, rtol=0, atol=1e-10)


def test_where_there_is_no_single_step():
    """Orders above two have a μ, but no one λ; steps in parts have none; explicit integrators have neither."""
    model = four_bar()
    fourth = la.simulate(model, dt=DT, steps=4, integrator=la.Variational(order=4))
    assert np.isnan(fourth.multipliers.lam).all() and np.isfinite(fourth.multipliers.mu).all()
    explicit = la.simulate(model, dt=DT, steps=4, integrator=la.RungeKutta4())
    assert np.isnan(explicit.multipliers.lam).all() and explicit.multipliers.mu.shape == (5, 5)
    assert np.isnan(explicit.multipliers.mu).all()
    q, v = la.assemble(model, (1.2, -0.9, 1.5), (9.0, 0, 0), keep="crank")
    run = la.simulate(model, q, v, dt=0.2, steps=20)
    assert (run.substeps > 1).any()
    np.testing.assert_array_equal(np.isnan(run.multipliers.lam[:-1]).all(axis=1)[run.substeps > 1], True)


def test_members_and_files_have_them(tmp_path):
    model = four_bar()
    one = la.simulate(model, dt=DT, steps=6)
    many = la.simulate_many(model, [model.q0] * 2, [model.v0] * 2, dt=DT, steps=6)
    one.save(tmp_path / "run.h5")
    for other in (*many, la.open(tmp_path / "run.h5")):
        np.testing.assert_array_equal(other.multipliers, one.multipliers)
