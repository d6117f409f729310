"""Forces between bodies in a simulation: frequency, invariants, orders, damping, burns, lanes, other methods."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import leastaction as la
from leastaction.compiled import compile_model
from reference import forces
from reference.forces import AT, CENTRE, INERTIA, LENGTH, MASS, STIFFNESS, everything, with_all_kinds


# The loops, alone and in lanes, and the rescue are compiled for one set of kinds of forces: a quarter of a minute each.
def two_bodies():
    return with_all_kinds(forces.two_bodies())


def hung(n=10):
    return with_all_kinds(forces.hung(n))


def rotation(x):
    a, b, c, d = x
    return np.array([[a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
                     [2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)],
                     [2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d]]) / (x @ x)


def exact(model, t):
    """Positions of the two origins (2, 3) at time t: Newton and Euler about the centres of mass, by DOP853."""
    start = []
    for k in range(2):
        q, v = model.q0[7 * k : 7 * k + 7], model.v0[6 * k : 6 * k + 6]
        R = rotation(q[3:])
        start += [q[:3] + R @ CENTRE[k], q[3:], R @ (v[3:] + np.cross(v[:3], CENTRE[k])), v[:3]]

    def rate(_t, y):
        x, turn, u, omega = (y.reshape(2, 13)[:, a:b] for a, b in ((0, 3), (3, 7), (7, 10), (10, 13)))
        R = [rotation(turn[k]) for k in range(2)]
        arm = [R[k] @ (AT[k] - CENTRE[k]) for k in range(2)]
        way = x[1] + arm[1] - x[0] - arm[0]
        r = np.linalg.norm(way)
        force, out = STIFFNESS * (r - LENGTH) / r * way, []
        for k, sign in enumerate((1.0, -1.0)):
            spin, moment = omega[k], R[k].T @ np.cross(arm[k], sign * force)
            a, b = turn[k, 0], turn[k, 1:]
            out += [u[k], [-0.5 * b @ spin], 0.5 * (a * spin + np.cross(b, spin)), sign * force / MASS[k],
                    (moment - np.cross(spin, INERTIA[k] * spin)) / INERTIA[k]]
        return np.concatenate(out)

    y = solve_ivp(rate, (0.0, t), np.concatenate(start), method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    return np.array([y[13 * k : 13 * k + 3] - rotation(y[13 * k + 3 : 13 * k + 7]) @ CENTRE[k] for k in range(2)])


def observed(errors):
    return np.log2(np.divide(errors[:-1], errors[1:]))


@pytest.mark.parametrize(("order", "steps", "within"), [(2, 400, 0.02), (4, 80, 0.05)])
def test_order_against_equations_of_our_own(order, steps, within):
    model, t = two_bodies(), 1.0
    truth, errors = exact(model, t), []
    for n in (steps, 2 * steps, 4 * steps):
        end = la.simulate(model, dt=t / n, steps=n, integrator=la.Variational(order=order)).q[-1]
        errors.append(np.abs(end.reshape(2, 7)[:, :3] - truth).max())
    assert observed(errors) == pytest.approx(order, abs=within)


def test_discrete_frequency_is_that_of_the_step():
    """Two bodies on a line: the distance swings with (2/h) asin(hω/2), found by the phase after 10,000 steps."""
    model, k, h, masses = la.Model(gravity=(0, 0, 0)), 40.0, 0.1, (1.0, 2.5)
    for name, mass in zip("ab", masses, strict=True):
        model.add_body(name, None, la.Free(), inertia=la.Inertia.sphere(mass, 0.1))
    model.add_force("tie", la.Spring("a", "b", stiffness=k, rest=1.0))
    q = model.q0
    q[7] = 1.2
    run = la.simulate(with_all_kinds(model), q, dt=h, steps=10_000)
    swing = (run.q[:, 7] - run.q[:, 0] - 1.0) / 0.2
    omega = np.sqrt(k / masses[0] + k / masses[1])
    steps = np.arange(len(swing))
    found, count = np.arccos(np.clip(swing, -1, 1)), 2.0 / h * np.arcsin(0.5 * h * omega)
    phase = count * h * steps
    turns = np.round(phase / (2 * np.pi))
    near = np.abs(np.sin(phase)) > 0.5  # where the phase can be told from the swing
    ours = 2 * np.pi * turns + np.sign(phase - 2 * np.pi * turns) * found
    assert np.abs(ours[near] / phase[near] - 1.0)[-100:].max() < 1e-9
    assert abs(count / omega - 1.0) > 0.01  # which is not the frequency of the spring itself


def test_momentum_is_kept_to_round_off():
    """Of a pair whose centre of mass rests: no distance flown counts in the angular momentum."""
    model = two_bodies()
    v = model.v0
    v[3:6] -= la.momentum(model)[3:] / sum(MASS)
    v[9:12] -= la.momentum(model)[3:] / sum(MASS)
    run = la.simulate(model, v=v, dt=5e-3, steps=10_000, record_every=10)
    assert np.abs(run.momentum).max() > 0.5
    assert np.abs(run.momentum - run.momentum[0]).max() < 1e-12


def test_momentum_of_a_pair_that_flies_away_is_kept_to_round_off():
    """It flies 125 m. The angular momentum is about the origin of the world, so that the way times the linear momentum
    is the size whose digits it loses: 1100 N m s, beside 7 N m s of its own."""
    run = la.simulate(two_bodies(), dt=5e-3, steps=10_000, record_every=10)
    push, way = np.linalg.norm(run.momentum[0, 3:]), np.linalg.norm(run.q[-1, :3] - run.q[0, :3])
    off = np.linalg.norm((run.momentum - run.momentum[0]).reshape(-1, 2, 3), axis=2).max(axis=0)
    assert push > 5.0 and way > 100.0
    assert off[1] < 1e-12 * push        # measured: 1.3e-14
    assert off[0] < 1e-13 * way * push  # 2.9e-15, which is 4e-13 of the angular momentum at the start


def test_energy_has_no_trend():
    run = la.simulate(two_bodies(), dt=5e-3, steps=100_000, record_every=10)
    first, *_, last = np.array_split(run.energy - run.energy[0], 10)
    assert 1e-4 < np.abs(first).max() < 5e-3
    assert np.abs(last).max() < 1.5 * np.abs(first).max()
    assert abs(last.mean() - first.mean()) < 0.05 * np.abs(first).max()  # it swings


def test_released_from_rest_without_gravity():
    """The force of the spring alone sets it in motion: no scale of the residual but that."""
    model = two_bodies()
    run = la.simulate(model, v=np.zeros(12), dt=1e-3, steps=100)
    assert np.abs(run.v[-1]).max() > 0.1
    assert np.abs(run.energy - run.energy[0]).max() < 1e-4 * run.energy[0]


def test_every_energy_has_the_springs_in_it():
    model = two_bodies()
    run, sim = la.simulate(model, dt=1e-2, steps=64, record_every=8), la.Simulator(model, dt=1e-2)
    assert sim.energy == run.energy[0] == pytest.approx(la.energy(model))
    sim.step(64)
    assert sim.energy == run.energy[-1] == pytest.approx(la.energy(model, sim.q, sim.v), rel=1e-12)
    np.testing.assert_allclose(run.energy, [la.energy(model, *node) for node in zip(run.q, run.v, strict=True)])
    plain = la.Model.from_dict({**two_bodies().to_dict(), "forces": []})
    assert la.energy(model) > la.energy(plain) + 0.1
    assert la.potential_energy(model) == pytest.approx(la.energy(model) - la.energy(plain))


def test_step_solves_the_discrete_equations():
    model = hung()
    run = la.simulate(model, dt=1e-3, steps=3)
    f = [la.discrete_residual(model, *run.q[k : k + 3], run.dt) for k in range(2)]
    assert np.abs(f).max() < 1e-12


@pytest.mark.parametrize("make", [everything, hung])
def test_lanes_agree_with_single_runs(make):
    """Five members, the last in a group of its own; other gravity, so that the springs are passed on to variants."""
    model, g = make(), np.linspace(0.0, 4.0, 5)[:, None] * [0.0, 0.0, -1.0]
    many = la.simulate_many(model, gravity=g, dt=1e-3, steps=40, threads=1)
    for member, gravity in zip(many, g, strict=True):
        alone = make()
        alone.gravity = gravity
        single = la.simulate(alone, dt=1e-3, steps=40)
        np.testing.assert_allclose(member.q, single.q, rtol=0, atol=1e-12)
        np.testing.assert_allclose(member.energy, single.energy, rtol=0, atol=1e-10)
        np.testing.assert_allclose(member.momentum, single.momentum, rtol=0, atol=1e-11)


def test_rescue_makes_the_same_steps_in_parts():
    model, dt = hung(), 1e-2
    run = la.simulate(model, dt=dt, duration=3.0)
    divided = np.flatnonzero(run.substeps > 1)
    assert len(divided) > 3
    for k in divided[:10]:
        parts = la.Simulator(model, run.q[k], run.v[k], dt=dt / run.substeps[k])
        parts.step(int(run.substeps[k]))
        np.testing.assert_allclose(parts.q, run.q[k + 1], rtol=0, atol=1e-9)
        assert parts.energy == pytest.approx(run.energy[k + 1], abs=1e-8)
    np.testing.assert_allclose(run.energy, [la.energy(model, *node) for node in zip(run.q, run.v, strict=True)])


def test_lanes_that_fall_are_rescued_with_the_springs():
    model = hung()
    many = la.simulate_many(model, v=np.zeros((4, model.nv)), dt=1e-2, steps=150, threads=1)
    single = la.simulate(model, dt=1e-2, steps=150)
    assert (many[0].substeps > 1).any()
    for k in np.flatnonzero(many[0].substeps > 1)[:3]:
        assert many[0].energy[k + 1] == pytest.approx(la.energy(model, many[0].q[k + 1], many[0].v[k + 1]))
    np.testing.assert_allclose(many[0].energy, single.energy, rtol=0, atol=1e-2)


def test_orders_with_dampers_fields_and_thrust():
    """Of the variational method against Runge and Kutta's, whose own error is far below: all forces in both."""
    model = everything()
    truth = la.simulate(model, dt=2.5e-4, duration=1.0, record_every=4000, integrator="rk4").q[-1]
    for order, steps in ((2, 200), (4, 40)):
        errors = []
        for n in (steps, 2 * steps, 4 * steps):
            run = la.simulate(model, dt=1.0 / n, steps=n, integrator=la.Variational(order=order))
            errors.append(np.abs(run.q[-1] - truth).max())
        assert observed(errors) == pytest.approx(order, abs=0.05)
        assert errors[-1] < 2e-5


def test_damper_of_any_strength_takes_energy_and_no_momentum():
    """The rate along the line decays as the closed form says, without changing its sign, also where dt c/m is 2000."""
    for c in (0.3, 30.0, 2e5):
        model = la.Model(gravity=(0, 0, 0))
        for name, mass in (("a", 1.0), ("b", 2.0)):
            model.add_body(name, None, la.Free(), inertia=la.Inertia.sphere(mass, 0.1))
        model.add_force("brake", la.Spring("a", "b", damping=c))
        q, v = model.q0, np.zeros(12)
        q[7], v[9:12] = 1.0, (0.5, 0.0, 0.0)
        run = la.simulate(with_all_kinds(model), q, v, dt=1e-2, steps=300)
        rate = run.v[:, 9] - run.v[:, 3]
        np.testing.assert_allclose(rate, 0.5 * np.exp(-c * 1.5 * run.t), rtol=1e-9, atol=1e-13)
        assert np.abs(run.momentum - run.momentum[0]).max() < 1e-14
    tumbling = forces.two_bodies()
    tumbling.add_force("brake", la.Spring("body0", "body1", *AT, damping=1e4))
    run = la.simulate(with_all_kinds(tumbling), dt=1e-2, steps=500)
    assert (run.energy - np.minimum.accumulate(run.energy)).max() < 5e-3 * run.energy[0]  # as without the damper
    assert run.energy[-1] < 0.9 * run.energy[0]
    assert np.abs(run.momentum - run.momentum[0]).max() < 1e-11
    assert run.judgement.kept and run.judgement.reason == "the spring 'brake' has damping"


def test_orders_that_step_backwards_refuse_a_strong_damper_by_name():
    """The rate along the line decays at c (1/m + 1/m'), 15/s here; stages up to half of its inverse resolve that."""
    model = la.Model(gravity=(0, 0, 0))
    for name, mass in (("a", 1.0), ("b", 2.0)):
        model.add_body(name, None, la.Free(), inertia=la.Inertia.sphere(mass, 0.1))
    model.add_force("soft", la.Spring("a", "b", damping=1e-3))
    model.add_force("brake", la.Spring("a", "b", damping=10.0))
    q, model = model.q0, with_all_kinds(model)
    q[7] = 1.0
    fourth = la.Variational(order=4)
    longest = 0.5 / (15.0 * max(abs(s) for s in fourth.method(compile_model(model)).stages))  # s
    la.Simulator(model, q, dt=0.99 * longest, integrator=fourth)
    la.Simulator(model, q, dt=1e3 * longest)
    with pytest.raises(ValueError, match=r"steps backwards .* damping of the spring 'brake'") as error:
        la.Simulator(model, q, dt=1.01 * longest, integrator=fourth)
    offered = float(str(error.value).rpartition("dt=")[2])
    assert 0.5 * longest < offered <= longest
    la.Simulator(model, q, dt=offered, integrator=fourth)


def spinning(thruster):
    model = la.Model(gravity=(0, 0, 0))
    model.add_body("probe", None, la.Free(), inertia=la.Inertia.sphere(2.0, 0.3))
    model.add_force("jet", thruster)
    return with_all_kinds(model)


def test_burn_has_its_impulse_wherever_it_begins_and_ends():
    """Exactly, of a body that does not turn; and to second order of one that does, by the closed form."""
    jet = la.Thruster("probe", (3, 0, 4), 5.0, burns=[(0.1037, 0.4371), (0.6, 0.7)])
    ramp = la.Thruster("probe", (3, 0, 4), [(0.1, 0.0), (0.3, 6.0), (0.3, 2.0), (0.8, 2.0)])
    for dt in (0.31, 0.05, 1e-3):
        steps = round(1.0 / dt + 0.5)
        for thruster, impulse in ((jet, 5.0 * (0.3334 + 0.1)), (ramp, 0.6 + 1.0)):
            run = la.simulate(spinning(thruster), dt=dt, steps=steps)
            np.testing.assert_allclose(run.v[-1], [0, 0, 0, 0.3 * impulse, 0, 0.4 * impulse], atol=1e-14)
    force, spin, (start, stop) = 5.0, 2.0, (0.1037, 0.4371)
    a, b = spin * start, spin * stop
    gained = force / 2.0 / spin * np.array([np.sin(b) - np.sin(a), np.cos(a) - np.cos(b)])
    errors = []
    for steps in (50, 100, 200, 400, 800):
        model = spinning(la.Thruster("probe", (1, 0, 0), force, burns=[(start, stop)]))
        run = la.simulate(model, v=[0, 0, spin, 0, 0, 0], dt=1.0 / steps, steps=steps)
        errors.append(np.abs(run.momentum[-1, 3:5] / 2.0 - gained).max())
    assert np.all(np.array(errors) < 0.3 / np.array([50, 100, 200, 400, 800]) ** 2 * force)


def test_gravity_gradient_is_that_of_point_masses():
    """Force and moment on a body made of points, each attracted by itself, but for the next term of the expansion."""
    rng = np.random.default_rng(0)
    points, masses = 0.01 * rng.normal(size=(6, 3)), rng.uniform(1.0, 2.0, size=6)
    com = masses @ points / masses.sum()
    arms = points - com
    matrix = sum(m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(masses, arms, strict=True))
    model = la.Model(gravity=(0, 0, 0))
    model.add_body("rock", None, la.Free(), inertia=la.Inertia(masses.sum(), com, matrix))
    model.add_force("planet", la.Field(mu=7.0, center=(1.0, -2.0, 0.5)))
    ways = points - (1.0, -2.0, 0.5)
    forces = -7.0 * masses[:, None] * ways / np.linalg.norm(ways, axis=1)[:, None] ** 3
    wrench = -la.inverse_dynamics(with_all_kinds(model), None, np.zeros(6), None)
    moment = np.cross(arms, forces).sum(axis=0)
    np.testing.assert_allclose(wrench[3:], forces.sum(axis=0), rtol=1e-6)
    np.testing.assert_allclose(wrench[:3] - np.cross(com, wrench[3:]), moment, atol=0.05 * np.abs(moment).max())
    assert np.abs(moment).max() > 1e-5


def test_stiffness_beyond_the_limit_is_refused_by_name():
    model = everything()
    model.add_force("anchor", la.Spring("body1", None, other_point=(1, 1, 1), stiffness=1e5, rest=0.1))
    with pytest.raises(ValueError, match=r"spring 'anchor' is too stiff for dt=0.01: .* it oscillates at \d+ rad/s, "
                                         r"and dt times that must be below 2; take dt=0.00\d+ or less"):
        la.simulate(model, dt=1e-2, steps=1)
    with pytest.raises(ValueError, match=r"below 2\.8"):
        la.simulate(model, dt=1e-2, steps=1, integrator="rk4")
    la.simulate(model, dt=1e-3, steps=1)


@pytest.mark.parametrize("part", [0.99, 1.01])
def test_limit_is_where_the_step_becomes_unstable(part):
    model = la.Model(gravity=(0, 0, 0))
    for k in range(3):
        model.add_body(f"{k}", None, la.Prismatic((1, 0, 0)), inertia=la.Inertia(1.0 + k))
    for k in range(2):
        model.add_force(f"tie {k}", la.Spring(f"{k}", f"{k + 1}", stiffness=50.0 + k, rest=0.0, other_point=(1, 0, 0)))
    model = with_all_kinds(model)
    K = np.array([[50.0, -50.0, 0.0], [-50.0, 101.0, -51.0], [0.0, -51.0, 51.0]])
    omega = np.sqrt(np.linalg.eigvals(np.diag([1.0, 0.5, 1 / 3]) @ K).real.max())
    if part > 1:
        with pytest.raises(ValueError, match=f"oscillates at {omega:.3g}"):
            la.Simulator(model, dt=part * 2 / omega)
        return
    run = la.simulate(model, v=[0.1, 0, 0], dt=part * 2 / omega, steps=2000)
    assert np.abs(run.q).max() < 20.0


def test_explicit_methods_know_all_forces():
    model = everything()
    runs = [la.simulate(model, dt=1e-4, steps=2000, record_every=100, integrator=method) for method in (
        "variational", "rk4", "euler", la.DormandPrince8(1e-11))]
    np.testing.assert_allclose(runs[1].q, runs[0].q, atol=1e-6)
    np.testing.assert_allclose(runs[2].q, runs[0].q, atol=1e-3)
    np.testing.assert_allclose(runs[1].energy, runs[0].energy, atol=1e-5)
    np.testing.assert_allclose(runs[3].q, runs[1].q, atol=1e-9)  # of order four and eight, with thrust that grows


@pytest.mark.soak
def test_dense_peers_make_the_same_steps():
    dense = la.Variational(root_finder=la.peers.DenseNewton())
    runs = [la.simulate(everything(), dt=1e-3, steps=200, integrator=method) for method in ("variational", dense)]
    np.testing.assert_allclose(runs[1].q, runs[0].q, atol=1e-10)


def test_svi_refuses_forces_by_name():
    with pytest.raises(ValueError, match=r"SVI.* knows no forces between bodies, and the model has the spring 'tip'"):
        la.simulate(hung(7), dt=1e-3, steps=1, integrator=la.peers.SVI())


def test_what_is_at_the_centre_of_a_field_is_named():
    model = two_bodies()
    center = la.poses(model)[0, :3, :3] @ CENTRE[0] + la.poses(model)[0, :3, 3]
    model.add_force("hole", la.Field(mu=1.0, center=center))
    where = rf"force 'hole' \(field\) is infinite at its center, and the centre of mass of '{model.names[0]}' is there"
    with pytest.raises(ValueError, match=where):
        la.energy(model)
    with pytest.raises(ValueError, match=where):
        la.Simulator(model, dt=1e-3)


def test_points_ride_on_welded_bodies():
    """A spring on a body that is welded to another is one on the other; also where members have it elsewhere."""
    def arm(at):
        model = la.library.pendulum()
        model.add_body("hook", model.names[0], position=at, quaternion=(0.6, 0, 0.8, 0))
        model.add_force("tie", la.Spring("hook", None, (0.1, 0, 0.2), (1, 0, 1), stiffness=5.0, rest=0.3))
        return with_all_kinds(model)

    places = np.array([[0.2, 0.0, -0.4], [0.1, 0.0, 0.3]])
    singles = [la.simulate(arm(at), dt=1e-3, steps=50) for at in places]
    from leastaction.variants import variants

    base = arm((0, 0, 0))
    for one, single in zip(variants(base, {("position", 1): places}, 2), singles, strict=True):
        np.testing.assert_array_equal(la.simulate(one, dt=1e-3, steps=50).q, single.q)
    direct = la.library.pendulum()
    pose = np.linalg.solve(la.poses(singles[0].model)[0], la.poses(singles[0].model)[1])
    direct.add_force("tie", la.Spring(direct.names[0], None, (pose @ [0.1, 0, 0.2, 1])[:3], (1, 0, 1), stiffness=5.0,
                                      rest=0.3))
    np.testing.assert_allclose(la.simulate(with_all_kinds(direct), dt=1e-3, steps=50).q, singles[0].q, atol=1e-12)
