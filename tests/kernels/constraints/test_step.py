"""The step with closed loops: structure, order, and mechanisms that must move alike however they are described."""

import numpy as np
import pytest
from mechanisms import floating_loop, four_bar, moving_four_bar, random_state, rod

import leastaction as la

CLOSURES = {"point": la.Ball(), "hinge": la.Revolute(axis=(1, 0, 0))}
ends = pytest.mark.parametrize("closure", CLOSURES.values(), ids=CLOSURES)


def opening(model, q, v):
    """Closure and rate of opening, the worst of all rows."""
    return la.closure(model, q).max(), np.abs(la.constraint_jacobian(model, q) @ v).max()


def backwards(sim):
    """Let a simulator go back from where it is."""
    sim._engine.dt = -sim.dt
    sim._engine.start(sim.q, sim.v, sim.p)


@ends
def test_momentum_closure_and_reversibility(closure):
    model = floating_loop(closure)
    q, v = random_state(model)
    sim = la.Simulator(model, q, v, dt=0.01)
    start, momentum = (sim.q, sim.p), sim.momentum
    for _ in range(10):
        sim.step(10)
        g, rate = opening(model, sim.q, sim.v)
        assert g < 1e-13
        assert rate < 1e-12
    np.testing.assert_allclose(sim.momentum, momentum, rtol=0, atol=1e-12)
    assert np.abs(sim.q - start[0]).max() > 0.1
    backwards(sim)
    sim.step(100)
    np.testing.assert_allclose(sim.q, start[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(sim.p, start[1], rtol=0, atol=1e-12)


@ends
@pytest.mark.parametrize(("order", "dt", "tolerance"), [(2, 0.01, 0.05), (4, 0.04, 0.1), (6, 0.04, 0.2)])
def test_order(closure, order, dt, tolerance):
    model = floating_loop(closure)
    q, v = random_state(model)

    def end(order, dt):
        sim = la.Simulator(model, q, v, dt=dt, integrator=la.Variational(order=order))
        sim.step(round(0.4 / dt))
        return sim.q

    exact = end(8, 0.0025)
    errors = [np.abs(end(order, dt / part) - exact).max() for part in (1, 2)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=tolerance)


def test_a_loop_that_drifts_keeps_its_momentum_about_the_origin_of_the_world():
    model = floating_loop()
    q, v = random_state(model)
    v = la.assemble(model, q, v + np.eye(model.nv)[3])[1]
    sim = la.Simulator(model, q, v, dt=5e-3)
    before = sim.momentum
    sim.step(100_000)
    assert np.linalg.norm(sim.q[:3]) > 400
    np.testing.assert_allclose(sim.momentum, before, rtol=0, atol=1e-10)
    assert la.closure(model, sim.q).max() < 1e-13


def test_the_same_mechanism_cut_at_another_joint_moves_alike():
    one, other = four_bar(), four_bar(cut="rocker")
    q, v = moving_four_bar(one)
    a = la.Simulator(one, q, v, dt=2e-3)
    b = la.Simulator(other, [q[0], q[1], q[2] - q[0] - q[1] + np.pi], [v[0], v[1], v[2] - v[0] - v[1]], dt=2e-3)
    a.step(1000)
    b.step(1000)
    assert abs(a.q[0] - q[0]) > 1
    np.testing.assert_allclose(b.q[:2], a.q[:2], rtol=0, atol=1e-9)
    np.testing.assert_allclose(b.v[:2], a.v[:2], rtol=0, atol=1e-9)


def test_a_weld_is_a_fixed_joint():
    """A body on a free joint of its own, welded to a pendulum, against the same body fixed to it. By exp: there the
    discrete Lagrangian of a rigid body is the sum of those of its parts, by split it is so to second order: there both
    are of order two, and so is their difference."""
    turn = np.array([np.cos(0.4), np.sin(0.4), 0.0, 0.0])
    place, inertia = (1.0, 0.1, -0.2), la.Inertia(0.7, com=(0.1, 0.2, 0.05), matrix=np.diag([0.02, 0.03, 0.04]))

    def pendulum(parent, joint, **where):
        model = la.Model(gravity=(0, -9.81, 0))
        model.add_body("arm", parent=None, joint=la.Ball(), inertia=rod(1.0))
        model.add_body("load", parent=parent, joint=joint, inertia=inertia, **where)
        return model

    fixed = pendulum("arm", la.Fixed(), position=place, quaternion=turn)
    welded = pendulum(None, la.Free())
    welded.add_loop("weld", "load", "arm", joint=la.Fixed(), other_position=place, other_quaternion=turn)
    q, v = np.array([0.9, 0.1, 0.3, 0.2]), np.array([0.5, 1.0, -2.0])
    q /= np.linalg.norm(q)
    pose = la.poses(fixed, q)[1]
    start = la.assemble(welded, [*q, *pose[:3, 3], *quaternion(pose)], [*v, *np.zeros(6)], keep="arm")

    def ends(retraction, parts):
        """The state of the arm after two seconds, fixed and welded."""
        integrator, found = la.Variational(retraction=retraction), []
        for model, state in ((fixed, (q, v)), (welded, start)):
            sim = la.Simulator(model, *state, dt=2e-3 / parts, integrator=integrator)
            sim.step(1000 * parts)
            found.append(np.concatenate([sim.q[:4], sim.v[:3]]))
        return found

    a, b = ends("exp", 1)
    np.testing.assert_allclose(b, a, rtol=0, atol=1e-10)
    apart = [np.abs(np.subtract(*ends("split", parts))).max() for parts in (1, 2)]
    assert apart[0] / apart[1] == pytest.approx(4, abs=0.1)


def quaternion(pose):
    """Unit quaternion of a pose whose rotation is below a half turn."""
    R = pose[:3, :3]
    w = np.sqrt(1 + np.trace(R)) / 2
    return np.array([w, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w))])


@pytest.mark.parametrize(("order", "bar"), [(2, 1.7e-3), (4, 1e-8)])
def test_energy_of_a_four_bar(order, bar):
    """100 s at 2 ms: bounded, and without a trend."""
    model = four_bar()
    q, v = moving_four_bar(model)
    run = la.simulate(model, q, v, dt=2e-3, duration=100.0, record_every=5, integrator=la.Variational(order=order))
    error = run.energy - run.energy[0]
    assert np.abs(error).max() < bar
    quarters = error[1:].reshape(4, -1).mean(axis=1)
    assert np.ptp(quarters) < 0.1 * np.abs(error).max()
    # The crank turns 59 times: a gap is as small as the last bits of the angles let it be
    assert (run.closure < 1e-14 + 4 * np.spacing(np.abs(run.q)) @ [1.0, 2.0, 1.5]).all()
    assert run.closure[run.t < 10].max() < 1e-13
    assert run.iterations.sum() / (50_000 * (1 if order == 2 else 9)) < 3.0


@pytest.mark.parametrize("dt", [1e-3, 2e-3, 3e-3])
def test_round_off_does_not_move_the_energy(dt):
    """With order 8 nothing but round-off is left: of 27 J. Adding gravity's impulse to the momenta without keeping what
    rounding takes moves it by 6e-11 to 9e-11 J in 100 s, in proportion to the time."""
    model = four_bar()
    run = la.simulate(model, *moving_four_bar(model), dt=dt, duration=99.0, record_every=11,
                      integrator=la.Variational(order=8))
    assert abs(run.energy[-len(run) // 10 :].mean() - run.energy[0]) < 1.5e-11


def test_neither_record_every_nor_the_length_of_calls_changes_a_bit():
    model = floating_loop()
    q, v = random_state(model)
    whole = la.Simulator(model, q, v, dt=0.01)
    whole.step(40)
    parts = la.Simulator(model, q, v, dt=0.01)
    for count in (1, 2, 3, 7, 11, 16):
        parts.step(count)
    kept = la.simulate(model, q, v, dt=0.01, duration=0.4, record_every=4)
    for found in (parts.q, kept.q[-1]):
        np.testing.assert_array_equal(found, whole.q)
    np.testing.assert_array_equal(parts.p, whole.p)
    np.testing.assert_array_equal(kept.v[-1], whole.v)
