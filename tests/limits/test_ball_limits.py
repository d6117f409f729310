"""Ranges of ball joints: closed forms, SciPy on rotation matrices, conservation, recovery, files, MuJoCo's signs."""

import numpy as np
import pytest
from coned import ACROSS, RANGE, START, angle, beyond, chain, matrix, oracle, pendulum

import leastaction as la

PRESSED = np.array([-8.0, 0.0, -4.0])  # m/s²: gravity under which the pendulum stays at its limit
LEAVING = np.array([-3.0, 0.0, -9.0])  # and one under which it leaves it
SPIN = np.array([0.4, -0.3, 0.2, 0.5, -0.2, 0.3, 3.0, -2.0, 1.0, -2.0, 3.0, 1.5])


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_ball_that_swings_out_in_a_plane(restitution, order):
    """About a principal axis free motion is uniform, so that the time of the impact and all after it are known."""
    model = la.Model(gravity=(0, 0, 0), name="wheel")
    model.add_body("wheel", joint=la.Ball(limits=(0, 1), limit_restitution=restitution),
                   inertia=la.Inertia(1.5, (0, 0, 0), np.diag([0.2, 0.4, 0.3])))
    q = [np.cos(0.15), 0.0, np.sin(0.15), 0.0]
    run = la.simulate(model, q, [0, 2.0, 0], dt=0.01, duration=0.8, integrator=la.Variational(order=order))
    after = run.t > 0.35 + 1e-9
    expected = np.where(after, 1.0 - restitution * 2.0 * (run.t - 0.35), 0.3 + 2.0 * run.t)
    assert np.abs(angle(run.q) - expected).max() < 1e-11 and np.abs(run.q[:, [1, 3]]).max() < 1e-14
    assert np.abs(run.v[after] - [0.0, -restitution * 2.0, 0.0]).max() < 1e-11
    loss = 0.5 * 0.4 * 2.0**2 * (1.0 - restitution**2)
    assert np.abs(run.dissipated["limits"] - np.where(after, loss, 0.0)).max() < 1e-11
    assert np.abs(run.balance).max() < 1e-11
    assert np.abs(run.limit_force.sum(axis=0) * 0.01 - [0.0, -(1.0 + restitution) * 0.4 * 2.0, 0.0]).max() < 1e-11


def error(run, expected):
    return max(np.abs(matrix(run.q[-1]).ravel() - expected[:9]).max(), np.abs(run.v[-1] - expected[9:]).max())


@pytest.mark.parametrize("order", [2, 4])
def test_it_slides_around_its_limit(order):
    """Pressed against its range it precesses: the axis about which it is held turns, which the oracle knows nothing of.
    The mean moment of the limit over a step is about that axis."""
    left, expected = oracle(START, ACROSS, PRESSED, 1.0)
    assert left == np.inf
    errors, balances = [], []
    for dt in (0.02, 0.01):
        run = la.simulate(pendulum(PRESSED), START, ACROSS, dt=dt, duration=1.0, integrator=la.Variational(order=order))
        assert np.abs(angle(run.q) - RANGE).max() < 1e-10
        middle = run.q[1:, 1:] + run.q[:-1, 1:]
        middle /= np.linalg.norm(middle, axis=1)[:, None]
        force = np.linalg.norm(run.limit_force, axis=1)
        assert np.all(np.einsum("ki,ki->k", middle, run.limit_force) < -0.999 * force) and force.min() > 1.0
        errors.append(error(run, expected))
        balances.append(np.abs(run.balance).max())
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.1 and errors[1] < (1e-3 if order == 2 else 1e-7)
    assert np.log2(balances[0] / balances[1]) > order - 0.2


@pytest.mark.parametrize("order", [2, 4])
def test_it_leaves_its_limit_when_that_would_pull(order):
    left, expected = oracle(START, ACROSS, LEAVING, 0.62)
    assert 0.4 < left < 0.6
    errors = []
    for dt in (0.02, 0.01):
        run = la.simulate(pendulum(LEAVING), START, ACROSS, dt=dt, duration=0.62,
                          integrator=la.Variational(order=order))
        held = np.any(run.limit_force != 0.0, axis=1)
        assert np.array_equal(held, run.t[:-1] < left)
        assert np.abs(angle(run.q[run.t < left]) - RANGE).max() < 1e-10 and angle(run.q).max() < RANGE + 1e-10
        assert angle(run.q[-1]) < RANGE - 1e-3
        errors.append(error(run, expected))
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.1 and errors[1] < (1e-3 if order == 2 else 1e-8)


@pytest.mark.parametrize(("order", "v", "gravity"), [(2, [0.0, 6.0, 0.0], (-3, 0, -9)),
                                                     (4, [6.0, 4.0, 1.0], (0, 0, -9))])
def test_elastic_bounces_do_not_drift(order, v, gravity):
    """In a plane the error of the energy does not change in an impact. In space it does, at random by O(h²), as the
    impact keeps the energy itself: what this adds up to is nothing at order 4."""
    run = la.simulate(pendulum(gravity, 1.0), v=v, dt=0.01, steps=20_000, integrator=la.Variational(order=order))
    rate = np.diff(angle(run.q))
    bounces, tenth = np.count_nonzero((rate[:-1] > 0.0) & (rate[1:] < 0.0)), len(run) // 10
    assert bounces > 900 and angle(run.q).max() < RANGE + 1e-10
    assert abs(run.energy[:tenth].mean() - run.energy[-tenth:].mean()) < 1e-6 * run.peak_kinetic_energy
    assert np.abs(run.ledger).max() < 1e-9


@pytest.mark.parametrize("restitution", [0.0, 0.4])
def test_a_floating_chain(restitution):
    """Limits are inner forces; nothing goes beyond; the ledger says where the energy went, to second order."""
    worst = []
    for dt in (0.008, 0.004, 0.002):
        model = chain(restitution)
        run = la.simulate(model, v=SPIN, dt=dt, duration=1.0)
        assert np.abs(run.momentum - run.momentum[0]).max() < 1e-11 and beyond(model, run) < 1e-10
        assert run.dissipated["limits"][-1] > 0.1 and la.Status.CROWDED not in run.tally.statuses
        worst.append(np.abs(run.balance).max())
    assert np.log2(worst[0] / worst[2]) / 2 > 1.8


@pytest.mark.parametrize("integrator", [la.Variational(root_finder=la.RIQN()), la.Variational(retraction="exp")])
def test_other_searches(integrator):
    """They end in the same motion: RIQN's root is Newton's, and the other retraction's differs to second order."""
    model, apart = chain(), []
    for dt in (0.004, 0.002):
        expected = la.simulate(model, v=SPIN, dt=dt, duration=0.5)
        run = la.simulate(model, v=SPIN, dt=dt, duration=0.5, integrator=integrator)
        assert beyond(model, run) < 1e-10
        apart.append(np.abs(run.q[-1] - expected.q[-1]).max())
    assert apart[1] < 1e-9 or np.log2(apart[0] / apart[1]) > 1.7


def test_springs_dampers_and_armature_beside_a_range():
    worst = []
    for dt in (0.004, 0.002):
        model = chain(0.0, 9.81, False, damping=0.3, armature=0.05, stiffness=2.0)
        run = la.simulate(model, v=SPIN[6:], dt=dt, duration=1.0)
        assert beyond(model, run) < 1e-10 and np.any(run.limit_force[-1] != 0.0)
        worst.append(np.abs(run.balance).max())
    assert np.log2(worst[0] / worst[1]) > 1.7


def test_starts_beyond_a_range_come_back_slowly():
    """At 0.2 rad/s, as an inner force; the energy of that is an entry of the ledger."""
    model = chain()
    q = model.q0
    q[model.q_slice("lower")] = np.append(np.cos(0.5), np.sin(0.5) * np.array([0.6, 0.0, 0.8]))
    with pytest.warns(la.ModelWarning, match=r"'lower' starts 0\.3 rad beyond"):
        run = la.simulate(model, q, dt=0.01, duration=2.0)
    turned, back = angle(run.q[:, model.q_slice("lower")]), run.t < 1.5 - 1e-9
    assert np.abs(turned[back] - (1.0 - 0.2 * run.t[back])).max() < 1e-11 and np.abs(turned[151:] - 0.7).max() < 1e-11
    assert np.abs(run.momentum).max() < 1e-15
    assert run.dissipated["recovery"][-1] < 0.0 and np.abs(run.balance).max() < 1e-9


def test_runs_go_on_and_run_together_bit_for_bit(tmp_path):
    """Through phases at the limits, from a checkpoint, and in an ensemble."""
    model = chain(0.3, 9.81, False)
    whole = la.simulate(model, v=SPIN[6:], dt=0.005, steps=120)
    held = np.flatnonzero(np.any(whole.limit_force != 0.0, axis=1) & (angle(whole.q[:-1, :4]) > 0.5 - 1e-9))
    first = la.Simulator(model, model.q0, SPIN[6:], dt=0.005)
    first.step(int(held[len(held) // 2]))
    first.checkpoint(tmp_path / "held.h5")
    second = la.Simulator.restore(tmp_path / "held.h5")
    second.step(120 - int(held[len(held) // 2]))
    assert np.array_equal(second.q, whole.q[-1]) and np.array_equal(second.v, whole.v[-1])
    many = la.simulate_many(model, np.tile(model.q0, (3, 1)), SPIN[6:] * [[0.5], [1.0], [-1.0]], dt=0.005, steps=120)
    assert np.array_equal(many.q[1], whole.q) and np.array_equal(many.impulse[1], whole.impulse)


def test_ranges_can_be_left_out():
    model = chain(0.0, 9.81, False)
    run = la.simulate(model, v=SPIN[6:], dt=0.005, steps=100, ignore=("limits",))
    free = la.Model(gravity=model.gravity, name="without")
    for body in model.bodies:
        free.add_body(body.name, body.parent, la.Ball(), position=body.position, quaternion=body.quaternion,
                      inertia=body.inertia)
    assert np.array_equal(run.q, la.simulate(free, v=SPIN[6:], dt=0.005, steps=100).q)
    assert "limits" in run.model.ignored and "limits" not in model.ignored
    assert "limits of 'lower' by" in str(run.audit())


def test_a_range_in_a_closed_loop():
    """The lower rod hangs on the upper one by a loop in place of a joint: the same mechanism, to second order."""
    inertia, apart = la.Inertia(1.0, (0.05, 0.02, -0.3), np.diag([0.1, 0.12, 0.05])), []
    tree, loop = la.Model(name="tree"), la.Model(name="loop")
    for model in (tree, loop):
        model.add_body("upper", joint=la.Ball(limits=(0, 0.5), limit_restitution=0.5), inertia=inertia)
    tree.add_body("lower", "upper", la.Ball(), position=(0, 0, -0.6), inertia=inertia)
    loop.add_body("lower", joint=la.Free(), position=(0, 0, -0.6), inertia=inertia)
    loop.add_loop("knee", body="lower", other="upper", joint=la.Ball(), other_position=(0, 0, -0.6))
    v = [2.0, 1.0, 0.5, -1.0, 2.0, 1.0]
    omega = np.array(v[:3])
    moved = np.concatenate([v[:3], omega + v[3:], np.cross(omega, [0, 0, -0.6])])
    for dt in (0.004, 0.002):
        expected = la.simulate(tree, v=v, dt=dt, duration=1.0)
        run = la.simulate(loop, v=moved, dt=dt, duration=1.0)
        assert angle(run.q[:, :4]).max() < 0.5 + 1e-10 and run.closure.max() < 1e-12
        assert np.any(run.limit_force != 0.0)
        apart.append(np.abs(run.q[-1, :4] - expected.q[-1, :4]).max())
    assert apart[1] < 1e-9 or np.log2(apart[0] / apart[1]) > 1.7


@pytest.mark.parametrize("limits", [(-1, 1), (0.1, 1), (0, 0), (0, np.pi), (0, -1), (0, np.inf), 1.0,
                                    ((0, 0, 0), (1, 1, 1)), (0, np.nan)])
def test_other_limits_of_a_ball_are_refused(limits):
    model = la.Model()
    model.add_body("rod", joint=la.Ball(limits=limits), inertia=la.Inertia(1.0, (0, 0, 0), np.eye(3)))
    with pytest.raises(la.ModelError, match="limits of a ball joint must be"):
        model.validate()


XML = """<mujoco><compiler angle="radian"/><worldbody><body name="rod">
<joint name="hip" type="ball" limited="true" range="0 {range}"/>
<geom type="capsule" size="0.05" fromto="0 0 0 0 0 -1" mass="1"/></body></worldbody></mujoco>"""


def test_mujoco_means_the_same(tmp_path):
    """Its row of the limit is there beyond the range, at minus the angle beyond, and drives the joint back."""
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "ball.xml"
    path.write_text(XML.format(range=0.6))
    model = la.load(path, ignore=("collision",))
    assert model.bodies[0].joint.limits == (0.0, 0.6) and "limits" not in model.ignored
    mj = mujoco.MjModel.from_xml_path(str(path))
    data, rng = mujoco.MjData(mj), np.random.default_rng(3)
    for _ in range(10):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        q = np.append(np.cos(0.4), np.sin(0.4) * axis) * rng.choice([-1.0, 1.0])  # 0.8 rad
        data.qpos[:], data.qvel[:] = q, 0.0
        mujoco.mj_forward(mj, data)
        assert data.efc_pos[0] == pytest.approx(RANGE - 0.8, abs=1e-12)
        assert data.efc_J.ravel()[:3] == pytest.approx(-axis, abs=1e-12)
        with pytest.warns(la.ModelWarning, match=r"'hip' starts 0\.2 rad beyond"):
            run = la.simulate(la.load(path, ignore=("collision",)), q, dt=0.01, steps=1)
        assert angle(run.q[1]) < 0.8 - 0.0019
    path.write_text(XML.format(range=3.5))
    assert la.load(path, ignore=("collision",)).bodies[0].joint.limits is None  # no rotation is by more than π
