"""Orders above two: observed on free and on forced motion; and what the composition and the summation must keep."""

from dataclasses import replace

import numba
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import leastaction as la
from leastaction.reference import difference
from reference.trees import random_model, random_state

# Double pendulum from absolute angles (1, 1.5) at rest, by Taylor series at 21 digits: angles and rates at t = 2
AT_2 = (-0.1001434413838809143, -0.6196882375826686179, 0.7568693539279359824, 4.9743320900702170956)
WITHIN = {2: 0.05, 4: 0.1, 6: 0.2, 8: 0.3}
BOTH = pytest.mark.parametrize("retraction", ["exp", "split"])


def check_order(order, error, count, doublings=2):
    """The error falls with h to the order, from ``count`` steps, doubled."""
    errors = [error(count * 2**k) for k in range(doublings + 1)]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), order, atol=WITHIN[order])


def last(model, duration, steps, integrator, **forces):
    return la.simulate(model, dt=duration / steps, steps=steps, record_every=steps, integrator=integrator, **forces)


@BOTH
@pytest.mark.parametrize(("order", "steps"), [(2, 160), (4, 80), (6, 40)])
def test_order_on_the_double_pendulum(order, steps, retraction):
    def error(n):
        traj = last(la.library.double_pendulum(), 2.0, n, la.Variational(order=order, retraction=retraction))
        return np.abs([*np.cumsum(traj.q[-1]), *np.cumsum(traj.v[-1])] - np.array(AT_2)).max()

    check_order(order, error, steps, doublings=2 if order < 6 else 1)


def test_order_eight_on_the_double_pendulum():
    """From 40 to 80 steps; with more, round-off."""
    def error(n):
        traj = last(la.library.double_pendulum(), 2.0, n, la.Variational(order=8))
        return np.abs([*np.cumsum(traj.q[-1]), *np.cumsum(traj.v[-1])] - np.array(AT_2)).max()

    check_order(8, error, 40, doublings=1)
    assert error(160) < 1e-11


@pytest.fixture(scope="module")
def swinging_tree():
    """A tree of ball joints, and its poses after 0.8 s by order 8 with a step that two orders agree upon."""
    model = la.library.tree(depth=3, branching=2, joint="ball")
    exact, other = (la.poses(model, last(model, 0.8, n, la.Variational(order=order)).q[-1])
                    for order, n in ((8, 400), (6, 1600)))
    np.testing.assert_allclose(exact, other, rtol=0, atol=1e-11)
    return model, exact


@BOTH
@pytest.mark.parametrize(("order", "steps"), [(2, 500), (4, 160), (6, 128), (8, 90)])
def test_order_on_a_tree_of_ball_joints(swinging_tree, order, steps, retraction):
    model, exact = swinging_tree

    def error(n):
        end = last(model, 0.8, n, la.Variational(order=order, retraction=retraction)).q[-1]
        return np.abs(la.poses(model, end) - exact).max()

    check_order(order, error, steps if retraction == "exp" else steps // 3, doublings=1)  # errs less: soon round-off


def hinged(damping=0.0):
    base, model = la.library.paper_chain(3), la.Model()
    for b in base.bodies:
        model.add_body(b.name, b.parent, replace(b.joint, damping=damping), b.position, b.quaternion, b.inertia)
    model.q0, model.v0 = base.q0, base.v0
    return model


def by_scipy(model, law):
    """The state (6,) after a second under forces law(t, q, v), by an explicit method of order 8."""
    def rate(t, y):
        return np.concatenate([y[3:], la.forward_dynamics(model, y[:3], y[3:], law(t, y[:3], y[3:]))])

    start = np.concatenate([model.q0, model.v0])
    return solve_ivp(rate, (0, 1), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


def none(t, q, v):
    return np.zeros(3)


def constant(t, q, v):
    return np.array([3.0, -2.0, 1.0])


def of_time(t, q, v):
    return np.array([8 * np.sin(3 * t), 4 * np.cos(5 * t), 2 * np.sin(7 * t)])


def feedback(t, q, v):
    return -2.0 * v - 3.0 * q


def sampled(shift):
    """Rows for every step, taken at this fraction of it."""
    return lambda n: np.array([of_time((k + shift) / n, None, None) for k in range(n)])


# Name: damping, the law, what `control` is for n steps, and the orders found with order = 2, 4, 6
FORCED = {
    "damping": (2.0, none, lambda n: None, (2, 4, 6)),
    "constant forces": (0.0, constant, lambda n: constant(0, 0, 0), (2, 4, 6)),
    "samples at mid-step": (0.0, of_time, sampled(0.5), (2, 2, 2)),
    "samples at the start": (0.0, of_time, sampled(0.0), (1, 1, 1)),
    "a function of time": (0.0, of_time, lambda n: numba.njit(of_time), (1, 1, 1)),
    "feedback": (0.0, feedback, lambda n: numba.njit(feedback), (1, 1, 1)),
}


@pytest.mark.parametrize(("damping", "law", "control", "found"), FORCED.values(), ids=FORCED)
def test_order_of_forced_motion(damping, law, control, found):
    """What is held over a step is integrated to the full order; that it is held costs order two, or one."""
    model = hinged(damping)
    exact = by_scipy(model, law)

    def error(n, order):
        traj = last(model, 1.0, n, la.Variational(order=order), control=control(n))
        return np.abs(np.concatenate([traj.q[-1], traj.v[-1]]) - exact).max()

    for order, expected in zip((2, 4, 6), found, strict=True):
        observed = np.log2(error(50, order) / error(100, order))
        assert abs(observed - expected) < 0.1, f"order {observed:.2f} with order = {order}"


def test_energy_of_the_papers_chain_at_order_four():
    """Ten links, 20 s at 2 ms: the error relative to m g l n²/2."""
    traj = la.simulate(la.library.paper_chain(10), dt=2e-3, duration=20.0, integrator=la.Variational(order=4))
    error = np.abs(traj.energy_range - traj.energy[0]).max() / (1.0 * 9.81 * 1.5 * 10**2 / 2)
    print(f"energy error {error:.2g}")
    assert error < 5e-7


@BOTH
@pytest.mark.parametrize("order", [4, 6, 8])
@pytest.mark.parametrize("seed", range(3))
def test_a_step_back_undoes_a_step(seed, order, retraction):
    """Also where joints have springs, armature and damping: the map with damping is symmetric too."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, 5)
    q, v = random_state(rng, model)
    p, integrator = la.mass_matrix(model, q) @ v, la.Variational(order=order, retraction=retraction)
    there = la.variational_step(model, q, p, 0.01, integrator)
    back_q, back_p = la.variational_step(model, *there, -0.01, integrator)
    np.testing.assert_allclose(difference(model, q, back_q), 0, atol=1e-11)
    np.testing.assert_allclose(back_p, p, rtol=0, atol=1e-11 * np.abs(p).max())
    assert np.abs(difference(model, q, there[0])).max() > 1e-3


@pytest.mark.parametrize(("order", "retraction"), [(4, "exp"), (6, "exp"), (2, "split"), (4, "split")])
def test_floating_ragdoll_keeps_its_momentum(order, retraction):
    model = la.library.ragdoll()
    model.gravity = (0, 0, 0)
    traj = la.simulate(model, dt=1e-3, steps=3000, record_every=3000,
                       integrator=la.Variational(order=order, retraction=retraction))
    spread = traj.momentum_range[1] - traj.momentum_range[0]
    angular, linear = np.linalg.norm(traj.momentum[0].reshape(2, 3), axis=1)
    assert spread[:3].max() < 1e-11 * angular
    assert spread[3:].max() < 1e-11 * linear


BODY = la.Inertia(2.0, matrix=0.5 * np.eye(3))


def drifting(joint):
    model = la.Model(gravity=(0, 0, 0))
    model.add_body("body", joint=joint, inertia=BODY)
    return model


def test_many_small_increments_add_up_exactly():
    """A cart a kilometre away, 1e5 steps of 0.1 mm: the sum is right to its last digit. Plain addition loses 1e-9."""
    model, steps, h = drifting(la.Prismatic((1, 0, 0))), 100_000, 1e-4
    traj = la.simulate(model, [1000.1], [1.1], dt=h, steps=steps, record_every=steps)
    assert abs(traj.q[-1, 0] - (1000.1 + 1.1 * h * steps)) < 2 * np.spacing(1000.0)


def test_many_small_turns_add_up_exactly():
    """A free body that drifts and turns by 0.05 mrad a step; quaternions stay unit, and their sum right."""
    steps, h, rate, speed = 100_000, 1e-4, 0.5, 0.3
    model = drifting(la.Free())
    q = [100.1, 0, 0, 1, 0, 0, 0]
    traj = la.simulate(model, q, [0, 0, rate, 0, 0, 0], dt=h, steps=steps, record_every=steps)
    half = rate * h * steps / 2
    np.testing.assert_allclose(traj.q[-1, 3:], [np.cos(half), 0, 0, np.sin(half)], rtol=0, atol=1e-15)
    traj = la.simulate(model, q, [0, 0, 0, speed, 0, 0], dt=h, steps=steps, record_every=steps)
    assert abs(traj.q[-1, 0] - (100.1 + speed * h * steps)) < 2 * np.spacing(100.0)
