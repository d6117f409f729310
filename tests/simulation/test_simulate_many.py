"""Batches: each member is its own simulation, whatever runs beside it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leastaction as la

NODE = ("q", "v", "p", "energy", "momentum")
STEP = ("iterations", "residual", "status", "substeps")
OF_THE_RUN = ("energy_range", "momentum_range", "peak_kinetic_energy")
BODY = la.Inertia(1.0, (0.1, 0.0, -0.3), np.diag([0.1, 0.2, 0.15]))


def all_joints():
    """Every kind of joint, with and without springs, damping and armature, and a fork."""
    model = la.Model(gravity=(0, 0, -9.81))
    model.add_body("a", None, la.Free(damping=0.1, stiffness=3.0, armature=0.2), inertia=BODY)
    model.add_body("b", "a", la.Ball(damping=0.1, stiffness=3.0, armature=0.2), position=(0, 0, -0.5), inertia=BODY)
    model.add_body("c", "a", la.Ball(), position=(0, 0.3, -0.5), inertia=BODY)
    model.add_body("d", "c", la.Revolute((0, 1, 0), damping=0.2, stiffness=1.0, armature=0.1, rest=0.3), inertia=BODY)
    model.add_body("e", "c", la.Prismatic((0, 1, 0), stiffness=1.0), position=(0, 0, -0.5), inertia=BODY)
    model.add_body("f", None, la.Helical((0, 1, 0), pitch=0.1), position=(2, 0, -0.5), inertia=BODY)
    model.add_body("g", None, la.Free(), position=(-2, 0, 0), inertia=BODY)
    return model


MODELS = {"chain": lambda: la.library.chain(5), "tree": lambda: la.library.tree(3, 2), "ragdoll": la.library.ragdoll,
          "all joints": all_joints}


def starts(model, count, size=0.3):
    rng = np.random.default_rng(0)
    q = [la.increment(model, model.q0, size * rng.uniform(-1, 1, model.nv)) for _ in range(count)]
    return np.array(q), rng.uniform(-1, 1, (count, model.nv))


def same(a, b):
    for name in (*NODE, *STEP, *OF_THE_RUN):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def close(member, alone, tolerance):
    """As near as another order of the arithmetic allows; less so the velocity, M⁻¹p, here in the norm of M."""
    assert len(member) == len(alone)
    for name in ("q", "p", "energy", "momentum"):
        theirs = getattr(alone, name)
        np.testing.assert_allclose(getattr(member, name), theirs, rtol=0, err_msg=name,
                                   atol=tolerance * max(np.abs(theirs).max(), 1))
    error, M = member.v[-1] - alone.v[-1], la.mass_matrix(alone.model, alone.q[-1])
    assert error @ M @ error <= (1e3 * tolerance) ** 2 * max(alone.v[-1] @ M @ alone.v[-1], 1)
    for name in ("status", "substeps"):
        np.testing.assert_array_equal(getattr(member, name), getattr(alone, name), err_msg=name)
    plain = member.status < la.Status.BACKTRACKED
    assert np.abs(member.iterations - alone.iterations)[plain].max(initial=0) <= 1
    np.testing.assert_allclose(member.peak_kinetic_energy, alone.peak_kinetic_energy, rtol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_members_agree_with_single_runs(name):
    model = MODELS[name]()
    q, v = starts(model, 5)
    for steps, tolerance in ((1, 1e-13), (1000, 1e-9)):
        options = {"dt": 1e-3, "steps": steps, "record_every": max(steps // 10, 1)}
        many = la.simulate_many(model, q, v, threads=2, **options)
        for b in range(5):
            close(many[b], la.simulate(model, q[b], v[b], **options), tolerance)


@pytest.mark.parametrize("integrator", [
    la.Variational(order=4), la.Variational(retraction="exp"), la.Variational(retraction="exp", guess="euler"),
    la.Variational(root_finder=la.Newton(chord=False, tol=1e-14)), la.Variational(guess="current"),
    la.Variational(root_finder=la.RIQN()),
    la.SemiImplicitEuler(),
])
def test_every_method(integrator):
    """Those that have no lanes, too."""
    model = all_joints()
    q, v = starts(model, 3)
    many = la.simulate_many(model, q, v, dt=2e-3, steps=20, integrator=integrator)
    for b in range(3):
        close(many[b], la.simulate(model, q[b], v[b], dt=2e-3, steps=20, integrator=integrator), 1e-12)


@pytest.fixture(scope="module")
def wild():
    """Nine chains, the faster the more trouble: searches of all lengths, new Jacobians, rescued and divided steps."""
    model = la.library.chain(6)
    rng = np.random.default_rng(3)
    q = model.q0 + rng.uniform(-0.5, 0.5, (9, model.nq))
    v = rng.normal(size=(9, model.nv)) * np.linspace(0.1, 6, 9)[:, None]
    options = {"dt": 6e-3, "steps": 150, "record_every": 7}
    many = la.simulate_many(model, q, v, threads=1, **options)
    assert {0, 2, 4, 6} <= set(np.concatenate([member.status for member in many]).tolist())
    assert len({member.iterations.sum() for member in many}) > 5
    return model, q, v, options, many


@pytest.mark.parametrize("count", range(1, 10))
def test_bits_do_not_depend_on_the_size_of_the_batch(wild, count):
    model, q, v, options, many = wild
    for member, again in zip(many, la.simulate_many(model, q[:count], v[:count], threads=2, **options), strict=False):
        same(member, again)


@settings(max_examples=8, deadline=None)
@given(order=st.permutations(range(9)), threads=st.integers(1, 3))
def test_bits_do_not_depend_on_order_or_threads(wild, order, threads):
    model, q, v, options, many = wild
    for b, again in zip(order, la.simulate_many(model, q[order], v[order], threads=threads, **options), strict=True):
        same(many[b], again)


def test_a_rescued_member_agrees_with_its_single_run(wild):
    model, q, v, options, many = wild
    for b in range(9):
        close(many[b], la.simulate(model, q[b], v[b], **options), 1e-7)


@pytest.mark.parametrize("failing", [[2], [0, 1, 2, 3], [5], [0, 4], [0, 1, 2, 3, 4, 5]])
def test_a_failed_member_does_not_stop_the_others(failing):
    model = la.library.chain(3)
    q, v = starts(model, 6)
    options = {"dt": 1e-3, "steps": 20, "integrator": la.Variational(rescue=None)}
    good = la.simulate_many(model, q, v, **options)
    v[failing] = 3000.0  # half a turn a step, or more
    many = la.simulate_many(model, q, v, **options)
    for b, member in enumerate(many):
        if b not in failing:
            assert member.failure is None
            same(member, good[b])
            continue
        alone = la.simulate(model, q[b], v[b], on_failure="truncate", **options)
        assert (member.failure.step, member.failure.joint) == (alone.failure.step, alone.failure.joint)
        assert str(member.failure) == str(alone.failure)
        assert len(member) == len(alone) < 21
        assert np.isfinite(member.q).all()


def test_a_member_that_fails_later():
    """Its run is kept up to there; its lane is then of no account."""
    model = la.library.chain(3)
    q, v = starts(model, 4)
    tau = np.zeros((4, 60, model.nv))
    tau[1, 30:] = 1e6
    options = {"dt": 1e-3, "steps": 60, "integrator": la.Variational(rescue=None)}
    many = la.simulate_many(model, q, v, control=list(tau), **options)
    assert [member.failure is None for member in many] == [True, False, True, True]
    alone = la.simulate(model, q[1], v[1], control=tau[1], on_failure="truncate", **options)
    assert 30 <= len(many[1]) == len(alone) < 61
    close(many[1], alone, 1e-11)
    for b in (0, 2, 3):
        same(many[b], la.simulate_many(model, q[b:b + 1], v[b:b + 1], control=tau[b], **options)[0])


def damped(t, q, v):
    return -0.1 * v


def place(array):
    return array.__array_interface__["data"]


@pytest.mark.parametrize(("count", "by_function"), [(1, ()), (4, ()), (6, ()), (9, (2, 3, 8)), (3, (0, 1, 2))])
@pytest.mark.parametrize("threads", [1, 2])
def test_members_are_views_of_stacked_arrays(count, by_function, threads):
    """Full groups, spare lanes, and members between those of a group that run by themselves: each has its own rows."""
    model = la.library.ragdoll()
    q, v = starts(model, count)
    control = [damped if b in by_function else None for b in range(count)]
    options = {"dt": 1e-3, "steps": 20, "record_every": 3}
    many = la.simulate_many(model, q, v, control=control, threads=threads, **options)
    assert many.t.shape == (7,) and many.q.shape == (count, 7, model.nq) and many.energy.shape == (count, 7)
    assert many.v.shape == many.p.shape == (count, 7, model.nv) and many.momentum.shape == (count, 7, 6)
    for b, member in enumerate(many):
        assert place(member.t) == place(many.t) and len(member.t) == 7
        for name in (*NODE, *STEP):
            stacked, own = getattr(many, name)[b], getattr(member, name)
            assert place(own) == place(stacked) and own.shape == stacked.shape and own.dtype == stacked.dtype
        same(member, la.simulate_many(model, q[b:b + 1], v[b:b + 1], control=control[b], **options)[0])
        np.testing.assert_array_equal(many.energy_error[b], member.energy_error)
    assert many.steps.tolist() == [20] * count and not many.failed.any() and many.failures == {}
    assert "cut short" not in repr(many)


@pytest.mark.parametrize("by_function", [False, True])
@pytest.mark.parametrize("failing", [[1], [0, 1, 2, 3], [2, 4]])
def test_stacked_rows_of_a_failed_member_repeat_its_last_node(by_function, failing):
    model = la.library.chain(3)
    q, v = starts(model, 5)
    tau = np.zeros((5, 60, model.nv))
    tau[failing, 30:] = 1e6
    control = list(tau)
    if by_function:
        control = [lambda t, q, v, own=own: own[min(round(t / 1e-3), 59)] for own in tau]
    many = la.simulate_many(model, q, v, control=control, dt=1e-3, steps=60, record_every=4,
                            integrator=la.Variational(rescue=None))
    assert np.flatnonzero(many.failed).tolist() == sorted(many.failures) == failing
    assert f"5 members, 60 steps of 0.001 s, 16 kept, {len(failing)} cut short" in repr(many)
    for b, member in enumerate(many):
        nodes, steps, rows = len(member), many.steps[b], -(-many.steps[b] // 4)
        assert steps == member.steps and nodes == 1 + steps // 4
        for name in (*NODE, *STEP):
            assert place(getattr(member, name)) == place(getattr(many, name)[b])
            assert np.isfinite(getattr(many, name)[b]).all()
        if b not in failing:
            assert steps == 60 and member.failure is None
            continue
        assert 30 <= steps < 60 and many.failures[b] is member.failure
        for name in NODE:
            rest = getattr(many, name)[b, nodes - 1:]
            np.testing.assert_array_equal(rest, np.broadcast_to(getattr(member, name)[-1], rest.shape))
        assert {la.Status(code).meaning for code in many.status[b, rows:]} == {member.failure.status}
        assert many.iterations[b, rows:].sum() == many.residual[b, rows:].sum() == 0
        assert (many.substeps[b, rows:] == 1).all()


def test_a_batch_is_a_sequence(wild):
    *_, many = wild
    assert isinstance(many, la.Trajectories) and len(many) == 9 and len(list(many)) == 9
    assert many[-1] is many[8] is next(reversed(many)) and many[3] in many and many.index(many[3]) == 3
    part = many[1:8:3]
    assert isinstance(part, la.Trajectories) and [many.index(member) for member in part] == [1, 4, 7]
    assert np.shares_memory(part.q, many.q) and np.shares_memory(part[1].q, part.q)
    np.testing.assert_array_equal(part.momentum, many.momentum[[1, 4, 7]])
    np.testing.assert_array_equal(part.energy_error, many.energy_error[[1, 4, 7]])
    assert part.steps.shape == (3,)
    with pytest.raises(IndexError):
        many[9]


def test_no_members():
    model = la.library.chain(2)
    many = la.simulate_many(model, np.zeros((0, 2)), dt=1e-3, steps=10)
    assert len(many) == 0 and many.q.shape == (0, 11, 2) and many.steps.shape == many.failed.shape == (0,)
    assert many.energy_error.shape == (0, 11) and "0 members" in repr(many)


def test_a_function_is_called_as_often_as_by_simulate():
    """It may remember what it was asked."""
    asked = []

    def law(t, q, v):
        asked.append(t)
        return 0 * v

    model = la.library.chain(2)
    la.simulate(model, dt=1e-3, steps=5, control=law)
    once, asked = asked, []
    la.simulate_many(model, model.q0[None], control=law, dt=1e-3, steps=5)
    assert asked == once


def test_gravity_mass_and_control_of_each_member():
    model = la.library.chain(2)
    gravity, mass = [[0, 0, -9.81], [0, 0, -1.62], [1, 0, -9.81]], [[1.0, 1.0], [1.0, 3.0], [2.0, 1.0]]
    control = [None, np.linspace(-1, 1, 60).reshape(30, 2), lambda t, q, v: -v]
    many = la.simulate_many(model, gravity=gravity, mass=mass, control=control, dt=1e-3, steps=30)
    for member, g, m, law in zip(many, gravity, mass, control, strict=True):
        alone = la.Model(g)
        for body, own in zip(model.bodies, m, strict=True):
            inertia = la.Inertia(own, body.inertia.com, body.inertia.matrix * own / body.inertia.mass)
            alone.add_body(body.name, body.parent, body.joint, body.position, body.quaternion, inertia)
        close(member, la.simulate(alone, model.q0, model.v0, dt=1e-3, steps=30, control=law), 1e-12)


@pytest.mark.parametrize("steps", [None, 30])
def test_wrenches_and_held_forces(steps):
    model = all_joints()
    q, v = starts(model, 3)
    rng = np.random.default_rng(1)
    wrench = rng.normal(size=(model.nb, 6) if steps is None else (steps, model.nb, 6))
    options = {"dt": 1e-3, "steps": 30, "wrench": wrench}
    tau = rng.normal(size=model.nv)
    for b, member in enumerate(la.simulate_many(model, q, v, control=tau, **options)):
        close(member, la.simulate(model, q[b], v[b], control=tau, **options), 1e-12)


def test_an_energy_of_what_is_fixed_to_the_ground_counts():
    model = la.library.chain(2)
    model.add_body("post", None, la.Fixed(), position=(0, 0, 3), inertia=la.Inertia(2.0))
    q, v = starts(model, 2)
    for b, member in enumerate(la.simulate_many(model, q, v, dt=1e-3, steps=5)):
        close(member, la.simulate(model, q[b], v[b], dt=1e-3, steps=5), 1e-13)
        assert member.energy[0] > 50


def test_a_member_whose_joint_has_nothing_to_move_is_refused():
    """The mass lies on the arm's axis in one of the members, and it is not the first."""
    model = la.Model()
    model.add_body("arm", joint=la.Revolute((0, 0, 1)), inertia=la.Inertia(0.0))
    model.add_body("slider", "arm", la.Prismatic((1, 0, 0)), inertia=la.Inertia(1.0))
    assert len(la.simulate_many(model, [[0.0, 1.0], [0.0, 0.5]], dt=1e-3, steps=1)) == 2
    with pytest.raises(la.ModelError, match="joint of body 'arm' has nothing to move"):
        la.simulate_many(model, [[0.0, 1.0], [0.0, 0.0]], dt=1e-3, steps=1)


def test_no_steps():
    model = la.library.chain(2)
    q, v = starts(model, 2)
    assert [len(member) for member in la.simulate_many(model, q, v, dt=1e-3, steps=0)] == [1, 1]


def test_a_node_that_was_not_kept_can_be_asked_for():
    model = la.library.chain(3)
    q, v = starts(model, 2)
    many = la.simulate_many(model, q, v, dt=1e-3, steps=20, record_every=20)
    np.testing.assert_allclose(many[1].at(0.013).q, la.simulate(model, q[1], v[1], dt=1e-3, steps=20).q[13], atol=1e-12)


@pytest.mark.parametrize(("arguments", "said"), [
    ({}, "give at least one of"),
    ({"q": np.zeros((3, 2)), "v": np.zeros((4, 2))}, "q has 3, v has 4"),
    ({"q": np.zeros((3, 2)), "threads": 0}, "threads"),
    ({"q": np.zeros((3, 2)), "on_failure": "raise"}, "on_failure"),
    ({"q": np.zeros((3, 2)), "control": np.zeros((5, 2))}, "control must have shape"),
    ({"gravity": np.zeros((2, 2))}, r"gravity must have the shape \(3,\) or \(2, 3\), not \(2, 2\)"),
    ({"mass": np.ones((2, 3))}, r"mass must have the shape \(2,\) or \(2, 2\), not \(2, 3\)"),
    ({"q": [[0, 0], [0, np.nan]]}, "member 1: q is not finite at body 'link2'"),
    ({"q": np.zeros((3, 5))}, r"member 0: q must have the shape \(2,\), not \(5,\)"),
    ({"gravity": [[0, 0, -1], [0, np.inf, 0]]}, "member 1: gravity is not finite"),
    ({"mass": [[1, 1], [1, -2]]}, "member 1: body 'link2': mass is negative: -2 kg"),
    ({"mass": [[1, 1], [1, 0]]}, "member 1: the joint of body 'link2' has nothing to move"),
    ({"q": np.zeros((3, 2)), "control": [None, np.zeros(3), None]}, "member 1: control must have shape"),
])
def test_bad_input(arguments, said):
    with pytest.raises(ValueError, match=said):
        la.simulate_many(la.library.chain(2), dt=1e-3, steps=1, **arguments)
