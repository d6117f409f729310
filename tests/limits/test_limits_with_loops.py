"""Limits and dry friction beside loops and couplings: closed forms of reduced systems, energy, closure, momentum."""

import numpy as np
import pytest
from coupled import four_bar, gripper, reduced, wheels

import leastaction as la
from leastaction.formats import zoo

# Wheels that follow the first one, and which of them have limits: where several have, they share what stops them
CASES = [((1.0,), "a"), ((-2.0,), "a"), ((-2.0,), "b"), ((1.0,), "ab"), ((1.0, -0.5), "abc")]


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("ratios", "limited"), CASES)
def test_coupled_wheels_between_stops(ratios, limited, restitution, order):
    """As one wheel with the reduced inertia."""
    all_ = np.array([1.0, *ratios])
    run = la.simulate(wheels(ratios, restitution, limited), 0.3 * all_, 2.0 * all_, dt=0.01, duration=0.6,
                      integrator=la.Variational(order=order))
    impact = 0.35  # s, where the first wheel is at 1 rad
    after = run.t > impact + 1e-9
    expected = 1.0 - restitution * 2.0 * (run.t[after] - impact)
    assert np.abs(run.q[after] - expected[:, None] * all_).max() < 1e-11
    assert np.abs(run.v[after] + restitution * 2.0 * all_).max() < 1e-11
    loss = 0.5 * reduced(ratios) * 2.0**2 * (1.0 - restitution**2)
    assert np.abs(run.dissipated["limits"] - np.where(after, loss, 0.0)).max() < 1e-11
    assert np.abs(run.balance).max() < 1e-11 and run.closure.max() < 1e-14
    impulse = run.limit_force.sum(axis=0) @ all_ * 0.01  # as the first wheel feels it
    assert impulse == pytest.approx(-(1.0 + restitution) * reduced(ratios) * 2.0, rel=1e-11)
    if restitution == 0.0:
        held = ["abc".index(name) for name in limited]
        assert np.all(run.q[after][:, held] == all_[held]) and np.all(run.v[after][:, held] == 0.0)


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_four_bar_against_its_stops(restitution, order):
    worst = []
    for dt in (0.004, 0.002):
        run = la.simulate(four_bar(restitution), dt=dt, duration=1.5, integrator=la.Variational(order=order))
        rocker = run.q[:, 2]
        assert max(1.2 - rocker.min(), rocker.max() - 2.4) < 1e-10 and run.closure.max() < 1e-13
        assert run.judgement.kept and not run.judgement.reason
        worst.append(np.abs(run.balance).max())
        lost = run.dissipated["limits"]
        if restitution == 1.0:  # the energy stays, but for the step's own error
            assert np.abs(lost).max() < 1e-11 and np.count_nonzero(np.diff(np.sign(run.v[:, 2]))) >= 3
        else:
            assert lost[-1] > 10.0 and np.all(np.diff(lost) >= 0.0) and np.diff(run.energy).max() < 3.0 * worst[-1]
    assert np.log2(worst[0] / worst[1]) > (1.8 if order == 2 else 3.7)


def test_it_comes_to_rest_on_its_stop():
    """The rocker stands still to the last bit, the others to round-off, and the stop carries what virtual work says."""
    model = four_bar()
    run = la.simulate(model, dt=0.004, duration=2.0)
    q = run.q[-1]
    assert np.all(run.q[-50:, 2] == q[2]) and np.all(run.v[-50:, 2] == 0.0) and q[2] in (1.2, 2.4)
    assert np.abs(run.q[-50:] - q).max() < 1e-13 and np.abs(run.v[-50:]).max() < 1e-12
    _, _, V = np.linalg.svd(la.constraint_jacobian(model, q))
    way = V[-1]  # the only motion that opens no loop
    weight = la.inverse_dynamics(model, q, np.zeros(3), np.zeros(3))
    assert run.limit_force[-1, 2] == pytest.approx(weight @ way / way[2], rel=1e-9)
    assert np.all(run.limit_force[-1, :2] == 0.0)


def test_elastic_impacts_in_a_loop_can_be_undone():
    model = four_bar(1.0)
    there = la.Simulator(model, dt=0.004)
    there.step(150)
    back = la.Simulator(model, there.q, -there.v, dt=0.004)
    back.step(150)
    assert np.abs(back.q - model.q0).max() < 1e-10 and np.abs(back.v + model.v0).max() < 1e-9


def test_a_floating_gripper_keeps_its_momentum():
    run = la.simulate(gripper(), dt=0.005, duration=2.0)
    assert np.abs(run.momentum - run.momentum[0]).max() < 1e-13
    assert np.abs(run.q[:, -1] + run.q[:, -2]).max() < 1e-14 and np.abs(run.q[:, -2:]).max() < 0.8 + 1e-13
    assert np.count_nonzero(np.diff(np.sign(run.v[:, -1]))) >= 3 and np.abs(run.dissipated["limits"]).max() < 1e-13


def turning_points(start, stiffness, friction):
    """Where a mass on a spring with dry friction turns: half a swing about where friction holds the spring."""
    points = [start]
    while abs(stiffness * points[-1]) > friction:
        points.append(2 * np.sign(points[-1]) * friction / stiffness - points[-1])
    return points


@pytest.mark.parametrize("rubbing", ["a", "b", "ab"])
def test_coupled_wheels_on_a_spring_come_to_rest(rubbing):
    """The spring is at one wheel, friction at one or at both: as one wheel with what it feels of either."""
    ratio, friction, stiffness = -2.0, 4.0, reduced((-2.0,)) * (2 * np.pi) ** 2
    felt = friction * (("a" in rubbing) + abs(ratio) * ("b" in rubbing))
    joints = {name: {"friction": friction} for name in rubbing}
    joints["b"] = {**joints.get("b", {}), "stiffness": stiffness / ratio**2}
    model, expected, errors = wheels((ratio,), limited="", **joints), turning_points(1.0, stiffness, felt), []
    for dt in (0.01, 0.005):
        run = la.simulate(model, (1.0, ratio), (0.0, 0.0), dt=dt, duration=7.0)
        q, half = run.q[:, 0], round(0.5 / dt)  # half a swing takes half a second
        errors.append(np.abs(q[::half][: len(expected)] - expected).max())
        asleep = slice(-len(q) // 8, None)
        assert np.abs(q[asleep] - q[-1]).max() < 1e-15 and np.abs(run.v[asleep]).max() < 1e-14
        assert np.all(np.diff(run.energy) < 1e-13) and la.Status.CROWDED not in run.tally.statuses
        assert run.dissipated["dry_friction"][-1] == pytest.approx(run.energy[0] - run.energy[-1], rel=1e-3)
    assert errors[1] < 2e-4 and np.log2(errors[0] / errors[1]) > 1.8


@pytest.mark.parametrize("part", [1 + 1e-6, 1 - 1e-6])
def test_friction_of_two_wheels_holds_together(part):
    """Neither would hold a moment on the first one by itself; what both can do is what counts."""
    moment, ratio = 5.0, -2.0
    friction = part * moment / (1.0 + abs(ratio))
    model = wheels((ratio,), limited="", a={"friction": friction}, b={"friction": friction})
    run = la.simulate(model, np.zeros(2), np.zeros(2), dt=0.01, steps=100, control=np.array([moment, 0.0]))
    rate = max(1.0 - part, 0.0) * moment / reduced((ratio,))
    assert np.abs(run.q[:, 0] - 0.5 * rate * run.t**2).max() < 1e-12
    held = run.dry_friction @ [1.0, ratio]
    assert np.abs(held + min(part, 1.0) * moment).max() < 1e-9
    assert la.Status.CROWDED not in run.tally.statuses


def test_a_four_bar_that_rubs_falls_asleep():
    worst = []
    for dt in (0.004, 0.002):
        run = la.simulate(four_bar(0.3, friction=2.0), dt=dt, duration=1.5)
        assert run.dissipated["dry_friction"][-1] > 1.0 and run.closure.max() < 1e-13
        assert max(1.2 - run.q[:, 2].min(), run.q[:, 2].max() - 2.4) < 1e-10
        worst.append(np.abs(run.balance).max())
    assert np.log2(worst[0] / worst[1]) > 1.5


def test_bits_last_through_impacts(tmp_path):
    """Whichever nodes are kept, and however a run is cut: with limits, dry friction and a loop."""
    model = four_bar(0.5, friction=0.5)
    whole = la.simulate(model, dt=0.004, steps=240)
    few = la.simulate(model, dt=0.004, steps=240, record_every=60)
    assert np.array_equal(whole.q[::60], few.q) and np.array_equal(whole.v[::60], few.v)
    sim = la.Simulator(model, dt=0.004)
    for _ in range(8):
        sim.step(30)
        sim = la.Simulator.restore(sim.checkpoint(tmp_path / "run.ckpt"))
    assert np.array_equal(sim.q, whole.q[-1]) and np.array_equal(sim.v, whole.v[-1])
    assert np.array_equal(sim.p, whole.p[-1]) and whole.dissipated["limits"][-1] > 1.0


@pytest.mark.filterwarnings("ignore::leastaction.errors.ModelWarning")
def test_starts_beyond_limits_come_back_together():
    """Two coupled wheels start beyond: one is driven, the other follows, at the rate that the ratio makes of it."""
    model = wheels((-2.0,), limited="ab")
    run = la.simulate(model, (1.1, -2.2), (0.0, 0.0), dt=0.01, duration=1.0)
    back = run.t < 0.5 - 1e-9
    assert np.abs(run.q[back, 0] - (1.1 - 0.2 * run.t[back])).max() < 1e-12
    assert np.abs(run.q[:, 1] + 2.0 * run.q[:, 0]).max() < 1e-13 and run.q[-1].tolist() == [1.0, -2.0]
    assert np.all(run.v[-40:] == 0.0)
    assert np.abs(run.balance).max() < 1e-12  # what gives them their rate, and takes it again


def test_what_a_coupling_carries_at_a_limit():
    """The second wheel hangs on the first by the coupling, and the first on its stop."""
    model = wheels((1.0,), limited="a", gravity=9.81)
    run = la.simulate(model, (1.0, 1.0), (0.0, 0.0), dt=0.01, steps=20, control=np.array([4.0, 0.0]))
    weight = 9.81 * 0.1 * np.sin(1.0)
    assert np.all(run.q[:, 0] == 1.0) and np.abs(run.q[:, 1] - 1.0).max() < 1e-15
    assert np.abs(run.limit_force[:, 0] + 4.0 - 2.0 * weight).max() < 1e-12
    np.testing.assert_allclose(np.abs(run.reaction("gear b")), weight, atol=1e-11)


def test_methods_that_know_no_limits_say_so():
    with pytest.raises(ValueError, match=r"knows neither joint limits nor dry friction.*ignore=\('limits',\)"):
        la.Simulator(four_bar(), integrator=la.RungeKutta4())
    la.Simulator(four_bar(), integrator=la.RungeKutta4(), ignore="limits")


def test_what_is_switched_off_does_not_act():
    model = four_bar()
    free = la.simulate(model, dt=0.004, steps=200, ignore="limits")
    assert free.q[:, 2].max() > 2.5 and model.ignored == {}


@pytest.mark.filterwarnings("ignore::leastaction.errors.ModelWarning")
def test_a_robot_with_a_gripper():
    """Two fingers, one of which mimics the other, and limits at all joints."""
    path = next((path for path in zoo.paths("example-robot-data") if path.name == "panda.urdf"), None)
    if path is None:
        pytest.skip("example-robot-data is not installed")
    robot = zoo.survey(path).load()
    q, v = la.assemble(robot, robot.q0, 0.5 * np.random.default_rng(1).standard_normal(robot.nv))
    run = la.simulate(robot, q, v, dt=1e-3, duration=0.5)
    low, high = np.transpose([body.joint.bounds(0) for body in robot.bodies if not isinstance(body.joint, la.Fixed)])
    beyond = np.maximum(low - run.q, run.q - high)
    back = np.maximum(beyond[0] - 0.19 * run.t[:, None], 0.0)  # joints that start beyond come back at 0.2 rad/s
    assert (beyond - back).max() < 1e-10 and run.closure.max() < 1e-15 and np.abs(run.limit_force).max() > 0.0
    assert np.abs(run.balance).max() < 1e-4
