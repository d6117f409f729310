"""DOP853: its order on every manifold, beside SciPy's, its polynomial, and that cutting a run changes nothing."""

import pickle

import numba
import numpy as np
import pytest

import leastaction as la
from leastaction.analysis.accuracy import distance
from leastaction.integrators import Status
from leastaction.kernels.explicit import dormand_prince, dormand_prince_table
from reference import scipy_dop853, top_mp
from reference.trees import random_model, random_state

# q and v after a second, of reference/top_mp.py
TOP = (-0.5624726950370613, 0.8099795132204767, -0.16188827177853207, -0.03674020905526831, 0.8212278256957899,
       -4.586830649417604, 2.854027732438304)
FLIGHT = (0.5487267900818086, 1.0384631531980586, -5.907226539449161, -0.1915467211312915, 0.026735830583269105,
          0.012351686118351086, 0.9810415306381823, 0.7257053332447385, 2.1372931766980803, 2.9659964524615035,
          -2.8691331636957016, -1.34147183456179, -10.36979098372512)
BODIES = {"ball": (la.Ball(), top_mp.TURNING, TOP), "free": (la.Free(), top_mp.TURNING + top_mp.MOVING, FLIGHT)}


@pytest.mark.soak
def test_what_the_orders_are_measured_by():
    np.testing.assert_allclose(top_mp.top(1.0), TOP, rtol=0, atol=1e-15)
    np.testing.assert_allclose(top_mp.flight(1.0), FLIGHT, rtol=0, atol=1e-15)


def test_the_table_satisfies_the_conditions_of_its_orders():
    """Σ b = 1, Σ b c^k = 1/(k+1) to order 8; the estimates vanish to orders 5 and 3; the rows sum to the nodes c."""
    size = dormand_prince_table.STAGES
    table = dormand_prince_table.TABLE.reshape(-1, size)
    a, b, (high, low) = table[:size], table[dormand_prince_table.END], table[size : size + 2]
    c = a.sum(axis=1)
    for k in range(8):
        assert b @ c**k == pytest.approx(1 / (k + 1), abs=1e-14)
        if 0 < k < 7:  # the node of stage 1 has no weight
            assert b @ (a @ c**k) == pytest.approx(1 / ((k + 1) * (k + 2)), abs=1e-14)
    for row, order in ((high, 5), (low, 3)):
        found = [abs(row @ c**k) for k in range(order + 1)]
        assert max(found[:order]) < 1e-14 < found[order]


def in_fixed_steps(model, v, count):
    """The simulator after a second in so many internal steps: where forces are given they end at nodes."""
    sim = la.Simulator(model, None, v, dt=1 / count, integrator=la.DormandPrince8(1e-2))
    sim._engine.memory[dormand_prince.NEXT] = 1.0  # as long as may be
    sim.step(count, tau=np.zeros(model.nv))
    return sim


@pytest.mark.parametrize("joint", BODIES)
def test_order_eight_on_ball_and_free_joints(joint):
    kind, v, exact = BODIES[joint]
    errors = []
    for count in (10, 20):
        sim = in_fixed_steps(top_mp.model(kind), v, count)
        errors.append(np.abs(np.concatenate([sim.q, sim.v]) - exact).max())
    assert errors[1] < 1e-10
    assert 7.5 < np.log2(errors[0] / errors[1]) < 9


@pytest.mark.parametrize("joint", BODIES)
def test_the_tolerance_is_kept_at_every_length_of_step(joint):
    kind, v, exact = BODIES[joint]
    for tol in (1e-6, 1e-9, 1e-12):
        run = la.simulate(top_mp.model(kind), v=v, dt=1.0, steps=1, integrator=la.DormandPrince8(tol))
        assert np.abs(np.concatenate([run.q[-1], run.v[-1]]) - exact).max() < 30 * tol
        assert run.residual[0] <= tol


def mixed(seed=0):
    """Joints of every kind, with springs, damping and armature."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, 5, (la.Revolute, la.Prismatic, la.Helical, la.Ball, la.Universal, la.Planar))
    model.add_body("flying", None, la.Free(damping=0.3), (0.1, 0.2, 0.3), (0.6, 0, 0.8, 0),
                   inertia=la.Inertia(1.3, (0.1, 0.2, -0.3), np.diag([0.2, 0.3, 0.4])))
    model.q0, model.v0 = random_state(rng, model)
    return model


def evaluations_at(errors, evaluations, wanted):
    """Evaluations for which a method has an error, between the tolerances that were tried."""
    return np.exp(np.interp(np.log(wanted), np.log(errors), np.log(evaluations)))


@pytest.mark.parametrize("make", [lambda: la.library.paper_chain(10), mixed], ids=["chain", "mixed"])
def test_as_good_as_scipy_for_the_same_evaluations(make):
    model = make()
    t = np.linspace(0.0, 2.0, 9)
    exact = la.simulate(model, dt=0.25, steps=8, integrator=la.DormandPrince8(1e-13)).q[-1:]
    ours, theirs = [], []
    for tol in 10.0 ** np.arange(-11, -4):
        run = la.simulate(model, dt=0.25, steps=8, integrator=la.DormandPrince8(tol))
        ours.append((distance(model, run.q[-1:], exact)[0], run.iterations.sum()))
        q, _, spent = scipy_dop853.dop853(model, t, tol)
        theirs.append((distance(model, q[-1:], exact)[0], spent))
    wanted = np.logspace(-9, -6, 4)
    ratio = evaluations_at(*np.transpose(ours), wanted) / evaluations_at(*np.transpose(theirs), wanted)
    assert ratio.max() < 1.2, ratio


def test_the_paper_chain_at_650_evaluations_a_second():
    run = la.simulate(la.library.paper_chain(10), dt=0.1, duration=10.0, integrator=la.DormandPrince8(1e-8))
    assert run.iterations.sum() < 6500
    assert run.max_energy_error < 2e-8


def test_nodes_between_steps_are_as_good_as_those_of_scipy():
    """Of 2000 nodes in 13 to 63 internal steps. A short run is worse within its steps than at their ends, up to ten
    times, by this polynomial of order 7; in a long one the error that has gathered is greater than that."""
    for model, tol in ((mixed(), 1e-8), (la.library.paper_chain(10), 1e-8)):
        exact = la.simulate(model, dt=1e-3, steps=2000, integrator=la.DormandPrince8(1e-13)).v
        run = la.simulate(model, dt=1e-3, steps=2000, integrator=la.DormandPrince8(tol))
        assert np.count_nonzero(run.iterations) < 70
        after_ends = 1 + np.flatnonzero(run.iterations)
        error = np.abs(run.v - exact).max(axis=1)
        theirs = np.abs(scipy_dop853.dop853(model, run.t, tol)[1] - exact).max()
        assert error.max() < 1.2 * theirs
        assert error.max() < 12 * np.maximum(error[after_ends], error[after_ends - 1]).max()


def test_the_motion_does_not_depend_on_the_nodes():
    model = mixed()
    coarse, fine = (la.simulate(model, dt=dt, duration=1.0, record_every=round(0.5 / dt), integrator="dop853")
                    for dt in (0.5, 1e-3))
    # what differs is the polynomial, at two nodes, and round-off
    np.testing.assert_allclose(fine.q, coarse.q, rtol=0, atol=1e-8)
    twice = la.simulate(model, dt=5e-4, duration=1.0, record_every=1000, integrator="dop853")
    np.testing.assert_allclose(twice.q, fine.q, rtol=0, atol=1e-13)
    assert twice.iterations.sum() == fine.iterations.sum()


@numba.njit
def law(t, q, v):
    return -0.3 * v + np.sin(7 * t)


def wave(model):
    """A wrench on the last body in every other quarter second."""
    push = np.zeros((100, model.nb, 6))
    push[25:50, -1] = push[75:, -1] = 1.0, 0.5, 0.0, 2.0, -1.0, 0.3
    return push


FORCES = {
    "none": lambda model: {},
    "held": lambda model: {"control": np.linspace(0.1, 0.5, model.nv)},
    "law": lambda model: {"control": law},
    "now and then": lambda model: {"wrench": wave(model)},
}


@pytest.mark.parametrize("forces", FORCES)
def test_a_run_may_be_cut_and_resumed_anywhere(forces, tmp_path):
    """In one go, in a file that is resumed, and at nodes made again, to the last bit."""
    model, given = mixed(), FORCES[forces](mixed())
    whole = la.simulate(model, dt=1e-2, steps=100, integrator="dop853", **given)
    path = tmp_path / "run.h5"
    # a wrench has a row for every step of the run, so that run cannot be begun shorter
    if "wrench" in given:
        cut = la.simulate(model, dt=1e-2, steps=100, integrator="dop853", out=path, checkpoint_every=7, **given)
    else:
        la.simulate(model, dt=1e-2, steps=37, integrator="dop853", out=path, checkpoint_every=7, **given)
        cut = la.resume(path, steps=100, **(given if forces == "law" else {}))
    for name in ("q", "v", "p", "energy", "momentum", "iterations", "residual"):
        assert np.array_equal(getattr(cut, name), getattr(whole, name)), name
    few = la.simulate(model, dt=1e-2, steps=100, record_every=50, integrator="dop853", **given)
    assert np.array_equal(few.at(0.73).q, whole.q[73])


def test_steps_one_by_one_a_copy_and_a_checkpoint(tmp_path):
    model = mixed()
    whole = la.Simulator(model, dt=3e-3, integrator="dop853")
    whole.step(60)
    sim = la.Simulator(model, dt=3e-3, integrator="dop853")
    for count in (1, 5, 1, 13):
        sim.step(count)
    sim = pickle.loads(pickle.dumps(sim))
    sim.step(17)
    sim = la.Simulator.restore(sim.checkpoint(tmp_path / "node.h5"))
    sim.step(23)
    for name, part in whole._engine.lasting().items():
        assert np.array_equal(part, sim._engine.lasting()[name], equal_nan=True), name


def test_forces_act_from_the_node_at_which_they_are_given():
    """An internal step that reaches beyond the node is given up; and one made under forces does not outlast them."""
    model = mixed()
    sim = la.Simulator(model, dt=1e-2, integrator=la.DormandPrince8(1e-11))
    q, v = [sim.q], [sim.v]
    tau = np.linspace(-1.0, 1.0, model.nv)
    for force in (None, tau, None):
        sim.step(13, tau=force)
        q.append(sim.q)
        v.append(sim.v)
    for k, force in enumerate((None, tau, None)):
        model.q0, model.v0 = q[k], v[k]
        end_q, end_v, _ = scipy_dop853.dop853(model, (0.0, 0.13), 1e-12, force)
        assert distance(model, end_q[-1:], q[k + 1][None])[0] < 1e-9
        np.testing.assert_allclose(end_v[-1], v[k + 1], atol=1e-8)


def test_a_control_is_held_from_node_to_node():
    """As by order 8 of the variational integrator with tiny steps, within which the force is the same."""
    model = la.library.paper_chain(3)
    samples = np.sin(np.arange(60.0)).reshape(20, 3)
    ours = la.simulate(model, dt=0.05, steps=20, control=samples, integrator=la.DormandPrince8(1e-12))
    other = la.simulate(model, dt=0.05 / 20, steps=400, control=np.repeat(samples, 20, axis=0),
                        integrator=la.Variational(order=8))
    np.testing.assert_allclose(ours.q[-1], other.q[-1], rtol=0, atol=1e-9)


def test_back_again():
    model = mixed()
    free = la.Model(gravity=model.gravity)
    free.add_body("body", joint=la.Free(), inertia=la.Inertia(1.0, (0.1, 0.2, 0.3), np.diag([0.2, 0.3, 0.4])))
    q, p = free.q0, np.array([0.3, -0.2, 0.5, 1.0, 2.0, -1.0])
    there = la.variational_step(free, q, p, 0.5, "dop853")
    back = la.variational_step(free, *there, -0.5, "dop853")
    np.testing.assert_allclose(back[0], q, atol=1e-8)
    np.testing.assert_allclose(back[1], p, atol=1e-8)


def test_a_body_at_rest_costs_nothing():
    model = la.library.chain(4)
    model.q0, model.v0 = np.zeros(4), np.zeros(4)
    model.gravity = (0, 0, 0)
    run = la.simulate(model, dt=1e-3, steps=20_000, record_every=20_000, integrator="dop853")
    assert run.tally.evaluations < 1000
    assert np.array_equal(run.q[-1], model.q0)


def test_a_fast_spin_stays_on_its_chart():
    """At 1000 rad/s about a principal axis: no error to see in the motion, so only the chart bounds the step."""
    model = la.Model(gravity=(0, 0, 0))
    model.add_body("wheel", joint=la.Ball(), inertia=la.Inertia(1.0, (0, 0, 0), np.diag([0.2, 0.3, 0.4])))
    run = la.simulate(model, v=[0, 0, 1000.0], dt=0.1, steps=10, integrator="dop853")
    angle = 0.5 * 1000.0 * run.t
    np.testing.assert_allclose(np.abs(run.q[:, 0]), np.abs(np.cos(angle)), atol=1e-9)


def test_many_are_as_each_alone():
    model = mixed()
    starts = model.v0 + np.random.default_rng(1).normal(size=(3, model.nv))
    many = la.simulate_many(model, v=starts, dt=1e-2, steps=30, integrator="dop853")
    for b in range(3):
        alone = la.simulate(model, v=starts[b], dt=1e-2, steps=30, integrator="dop853")
        assert np.array_equal(many.q[b], alone.q)
        assert np.array_equal(many.iterations[b], alone.iterations)


def stiff(damping):
    model = la.library.pendulum()
    model.add_body("finger", model.names[-1], la.Revolute((0, 1, 0), damping=damping),
                   inertia=la.Inertia.sphere(1e-3, 0.01))
    return model


def test_a_stiff_joint_is_named_with_the_way_out():
    with pytest.raises(la.StepError, match=r"more than 10,000 internal steps.*joint of 'finger'.*la\.Variational\(\)"):
        la.simulate(stiff(1e4), v=[1.0, 1.0], dt=1.0, steps=10, integrator="dop853")


def test_a_motion_without_bounds_is_named():
    """A slider with a negative stiffness runs away until numbers end; the nodes before are kept."""
    model = la.Model(gravity=(0, 0, 0))
    model.add_body("runaway", joint=la.Prismatic((1, 0, 0)), inertia=la.Inertia.sphere(1.0, 0.1))
    big = numba.njit(lambda t, q, v: 1e3 * v * np.abs(v))
    run = la.simulate(model, v=[1.0], dt=1e-3, steps=2000, control=big, integrator="dop853", on_failure="truncate")
    assert run.failure is not None and 0 < run.steps < 2000
    assert Status(int(run.status[-1])) >= 0
    assert np.isfinite(run.q).all()


@pytest.mark.parametrize("tol", [0, -1e-9, 1e-15, 0.5, np.nan, None, "1e-9", True])
def test_tolerances_that_cannot_be(tol):
    with pytest.raises(ValueError, match=r"tol must be a number from 1e-14 to 0\.01, not"):
        la.DormandPrince8(tol)


def test_the_estimate_of_its_accuracy_is_about_right():
    """By a run at a tolerance 256 times smaller: half the distance of nodes would show nothing."""
    model = la.library.paper_chain(5)
    run = la.simulate(model, dt=0.05, steps=40, integrator=la.DormandPrince8(1e-7))
    exact = la.simulate(model, dt=0.05, steps=40, integrator=la.DormandPrince8(1e-13))
    error = distance(model, run.q, exact.q).max()
    found = run.accuracy()
    assert 0.5 * error < found.max_error < 2 * error
    assert "DOP853, tol 3.91e-10" in found.report()
