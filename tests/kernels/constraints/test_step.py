"""The step with closed loops: structure, order, and mechanisms that must move alike however they are described."""

from itertools import pairwise

import numpy as np
import pytest
from mechanisms import floating_loop, four_bar, ladder, moving_four_bar, random_state

import leastaction as la
from reference.four_bar import four_bar as four_bar_by_scipy
from reference.mechanisms import bricard

CLOSURES = {"point": la.Ball(), "hinge": la.Revolute(axis=(1, 0, 0))}
ends = pytest.mark.parametrize("closure", CLOSURES.values(), ids=CLOSURES)


def opening(model, q, v):
    """Closure and rate of opening, the worst of all rows."""
    return la.closure(model, q).max(), np.abs(la.constraint_jacobian(model, q) @ v).max()


def backwards(sim):
    """Let a simulator go back from where it is."""
    sim._engine.dt = -sim.dt
    sim._engine.start(sim.q, sim.v, sim.p)


@ends
def test_momentum_closure_and_reversibility(closure):
    model = floating_loop(closure)
    q, v = random_state(model)
    sim = la.Simulator(model, q, v, dt=0.01)
    start, momentum = (sim.q, sim.p), sim.momentum
    for _ in range(10):
        sim.step(10)
        g, rate = opening(model, sim.q, sim.v)
        assert g < 1e-13
        assert rate < 1e-12
    np.testing.assert_allclose(sim.momentum, momentum, rtol=0, atol=1e-12)
    assert np.abs(sim.q - start[0]).max() > 0.1
    backwards(sim)
    sim.step(100)
    np.testing.assert_allclose(sim.q, start[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(sim.p, start[1], rtol=0, atol=1e-12)


@ends
@pytest.mark.parametrize(("order", "dt", "tolerance"), [(2, 0.01, 0.05), (4, 0.04, 0.1), (6, 0.04, 0.2)])
def test_order(closure, order, dt, tolerance):
    """Against our order 8, which the tests below compare with others."""
    model = floating_loop(closure)
    q, v = random_state(model)

    def end(order, dt):
        sim = la.Simulator(model, q, v, dt=dt, integrator=la.Variational(order=order))
        sim.step(round(0.4 / dt))
        return sim.q

    exact = end(8, 0.0025)
    errors = [np.abs(end(order, dt / part) - exact).max() for part in (1, 2)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=tolerance)


def test_order_eight():
    """Against DOP853 at the least tolerance, from 5 to 10 steps; with more, round-off."""
    model = floating_loop()
    q, v = random_state(model)
    exact = la.simulate(model, q, v, dt=0.4, steps=1, integrator=la.DormandPrince8(1e-13)).q[-1]
    eight = la.Variational(order=8)
    errors = [np.abs(la.simulate(model, q, v, dt=0.4 / n, steps=n, integrator=eight).q[-1] - exact).max()
              for n in (5, 10, 20)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(8, abs=0.3)
    assert errors[2] < 1e-12


@pytest.mark.parametrize(("order", "dt", "tolerance"),
                         [(2, 0.01, 0.02), (4, 0.04, 0.05), (6, 0.02, 0.1), (8, 0.04, 0.3)])
def test_order_against_a_four_bar_of_one_degree_of_freedom(order, dt, tolerance):
    """Against an equation of motion without constraints, written by hand and solved by SciPy, over half a turn of the
    crank. Order 8 at 5 ms, with next to no error of its own, ends in the same state to 5e-13 rad and rad/s."""
    model = four_bar()
    q, v = moving_four_bar(model)
    (crank, coupler, rocker), rate = four_bar_by_scipy(np.array([q[0], q[0] + q[1], q[2]]), v[0], 1.0)
    exact = np.array([crank, coupler - crank, rocker, rate])

    def error(order, dt):
        sim = la.Simulator(model, q, v, dt=dt, integrator=la.Variational(order=order))
        sim.step(round(1.0 / dt))
        return np.abs(np.append(sim.q, sim.v[0]) - exact).max()

    assert error(8, 0.005) < 1e-11
    errors = [error(order, dt / part) for part in (1, 2)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=tolerance)


def test_a_loop_that_drifts_keeps_its_momentum_about_the_origin_of_the_world():
    model = floating_loop()
    q, v = random_state(model)
    v = la.assemble(model, q, v + np.eye(model.nv)[3])[1]
    sim = la.Simulator(model, q, v, dt=5e-3)
    before = sim.momentum
    sim.step(100_000)
    assert np.linalg.norm(sim.q[:3]) > 400
    np.testing.assert_allclose(sim.momentum, before, rtol=0, atol=1e-10)
    assert la.closure(model, sim.q).max() < 1e-13


def test_the_same_mechanism_cut_at_another_joint_moves_alike():
    one, other = four_bar(), four_bar(cut="rocker")
    q, v = moving_four_bar(one)
    a = la.Simulator(one, q, v, dt=2e-3)
    b = la.Simulator(other, [q[0], q[1], q[2] - q[0] - q[1] + np.pi], [v[0], v[1], v[2] - v[0] - v[1]], dt=2e-3)
    a.step(1000)
    b.step(1000)
    assert abs(a.q[0] - q[0]) > 1
    np.testing.assert_allclose(b.q[:2], a.q[:2], rtol=0, atol=1e-9)
    np.testing.assert_allclose(b.v[:2], a.v[:2], rtol=0, atol=1e-9)


def bricard_from_its_other_end():
    """Bricard's mechanism as of reference.mechanisms, its rods hung on the joint that closes it there."""
    plain = bricard()
    corners = np.cumsum([[0.0, 0, 0], *[2 * body.inertia.com for body in plain.bodies]], axis=0)
    axes = [*[body.joint.axis for body in plain.bodies], plain.loops[0].joint.axis]
    model = la.Model(gravity=plain.gravity)
    for i in reversed(range(5)):
        way = corners[i] - corners[i + 1]
        above = corners[i + 2] if i < 4 else np.zeros(3)
        model.add_body(f"rod{i}", f"rod{i + 1}" if i < 4 else None, la.Revolute(axes[i + 1]), corners[i + 1] - above,
                       inertia=la.Inertia.rod(1.0, 1.0, axis=way, com=way / 2))
    model.add_loop("first", "rod0", joint=la.Revolute(axes[0]), position=corners[0] - corners[1])
    return model


@pytest.mark.parametrize("retraction", ["exp", "split"])
def test_a_mechanism_in_space_cut_at_another_joint_moves_alike(retraction):
    """By hinges either way, with a redundant row. A cut changes neither the bodies nor their actions, and the action of
    a body does not depend on where its frame is: by split it is of its centre of mass, by exp it is the same from every
    point. The angles are apart by 2e-15 rad, the rates by 1e-14 rad/s."""
    runs = [la.simulate(model, np.zeros(5), np.zeros(5), dt=1e-3, steps=1000, record_every=10,
                        integrator=la.Variational(retraction=retraction))
            for model in (bricard(), bricard_from_its_other_end())]
    (q, v), (other_q, other_v) = [(run.q, run.v) for run in runs]
    assert np.abs(q[-1]).max() > 0.5
    np.testing.assert_allclose(other_q[:, :0:-1], -q[:, 1:], rtol=0, atol=1e-12)  # angles of the joints that both have
    np.testing.assert_allclose(other_v[:, :0:-1], -v[:, 1:], rtol=0, atol=1e-12)


@pytest.mark.parametrize("mass", [1e8, 1e9])
def test_a_heavy_base_is_the_ground(mass):
    """A four-bar on a free base, whose weight and that of the rods is borne by a force, against the one on the ground:
    apart as one over the mass of the base."""
    grounded = four_bar()
    q, v = moving_four_bar(grounded)
    model = la.Model(gravity=grounded.gravity)
    model.add_body("base", joint=la.Free(), inertia=la.Inertia(mass, matrix=mass * np.eye(3)))
    for body in grounded.bodies:
        model.add_body(body.name, body.parent or "base", body.joint, body.position, inertia=body.inertia)
    model.add_loop("B", "coupler", "rocker", joint=la.Ball(), position=(2, 0, 0), other_position=(1.5, 0, 0))
    lift = np.zeros((4, 6))
    lift[0, 4] = 9.81 * model.total_mass
    still = la.simulate(grounded, q, v, dt=2e-3, steps=500)
    run = la.simulate(model, [*model.q0[:7], *q], [*np.zeros(6), *v], dt=2e-3, steps=500, wrench=lift)
    assert run.closure.max() < 1e-13 and abs(still.q[-1, 0] - q[0]) > 1
    apart = np.abs(np.subtract(run.q[:, 7:], still.q)).max()
    assert 1.0 < apart * mass < 100.0


@pytest.mark.parametrize("dt", [1e-3, 2e-3, 5e-3])
@pytest.mark.parametrize("make", [four_bar, floating_loop, lambda: ladder(10), lambda: ladder(10, "rail")],
                         ids=["four-bar", "floating", "posts", "rail"])
def test_loops_add_no_evaluations(make, dt):
    made = make()
    start = made if isinstance(made, tuple) else (
        made, *(moving_four_bar(made) if made.nv == 3 else random_state(made)))
    run = la.simulate(*start, dt=dt, steps=1000, record_every=1000)
    assert run.substeps.max() == 1  # all of them plain steps
    assert 1.0 < run.iterations.sum() / 1000 <= 3.0


def quarter_means(run, error):
    """Means of an error that swings with the crank over four equal parts, each of whole turns. Parts of equal time, not
    of whole turns, differ by up to 0.7 % of the swing in 100 s."""
    turns = (run.q[:, 0] - run.q[0, 0]) / (2 * np.pi)
    assert (np.diff(turns) > 0).all()
    ends = np.searchsorted(turns, np.arange(5) * (int(turns[-1]) // 4))
    return np.array([error[a:b].mean() for a, b in pairwise(ends)])


@pytest.mark.parametrize(("order", "bar"), [(2, 1.7e-3), (4, 1e-8)])
def test_energy_of_a_four_bar(order, bar):
    """100 s at 2 ms: bounded, and without a trend."""
    model = four_bar()
    q, v = moving_four_bar(model)
    run = la.simulate(model, q, v, dt=2e-3, duration=100.0, record_every=5, integrator=la.Variational(order=order))
    error = run.energy - run.energy[0]
    assert np.abs(error).max() < bar
    assert np.ptp(quarter_means(run, error)) < 1e-3 * np.abs(error).max()
    # The crank turns 59 times: a gap is as small as the last bits of the angles let it be
    assert (run.closure < 1e-14 + 4 * np.spacing(np.abs(run.q)) @ [1.0, 2.0, 1.5]).all()
    assert run.closure[run.t < 10].max() < 1e-13
    assert max(np.abs(la.constraint_jacobian(model, a) @ b).max() for a, b in zip(run.q, run.v, strict=True)) < 1e-12
    assert run.iterations.sum() / (50_000 * (1 if order == 2 else 9)) < 3.0


@pytest.mark.soak
@pytest.mark.parametrize(("order", "dt", "share", "joules"), [
    (2, 2e-3, 1e-3, 0.0), (4, 4e-3, 0.01, 0.0), (4, 2e-3, 0.0, 3e-10), (8, 2e-3, 0.0, 5e-10)])
def test_energy_of_a_four_bar_over_a_million_steps(order, dt, share, joules):
    """Quarter means differ by less than 1 % of the greatest error, as long as that is of the method. Of order 4 at 2 ms
    it is 4.3e-9 J of 26 J, and 1 % of it is less than the walk of round-off, which order 8, with next to no other
    error, shows alone: 1.7e-10 J. So these two are bounded by what round-off may do, 1e-11 of the energy and twice it.
    """
    model = four_bar()
    run = la.simulate(model, *moving_four_bar(model), dt=dt, steps=1_000_000, record_every=5,
                      integrator=la.Variational(order=order))
    error = run.energy - run.energy[0]
    apart, most = np.ptp(quarter_means(run, error)), np.abs(error).max()
    print(f"order {order}, {dt} s: at most {most:.2g} J, means apart by {apart:.2g} J, {apart / most:.1g} of it")
    assert apart < share * most + joules


@pytest.mark.parametrize("dt", [1e-3, 2e-3, 3e-3])
def test_round_off_does_not_move_the_energy(dt):
    """With order 8 nothing but round-off is left: of 27 J. Adding gravity's impulse to the momenta without keeping what
    rounding takes moves it by 6e-11 to 9e-11 J in 100 s, in proportion to the time."""
    model = four_bar()
    run = la.simulate(model, *moving_four_bar(model), dt=dt, duration=99.0, record_every=11,
                      integrator=la.Variational(order=8))
    assert abs(run.energy[-len(run) // 10 :].mean() - run.energy[0]) < 1.5e-11


def test_neither_record_every_nor_the_length_of_calls_changes_a_bit():
    model = floating_loop()
    q, v = random_state(model)
    whole = la.Simulator(model, q, v, dt=0.01)
    whole.step(40)
    parts = la.Simulator(model, q, v, dt=0.01)
    for count in (1, 2, 3, 7, 11, 16):
        parts.step(count)
    kept = la.simulate(model, q, v, dt=0.01, duration=0.4, record_every=4)
    for found in (parts.q, kept.q[-1]):
        np.testing.assert_array_equal(found, whole.q)
    np.testing.assert_array_equal(parts.p, whole.p)
    np.testing.assert_array_equal(kept.v[-1], whole.v)
