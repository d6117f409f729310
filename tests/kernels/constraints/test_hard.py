"""Redundant rows, ranks that change, blocks that lose theirs, and steps that the plain search cannot make."""

import pickle
from itertools import permutations

import numba
import numpy as np
import pytest
from mechanisms import Z, four_bar, ladder, moving_four_bar
from scipy.integrate import solve_ivp

import leastaction as la
from leastaction.compiled import compile_model
from leastaction.kernels.constraints import pivots
from leastaction.kernels.machine.simd import numbers


def test_redundant_rows_change_nothing():
    """A hinge closes a planar four-bar with five rows of rank two; so does a ball in axes of its own, with three."""
    plain = four_bar()
    q, v = moving_four_bar(plain)
    runs = []
    axes = np.array([0.9, 0.2, 0.3, 0.1])
    for closure, turn in ((la.Ball(), None), (la.Revolute(axis=Z), None), (la.Ball(), axes / np.linalg.norm(axes))):
        model = four_bar(closure)
        if turn is not None:
            model = four_bar_in_axes(turn)
        sim = la.Simulator(model, q, v, dt=2e-3)
        sim.step(1000)
        assert la.closure(model, sim.q).max() < 1e-13
        assert sim._engine.method.events[0] == 0
        runs.append((sim._engine.redundant, sim.q))
    assert [redundant for redundant, _ in runs] == [1, 3, 1]
    for _, end in runs[1:]:
        np.testing.assert_allclose(end, runs[0][1], rtol=0, atol=1e-10)


def four_bar_in_axes(turn):
    """The four-bar whose closing ball has axes that are not those of the plane: no row by itself is redundant."""
    model = la.Model(gravity=(0, -9.81, 0))
    for body in four_bar().bodies:
        model.add_body(body.name, parent=body.parent, joint=body.joint, inertia=body.inertia, position=body.position)
    model.add_loop("B", "coupler", "rocker", joint=la.Ball(), position=(2, 0, 0), other_position=(1.5, 0, 0),
                   quaternion=turn, other_quaternion=turn)
    return model


def test_a_parallelogram_passes_its_flat_position():
    """There A loses a row: the step is made, and the change of the rank is noted."""
    model = four_bar(lengths=(1.0, 2.0, 1.0), base=2.0)
    q, v = np.zeros(3), np.array([4.0, -4.0, 4.0])  # along the branch on which it stays a parallelogram
    sim = la.Simulator(model, q, v, dt=2e-3)
    assert sim._engine.redundant == 2
    energy = sim.energy
    sim.step(50)
    assert abs(sim.energy - energy) < 1e-3
    assert la.closure(model, sim.q).max() < 1e-13
    np.testing.assert_allclose(sim.q[0], sim.q[2], rtol=0, atol=1e-9)
    assert sim.q[0] > 0.2
    assert sim._engine.method.events[:3].tolist() == [1, 1, 0]  # in step 1, none of the rows in a block is redundant


def flat_rail(dt=2e-3):
    """A rail whose posts lie flat: there the plan that was made in general position does not serve."""
    model, _, _ = ladder(8, "rail")
    flat = np.zeros(17)
    flat[2::2] = np.pi  # all posts fold back onto the ground
    v = np.zeros(17)
    v[0], v[1], v[2::2] = 1.0, -1.0, 1.0
    assert la.closure(model, flat).max() < 1e-14
    return la.Simulator(model, flat, v, dt=dt)


def test_an_early_block_that_loses_its_rank_is_planned_anew():
    sim = flat_rail()
    model = sim.model
    assert compile_model(model).plan.early
    assert not np.array_equal(sim._engine.method.closed.ops, compile_model(model).plan.ops)
    assert sim._engine.redundant >= 8
    sim.step(20)
    assert la.closure(model, sim.q).max() < 1e-13
    assert sim.q[0] == pytest.approx(0.04, abs=0.02)


def test_a_rail_that_started_flat_swings_as_a_pendulum():
    """It comes to rest at 0.045 rad, where rows are so near to redundant that round-off of a gap is most of what
    is left of the residual, and falls through the flat position. All posts stay parallel: against SciPy."""
    lever, inertia = 9 / 2 + 8, 9 / 3 + 8
    exact = solve_ivp(lambda t, y: [y[1], -9.81 * np.cos(y[0]) * lever / inertia], (0, 1), [0.0, 1.0], "DOP853",
                      rtol=1e-12, atol=1e-12).y[0, -1]
    errors = []
    for dt in (4e-3, 2e-3):
        sim = flat_rail(dt)
        sim.step(round(1 / dt))
        errors.append(abs(sim.q[0] - exact))
        assert la.closure(sim.model, sim.q).max() < 1e-13
        np.testing.assert_allclose(sim.q[3::2], 0.0, rtol=0, atol=1e-5)
    assert exact < -2.9 and errors[1] < 1e-4
    assert errors[0] / errors[1] == pytest.approx(4, abs=0.1)


@pytest.mark.parametrize(("order", "bar"), [(2, 1.1e-4), (4, 1e-9)])
@pytest.mark.parametrize("count", [1, 3])
def test_steps_leap_over_flat_positions(count, order, bar):
    """Each loop that lies flat turns the sign of the determinant of Newton's matrix: an odd number of them must not
    pass for a wrong root. All posts stay parallel: against SciPy."""
    model, q, v = ladder(count)
    lever, inertia = (count + 1) / 2 + count, (count + 1) / 3 + count
    exact = solve_ivp(lambda t, y: [y[1], -9.81 * np.cos(y[0]) * lever / inertia], (0, 3), [np.pi / 2, -1.0], "DOP853",
                      rtol=1e-13, atol=1e-13).y[0, -1]
    run = la.simulate(model, q, v, dt=2e-3, duration=3.0, integrator=la.Variational(order=order))
    assert np.ptp(run.q[:, 0]) > 3 * np.pi and (run.substeps == 1).all() and run.closure.max() < 1e-13
    assert abs(run.q[-1, 0] - exact) < bar


@pytest.mark.parametrize("speed", [-1.0, -4.0, -10.0])
def test_a_parallelogram_leaps_over_its_flat_position(speed):
    """Whatever the place of the last node before it."""
    model = four_bar(lengths=(1.0, 2.0, 1.0), base=2.0)
    for angle in np.linspace(0.05, 0.4, 15):
        run = la.simulate(model, angle * np.array([1, -1, 1]), speed * np.array([1, -1, 1]), dt=2e-3, duration=0.3)
        assert run.q[:, 0].min() < 0 and np.abs(run.q[:, 0] - run.q[:, 2]).max() < 1e-8


@pytest.mark.parametrize("order", [6, 8])
def test_a_gap_of_round_off_beside_a_flat_position_ends_no_search(order):
    """A stage that ends 1e-4 rad from the flat position, where the last bit of a gap is 1e-12 of an angle."""
    model, angle, rate = four_bar(la.Ball(), lengths=(1.0, 2.0, 1.0), base=2.0), 2.133394174416054, 3.615216483720534
    run = la.simulate(model, angle * np.array([1, -1, 1]), rate * np.array([1, -1, 1]), dt=5e-4, duration=1.6,
                      integrator=la.Variational(order=order))
    assert (run.substeps == 1).all() and np.abs(run.q[:, 0] - run.q[:, 2]).max() < 1e-8


def test_a_plan_made_anew_outlasts_checkpoints(tmp_path):
    """So does a state that is closed where q0 of the model is not."""
    sim = flat_rail()
    sim.step(10)
    assert la.closure(sim.model, sim.model.q0).max() > 1
    sim.checkpoint(tmp_path / "node.h5")
    others = [la.Simulator.restore(tmp_path / "node.h5"), pickle.loads(pickle.dumps(sim))]
    sim.step(15)
    for other in others:
        assert np.array_equal(other._engine.method.closed.ops, sim._engine.method.closed.ops)
        other.step(15)
        assert np.array_equal(other.q, sim.q) and np.array_equal(other.p, sim.p)


def test_members_whose_pivots_differ_have_the_bits_of_single_runs_in_any_company():
    """Of four members one starts flat and one comes there after ten steps: these plan the elimination anew, at the
    start and on the way, and the two others must not know of it. In all orders, on one thread and on two."""
    sim, (_, upright, falling) = flat_rail(), ladder(8, "rail")
    model, flat, v = sim.model, sim.q, sim.v
    back = la.simulate(model, flat, -v, dt=2e-3, steps=10)
    members = [(flat, v), (upright, falling), (back.q[-1], -back.v[-1]), (upright, 2 * falling)]
    singles, planned = [], []
    for start in members:
        singles.append(la.simulate(model, *start, dt=2e-3, steps=20))
        sim = la.Simulator(model, *start, dt=2e-3)
        before = sim._engine.planned[0]
        sim.step(20)
        planned.append((before, sim._engine.planned[0]))
    assert planned == [(1, 1), (0, 0), (0, 1), (0, 0)]
    assert [bool(run.flags.any()) for run in singles] == [True, False, True, False]
    for k, order in enumerate(permutations(range(4))):
        many = la.simulate_many(model, *zip(*[members[i] for i in order], strict=True), dt=2e-3, steps=20,
                                threads=1 + k % 2)
        for i, member in zip(order, many, strict=True):
            for name in ("q", "v", "p", "energy", "closure", "flags", "iterations"):
                np.testing.assert_array_equal(getattr(member, name), getattr(singles[i], name), name)


@pytest.mark.parametrize(("order", "bar"), [(2, 0.2), (4, 0.25)])
def test_the_rescue_makes_steps_that_are_too_long(order, bar):
    """At 0.2 s a step of the four-bar turns the crank too far: the step is divided, and the loop stays closed. So few
    parts do not keep the energy well."""
    model = four_bar()
    q, v = moving_four_bar(model, 9.0)
    run = la.simulate(model, q, v, dt=0.2, duration=4.0, integrator=la.Variational(order=order))
    rescued = np.append(False, run.substeps > 1)
    assert np.count_nonzero(rescued) > 8 and run.closure[rescued].max() < 1e-13
    assert max(la.closure(model, one).max() for one in run.q) < 1e-12  # the crank turns seven times
    assert max(np.abs(la.constraint_jacobian(model, a) @ b).max() for a, b in zip(run.q, run.v, strict=True)) < 1e-12
    assert np.abs(run.energy - run.energy[0]).max() < bar * run.energy[0]


@pytest.mark.filterwarnings("ignore::leastaction.AccuracyWarning")  # so long are the steps
@pytest.mark.parametrize("retraction", ["split", "exp"])
@pytest.mark.parametrize("order", [2, 4])
def test_a_divided_step_is_that_many_steps(order, retraction):
    """Each divided step is made again from its node, in as many parts, by a run with the smaller step that may not
    divide further. Most of these runs need only the plain search, which the rescue never uses. The worst one differs
    by 1.3e-12 rad and 1.4e-11 rad/s, at 9 rad/s and more."""
    model, h = four_bar(), 0.2
    run = la.simulate(model, *moving_four_bar(model, 9.0), dt=h, duration=4.0,
                      integrator=la.Variational(order=order, retraction=retraction))
    undivided = la.Variational(order=order, retraction=retraction, rescue=la.Rescue(max_substeps=1))
    divided, plain = np.flatnonzero(run.substeps > 1), 0
    assert len(divided) > 8
    for k in divided:
        n = int(run.substeps[k])
        parts = la.simulate(model, run.q[k], run.v[k], dt=h / n, steps=n, integrator=undivided)
        assert (parts.substeps == 1).all()
        plain += bool((parts.status <= la.Status.STRUGGLED).all())
        np.testing.assert_allclose(run.q[k + 1], parts.q[-1], rtol=0, atol=1e-10)
        np.testing.assert_allclose(run.v[k + 1], parts.v[-1], rtol=0, atol=1e-9)
    assert plain > 0.5 * len(divided)


def test_without_a_rescue_the_run_ends_at_the_last_good_node():
    model = four_bar()
    q, v = moving_four_bar(model, 9.0)
    with pytest.raises(la.StepError) as caught:
        la.simulate(model, q, v, dt=0.2, duration=4.0, integrator=la.Variational(rescue=None))
    assert la.closure(model, caught.value.q).max() < 1e-12


@numba.njit
def invert(W, active, out, scratch):
    return pivots.invert(numbers(W), len(active), numbers(active), 1e-11, numbers(out), numbers(scratch))


@pytest.mark.parametrize("size", range(1, 7))
def test_pivots(size):
    """The inverse of Moore and Penrose, of any rank and with rows switched off, against NumPy's."""
    rng = np.random.default_rng(size)
    for rank in range(size + 1):
        for off in (0, 1):
            active = np.ones(size)
            active[rng.permutation(size)[: min(off, size)]] = 0.0
            W = rng.normal(size=(size, rank)) @ rng.normal(size=(rank, size))
            kept = active != 0
            out = np.full((size, size), np.nan)
            rows, found, _ = invert(W.reshape(-1), active, out.reshape(-1), np.zeros(pivots.SCRATCH))
            expected = np.zeros((size, size))
            expected[np.ix_(kept, kept)] = np.linalg.pinv(W[np.ix_(kept, kept)], rcond=1e-9)
            assert (rows, found) == (kept.sum(), min(rank, kept.sum()))
            np.testing.assert_allclose(out, expected, rtol=0, atol=1e-9 * max(1.0, np.abs(expected).max()))
