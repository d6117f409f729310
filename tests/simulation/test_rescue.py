"""What happens when the plain search finds no root: what is tried, what is forbidden, what is told, what is kept."""

import numpy as np
import pytest

import leastaction as la
from leastaction.integrators import Status

CHAIN = la.library.chain(10)
FINDERS = {"newton": la.Newton(), "full newton": la.Newton(chord=False),
           "riqn": la.RIQN()}
EITHER = pytest.mark.parametrize("finder", FINDERS.values(), ids=FINDERS)


def failure(dt, **options):
    """The error of a run of the whipping chain, and the integrator."""
    integrator = la.Variational(**options)
    with pytest.raises(la.StepError) as caught:
        la.simulate(CHAIN, dt=dt, duration=10.0, integrator=integrator)
    return caught.value, integrator


def determinants(traj):
    """Signs of det ∂f/∂q over the steps that were made whole: +1 on the branch that continues the motion."""
    whole = np.flatnonzero(traj.substeps == 1)
    pairs = [(traj.q[k], traj.q[k + 1]) for k in whole]
    return np.array([np.linalg.slogdet(la.discrete_jacobian(traj.model, a, a, b, traj.dt))[0] for a, b in pairs])


@EITHER
@pytest.mark.parametrize("guess", ["current", "euler", "extrapolated"])
def test_spurious_roots_are_refused(finder, guess):
    """Ten seconds of whips at 10 ms, where plain searches do run into other branches (next test)."""
    traj = la.simulate(CHAIN, dt=1e-2, duration=10.0, integrator=la.Variational(root_finder=finder, guess=guess))
    assert (determinants(traj) > 0).all()
    assert (traj.substeps > 1).any()


def test_a_search_that_leaves_the_branch_says_so():
    error, _ = failure(5e-3, rescue=None)
    assert error.status == Status.WRONG_ROOT.meaning
    assert "left the branch" in str(error)


@EITHER
@pytest.mark.parametrize(("order", "dt"), [(2, 1e-2), (4, 2e-2)])
def test_without_rescue_the_error_carries_the_last_good_state(finder, order, dt):
    error, integrator = failure(dt, rescue=None, root_finder=finder, order=order)
    before = la.simulate(CHAIN, dt=dt, steps=error.step, integrator=integrator)
    np.testing.assert_array_equal(error.q, before.q[-1])
    np.testing.assert_allclose(error.v, before.v[-1], rtol=0, atol=1e-10 * np.abs(error.v).max())
    np.testing.assert_allclose(error.p, before.p[-1], rtol=0, atol=1e-12 * np.abs(error.p).max())
    assert error.time == error.step * dt
    assert error.joint in CHAIN.names
    onwards = la.simulate(CHAIN, error.q, error.v, dt=dt, steps=1)
    assert onwards.status[0] > 0


@EITHER
def test_division_can_be_forbidden(finder):
    """What is tried short of it goes further than the plain search, but no step is divided."""
    plain, _ = failure(1e-2, rescue=None, root_finder=finder)
    error, integrator = failure(1e-2, rescue=la.Rescue(max_substeps=1), root_finder=finder)
    assert error.step > plain.step
    traj = la.simulate(CHAIN, dt=1e-2, steps=error.step, integrator=integrator)
    assert (traj.substeps == 1).all()
    assert Status.SUBSTEPPED not in traj.status
    assert traj.status.max() > Status.STRUGGLED
    assert (determinants(traj) > 0).all()


@pytest.mark.parametrize("parts", [2, 4, 8])
def test_no_step_is_divided_further_than_allowed(parts):
    integrator = la.Variational(rescue=la.Rescue(max_substeps=parts))
    try:
        traj = la.simulate(CHAIN, dt=2e-2, duration=10.0, integrator=integrator)
    except la.StepError as error:
        traj = la.simulate(CHAIN, dt=2e-2, steps=error.step, integrator=integrator)
    assert set(np.unique(traj.substeps)) == {k for k in (1, 2, 4, 8) if k <= parts}


def test_a_divided_step_is_that_many_steps():
    """The state after it is that of a run with the smaller step; and the steps around it know nothing of it."""
    h = 1e-2
    traj = la.simulate(CHAIN, dt=h, duration=3.0)
    k = int(np.flatnonzero(traj.substeps == 2)[0])
    small = la.simulate(CHAIN, traj.q[k], traj.v[k], dt=h / 2, steps=2)
    np.testing.assert_allclose(traj.q[k + 1], small.q[-1], rtol=0, atol=1e-8)
    np.testing.assert_allclose(traj.p[k + 1], small.p[-1], rtol=0, atol=1e-8 * np.abs(small.p).max())


def test_the_report_names_what_was_needed():
    traj = la.simulate(CHAIN, dt=1e-2, duration=10.0)
    needed = {Status(s) for s in np.unique(traj.status)}
    assert {Status.CONVERGED, Status.STRUGGLED, Status.LOWERED, Status.SUBSTEPPED} <= needed
    for status in needed:
        assert f"{(traj.status == status).sum():7d} steps    {status.meaning}" in traj.report()
    np.testing.assert_array_equal(traj.substeps > 1, traj.status == Status.SUBSTEPPED)
    assert (traj.residual < 1e-10).all()


def test_an_easy_motion_needs_nothing():
    traj = la.simulate(la.library.paper_chain(10), dt=1e-3, steps=1000)
    assert set(traj.status) <= {Status.CONVERGED, Status.FLOOR}
    assert (traj.substeps == 1).all()


def test_one_step_at_a_time_rescues_as_a_whole_run_does():
    """Also where a law in Python is asked for forces at every step; here it gives none worth mentioning."""
    traj = la.simulate(CHAIN, dt=1e-2, steps=200)
    sim = la.Simulator(CHAIN, dt=1e-2)
    states = []
    for _ in range(200):
        sim.step()
        states.append(sim.q)
    assert (traj.substeps > 1).any()
    np.testing.assert_array_equal(states, traj.q[1:])


@pytest.mark.parametrize("order", [4, 6])
def test_higher_orders_are_rescued_too(order):
    """The step is so long that some need it whatever round-off makes of the motion."""
    traj = la.simulate(CHAIN, dt=1.5e-2, duration=5.0, integrator=la.Variational(order=order))
    assert traj.status.min() >= 0
    assert traj.status.max() > Status.STRUGGLED
    assert np.isfinite(traj.q).all()


@pytest.mark.parametrize("turns", [0.7, 4.0, 4.01])
def test_a_pendulum_too_fast_for_its_step_is_divided_or_refused(turns):
    """A step that turns a body by half a turn or more has no unique logarithm; whole turns are not rest."""
    model, h = la.library.pendulum(), 0.1
    v = [2 * np.pi * turns / h]
    with pytest.raises(la.StepError) as caught:
        la.simulate(model, v=v, dt=h, steps=10, integrator=la.Variational(rescue=la.Rescue(max_substeps=1)))
    assert caught.value.step == 0
    # "split" moves a mass along chords, 16 % too fast for parts of 0.8 rad; with "exp" a lone hinge turns as it should
    for retraction, rtol in (("exp", 5e-2), ("split", 2e-1)):
        traj = la.simulate(model, v=v, dt=h, steps=10, integrator=la.Variational(retraction=retraction))
        assert (traj.substeps >= 2 * np.pi * turns).all()
        np.testing.assert_allclose(traj.q[-1], v[0] * 10 * h, rtol=rtol)
        assert traj.max_energy_error < 1e-2
