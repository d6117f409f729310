"""Dry friction: the slider in closed form, rest to the last bit, breakaway, and arms that rub at every joint."""

import numpy as np
import pytest
from stopped import arm, gained, hinge, slider

import leastaction as la

G = 9.81


@pytest.mark.parametrize("part", [1 + 1e-6, 1 - 1e-6, 0.51])
def test_a_weight_on_a_rail(part):
    run = la.simulate(slider(part * G, G), [0.0], [0.0], dt=0.01, duration=1.0)
    fall = max(1.0 - part, 0.0) * G
    assert np.abs(run.q[:, 0] + 0.5 * fall * run.t**2).max() < 1e-12
    assert run.dissipated["dry_friction"][-1] == pytest.approx(part * G * 0.5 * fall, abs=1e-12)
    assert np.abs(run.balance).max() < 1e-12
    if part > 1:
        assert np.all(run.q == 0.0) and np.all(run.v == 0.0)
        assert np.abs(run.dry_friction - G).max() < 1e-12
    else:
        assert np.abs(run.dry_friction - part * G).max() < 1e-10


def turning_points(start, stiffness, friction):
    """Where a mass on a spring with dry friction turns: half a swing about where friction holds the spring."""
    points = [start]
    while abs(stiffness * points[-1]) > friction:
        points.append(2 * np.sign(points[-1]) * friction / stiffness - points[-1])
    return points


def test_a_mass_on_a_spring_comes_to_rest():
    stiffness, friction = (2 * np.pi) ** 2, 2.0
    expected, errors = turning_points(1.0, stiffness, friction), []
    for dt in (0.01, 0.005):
        run = la.simulate(slider(friction, stiffness=stiffness), [1.0], [0.0], dt=dt, duration=7.0)
        q, half = run.q[:, 0], round(0.5 / dt)  # half a swing takes half a second
        errors.append(np.abs(q[:: half][: len(expected)] - expected).max())
        assert np.all(q[-len(q) // 8 :] == q[-1]) and np.all(run.v[-len(q) // 8 :] == 0.0)
        assert np.all(np.diff(run.energy) < 1e-14)
    assert errors[1] < 1e-4 and np.log2(errors[0] / errors[1]) > 1.8


def test_it_breaks_away_within_a_step():
    steps, dt = 100, 0.01
    force = 0.05 * np.arange(steps)[:, None]
    run = la.simulate(slider(2.02), [0.0], [0.0], dt=dt, steps=steps, control=force)
    first = int(np.argmax(force[:, 0] > 2.02))  # the first step with more force than friction can hold
    assert np.all(run.q[: first + 1] == 0.0) and np.all(run.v[first + 1 :] > 0.0)
    assert np.abs(run.dry_friction[:first, 0] + force[:first, 0]).max() < 1e-12


def test_a_wheel_runs_down():
    """Constant friction: uniformly slower, at rest after ω I / F, having turned by ω² I / 2F."""
    run = la.simulate(hinge(friction=0.8), [-0.9], [1.0], dt=0.01, duration=1.0)
    assert run.q[-1, 0] == pytest.approx(-0.9 + 0.4 / (2 * 0.8), abs=2e-4)
    assert np.all(run.v[52:] == 0.0) and run.dissipated["dry_friction"][-1] == pytest.approx(0.2, rel=1e-3)


def test_an_arm_with_friction_against_its_stops():
    worst = []
    for dt in (0.004, 0.002, 0.001):
        run = la.simulate(arm(friction=1.5), dt=dt, duration=2.0)
        assert max((-0.6 - run.q).max(), (run.q - 0.8).max()) < 1e-10
        assert run.dissipated["dry_friction"][-1] > 1.0 and run.dissipated["limits"][-1] > 1.0
        worst.append(np.abs(run.balance).max())
        assert gained(run.energy) < worst[-1]
    assert np.log2(worst[0] / worst[2]) / 2 > 1.5


def test_a_stiff_arm_sticks_for_good():
    model = arm(friction=60.0)
    run = la.simulate(model, v=np.zeros(3), dt=0.01, steps=100)
    assert np.all(run.q == run.q[0]) and np.all(run.v == 0.0) and np.all(run.ledger == 0.0)
    moments = la.inverse_dynamics(model, model.q0, np.zeros(3), np.zeros(3))
    assert np.abs(run.dry_friction[-1] - moments).max() < 1e-10


def test_orders_above_two_refuse_it():
    model = slider(1.0)
    with pytest.raises(ValueError, match=r"order 4 \(body 'mass' has friction\).*ignore=\('friction',\)"):
        la.Simulator(model, integrator=la.Variational(order=4))
    la.Simulator(model, integrator=la.Variational(order=4), ignore="friction")
