"""on_failure="truncate": a run that cannot go on gives what it has, up to the last good node."""

import numba
import numpy as np
import pytest

import leastaction as la

PLAIN = la.Variational(rescue=la.Rescue(max_substeps=1))
H = 0.05  # too long for the whips of a hard chain


def truncated(**options):
    return la.simulate(la.library.chain(10), dt=H, steps=1000, on_failure="truncate",
                       **{"integrator": PLAIN, **options})


def test_the_trajectory_ends_at_the_last_good_node():
    model = la.library.chain(10)
    with pytest.raises(la.StepError) as caught:
        la.simulate(model, dt=H, steps=1000, integrator=PLAIN, on_failure="raise")
    made = caught.value.step
    whole = la.simulate(model, dt=H, steps=made, integrator=PLAIN)
    traj = truncated()
    assert str(traj.failure) == str(caught.value)
    assert 0 < made < 1000 and len(traj) == made + 1
    for name in ("t", "q", "v", "p", "energy", "momentum", "iterations", "residual", "status", "substeps",
                 "energy_range", "momentum_range"):
        np.testing.assert_array_equal(getattr(traj, name), getattr(whole, name), err_msg=name)
    assert traj.peak_kinetic_energy == whole.peak_kinetic_energy
    np.testing.assert_array_equal(traj.q[-1], traj.failure.q)


@pytest.mark.parametrize("every", [4, 7, 999])
def test_with_nodes_left_out(every):
    """The last good node may not be among those kept; the failure has it."""
    full, traj = truncated(), truncated(record_every=every)
    made = full.failure.step
    assert len(traj) == made // every + 1
    assert len(traj.iterations) == len(traj.status) == -(-made // every) and traj.steps == made
    assert traj.tally == full.tally
    np.testing.assert_array_equal(traj.t, full.t[::every])
    np.testing.assert_array_equal(traj.failure.q, full.failure.q)
    for name in ("q", "p", "energy"):
        np.testing.assert_array_equal(getattr(traj, name), getattr(full, name)[::every])


@pytest.mark.parametrize("compiled", [False, True])
def test_under_a_control_law(compiled):
    """A law as good as none: step by step from Python, and in the compiled loop."""
    def law(t, q, v):
        return 0.0 * v

    traj = truncated(control=numba.njit(law) if compiled else law)
    assert traj.failure is not None
    assert len(traj) == len(traj.status) + 1 == traj.failure.step + 1
    np.testing.assert_array_equal(traj.q[-1], traj.failure.q)
    assert traj.status.min() >= 0


@pytest.mark.parametrize("integrator", [la.SemiImplicitEuler(), la.RungeKutta4()], ids=lambda i: type(i).__name__)
def test_of_an_explicit_method_that_blows_up(integrator):
    model = la.Model()
    model.add_body("cart", joint=la.Prismatic((1, 0, 0), stiffness=1e9), inertia=la.Inertia(1.0))
    model.q0 = [0.1]
    traj = la.simulate(model, dt=0.1, steps=10_000, integrator=integrator, on_failure="truncate")
    assert "finite" in traj.failure.status
    assert len(traj) == traj.failure.step + 1
    assert np.isfinite(traj.q).all() and np.isfinite(traj.energy).all()


def test_of_the_first_step():
    hopeless = la.Variational(root_finder=la.RIQN(max_iterations=1), rescue=None)
    traj = truncated(integrator=hopeless)
    assert (len(traj), len(traj.status), traj.failure.step) == (1, 0, 0)
    assert traj.max_energy_error == 0
    assert "0 steps" in traj.report()


def test_report_and_repr_say_so():
    traj = truncated()
    assert f"cut short: step {traj.failure.step} at t = " in traj.report()
    assert "cut short" in repr(traj)
    whole = la.simulate(la.library.pendulum(), steps=10, on_failure="truncate")
    assert whole.failure is None
    assert "cut short" not in whole.report() + repr(whole)


def test_unknown_word():
    with pytest.raises(ValueError, match="on_failure must be 'raise' or 'truncate', not 'ignore'"):
        la.simulate(la.library.pendulum(), steps=1, on_failure="ignore")
