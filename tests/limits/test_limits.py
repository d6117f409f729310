"""Joint limits: closed forms, an independent integrator with events, reversal, and starts beyond a limit."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from stopped import arm, gained, hinge, pendulum

import leastaction as la

HINGE = 0.4  # kg m², its moment of inertia


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_wheel_between_stops(restitution, order):
    """Free motion is uniform, so that the time of the impact and all after it are known."""
    run = la.simulate(hinge(restitution), [0.3], [2.0], dt=0.01, duration=1.0, integrator=la.Variational(order=order))
    impact = 0.35  # s, at 1 rad
    after = run.t > impact + 1e-9
    expected = 1.0 - restitution * 2.0 * (run.t[after] - impact)
    assert np.abs(run.q[after, 0] - expected).max() < 1e-11
    assert np.abs(run.v[after, 0] + restitution * 2.0).max() < 1e-11
    loss = 0.5 * HINGE * 2.0**2 * (1.0 - restitution**2)
    assert np.abs(run.dissipated["limits"] - np.where(after, loss, 0.0)).max() < 1e-11
    assert np.abs(run.balance).max() < 1e-11
    assert run.limit_force.sum() * 0.01 == pytest.approx(-(1.0 + restitution) * HINGE * 2.0, rel=1e-11)
    if restitution == 0.0:
        assert np.all(run.q[after] == 1.0) and np.all(run.v[after] == 0.0)  # to the last bit


def test_a_limit_that_is_hit_at_a_node():
    run = la.simulate(hinge(0.5), [0.5], [2.0], dt=0.25, duration=1.0)
    assert np.abs(run.q[:, 0] - [0.5, 1.0, 0.75, 0.5, 0.25]).max() < 1e-12


def reference(restitution, angle, rate, end, low, high):
    """A pendulum of the mechanisms between limits, by SciPy: (angle, rate) at the end."""
    inertia, weight = 0.1 + 0.25, 0.5 * 9.81

    def hit(_t, y):
        return (y[0] - low) * (high - y[0])

    hit.terminal, hit.direction = True, -1
    t, y = 0.0, np.array([angle, rate])
    while t < end:
        found = solve_ivp(lambda _t, y: (y[1], -weight / inertia * np.sin(y[0])), (t, end), y, "DOP853", rtol=1e-13,
                          atol=1e-13, events=hit)
        t, y = found.t[-1], found.y[:, -1]
        if found.status == 1:
            y[1] *= -restitution
    return y


@pytest.mark.parametrize(("order", "least"), [(2, 1.8), (4, 3.7)])
def test_bouncing_converges_to_what_scipy_finds(order, least):
    """The order of the step is that of the whole run: impacts are located on the composed map."""
    expected = reference(0.7, 0.2, 3.0, 1.6, -0.5, 0.7)
    error = []
    for dt in (0.04, 0.02):
        run = la.simulate(pendulum(-0.5, 0.7, 0.7), [0.2], [3.0], dt=dt, duration=1.6,
                          integrator=la.Variational(order=order))
        error.append(np.abs([run.q[-1, 0] - expected[0], run.v[-1, 0] - expected[1]]).max())
    assert np.log2(error[0] / error[1]) > least and error[1] < (1e-2 if order == 2 else 5e-6)


def test_order_six():
    """Against SciPy, too, through an impact."""
    expected, errors = reference(0.7, 0.2, 3.0, 1.6, -0.5, 0.7), []
    for dt in (0.08, 0.04, 0.02):
        run = la.simulate(pendulum(-0.5, 0.7, 0.7), [0.2], [3.0], dt=dt, duration=1.6,
                          integrator=la.Variational(order=6))
        errors.append(max(abs(run.q[-1, 0] - expected[0]), abs(run.v[-1, 0] - expected[1])))
        assert np.count_nonzero(run.limit_force) >= 1
    assert -np.polyfit(range(3), np.log2(errors), 1)[0] > 5.7 and errors[-1] < 1e-8


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize(("model", "start", "hits"), [(arm(1.0), None, [2, 0, 1]),
                                                      (pendulum(-0.5, 0.7, 1.0), ([0.2], [8.0]), [13])])
def test_elastic_impacts_can_be_undone(model, start, hits, order):
    q, v = start or (model.q0, model.v0)
    steps, integrator = 60 if start is None else 400, la.Variational(order=order)
    there = la.simulate(model, q, v, dt=0.005, steps=steps, integrator=integrator)
    assert np.count_nonzero(there.limit_force, axis=0).tolist() == hits  # one step for every impact
    back = la.simulate(model, there.q[-1], -there.v[-1], dt=0.005, steps=steps, integrator=integrator)
    assert np.count_nonzero(back.limit_force, axis=0).tolist() == hits
    assert np.abs(back.q[-1] - q).max() < 1e-11 and np.abs(back.v[-1] + v).max() < 1e-11


def test_elastic_bounces_do_not_drift():
    """Over 3000 bounces here, over 1e5 in tests/soak/test_long_limits.py."""
    run = la.simulate(pendulum(-0.5, 0.7, 1.0), [0.2], [8.0], dt=0.01, steps=45_000)
    bounces, tenth = np.count_nonzero(np.diff(np.sign(run.v[:, 0]))), len(run) // 10
    assert bounces > 2900
    assert abs(run.energy[:tenth].mean() - run.energy[-tenth:].mean()) < 1e-6 * run.peak_kinetic_energy


@pytest.mark.parametrize("restitution", [0.0, 0.3])
def test_an_arm_against_its_stops(restitution):
    """It never passes a limit, it never gains energy, and the ledger says where all of it went, to second order."""
    worst = []
    for dt in (0.004, 0.002, 0.001):
        run = la.simulate(arm(restitution), dt=dt, duration=2.0)
        assert max((-0.6 - run.q).max(), (run.q - 0.8).max()) < 1e-10
        assert run.dissipated["limits"][-1] > 40.0 and np.all(np.diff(run.ledger[:, 4]) >= 0.0)
        assert run.judgement.kept and not run.judgement.reason
        worst.append(np.abs(run.balance).max())
        assert gained(run.energy) < 3.0 * worst[-1]
    assert np.log2(worst[0] / worst[2]) / 2 > 1.7


def test_joints_at_rest_are_held_exactly_and_let_go():
    """The rod lies on its lower stop, is lifted by a moment that grows, and leaves when that outweighs gravity."""
    model = pendulum(0.5, 1.5)
    steps, dt = 200, 0.005
    moment = 0.03 * np.arange(steps)[:, None]
    run = la.simulate(model, [0.5], [0.0], dt=dt, steps=steps, control=moment)
    weight = 9.81 * 0.5 * np.sin(0.5)
    leaves = int(np.ceil(weight / 0.03))
    assert np.all(run.q[: leaves + 1] == 0.5) and np.all(run.v[: leaves + 1] == 0.0)
    assert np.all(run.v[leaves + 2 :] > 0.0)
    assert np.abs(run.limit_force[:leaves, 0] - (weight - moment[:leaves, 0])).max() < 1e-12
    assert np.all(run.limit_force[leaves + 1 :] == 0.0)


def test_a_stop_lets_go_at_the_right_moment():
    """A rod in a swinging frame is pressed against its stop, and leaves when its own weight outruns the frame."""
    model = la.Model(name="clapper")
    model.add_body("bell", joint=la.Revolute((0, 1, 0)), inertia=la.Inertia(5.0, (0, 0, -0.2), np.eye(3)))
    model.add_body("clapper", "bell", la.Revolute((0, 1, 0), limits=(0.0, 1.0)), inertia=la.Inertia.rod(
        0.5, 0.8, com=(0, 0, -0.4)))
    start = [1.0, 0.0]
    fine = la.simulate(model, start, dt=1e-3, duration=0.8, integrator=la.Variational(order=8))
    assert 0.0 < np.argmax(fine.q[:, 1] > 0.0) < len(fine) - 100  # it leaves on the way
    errors = []
    for dt in (0.02, 0.01):
        run = la.simulate(model, start, dt=dt, duration=0.8, integrator=la.Variational(order=4))
        errors.append(np.abs(run.q[-1] - fine.q[-1]).max())
    assert np.log2(errors[0] / errors[1]) > 3.0


def test_starts_beyond_a_limit_come_back_slowly():
    model = pendulum(0.5, 1.0)  # gravity pulls it away from where it has to go
    with pytest.warns(la.ModelWarning, match=r"'rod' starts 0\.3 rad beyond"):
        run = la.simulate(model, [0.2], [0.0], dt=0.01, duration=2.0)
    back = run.t < 1.5 - 1e-9
    assert np.abs(run.q[back, 0] - (0.2 + 0.2 * run.t[back])).max() < 1e-12
    assert np.all(run.q[151:] == 0.5) and np.all(run.v[152:] == 0.0)
    given = 0.5 * 9.81 * (np.cos(0.2) - np.cos(0.5))
    assert run.dissipated["recovery"][-1] == pytest.approx(-given, rel=1e-4)
    assert np.abs(run.balance).max() < 1e-4 * given and run.dissipated["limits"][-1] == 0.0


@pytest.mark.filterwarnings("ignore::leastaction.errors.ModelWarning")
def test_recovery_is_an_inner_force():
    """A floating body with a leg beyond its limit keeps its momentum, which is zero."""
    model = la.Model(gravity=(0, 0, 0), name="floating")
    model.add_body("base", joint=la.Free(), inertia=la.Inertia(1.0, (0, 0, 0), 0.1 * np.eye(3)))
    model.add_body("leg", "base", la.Revolute((0, 1, 0), limits=(-0.3, 0.3), stiffness=5.0, rest=1.0),
                   position=(0.2, 0, 0), inertia=la.Inertia.rod(1.0, 1.0, axis=(1, 0, 0), com=(0.5, 0, 0)))
    q = model.q0
    q[-1] = 0.5
    run = la.simulate(model, q, dt=0.01, duration=2.0)
    assert run.q[-1, -1] == 0.3 and np.abs(run.momentum).max() < 1e-15
    assert np.abs(run.balance).max() < 1e-5


def test_a_range_of_one_point_is_a_weld():
    run = la.simulate(pendulum(0.4, 0.4), [0.4], dt=0.01, steps=50)
    assert np.all(run.q == 0.4) and np.all(run.v == 0.0)
    assert run.limit_force[-1, 0] == pytest.approx(9.81 * 0.5 * np.sin(0.4), rel=1e-12)


def test_several_stops_are_hit_at_once():
    """Two equal pendulums side by side on a slider hit their stops in the same instant, exactly symmetric."""
    model = la.Model(gravity=(0, 0, 0), name="twins")
    model.add_body("cart", joint=la.Prismatic((1, 0, 0)), inertia=la.Inertia(1.0, (0, 0, 0), np.eye(3)))
    for name, side in (("left", -1.0), ("right", 1.0)):
        model.add_body(name, "cart", la.Revolute((0, 1, 0), limits=(-1.0, 1.0), limit_restitution=1.0),
                       position=(side, 0, 0), inertia=la.Inertia.rod(1.0, 1.0, com=(0, 0, -0.5)))
    run = la.simulate(model, [0.0, 0.5, -0.5], [0.0, 1.0, -1.0], dt=0.01, duration=3.0)
    assert np.abs(run.q[:, 1] + run.q[:, 2]).max() < 1e-12 and np.abs(run.q[:, 0]).max() < 1e-12
    assert np.count_nonzero(np.diff(np.sign(run.v[:, 1]))) >= 1
    assert np.abs(run.ledger).max() < 1e-14
