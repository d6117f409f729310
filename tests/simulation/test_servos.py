"""Servos in a step: against closed forms, SciPy on `actuator_forces`, and a run with short steps."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import leastaction as la

QUIET = {"ignore": "damping"}


def hinge(inertia, **servo) -> la.Model:
    """A hinge without weight, with one servo."""
    model = la.Model(gravity=(0, 0, 0))
    model.add_body("wheel", joint=la.Revolute((0, 1, 0)), inertia=la.Inertia(1.0, (0, 0, 0), inertia * np.eye(3)))
    model.add_actuator("servo", la.PD("wheel", **servo))
    return model


def arm(effort=20.0) -> la.Model:
    """Three links under two servos and a motor, one of the servos bounded."""
    model = la.library.chain(3)
    model.add_actuator("hold", la.PD("link1", kp=60.0, kd=0.4, effort=effort))
    model.add_actuator("turn", la.Velocity("link3", kd=0.02))
    model.add_actuator("push", la.Motor("link2", gear=0.5))
    return model


ARM, COMMAND = arm(), np.array([0.9, 2.0, 1.0])


@pytest.fixture(scope="module")
def exact():
    """Where the arm is after 0.5 s, by SciPy."""
    def rate(_t, y):
        tau = la.actuator_forces(ARM, y[:3], y[3:], COMMAND)
        return np.concatenate([y[3:], la.forward_dynamics(ARM, y[:3], y[3:], tau)])

    start = np.concatenate([ARM.q0, ARM.v0])
    return solve_ivp(rate, (0, 0.5), start, method="DOP853", rtol=1e-10, atol=1e-11, max_step=2e-3).y[:3, -1]


def test_a_stiff_servo_follows_its_slow_motion():
    """y = h kd / I is 200: the servo creeps to its target with kp / kd, whatever the step."""
    run = la.simulate(hinge(1e-3, kp=100.0, kd=10.0), dt=0.02, duration=1.0, command=[1.0])
    assert np.diff(run.q[:, 0]).min() > -1e-14
    np.testing.assert_allclose(run.q[:, 0], 1 - np.exp(-10 * run.t), rtol=0, atol=2e-3)


@pytest.mark.parametrize("dt", [1e-3, 0.3])
def test_a_servo_whose_gains_are_beyond_every_step_goes_to_its_target(dt):
    run = la.simulate(hinge(1e-3, kp=1e7, kd=1e4), dt=dt, steps=20, command=[1.0])
    q = run.q[:, 0]
    assert np.diff(q).min() > -1e-13 and q.max() < 1 + 1e-9 and q[-1] == pytest.approx(1.0, abs=1e-6)


def test_a_saturated_servo_exerts_its_effort_exactly():
    run = la.simulate(hinge(0.1, kp=100.0, kd=1.0, effort=3.0), dt=1e-2, steps=30, command=[100.0])
    np.testing.assert_allclose(run.q[:, 0], 15.0 * run.t**2, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(run.v[:, 0], 30.0 * run.t, rtol=1e-13, atol=1e-14)


def test_an_undamped_servo_is_the_midpoint_rule_of_a_spring():
    """tan(φ/2) = h ω / 2 per step; the amplitude stays."""
    model, h = hinge(0.1, kp=40.0), 0.02
    run = la.simulate(model, [1.0], dt=h, steps=200, command=[0.0])
    phase = 2 * np.arctan(0.5 * h * 20.0)
    np.testing.assert_allclose(run.q[:, 0], np.cos(phase * np.arange(201)), atol=1e-10)


def test_the_step_is_of_second_order_with_servos(exact):
    free = arm(float("inf"))  # one that saturates has a kink at some time within a step
    true = la.simulate(free, dt=1e-2, steps=50, command=COMMAND, integrator=la.DormandPrince8(tol=1e-11), **QUIET).q[-1]
    errors = [np.abs(la.simulate(free, dt=h, duration=0.5, command=COMMAND).q[-1] - true).max()
              for h in (1e-3, 5e-4, 2.5e-4)]
    assert np.log2(errors[0] / errors[2]) / 2 == pytest.approx(2.0, abs=0.1)
    bounded = np.abs(la.simulate(ARM, dt=2.5e-4, duration=0.5, command=COMMAND).q[-1] - exact).max()
    assert bounded < 3 * errors[2]


@pytest.mark.parametrize(("integrator", "dt", "most"), [
    (la.DormandPrince8(tol=1e-9), 1e-2, 1e-7), (la.RungeKutta4(), 1e-3, 5e-4)], ids=["dop853", "rk4"])
def test_explicit_methods_evaluate_the_same_law(exact, integrator, dt, most):
    run = la.simulate(ARM, dt=dt, duration=0.5, command=COMMAND, integrator=integrator, **QUIET)
    assert np.abs(run.q[-1] - exact).max() < most


@pytest.mark.parametrize("dt", [1e-3, 5e-3, 2e-2])
def test_servos_of_a_long_arm_do_not_ring(dt):
    model = la.library.chain(7)
    for name in model.names:
        model.add_actuator(name, la.PD(name, kp=100.0, kd=10.0))
    target = np.linspace(0.2, -0.1, 7)
    start = np.zeros(7)
    fine = la.simulate(model, start, dt=1e-5, duration=5 * dt, command=target, record_every=round(dt / 1e-5))
    run = la.simulate(model, start, dt=dt, steps=5, command=target)
    way = np.abs(fine.q[-1]).max()
    assert np.abs(run.q[-1] - fine.q[-1]).max() < 0.05 * way
    turns = np.diff(np.sign(np.diff(run.q, axis=0)), axis=0)
    assert (np.count_nonzero(turns, axis=0) <= 1).all()  # of a rate that rings, the sign changes at every step


def test_other_searches_find_the_same_root():
    found = [la.simulate(ARM, dt=5e-3, steps=20, command=COMMAND, integrator=la.Variational(root_finder=root)).q[-1]
             for root in (la.Newton(), la.RIQN())]
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-9)


def test_servos_between_bodies_keep_the_momentum():
    model = la.Model(gravity=(0, 0, 0))
    body = la.Inertia.rod(1.0, length=0.5, com=(0, 0, -0.25))
    model.add_body("trunk", joint=la.Free(), inertia=la.Inertia.sphere(3.0, radius=0.2))
    model.add_body("arm", "trunk", la.Revolute((0, 1, 0)), inertia=body)
    model.add_actuator("swing", la.PD("arm", kp=300.0, kd=40.0, effort=25.0))
    run = la.simulate(model, dt=5e-3, steps=200, command=lambda t, q, v: [np.sin(20 * t)])
    assert np.abs(run.v).max() > 1.0
    assert np.abs(run.momentum).max() < 1e-12
    assert run.audit().momenta


def test_what_knows_no_servos_says_so():
    with pytest.raises(ValueError, match=r"la.peers.SVI\(\) knows no servos, and the joint of body 'link1' has one"):
        la.simulate(ARM, steps=1, command=COMMAND, integrator=la.peers.SVI())
    with pytest.raises(ValueError, match=r"order=4 steps backwards .* not resolve the damping of the joint 'wheel'"):
        la.simulate(hinge(1e-3, kp=100.0, kd=10.0), dt=0.02, steps=1, command=[1.0],
                    integrator=la.Variational(order=4))
