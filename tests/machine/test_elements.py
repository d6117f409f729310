"""Springs between bodies in a simulation: invariants, orders, lanes, rescue, and who refuses them."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import leastaction as la
from leastaction.kernels.elements.springs import Springs

MASS, CENTRE = (1.0, 2.5), np.array([[0.1, -0.2, 0.05], [0.0, 0.3, -0.1]])
INERTIA = np.array([[0.1, 0.2, 0.25], [0.3, 0.15, 0.4]])  # principal moments
AT = np.array([[0.3, 0.1, -0.2], [-0.4, 0.2, 0.1]])  # where the spring is fastened
STIFFNESS, LENGTH = 40.0, 0.7


def two_bodies():
    """Two free bodies off their centres, joined by a spring, and a start at which both tumble."""
    model = la.Model(gravity=(0.0, 0.0, 0.0), name="dumbbell")
    for k in range(2):
        model.add_body(f"body{k}", None, la.Free(), inertia=la.Inertia(MASS[k], CENTRE[k], np.diag(INERTIA[k])))
    model._set_elements([Springs([0], [1], AT[:1], AT[1:], [STIFFNESS], [LENGTH])])
    q, v = model.q0, np.random.default_rng(3).normal(size=12)
    q[7:10] = 1.0, 0.4, -0.3
    model.q0, model.v0 = q, v
    return model


def hung(n=10):
    """The whipping chain with a spring from its tip to the ground, and one from link 2 to link 6."""
    model = la.library.chain(n)
    model._set_elements([Springs([n - 1, 2], [n, 6], [[0.1, 0, 0], [0.05, 0, 0]], [[0.5, 0, 0.5], [0, 0, 0]],
                                 [30.0, 200.0], [0.4, 0.3])])
    return model


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


@pytest.mark.parametrize(("order", "steps"), [(2, 200), (4, 40)])
def test_order_against_equations_of_our_own(order, steps):
    model, t = two_bodies(), 1.0
    truth, errors = exact(model, t), []
    for n in (steps, 2 * steps, 4 * steps):
        end = la.simulate(model, dt=t / n, steps=n, integrator=la.Variational(order=order)).q[-1]
        errors.append(np.abs(end.reshape(2, 7)[:, :3] - truth).max())
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx(order, abs=0.05)


def test_momentum_is_kept_and_the_energy_error_is_bounded():
    run = la.simulate(two_bodies(), dt=5e-3, steps=100_000, record_every=10)
    change = np.abs(run.momentum - run.momentum[0])
    assert change[:1000].max() < 1e-11
    assert change.max() < 1e-9  # the pair drifts away from the origin
    first, *_, last = np.array_split(run.energy - run.energy[0], 10)
    assert 1e-4 < np.abs(first).max() < 5e-3
    assert np.abs(last).max() < 1.5 * np.abs(first).max()
    assert abs(last.mean() - first.mean()) < 0.05 * np.abs(first).max()  # it swings and has no trend


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
    plain = two_bodies()
    plain._set_elements([])
    assert la.energy(model) > la.energy(plain) + 0.1
    assert la.potential_energy(model) == pytest.approx(la.energy(model) - la.energy(plain))


def test_step_solves_the_discrete_equations():
    model = hung()
    run = la.simulate(model, dt=1e-3, steps=3)
    f = [la.discrete_residual(model, *run.q[k : k + 3], run.dt) for k in range(2)]
    assert np.abs(f).max() < 1e-12


@pytest.mark.parametrize("make", [two_bodies, hung])
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


@pytest.mark.parametrize("attempt", [
    lambda model, path: la.simulate(model, steps=1, integrator="rk4"),
    lambda model, path: la.simulate(model, steps=1, integrator="euler"),
    lambda model, path: la.simulate(model, steps=1, integrator=la.Variational(root_finder=la.peers.DenseNewton())),
    lambda model, path: la.simulate_many(model, v=np.zeros((2, model.nv)), steps=1, integrator="rk4"),
    lambda model, path: la.forward_dynamics(model, None, None),
    lambda model, path: la.inverse_dynamics(model, None, None, None),
    lambda model, path: la.to_mujoco(model),
    lambda model, path: la.compare(model, duration=0.1),
    lambda model, path: model.to_dict(),
    lambda model, path: la.simulate(model, steps=1, out=path / "run.h5"),
    lambda model, path: la.simulate(model, steps=1).save(path / "run.h5"),
    lambda model, path: la.Simulator(model).checkpoint(path / "here.h5"),
])
def test_who_does_not_know_them_says_so(tmp_path, attempt):
    with pytest.raises(la.ModelError, match=r"has forces between bodies \(Springs\), and .* does not know them yet"):
        attempt(hung(), tmp_path)
    assert not list(tmp_path.iterdir())


def test_audit_does_not_expect_a_body_on_a_leash_to_keep_its_momentum():
    model = two_bodies()
    model._set_elements([Springs([0], [2], AT[:1], AT[1:], [STIFFNESS], [LENGTH])])
    run = la.simulate(model, dt=1e-3, steps=300)
    assert np.abs(run.momentum[-1] - run.momentum[0]).max() > 0.1
    certificate = run.audit()
    assert not certificate.momenta
    assert certificate.momentum_reason == "forces between bodies act, perhaps against the ground"


def test_models_with_other_springs_are_not_equal():
    assert two_bodies() == two_bodies()
    other = two_bodies()
    other._set_elements([other._elements[0]._replace(stiffness=[41.0])])
    assert two_bodies() != other
    other._set_elements([])
    assert two_bodies() != other
