"""traj.accuracy(): the estimate is near the true error, whatever made the trajectory, and says when it cannot be."""

from dataclasses import replace

import numba
import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import leastaction as la
from leastaction.analysis.accuracy import distance
from leastaction.reference import difference
from reference.trees import random_model, random_state

# Double pendulum from absolute angles (1, 1.5) at rest, by Taylor series at 21 digits: absolute angles
ANGLES = {2.0: (-0.1001434413838809143, -0.6196882375826686179),
          10.0: (-1.1815353147407161535, -0.9767003929128072994)}
INTEGRATORS = {
    "order 2": (la.Variational(), 4e-3),
    "order 4": (la.Variational(order=4), 2e-2),
    "order 6": (la.Variational(order=6), 4e-2),
    "exp": (la.Variational(retraction="exp"), 4e-3),
    "euler": (la.SemiImplicitEuler(), 5e-4),
    "rk4": (la.RungeKutta4(), 1e-2),
}


def pendulum_angle(t):
    """The pendulum of length 1 released at 1 rad, g = 9.81, in closed form."""
    m = np.sin(0.5) ** 2
    sn, *_ = ellipj(ellipk(m) - np.sqrt(9.81) * t, m)
    return 2 * np.arcsin(np.sqrt(m) * sn)


@pytest.mark.parametrize("name", INTEGRATORS)
@pytest.mark.parametrize("end", ANGLES)
def test_double_pendulum(name, end):
    integrator, dt = INTEGRATORS[name]
    traj = la.simulate(la.library.double_pendulum(), dt=dt, duration=end, integrator=integrator)
    true = np.abs(traj.q[-1] - np.diff(ANGLES[end], prepend=0.0)).max()
    assert true / 2 < traj.accuracy().error[-1] < 2 * true


@pytest.mark.parametrize("every", [1, 10])
def test_pendulum_at_every_node(every):
    traj = la.simulate(la.library.pendulum(), dt=1e-2, duration=10.0, record_every=every)
    got = traj.accuracy()
    np.testing.assert_array_equal(got.t, traj.t)
    true = np.abs(traj.q[:, 0] - pendulum_angle(traj.t))
    np.testing.assert_allclose(got.error, true, rtol=0.02, atol=0.01 * true.max())
    np.testing.assert_allclose(got.max_error, true.max(), rtol=0.02)
    np.testing.assert_array_equal(got.better.t, traj.t)
    # the origin of the only body is its joint, which stays where it is
    assert got.position_error.max() == 0.0


def test_the_next_order_agrees_with_half_the_step():
    model = la.library.tree(depth=2, branching=2)
    traj = la.simulate(model, dt=2e-3, duration=1.0)
    by_step, by_order = traj.accuracy(), traj.accuracy("order")
    np.testing.assert_allclose(by_order.error, by_step.error, rtol=0.02, atol=1e-3 * by_step.max_error)
    assert by_order.better.integrator.order == 4 and by_order.better.dt == traj.dt
    assert "order 4" in by_order.report() and "0.001 s" in by_step.report()


def test_free_and_ball_joints():
    """Against a run of order 8: angles of the rotations, and the places of the bodies."""
    model = la.library.ragdoll()
    traj = la.simulate(model, dt=2e-3, duration=0.4, record_every=20)
    exact = la.simulate(model, dt=2e-3, duration=0.4, record_every=20, integrator=la.Variational(order=8))
    got = traj.accuracy()
    np.testing.assert_allclose(got.error[1:], distance(model, traj.q, exact.q)[1:], rtol=0.1)
    apart = np.linalg.norm((traj.poses() - exact.poses())[..., :3, 3], axis=-1).max(axis=1)
    np.testing.assert_allclose(got.position_error[1:], apart[1:], rtol=0.1)


def test_distance_is_that_on_the_manifold():
    """Each ball joint, hinge or other: small rotations keep their digits, and −quaternion is the same rotation."""
    rng = np.random.default_rng(1)
    model = random_model(rng, 8)
    q, _ = random_state(rng, model)
    entries = model.layout.quaternions[:, None] + np.arange(4)
    for size in (1e-9, 1e-3, 1.0):
        moved = la.increment(model, q, size * rng.uniform(-1, 1, model.nv))
        expected = np.abs(np.delete(moved - q, entries.ravel())).max(initial=0.0)
        for body in model.bodies:
            turn = difference(model, q, moved)[model.v_slice(body.name)]
            if isinstance(body.joint, la.Ball | la.Free):
                expected = max(expected, np.linalg.norm(turn[:3]))
        np.testing.assert_allclose(distance(model, q[None], moved[None]), expected, rtol=1e-6)
        moved[entries] *= -1
        np.testing.assert_allclose(distance(model, q[None], moved[None]), expected, rtol=1e-6)


def law(t, q, v):
    return np.array([np.sin(3 * t), 0.5, -0.4]) - 0.3 * v - 2.0 * q


def fine(model, integrator, **forces):
    """The end of a run of 1 s with a much smaller step."""
    return la.simulate(model, dt=2e-5, duration=1.0, integrator=integrator, record_every=50_000, **forces).q[-1]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_control_law_is_first_order(compiled):
    """Sampled twice as often in the second run: the error of holding it, of first order, is in the estimate."""
    model = la.library.paper_chain(3)
    traj = la.simulate(model, dt=2e-3, duration=1.0, control=numba.njit(law) if compiled else law)
    got = traj.accuracy()
    assert got.factor == 2.0
    true = np.abs(traj.q[-1] - fine(model, la.Variational(), control=numba.njit(law))).max()
    assert true / 1.1 < got.error[-1] < 1.1 * true
    with pytest.raises(ValueError, match=r"sampled once a step, which no order mends; use method='step'"):
        traj.accuracy("order")


@pytest.mark.parametrize("shape", ["held", "by step"])
def test_forces_in_arrays_are_the_same_in_the_second_run(shape):
    """Held over the steps of the first run, so of full order; changing the arrays afterwards changes nothing."""
    model, rng, steps = la.library.paper_chain(3), np.random.default_rng(0), 250
    rows = (steps,) if shape == "by step" else ()
    tau, wrench = rng.normal(size=(*rows, 3)), rng.normal(size=(*rows, 3, 6))
    traj = la.simulate(model, dt=4e-3, steps=steps, control=tau, wrench=wrench)
    fine_tau, fine_wrench = (np.repeat(f, 20, axis=0) if rows else f for f in (tau, wrench))
    exact = la.simulate(model, dt=2e-4, steps=20 * steps, record_every=20, control=fine_tau, wrench=fine_wrench)
    true = np.abs(traj.q - exact.q).max(axis=1)
    tau[:] = wrench[:] = 1e3
    np.testing.assert_allclose(traj.accuracy().error[-1], true[-1], rtol=0.05)
    np.testing.assert_allclose(traj.accuracy("order").error[-1], true[-1], rtol=0.05)


def test_chaos_is_recognised():
    got = la.simulate(la.library.paper_chain(10), dt=1e-3, duration=10.0).accuracy()
    assert got.doubling_time == pytest.approx(0.3, rel=0.5)
    assert 1.0 < got.good_until(1e-3) < got.good_until(1e-2) < got.good_until(0.1) < 8.0
    assert got.error[got.t <= got.good_until(1e-2)].max() < 1e-2
    assert f"below 0.001      until {got.good_until():.4g} s" in got.report()
    assert "grows exponentially, doubling in about" in got.report()


@pytest.mark.parametrize("name", ["pendulum", "double_pendulum", "tree", "spinning_top"])
def test_regular_motion_is_not_called_chaos(name):
    got = la.simulate(la.library.by_name(name), dt=2e-3, duration=5.0).accuracy()
    assert got.doubling_time is None
    assert "chaotic" not in got.report()
    assert got.good_until(1.0) == got.t[-1]


def test_a_falling_body_is_not_called_chaos():
    """The faster it falls the faster its error grows, and yet it is as regular as can be."""
    model = la.Model()
    model.add_body("brick", joint=la.Free(), inertia=la.Inertia(1.0, matrix=np.diag([0.01, 0.02, 0.03])))
    got = la.simulate(model, v=[1, 2, 3, 0, 0, 0], dt=2e-3, duration=2.0,
                      integrator=la.Variational(order=4, retraction="exp")).accuracy()
    tenth = len(got.t) // 10
    assert got.error[-1] > 1e4 * got.error[tenth] > 0
    assert got.doubling_time is None


def test_of_a_trajectory_cut_short():
    plain = la.Variational(rescue=la.Rescue(max_substeps=1))
    traj = la.simulate(la.library.chain(10), dt=0.05, steps=1000, integrator=plain, on_failure="truncate",
                       control=np.zeros((1000, 10)))
    got = traj.accuracy()
    assert len(got.error) == len(got.better) <= len(traj)
    assert ("the better run ended" in got.report()) == (got.better.failure is not None)
    nothing = la.simulate(la.library.pendulum(), steps=0).accuracy()
    assert nothing.max_error == 0 and nothing.doubling_time is None and nothing.good_until() == 0


def test_a_second_run_that_fails_is_compared_until_there():
    """By a law that cannot be sampled between the steps of the first run, from some time on."""
    @numba.njit
    def law(t, q, v):
        return np.zeros(2) if t > 0.2 and abs(t / 1e-2 - round(t / 1e-2)) > 0.1 else np.zeros(1)

    traj = la.simulate(la.library.pendulum(), dt=1e-2, duration=0.4, control=law)
    got = traj.accuracy()
    assert len(traj) == 41
    assert len(got.error) == len(got.position_error) == len(got.t) == 21
    assert got.good_until(1.0) == pytest.approx(0.2)
    assert "compared until 0.2 s only; there the better run ended: step 41 at t = 0.205 s failed" in got.report()


@pytest.mark.parametrize(("integrator", "words"), [
    (la.Variational(order=8), "Variational has no order above 8; use method='step'"),
    (la.RungeKutta4(), "RungeKutta4 has no order above 4; use method='step'"),
])
def test_no_next_order(integrator, words):
    traj = la.simulate(la.library.pendulum(), dt=1e-2, steps=5, integrator=integrator)
    with pytest.raises(ValueError, match=words):
        traj.accuracy("order")


def test_unknown_method():
    with pytest.raises(ValueError, match="method must be 'step' or 'order', not 'exact'"):
        la.simulate(la.library.pendulum(), steps=1).accuracy("exact")


def test_of_unknown_origin():
    traj = replace(la.simulate(la.library.pendulum(), steps=5), origin=None)
    with pytest.raises(ValueError, match="not known which forces drove this trajectory"):
        traj.accuracy()


def test_a_model_changed_since_is_refused():
    model = la.library.pendulum()
    traj = la.simulate(model, steps=5)
    model.q0 = [0.3]
    assert traj.accuracy().max_error < 1e-9
    model.gravity = (0, 0, -1)
    with pytest.raises(ValueError, match="model 'pendulum' was changed after the run"):
        traj.accuracy()
