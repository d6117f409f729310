"""Servos in a step: against closed forms, SciPy on `actuator_forces`, and a run with short steps."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import leastaction as la
from leastaction.formats import zoo
from leastaction.model.unhonoured import WORDS

QUIET = {"ignore": "damping"}


def hinge(inertia, **servo) -> la.Model:
    """A hinge without weight, with one servo."""
    model = la.Model(gravity=(0, 0, 0))
    model.add_body("wheel", joint=la.Revolute((0, 1, 0)), inertia=la.Inertia(1.0, (0, 0, 0), inertia * np.eye(3)))
    model.add_actuator("servo", la.PD("wheel", **servo))
    return model


def loaded(effort=None) -> la.Model:
    """0.1 kg on a lever of 0.1 m, with a servo whose kd no step of 20 ms resolves."""
    model = la.Model(gravity=(0, 0, -9.81))
    model.add_body("lever", joint=la.Revolute((0, 1, 0)), inertia=la.Inertia(0.1, (0.1, 0, 0), 1e-3 * np.eye(3)))
    model.add_actuator("servo", la.PD("lever", kp=100.0, kd=10.0, effort=effort))
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


def test_a_load_that_is_held_is_at_rest():
    """kp (target − q) bears the weight; the node is at rest in all that tells of it, also to a controller."""
    seen = []

    def target(t, q, v):
        seen.append(v[0])
        return [0.3]

    run = la.simulate(loaded(), dt=0.02, steps=200, command=target)
    q = run.q[-1, 0]
    weight = 0.1 * 9.81 * 0.1
    assert 100 * (q - 0.3) == pytest.approx(weight * np.cos(q), rel=1e-9)
    assert abs(run.v[-1, 0]) < 1e-12 and abs(run.p[-1, 0]) < 1e-14 and abs(seen[-1]) < 1e-12
    assert run.energy[-1] == pytest.approx(-weight * np.sin(q), abs=1e-14)


def test_rate_and_energy_of_a_stiff_servo_are_those_of_its_slow_motion():
    run = la.simulate(hinge(1e-3, kp=100.0, kd=10.0), dt=0.02, duration=0.4, command=[1.0])
    rate = 10 * np.exp(-10 * run.t[1:])
    np.testing.assert_allclose(run.v[1:, 0], rate, rtol=0, atol=0.02)
    np.testing.assert_allclose(run.p[:, 0], 1e-3 * run.v[:, 0], rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(run.energy, 0.5e-3 * run.v[:, 0]**2, rtol=1e-10, atol=1e-15)


def test_a_stiff_servo_at_its_bound_is_in_time():
    """y = h kd / I is 40, and each command keeps the servo at a bound: two parabolas, to round-off."""
    command = np.repeat([100.0, -100.0], 10)[:, None]
    run = la.simulate(hinge(0.05, kp=1e4, kd=200.0, effort=3.0), dt=1e-2, steps=20, command=command)
    late = np.maximum(run.t - 0.1, 0.0)
    np.testing.assert_allclose(run.q[:, 0], 30.0 * run.t**2 - 60.0 * late**2, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(run.v[:, 0], 60.0 * run.t - 120.0 * late, rtol=0, atol=1e-12)


def test_a_servo_that_is_switched_off_leaves_the_rate_as_it_is():
    sim = la.Simulator(hinge(1e-3, kp=100.0, kd=10.0), dt=0.02, ignore="command")
    sim.step(3, command=[1.0])
    rate, angle = sim.v[0], sim.q[0]
    sim._advance(2, sim._engine.nothing, sim._engine.record(2, 1, sim.steps), sim.steps, 1)
    assert sim.v[0] == pytest.approx(rate, rel=1e-10) and sim.q[0] == pytest.approx(angle + 0.04 * rate, rel=1e-10)


def test_the_search_finds_a_servo_at_either_bound():
    """Its range between the bounds is passed in a small part of a step, at which Newton's method alone goes to and
    fro."""
    random = np.random.default_rng(1)
    for _ in range(8):
        kp, kd, effort, inertia = 10 ** random.uniform([2, 0, -0.5, -2], [5, 3, 1.5, 0])
        command = random.uniform(0.1, 2) * np.sign(np.sin(np.arange(1, 201) / 10))[:, None]
        run = la.simulate(hinge(inertia, kp=kp, kd=kd, effort=effort), dt=1e-2, steps=200, command=command)
        assert run.status.max() <= 2
        change = np.abs(np.diff(run.v[:, 0])) * inertia / (1e-2 * effort)
        assert change.max() < 2 + 1e-9  # from one bound to the other, the second is seen half a step ahead


@pytest.mark.parametrize(("target", "rate", "sign"), [(100.0, 0.0, 1.0), (-100.0, 2.0, -1.0)], ids=["pulls", "brakes"])
def test_the_work_of_a_saturated_servo_is_its_effort_times_the_way(target, rate, sign):
    run = la.simulate(hinge(0.1, kp=100.0, kd=1.0, effort=3.0), v=[rate], dt=1e-2, steps=30, command=[target])
    assert np.abs(run.q).max() > 0.7
    np.testing.assert_allclose(run.dissipated["actuators"], -sign * 3.0 * run.q[:, 0], rtol=0, atol=1e-12)
    assert run.max_balance_error < 1e-12


@pytest.mark.parametrize(("order", "within", "steps"), [
    (2, 0.05, (1e-3, 5e-4, 2.5e-4)), (4, 0.15, (2e-3, 1e-3, 5e-4))])
def test_the_ledger_of_servos_is_of_the_order_of_the_step(order, within, steps):
    """Of servos on a tree that the step resolves; they give or take 3 J."""
    runs = [la.simulate(arm(float("inf")), dt=h, duration=0.4, command=COMMAND, integrator=la.Variational(order=order))
            for h in steps]
    errors = np.array([np.abs(run.balance).max() for run in runs])
    np.testing.assert_allclose(np.log2(errors[:-1] / errors[1:]), order, atol=within)
    assert runs[-1].dissipated["actuators"][-1] == pytest.approx(3.1415, abs=2e-3) and errors[-1] < 1e-3


def test_the_ledger_of_stiff_servos_converges():
    """h kd / I is beyond 100 at 4 ms: there a servo is of first order, and the ledger better than that."""
    model, start = la.library.chain(3), np.array([0.3, -0.2, 0.1])
    for name in model.names:
        model.add_actuator(name, la.PD(name, kp=400.0, kd=40.0))
    errors = []
    for h in (4e-3, 2e-3, 1e-3):
        run = la.simulate(model, start, dt=h, duration=0.4,
                          command=lambda t, q, v: start + np.array([0.5, -0.4, 0.6]) * np.sin(3 * t) ** 2)
        errors.append(np.abs(run.balance).max())
    assert run.dissipated["actuators"][-1] > 0.9 and errors[0] < 2e-3
    assert (np.log2(np.divide(errors[:-1], errors[1:])) > 1.3).all()


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


def panda():
    """The seven axes of a Panda; its fingers have no servos."""
    paths = [path for path in zoo.paths("example-robot-data") if path.name == "panda.urdf"]
    if not paths:
        pytest.skip("example-robot-data is not installed")
    model = zoo.survey(paths[0]).load()
    return model, [f"panda_link{k}" for k in range(1, 8)]


def long_chain():
    model = la.library.chain(7)
    return model, model.names


@pytest.mark.parametrize("dt", [1e-3, 5e-3, 2e-2])
@pytest.mark.parametrize("make", [long_chain, panda])
def test_servos_of_a_long_arm_do_not_ring(make, dt):
    """At the fifth node rates and ways are within 5 % of the greatest one then: 4.8 % for the rates of the Panda at
    20 ms, below 3 % in all other cases. At the two nodes after that its rates are within 5.5 %; docs/actuators.md
    says why."""
    model, names = make()
    for name in names:
        model.add_actuator(name, la.PD(name, kp=100.0, kd=10.0))
    start = model.q0
    target = start[: 7] + np.linspace(0.2, -0.1, 7)
    options = {"command": target, "ignore": WORDS}
    fine = la.simulate(model, start, dt=1e-5, duration=12 * dt, record_every=round(dt / 1e-5), **options)
    run = la.simulate(model, start, dt=dt, steps=12, **options)
    worst = (make, dt) == (panda, 2e-2)
    for found, true, most in ((run.q - start, fine.q - start, 0.03), (run.v, fine.v, 0.05 if worst else 0.03)):
        off = np.abs(found - true).max(axis=1)[5:] / np.abs(true).max(axis=1)[5:]
        assert off[0] < most and off.max() < 0.055
    turns = np.diff(np.sign(np.diff(run.q[:6, :7], axis=0)), axis=0)  # fingers, if any, come last
    assert (np.count_nonzero(turns, axis=0) <= 1).all()  # of a rate that rings, the sign changes at every step


def test_a_light_finger_that_is_to_stay_does_not_ring():
    """15 g on an arm that moves: it is thrown aside, comes back, and no rate changes its sign twice in a row."""
    model = la.library.chain(3)
    model.add_body("finger", "link3", la.Prismatic((1, 0, 0)), inertia=la.Inertia.sphere(0.015, radius=0.01))
    for name in model.names:
        model.add_actuator(name, la.PD(name, kp=100.0, kd=10.0))
    target = [0.4, -0.3, 0.5, 0.0]
    run = la.simulate(model, np.zeros(4), dt=2e-2, steps=30, command=target)
    fine = la.simulate(model, np.zeros(4), dt=1e-4, duration=0.6, command=target, record_every=200)
    assert np.abs(fine.q[:, 3]).max() > 1e-4
    for rates in (np.diff(run.q, axis=0), run.v[1:]):
        turned = rates[1:] * rates[:-1] < 0
        assert not (turned[1:] & turned[:-1]).any()
    assert (np.abs(run.v - fine.v).max(axis=1) < 0.05 * np.abs(fine.v).max(axis=1))[5:].all()


def test_lanes_and_single_runs_agree_on_stiff_servos():
    model = loaded(effort=2.0)
    many = la.simulate_many(model, v=np.linspace(-30, 30, 5)[:, None], dt=0.02, steps=40, command=np.array([0.5]))
    for one in (many[0], many[3]):
        alone = la.simulate(model, v=one.v[0], dt=0.02, steps=40, command=[0.5])
        for name in ("q", "v", "p", "energy"):
            np.testing.assert_allclose(getattr(one, name), getattr(alone, name), rtol=0, atol=1e-10)


def test_servos_act_without_numba():
    program = """
import numpy as np, leastaction as la
model = la.Model(gravity=(0, 0, 0))
model.add_body("wheel", joint=la.Revolute((0, 1, 0)), inertia=la.Inertia(1.0, (0, 0, 0), 1e-3 * np.eye(3)))
model.add_actuator("servo", la.PD("wheel", kp=100.0, kd=10.0))
print(*la.simulate(model, dt=0.02, steps=5, command=np.linspace(0.5, 1.0, 5)[:, None]).q[:, 0])
"""
    told = subprocess.run([sys.executable, "-c", program], env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
                          capture_output=True, text=True, check=True).stdout
    run = la.simulate(hinge(1e-3, kp=100.0, kd=10.0), dt=0.02, steps=5, command=np.linspace(0.5, 1.0, 5)[:, None])
    np.testing.assert_allclose(np.array(told.split(), float), run.q[:, 0], rtol=1e-10)


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
    with pytest.raises(ValueError, match=r"order=4 steps backwards .* not resolve the kd of the actuator 'servo'"):
        la.simulate(hinge(1e-3, kp=100.0, kd=10.0), dt=0.02, steps=1, command=[1.0],
                    integrator=la.Variational(order=4))
