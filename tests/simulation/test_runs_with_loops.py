"""Runs of models with loops: where they may start, that they stay closed, what loops carry, and that bits last."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import leastaction as la
from leastaction.closures import opening
from leastaction.compiled import compile_model
from leastaction.simulation import checks, hints
from reference.mechanisms import Y, Z, bricard, floating_loop, four_bar, gear_train, ladder, rod

DT = 2e-3


def pendulum(joint):
    """A free body that only a loop holds: one metre under a pin on the ground."""
    model = la.Model(name="pinned")
    model.add_body("bob", None, la.Free(), inertia=la.Inertia(2.0, matrix=np.diag([0.1, 0.1, 0.1])))
    model.add_loop("pin", "bob", joint=joint, position=(0, 0, 1.0))
    return model


def swung(model, angle, rate):
    """The state of that pendulum at an angle about y, turning."""
    q = np.array([-np.sin(angle), 0, -np.cos(angle), np.cos(angle / 2), 0, np.sin(angle / 2), 0])
    return la.assemble(model, q, np.array([0, rate, 0, -rate, 0, 0]))


@pytest.mark.parametrize("make", [four_bar, floating_loop, gear_train])
def test_loops_stay_closed(make):
    traj = la.simulate(make(), dt=DT, steps=300)
    c = compile_model(traj.model)
    rates = [np.abs(opening(c, q, v)[1]).max() for q, v in zip(traj.q, traj.v, strict=True)]
    assert traj.closure.shape == (301,) and traj.closure.max() < 1e-13 and max(rates) < 1e-12
    assert (traj.flags == 0).all() and traj.max_energy_error < 1e-3


def test_without_loops_there_is_nothing_to_close():
    traj = la.simulate(la.library.pendulum(), q=[0.3], dt=DT, steps=3)
    assert traj.closure.tolist() == [0.0] * 4 and traj.flags.tolist() == [0] * 4
    assert traj.multipliers.lam.shape == traj.multipliers.mu.shape == (4, 0)
    with pytest.raises(ValueError, match=r"there is no loop 'pin' in .*; its loops and couplings are none"):
        traj.reaction("pin")


def test_a_start_that_is_nearly_closed_is_put_right():
    model = four_bar()
    q, v = model.q0 + np.array([0, 3e-9, -2e-9]), model.v0 * [1, 1 + 3e-9, 1]
    assert la.closure(model, q).max() > 1e-9
    sim = la.Simulator(model, q, v, dt=DT)
    assert la.closure(model, sim.q).max() < 1e-13
    assert np.abs(la.constraint_jacobian(model, sim.q) @ sim.v).max() < 1e-13
    np.testing.assert_allclose(sim.q, q, atol=1e-8)


@pytest.mark.parametrize("scale", [1.0, 100.0])
@pytest.mark.parametrize(("share", "accepted"), [(0.9e-8, True), (1.1e-8, False)])
def test_how_far_open_a_start_may_be(share, accepted, scale):
    """1e-8 of the greatest length in the model, the ground bar's 2.2; of that and the greatest rate, to open."""
    model = four_bar(lengths=(scale, 2 * scale, 1.5 * scale), base=2.2 * scale)
    way = np.array([0.0, 1e-6, 0.0])
    gap = la.closure(model, model.q0 + way).max()
    q = model.q0 + way * (share * 2.2 * scale / gap)
    assert la.closure(model, q).max() == pytest.approx(share * 2.2 * scale, rel=1e-4)
    still = np.zeros(3)
    v = 3.0 * model.v0   # its greatest rate is 3 rad/s, and stays so
    A = la.constraint_jacobian(model, model.q0)
    way = np.where(np.abs(v) < np.abs(v).max(), 1.0, 0.0)
    opened = v + way * (share * 2.2 * scale * np.abs(v).max() / np.linalg.norm(A @ way))
    assert np.linalg.norm(A @ opened) == pytest.approx(share * 2.2 * scale * np.abs(v).max(), rel=1e-4)
    for state, told in (((q, still), "loop 'pin' of four-bar is open by "),
                        ((model.q0, opened), "loop 'pin' of four-bar opens by ")):
        if accepted:
            sim = la.Simulator(model, *state, dt=DT)
            assert la.closure(model, sim.q).max() < 1e-13 * scale
            assert np.abs(la.constraint_jacobian(model, sim.q) @ sim.v).max() < 1e-12 * scale
        else:
            with pytest.raises(ValueError, match=told):
                la.Simulator(model, *state, dt=DT)


@pytest.mark.parametrize(("q", "v", "message"), [
    ((1.2, -0.9, 1.6), None, r"loop 'pin' of four-bar is open by 0\.\d+ m at the start: q, v = la\.assemble\(model"),
    (None, (1.0, 0.0, 0.0), r"loop 'pin' of four-bar opens by \d\.\d+ m/s at the start: q, v = la\.assemble"),
])
def test_a_start_that_is_open_is_refused(q, v, message):
    model = four_bar()
    for start in (la.Simulator, lambda *given: la.simulate(*given, steps=1),
                  lambda model, q, v: la.simulate_many(model, None if q is None else [q], None if v is None else [v],
                                                       steps=1)):
        with pytest.raises(ValueError, match=message):
            start(model, q, v)


def test_a_start_the_wrong_way_round_is_refused():
    model = pendulum(la.Revolute(Y))
    turned = np.array([0, 0, -1.0, 0, 0, 0, 1.0])  # upright, but turned by 180° about z
    assert la.closure(model, turned).max() < 1e-14
    with pytest.raises(ValueError, match="loop 'pin' of pinned is closed with its two ends turned against each other"):
        la.Simulator(model, turned, np.zeros(6))


@pytest.mark.parametrize("joint", [la.Ball(), la.Revolute(Y)], ids=["ball", "hinge"])
def test_reaction_of_a_pendulum(joint):
    """The force on the pin of a pendulum, by Newton's law at its centre of mass; a hinge needs no moment."""
    model = pendulum(joint)
    q, v = swung(model, 0.7, 1.3)
    traj = la.simulate(model, q, v, dt=DT, steps=200)
    angle, rate = 2 * np.arctan2(traj.q[:, 5], traj.q[:, 3]), traj.v[:, 1]
    turning = -2.0 * 9.81 * np.sin(angle) / (2.0 + 0.1)
    along, up = np.cos(angle), np.sin(angle)
    acceleration = np.stack([-along * turning + up * rate**2, 0 * angle, up * turning + along * rate**2], axis=1)
    expected = 2.0 * (acceleration + np.array([0, 0, 9.81]))
    reaction = traj.reaction("pin")
    assert reaction.shape == (201, 6) and traj._row_forces.shape == (201, 3 if isinstance(joint, la.Ball) else 5)
    np.testing.assert_allclose(reaction[:, 3:], expected, atol=1e-11)
    np.testing.assert_allclose(reaction[:, :3], 0.0, atol=1e-11)
    np.testing.assert_allclose(traj._row_forces[:, :3] ** 2 @ np.ones(3), (reaction[:, 3:] ** 2).sum(1), rtol=1e-10)


@pytest.mark.parametrize("angle", [0.3, 0.8, 1.2])
def test_thrust_of_an_arch(angle):
    """Two rods that lean on each other at rest: the thrust between them is (w/2) cot α, and the other end's lift."""
    model = la.Model((0, 0, -9.81))
    rod = la.Inertia.rod(3.0, 1.0, axis=(1, 0, 0), com=(0.5, 0, 0))
    model.add_body("left", None, la.Revolute((0, -1, 0)), inertia=rod)
    model.add_body("right", None, la.Revolute((0, -1, 0)), (2 * np.cos(angle), 0, 0), inertia=rod)
    model.add_loop("crown", "left", "right", joint=la.Ball(), position=(1, 0, 0), other_position=(1, 0, 0))
    traj = la.simulate(model, (angle, np.pi - angle), np.zeros(2), dt=DT, steps=5)
    thrust = 0.5 * 3.0 * 9.81 / np.tan(angle)
    np.testing.assert_allclose(traj.reaction("crown")[:, 3:], [[-thrust, 0, 0]] * 6, atol=1e-10)
    np.testing.assert_allclose(traj.q, [traj.q[0]] * 6, atol=1e-13)


@pytest.mark.parametrize("gravity", [(0, -9.81, 0), (0, 0, -9.81)], ids=["held", "lying flat"])
@pytest.mark.parametrize("steps", [20, 1000])
@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_round_off_of_what_rests_is_no_lost_energy(damping, steps, gravity):
    """A triangle of two rods and the ground: its kinetic energy is 1e-36 J, of which round-off is any multiple."""
    model = la.Model(gravity)
    rod, hinge = la.Inertia.rod(1.0, 1.0, axis=(1, 0, 0), com=(0.5, 0, 0)), la.Revolute(Z, damping=damping)
    model.add_body("left", None, hinge, inertia=rod)
    model.add_body("right", None, hinge, (1, 0, 0), inertia=rod)
    model.add_loop("crown", "left", "right", joint=la.Ball(), position=(1, 0, 0), other_position=(1, 0, 0))
    q, v = la.assemble(model, (1.0, 2.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traj = la.simulate(model, q, v, dt=DT, steps=steps)
    assert traj.judgement.kept and traj.judgement.text == "Nothing moves but by round-off."


def test_the_audit_of_a_run_that_fails_before_it_moves():
    """Two rods stretched out between two pins can bear no weight."""
    model = la.Model((0, -9.81, 0))
    for name, parent in (("a", None), ("b", "a")):
        model.add_body(name, parent, la.Revolute(Z), (1, 0, 0) if parent else (0, 0, 0),
                       inertia=la.Inertia.rod(1.0, 1.0, axis=(1, 0, 0), com=(0.5, 0, 0)))
    model.add_loop("pin", "b", joint=la.Ball(), position=(1, 0, 0), other_position=(2, 0, 0))
    found = la.audit(model, np.zeros(2), duration=0.3, estimate_accuracy=False)
    assert not found.kept and "The run ended early" in " ".join(found.verdict)


def test_reaction_about_a_marker_that_is_moved():
    """A weld carries the moment of the weight, whichever body of the two is asked and wherever its marker is."""
    model = la.Model((0, 0, -9.81))
    model.add_body("shelf", None, la.Fixed(), (0, 0, 2))
    model.add_body("slab", None, la.Free(), inertia=la.Inertia(2.0, (0.4, 0, 0), np.diag([0.1, 0.1, 0.1])))
    model.add_body("knob", "slab", la.Fixed(), (0.1, 0.2, 0))
    model.add_loop("glue", "knob", "shelf", joint=la.Fixed(), position=(0, -0.2, 0), other_position=(0.1, 0, -2))
    other = la.Model.from_dict(model.to_dict())
    other._loops = ()
    other.add_loop("glue", "shelf", "knob", joint=la.Fixed(), position=(0.1, 0, -2), other_position=(0, -0.2, 0))
    weight = 2.0 * 9.81
    for held, sign in ((model, 1.0), (other, -1.0)):
        q, _ = la.assemble(held)
        traj = la.simulate(held, q, np.zeros(6), dt=DT, steps=2)
        lever = 0.4 - 0.1
        expected = sign * np.array([0, -lever * weight, 0, 0, 0, weight])
        np.testing.assert_allclose(traj.reaction("glue"), [expected] * 3, atol=1e-10)


def test_forces_of_the_run_count():
    """A torque on the drive of a gear is carried to the other wheel: held at rest, by half of it."""
    model = la.Model((0, 0, 0))
    wheel = la.Inertia(1.0, matrix=np.diag([0.01, 0.01, 0.02]))
    model.add_body("drive", None, la.Revolute(Z), inertia=wheel)
    model.add_body("wheel", None, la.Revolute(Z), (1, 0, 0), inertia=wheel)
    model.add_coupling("gear", "wheel", "drive", (0.0, -0.5))
    steps, torque = 4, 0.3
    expected = 0.02 * (-0.5) * torque / (0.02 + 0.25 * 0.02)  # what turns the second wheel
    pulls = np.tile([torque, 0.0], (steps, 1))
    for control in ([torque, 0.0], pulls, lambda t, q, v: np.array([torque, 0.0])):
        traj = la.simulate(model, dt=DT, steps=steps, control=control)
        assert traj.reaction("gear").shape == (5, 2)
        np.testing.assert_allclose(traj.reaction("gear"), [[expected, 0.5 * expected]] * 5, atol=1e-13)
        np.testing.assert_allclose(la.forward_dynamics(model, traj.q[0], traj.v[0], [torque, 0.0])[1] * 0.02, expected)
    push = np.zeros((2, 6))
    push[0, 2] = torque
    by_wrench = la.simulate(model, dt=DT, steps=steps, wrench=push)
    np.testing.assert_allclose(by_wrench.reaction("gear"), [[expected, 0.5 * expected]] * 5, atol=1e-13)


@pytest.mark.parametrize("make", [four_bar, floating_loop, gear_train, lambda: four_bar(la.Rod(0.3)),
                                  lambda: floating_loop(la.Revolute(Y), gravity=9.81)])
def test_forward_dynamics_solves_the_dense_system(make):
    """Accelerations against [M −Aᵀ; A 0], with Ȧ v by differences along the motion."""
    model, h = make(), 1e-5
    q, v = model.q0, model.v0
    tau = np.random.default_rng(1).normal(size=model.nv)
    A, M = la.constraint_jacobian(model, q), la.mass_matrix(model, q)
    ahead, behind = (la.constraint_jacobian(model, la.increment(model, q, s * h * v)) @ v for s in (1, -1))
    drift = (ahead - behind) / (2 * h)
    bias = la.inverse_dynamics(model, q, v, None)
    m = len(A)
    system = np.block([[M, -A.T], [A, np.zeros((m, m))]])
    expected = np.linalg.lstsq(system, np.concatenate([tau - bias, -drift]), rcond=1e-12)[0][: model.nv]
    a = la.forward_dynamics(model, q, v, tau)
    np.testing.assert_allclose(a, expected, atol=1e-7 * max(1.0, np.abs(a).max()))


@pytest.mark.parametrize("make", [four_bar, gear_train, lambda: floating_loop(la.Revolute(Y), gravity=9.81)],
                         ids=["four-bar", "gears", "floating"])
def test_inverse_dynamics_is_the_inverse_on_the_manifold(make):
    """Of any accelerations at which no loop opens, A a = −Ȧ v, with Ȧ v by differences along the motion."""
    model, eps = make(), 1e-4
    rng = np.random.default_rng(2)
    for _ in range(5):
        q, v = la.assemble(model, model.q0, rng.normal(size=model.nv))
        along = {k: la.constraint_jacobian(model, la.increment(model, q, k * eps * v)) @ v for k in (-2, -1, 1, 2)}
        bias = (8 * (along[1] - along[-1]) - (along[2] - along[-2])) / (12 * eps)
        A, a = la.constraint_jacobian(model, q), 10 * rng.normal(size=model.nv)
        a -= np.linalg.lstsq(A, A @ a + bias, rcond=1e-10)[0]
        found = la.forward_dynamics(model, q, v, la.inverse_dynamics(model, q, v, a))
        np.testing.assert_allclose(found, a, rtol=0, atol=1e-9 * np.abs(a).max())
        off = a + np.linalg.pinv(A, rcond=1e-10)[:, 0]  # opens a loop: not what the model can do
        assert np.abs(la.forward_dynamics(model, q, v, la.inverse_dynamics(model, q, v, off)) - off).max() > 1e-3


def test_a_singular_start_is_flagged():
    """A parallelogram that starts flat leaves the singular configuration in its first step, and the audit says so."""
    model = four_bar(la.Ball(), lengths=(1.0, 2.0, 1.0), base=2.0)
    traj = la.simulate(model, np.zeros(3), (1.0, -1.0, 1.0), dt=DT, steps=20)
    assert traj.flags.tolist() == [0] + [int(la.Flag.RANK_CHANGED)] * 20 and traj.closure.max() < 1e-13
    found = la.audit(traj, estimate_accuracy=False)
    assert found.loops.changed[0] == DT and "there the mechanism is singular" in " ".join(found.verdict)


def passes_flat(steps):
    """A parallelogram, and a start from which it lies flat after so many steps: it has come from there."""
    model = four_bar(la.Ball(), lengths=(1.0, 2.0, 1.0), base=2.0)
    back = la.simulate(model, np.zeros(3), (-4.0, 4.0, -4.0), dt=DT, steps=steps)
    return model, back.q[-1], -back.v[-1]


def test_a_load_across_a_stretched_structure_is_named(tmp_path):
    """Three bars in a straight line between two pins cannot carry their weight: no step has a root."""
    model = la.Model((0, -9.81, 0), "stretched")
    model.add_body("left", None, la.Revolute(Z), inertia=rod(1.0))
    model.add_body("middle", "left", la.Revolute(Z), (1, 0, 0), inertia=rod(2.0))
    model.add_body("right", None, la.Revolute(Z), (4.5, 0, 0), inertia=rod(1.5))
    model.add_loop("pin", "middle", "right", joint=la.Revolute(Z), position=(2, 0, 0), other_position=(1.5, 0, 0))
    said = "The loops are close to a singular configuration there: what lies stretched cannot carry a load across"
    with pytest.raises(la.StepError, match=said):
        la.simulate(model, (0, 0, np.pi), dt=1e-3, duration=0.5, out=tmp_path / "run.h5")
    assert said in str(la.open(tmp_path / "run.h5").failure)
    for regular in (four_bar(), bricard(), ladder(5)):  # of which the last two have rows that follow from others
        assert hints.singular(compile_model(regular), regular.q0) == ""


def test_a_singular_node_that_is_not_kept_is_flagged(tmp_path):
    """Flat after step 10 of 25, of which every seventh is kept: the node after step 14 knows, and so does the audit."""
    model, q, v = passes_flat(10)
    every = la.simulate(model, q, v, dt=DT, steps=25)
    assert np.abs(every.q[10]).max() < 1e-5  # there rows tell one direction only to the root of round-off
    assert abs(every.q[14, 0]) > 1e-2 and abs(every.q[14, 0] - every.q[14, 2]) < 1e-5  # it went on
    changed = int(la.Flag.RANK_CHANGED)
    assert every.flags[[7, 14, 21]].tolist() == [0, 0, 0] and every.flags[10] == changed
    thin = la.simulate(model, q, v, dt=DT, steps=25, record_every=7, out=tmp_path / "run.h5")
    np.testing.assert_array_equal(thin.q, every.q[::7])
    plain = la.simulate(model, q, v, dt=DT, steps=25, record_every=7)
    plain.save(tmp_path / "saved.h5")
    member = la.simulate_many(model, [q] * 2, [v] * 2, dt=DT, steps=25, record_every=7)[1]
    for run in (thin, plain, member, la.open(tmp_path / "run.h5"), la.open(tmp_path / "saved.h5")):
        assert run.flags.tolist() == [0, 0, changed, 0]
    found = la.audit(thin, estimate_accuracy=False)
    assert found.loops.changed == [14 * DT] and "there the mechanism is singular" in " ".join(found.verdict)
    sparse = la.simulate(model, q, v, dt=DT, steps=25, record_every=20)
    assert sparse.flags.tolist() == [0, changed]
    late = la.simulate(model, q, v, dt=DT, steps=12, record_every=7)  # flat after the last node that is kept
    assert late.flags.tolist() == [0, 0]
    assert 10 * DT <= la.audit(late, estimate_accuracy=False).loops.changed[0] <= 12 * DT


@pytest.mark.parametrize("cut", [5, 9, 10, 11, 13])
def test_a_run_that_goes_on_still_knows_of_singular_nodes(cut, tmp_path):
    model, q, v = passes_flat(10)
    whole = la.simulate(model, q, v, dt=DT, steps=25, record_every=7)
    la.simulate(model, q, v, dt=DT, steps=cut, record_every=7, out=tmp_path / "run.h5")
    resumed = la.resume(tmp_path / "run.h5", steps=25)
    np.testing.assert_array_equal(resumed.events, whole.events)
    np.testing.assert_array_equal(resumed.flags, whole.flags)


def test_the_audit_tells_of_loops():
    found = la.audit(four_bar(), dt=DT, duration=0.5, estimate_accuracy=False)
    text = str(found)
    assert found.kept and found.loops.rows == 5 and found.loops.redundant == 3
    assert "3 of 5 rows redundant" in text and "Loops stay closed." in text and found.to_dict()["loops"]["kept"]
    assert found.symplecticity.passed and found.irreversibility.passed
    floating = la.audit(floating_loop(), dt=DT, duration=0.2, estimate_accuracy=False)
    assert len(floating.momenta) == 6 and floating.momentum_error < 1e-12
    assert la.audit(la.library.pendulum(), q=[0.3], duration=0.1, estimate_accuracy=False).to_dict()["loops"] is None


def test_momentum_of_what_the_ground_holds():
    model = pendulum(la.Ball())
    model.gravity = (0, 0, 0)
    found = la.audit(la.simulate(model, *swung(model, 0.3, 1.0), dt=DT, steps=20), estimate_accuracy=False)
    assert found.momenta == [] and "a loop or a coupling acts against the ground" in found.momentum_reason


def test_bits_last(tmp_path):
    """Files, checkpoints, copies, single steps and members of a batch have the bits of the plain run."""
    model = four_bar()
    one = la.simulate(model, dt=DT, steps=60)
    stored = la.simulate(model, dt=DT, steps=60, out=tmp_path / "run.h5")
    one.save(tmp_path / "saved.h5")
    for other in (stored, la.open(tmp_path / "run.h5"), la.open(tmp_path / "saved.h5")):
        for name in ("q", "v", "p", "closure", "multipliers", "flags", "events"):
            np.testing.assert_array_equal(getattr(other, name), getattr(one, name), name)
        np.testing.assert_array_equal(other.reaction("pin"), one.reaction("pin"))
        assert other.model == model
    sim = la.Simulator(model, dt=DT)
    sim.step(23)
    sim.checkpoint(tmp_path / "node.h5")
    sims = [sim, la.Simulator.restore(tmp_path / "node.h5"), pickle.loads(pickle.dumps(sim)), copy.deepcopy(sim)]
    for each in sims:
        each.step(37)
        np.testing.assert_array_equal(np.concatenate([each.q, each.v, each.p]),
                                      np.concatenate([one.q[-1], one.v[-1], one.p[-1]]))
    thin = la.simulate(model, dt=DT, steps=60, record_every=20)
    np.testing.assert_array_equal(thin.q, one.q[::20])
    np.testing.assert_array_equal(thin.at(33 * DT).q, one.q[33])
    speeds = (1.0, 0.5, -1.0, 2.0, 0.1)
    many = la.simulate_many(model, [model.q0] * 5, [model.v0 * k for k in speeds], dt=DT, steps=60)
    for k, member in zip(speeds, many, strict=True):
        np.testing.assert_array_equal(member.q, la.simulate(model, model.q0, model.v0 * k, dt=DT, steps=60).q)
        assert member.closure.max() < 1e-13


def test_a_run_that_was_cut_goes_on_with_the_same_bits(tmp_path):
    model = gear_train()
    whole = la.simulate(model, dt=DT, steps=80)
    calls = []

    def law(t, q, v):
        calls.append(t)
        if len(calls) == 42:
            raise KeyboardInterrupt
        return np.zeros(3)

    with pytest.raises(KeyboardInterrupt):
        la.simulate(model, dt=DT, steps=80, control=law, out=tmp_path / "run.h5")
    resumed = la.resume(tmp_path / "run.h5", control=lambda t, q, v: np.zeros(3))
    np.testing.assert_allclose(resumed.q, whole.q, atol=1e-12)
    again = la.simulate(model, dt=DT, steps=80, control=lambda t, q, v: np.zeros(3))
    np.testing.assert_array_equal(resumed.q, again.q)
    np.testing.assert_array_equal(resumed.multipliers, again.multipliers)
    with pytest.raises(ValueError, match="what the loops carry depends on the forces of the run"):
        la.open(tmp_path / "run.h5").reaction("gear")
    with pytest.raises(ValueError, match="the multipliers are not kept, and to find them the forces of the run"):
        _ = la.open(tmp_path / "run.h5").multipliers


def test_a_run_goes_on_whose_loops_are_open_at_the_state_of_the_model(tmp_path):
    """Only the start that was given is closed: what goes on begins at the run's own states."""
    model = four_bar()
    q, v = model.q0, model.v0
    model.q0 = model.v0 = np.zeros(3)
    assert la.closure(model, model.q0).max() > 0.1
    whole = la.simulate(model, q, v, dt=DT, steps=40, record_every=20)
    np.testing.assert_array_equal(whole.at(20 * DT).q, whole.q[1])
    inner = la.simulate(model, q, v, dt=DT, steps=33).q[-1]
    np.testing.assert_array_equal(whole.at(33 * DT).q, inner)
    la.simulate(model, q, v, dt=DT, steps=20, record_every=20, out=tmp_path / "run.h5")
    np.testing.assert_array_equal(la.resume(tmp_path / "run.h5", steps=40).q[-1], whole.q[-1])
    sim = la.Simulator(model, q, v, dt=DT)
    sim.step(33)
    np.testing.assert_array_equal(la.Simulator.restore(sim.checkpoint(tmp_path / "state.h5")).q, inner)


def test_the_ledger_has_the_work_of_control_and_servos():
    model = four_bar()
    model.add_actuator("drive", la.PD("crank", kp=40.0, kd=4.0))
    errors = []
    for dt in (4e-3, 2e-3):
        run = la.simulate(model, dt=dt, duration=0.4, command=[1.0], control=[2.0, 0.0, -1.0])
        assert abs(run.dissipated["actuators"][-1]) > 0.1 and abs(run.dissipated["control"][-1]) > 0.1
        errors.append(run.max_balance_error)
    assert errors[1] < 0.3 * errors[0] < 1e-3


def test_ensembles(tmp_path):
    model = four_bar()
    results = la.Ensemble(model, members=4, vary={"mass:rocker": la.Uniform(0.9, 1.1)}, seed=1, dt=DT,
                          duration=0.05).run(tmp_path / "runs")
    assert not results.failures and np.ptp(results.q[:, -1, 0]) > 1e-6
    for q in results.q[:, -1]:
        assert la.closure(model, q).max() < 1e-13


@pytest.mark.parametrize("integrator", [la.SemiImplicitEuler(), la.peers.SVI(),
                                        la.Variational(root_finder=la.peers.DenseNewton()),
                                        la.Variational(root_finder=la.RIQN())], ids=str)
def test_who_cannot_keep_loops_says_so(integrator):
    with pytest.raises(ValueError, match="loops"):
        la.simulate(four_bar(), dt=DT, steps=1, integrator=integrator)


def test_wide_fronts_are_told(monkeypatch):
    """Bodies that are all joined to one another: told above the bound, once, and not at it."""
    model, spokes = la.Model((0, 0, 0), "hub"), 6
    inertia = la.Inertia(1.0, matrix=np.diag([0.1, 0.1, 0.1]))
    for i in range(spokes):
        model.add_body(f"b{i}", None, la.Free(), inertia=inertia)
    for i in range(spokes):
        for j in range(i):
            model.add_loop(f"l{i}.{j}", f"b{i}", f"b{j}", joint=la.Rod(1.0), position=(i + 1.0, j, 0),
                           other_position=(i + 1.0, j, 1.0))
    width = compile_model(model).plan.width
    assert f"fronts of up to {width} numbers" in str(model)
    assert checks.WIDE == 200 and width > 6
    for bound, told in ((width, 0), (width - 1, 1), (width - 1, 0)):
        monkeypatch.setattr(checks, "WIDE", bound)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            la.Simulator(model)
        assert len(caught) == told
    monkeypatch.setattr(checks, "WIDE", width - 1)
    with pytest.warns(la.ModelWarning, match=f"its loops are eliminated in fronts of {width} numbers, and a step"):
        la.Simulator(la.Model.from_dict(model.to_dict()))


@pytest.mark.parametrize(("make", "told"), [
    (four_bar, "; 3 of 5 are redundant at q0"), (bricard, "; 1 of 5 is redundant at q0"), (floating_loop, ""),
    (lambda: ladder(3, la.Ball()), "; 3 of 9 are redundant at q0")], ids=["four-bar", "bricard", "floating", "ladder"])
def test_redundant_rows_are_told(make, told):
    """The count is that of the elimination at the start of a run."""
    model = make()
    (line,) = [line for line in str(model).splitlines() if line.startswith("rows are eliminated")]
    assert line.endswith(f" numbers{told}") and line in model._repr_html_()
    assert la.Simulator(model, dt=DT)._engine.redundant == int(told.split()[1] if told else 0)


def test_actuators_load_the_loops():
    """A PD on the drive of a gear gives the other wheel what it needs, as a control by hand does."""
    model = la.Model((0, 0, 0))
    wheel = la.Inertia(1.0, matrix=np.diag([0.01, 0.01, 0.02]))
    model.add_body("drive", None, la.Revolute(Z), inertia=wheel)
    model.add_body("wheel", None, la.Revolute(Z), (1, 0, 0), inertia=wheel)
    model.add_coupling("gear", "wheel", "drive", (0.0, -0.5))
    model.add_actuator("motor", la.PD("drive", kp=2.0, kd=0.1))
    traj = la.simulate(model, dt=DT, steps=6, command=[0.3])
    torque = 2.0 * (0.3 - traj.q[:, 0]) - 0.1 * traj.v[:, 0]
    expected = 0.02 * (-0.5) * torque / (0.02 + 0.25 * 0.02)
    np.testing.assert_allclose(traj.reaction("gear")[:, 0], expected, atol=1e-12)
    assert traj.q[-1, 0] == pytest.approx(0.5 * 0.6 / 0.025 * (6 * DT) ** 2, rel=0.05)
    assert traj.q[-1, 1] == pytest.approx(-0.5 * traj.q[-1, 0], rel=1e-12)
