"""Bad input raises before the first step and names the element; a failed step keeps the last good state."""

import pickle

import numba
import numpy as np
import pytest

import leastaction as la

NAN, INF = float("nan"), float("inf")
pendulum = la.library.pendulum


def ragdoll_state(change):
    q = la.library.ragdoll().q0
    change(q)
    return q


def no_quaternion(q):
    q[3:7] = 0


def stretched_quaternion(q):
    q[7:11] *= 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"q": [0.0, 1.0]}, r"q must have the shape \(63,\), not \(2,\)"),
        ({"v": np.zeros((2, 3))}, r"v must have the shape \(48,\), not \(2, 3\)"),
        ({"q": "straight"}, "q must be 63 real numbers, not 'straight'"),
        ({"q": ragdoll_state(lambda q: q.__setitem__(8, NAN))}, "q is not finite at body 'chest'"),
        ({"v": np.full(48, INF)}, "v is not finite at body 'pelvis'"),
        ({"q": ragdoll_state(no_quaternion)}, "quaternion of norm 0 at body 'pelvis'; normalise it"),
        ({"q": ragdoll_state(stretched_quaternion)}, "quaternion of norm 2 at body 'chest'; normalise it"),
        ({"dt": 0}, "dt must be a positive number of seconds, not 0"),
        ({"dt": -1e-3}, "dt must be a positive number of seconds, not -0.001"),
        ({"dt": NAN}, "dt must be a positive number of seconds, not nan"),
        ({"dt": INF}, "dt must be a positive number of seconds, not inf"),
        ({"steps": -1}, "steps must be a whole number of at least 0, not -1"),
        ({"steps": 1.5}, "steps must be a whole number of at least 0, not 1.5"),
        ({"steps": None, "duration": NAN}, "duration must be a number of seconds, not nan"),
        ({"steps": None, "duration": -1.0}, "duration must be a number of seconds, not -1.0"),
        ({"steps": None}, "give either duration or steps"),
        ({"duration": 1.0}, "give either duration or steps"),
        ({"record_every": 0}, "record_every must be a whole number of at least 1, not 0"),
        ({"control": np.zeros(3)}, r"control must have shape \(48,\) or \(5, 48\), not \(3,\)"),
        ({"control": np.full((5, 48), NAN)}, "control has entries that are not finite, the first in row 0"),
        ({"control": lambda t, q, v: v[:2]}, r"what control returns must have shape \(48,\), not \(2,\)"),
        ({"control": lambda t, q, v: v * NAN}, "what control returns has entries that are not finite"),
        ({"wrench": np.zeros((2, 6))}, r"wrench must have shape \(15, 6\) or \(5, 15, 6\), not \(2, 6\)"),
        ({"wrench": np.full((15, 6), INF)}, "wrench has entries that are not finite"),
        ({"integrator": "rk5"}, r"one of 'variational', 'euler', 'rk4', 'dop853', .*la\.RungeKutta4\(\).*, not 'rk5'"),
        ({"integrator": 4}, r"one of 'variational', 'euler', 'rk4', 'dop853', or .*la\.RungeKutta4\(\) .*, not 4"),
    ],
)
def test_bad_arguments_of_simulate(arguments, message):
    with pytest.raises(ValueError, match=message):
        la.simulate(la.library.ragdoll(), **{"dt": 1e-3, "steps": 5, **arguments})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: la.Variational(guess="sextic"), "guess must be one of 'current', .* 'extrapolated', not 'sextic'"),
        (lambda: la.Variational(order=3), "order must be one of 2.*, not 3"),
        (lambda: la.Variational(retraction="cayley"), "retraction must be one of 'split', 'exp', not 'cayley'"),
        (lambda: la.Variational(root_finder="newton"), "root_finder must be .*, not 'newton'"),
        (lambda: la.RIQN(tol=-1), "tol must be a positive number, not -1"),
        (lambda: la.peers.Absolute(0.0), "tol must be a positive number, not 0.0"),
        (lambda: la.RIQN(max_iterations=0), "max_iterations must be a whole number of at least 1, not 0"),
        (lambda: la.Simulator(pendulum()).step(-1), "n must be a whole number of at least 0, not -1"),
        (lambda: la.Simulator(pendulum()).step(1, tau=[1, 2]), r"tau must have shape \(1,\), not \(2,\)"),
        (lambda: la.variational_step(pendulum(), [0], [0], 0), "h must be a finite number other than zero"),
        (lambda: la.variational_step(pendulum(), [0], [NAN], 0.1), "p0 has entries that are not finite"),
        (lambda: la.discrete_residual(pendulum(), [0], [0], [0], NAN), "dt must be a number other than zero"),
        (lambda: la.forward_dynamics(pendulum(), [0], [0], [1, 2]), r"tau must have shape \(1,\), not \(2,\)"),
        (lambda: la.jacobian(pendulum(), None, "link2"), "there is no body 'link2'.*did you mean 'link1'"),
    ],
)
def test_bad_arguments_elsewhere(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def arm(leaf=None, joint=None):
    """Two sound links and, at their end, one to be looked at."""
    model = la.library.chain(2)
    model.add_body("leaf", "link2", joint or la.Revolute((0, 1, 0)), (0.1, 0, 0), inertia=leaf)
    return model


SINGULAR = {
    "massless leaf": arm(),
    "point on its axis": arm(la.Inertia(1.0, (0, 0.3, 0))),
    "point on a ball": arm(la.Inertia(1.0, (0, 0, 0.3)), la.Ball()),
    "massless slider": arm(None, la.Prismatic((1, 0, 0))),
    "free point": arm(la.Inertia(1.0), la.Free()),
}


@pytest.mark.parametrize("model", SINGULAR.values(), ids=SINGULAR)
@pytest.mark.parametrize("use", [la.Simulator, lambda m: la.forward_dynamics(m, None, None)], ids=["step", "dynamics"])
def test_joint_with_nothing_to_move(model, use):
    with pytest.raises(la.ModelError, match=r"joint of body 'leaf' has nothing to move.*armature"):
        use(model)


def test_massless_and_point_mass_bodies_are_fine_elsewhere():
    """Massless between heavy ones, a point mass off the axis, a massless leaf with an armature."""
    model = la.library.chain(1)
    model.add_body("massless", "link1", la.Revolute((0, 0, 1)), (0.1, 0, 0))
    model.add_body("point", "massless", la.Revolute((0, 1, 0)), (0.1, 0, 0), inertia=la.Inertia(1.0, (0.1, 0, 0)))
    model.add_body("rotor", "point", la.Revolute((0, 1, 0), armature=0.01))
    traj = la.simulate(model, [0.1, 0.2, 0.3, 0.0], dt=1e-3, steps=300)
    assert traj.max_energy_error < 1e-3
    assert np.isfinite(traj.q).all()


def check_state(error, model):
    """The error tells all, and its state is good: finite, consistent, and on the way."""
    assert error.step >= 0
    assert error.residual > 0
    assert error.joint in model.names
    assert f"step {error.step} at t = " in str(error)
    assert f"joint of '{error.joint}'" in str(error)
    assert all(np.isfinite(x).all() for x in (error.q, error.v, error.p))
    p = la.mass_matrix(model, error.q) @ error.v
    np.testing.assert_allclose(p, error.p, rtol=0, atol=1e-9 * np.abs(p).max())


def test_step_error_of_a_step_too_long():
    """The whipping chain at 50 ms; the state kept is that of a run that stops just before."""
    model, h = la.library.chain(10), 0.05
    with pytest.raises(la.StepError) as caught:
        la.simulate(model, dt=h, steps=1000, integrator=la.Variational(rescue=la.Rescue(max_substeps=1)))
    error = caught.value
    check_state(error, model)
    assert error.time == error.step * h
    before = la.simulate(model, dt=h, steps=error.step, integrator=la.Variational(rescue=la.Rescue(max_substeps=1)))
    np.testing.assert_array_equal(error.q, before.q[-1])
    np.testing.assert_allclose(error.p, before.p[-1], rtol=1e-12)


def test_simulator_stays_at_the_last_good_node():
    """All that it shows is of the same node, and shorter steps may go on from there."""
    model = la.library.chain(10)
    sim = la.Simulator(model, dt=0.05, integrator=la.Variational(rescue=la.Rescue(max_substeps=1)))
    with pytest.raises(la.StepError) as caught:
        sim.step(1000)
    error = caught.value
    assert (sim.steps, sim.t) == (error.step, error.time)
    np.testing.assert_array_equal(sim.q, error.q)
    assert np.isclose(sim.energy, la.energy(model, sim.q, sim.v), rtol=1e-9)
    np.testing.assert_allclose(sim.momentum, la.momentum(model, sim.q, sim.v), rtol=1e-9, atol=1e-9)
    assert la.simulate(model, error.q, error.v, dt=1e-4, steps=20).status.min() >= 0


def test_step_error_of_too_few_iterations():
    model = la.library.paper_chain(5)
    integrator = la.Variational(root_finder=la.RIQN(max_iterations=1), rescue=None)
    sim = la.Simulator(model, dt=1e-2, integrator=integrator)
    with pytest.raises(la.StepError, match="step 0 at t = 0 s failed: no convergence") as caught:
        sim.step(10)
    check_state(caught.value, model)
    np.testing.assert_array_equal(caught.value.q, model.q0)
    assert sim.steps == 0
    assert sim.status == la.Status.EXHAUSTED
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_what_to_try_after_a_step_that_failed():
    """A search, also one that left the numbers; a method without a search; a control, which no other step cures."""
    def told(joint, residual):
        return str(la.StepError("it failed", 3, 0.1, residual, joint, np.zeros(1), np.zeros(1), np.zeros(1)))

    for residual in (0.5, np.inf, np.nan):
        assert "Try a smaller dt or a looser tolerance; the last good state" in told("link1", residual)
    assert ". Try a smaller dt; the last good state" in told("", 0.0)
    assert ". The last good state" in told("", np.nan)


@pytest.mark.parametrize("integrator", [la.SemiImplicitEuler(), la.RungeKutta4()], ids=lambda i: type(i).__name__)
def test_step_error_of_an_explicit_method_that_blows_up(integrator):
    model = la.Model()
    model.add_body("cart", joint=la.Prismatic((1, 0, 0), stiffness=1e9), inertia=la.Inertia(1.0))
    model.q0 = [0.1]
    with pytest.raises(la.StepError, match="finite") as caught:
        la.simulate(model, dt=0.1, steps=10_000, integrator=integrator)
    assert np.isfinite(caught.value.q).all()


def test_control_that_goes_wrong_on_the_way():
    """Python laws are looked at in every step, compiled ones too: a NaN never reaches the result."""
    def law(t, q, v):
        return v * (np.nan if t > 0.05 else 0.0)

    model, good = la.library.pendulum(), la.simulate(la.library.pendulum(), dt=1e-2, steps=6)
    for control in (law, numba.njit(law)):
        with pytest.raises(ValueError, match="what control returns has entries that are not finite") as caught:
            la.simulate(model, dt=1e-2, steps=20, control=control)
        failure = caught.value.__cause__
        assert isinstance(failure, la.StepError) and failure.step == 6
        np.testing.assert_array_equal(failure.q, good.q[-1])
        np.testing.assert_allclose(failure.p, good.p[-1], rtol=1e-14)


def forcing(gain):
    """Feedback of the rate on a pendulum of 1 kg at 1 m, and a start without other forces."""
    model = la.library.pendulum()
    model.gravity = (0, 0, 0)
    return {"model": model, "v": [1.0], "steps": 5000, "control": lambda t, q, v: -gain * v}


@pytest.mark.parametrize("integrator", ["variational", "euler", "rk4", "dop853"])
def test_a_gain_that_is_too_large_is_named(integrator, tmp_path):
    """M⁻¹ = 1 and dt = 1 ms: the message says 2000, and that is where feedback becomes unstable."""
    with pytest.raises(la.StepError, match=r"joint of 'link1' by .* control whose gain .* is 2e\+03 N m s") as caught:
        la.simulate(**forcing(2200.0), integrator=integrator)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert abs(la.simulate(**forcing(1800.0), integrator=integrator).v[-1, 0]) < 1e-6
    stored = la.simulate(**forcing(2200.0), integrator=integrator, out=tmp_path / "run.h5", on_failure="truncate")
    assert "control whose gain" in str(stored.failure)
    if integrator in ("euler", "rk4"):  # which have neither a search nor a tolerance
        for failure in (caught.value, stored.failure):
            assert "Try a smaller dt; the last" in str(failure) and "residual" not in str(failure)
            assert "iteration" not in str(failure) and failure.joint == ""


def test_forces_of_all_kinds_are_named():
    """Compiled feedback, wrenches, forces given to a simulator and to one of many; not where there are none."""
    model, hint = la.library.chain(3), "control whose gain is too large may be the cause"
    with pytest.raises(la.StepError, match=hint):
        la.simulate(model, steps=100, control=numba.njit(lambda t, q, v: -50.0 * v))
    with pytest.raises(la.StepError, match=hint):
        la.simulate(model, steps=100, wrench=lambda t, q, v: np.outer(v, [0, -80.0, 0, 0, 0, 0]))
    with pytest.raises(la.StepError, match=hint):
        la.Simulator(model).step(20, tau=[1e9, 0, 0])
    many = la.simulate_many(model, [model.q0, model.q0], steps=3, control=[[1e9, 0, 0], [0, 0, 0]])
    assert hint in str(many[0].failure) and many[1].failure is None
    with pytest.raises(la.StepError) as caught:
        la.simulate(la.library.chain(10), dt=0.05, steps=1000,
                    integrator=la.Variational(rescue=la.Rescue(max_substeps=1)))
    assert "control" not in str(caught.value) and caught.value.hint == ""
