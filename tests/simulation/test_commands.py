"""Commands: held, as arrays, as functions with ticks of their own, in files and batches; all give the same bits."""

import numba
import numpy as np
import pytest

import leastaction as la

TICK, STEPS = 10, 95
QUIET = {"ignore": ("command", "damping")}


def make() -> la.Model:
    model = la.library.chain(3)
    model.add_actuator("hold", la.PD("link1", kp=8.0, kd=0.4, effort=3.0))
    model.add_actuator("turn", la.Velocity("link2", kd=0.2))
    model.add_actuator("push", la.Motor("link3", gear=0.5, command_range=(-1, 1)))
    model.add_actuator("trim", la.Motor("link1", effort=0.3))
    return model


MODEL = make()


def law(t, q, v):
    return np.array([0.3 + 0.1 * q[0], np.sin(50 * t), -v[2], 0.2 * q[1]])


def run(**options):
    return la.simulate(MODEL, **{"dt": 1e-3, "steps": STEPS, **QUIET, **options})


@pytest.fixture(scope="module")
def ticked():
    """A controller at 100 Hz, with steps of 1 ms."""
    return run(command=law, control_every=TICK)


def same(a, b):
    for name in ("q", "v", "p", "energy", "momentum"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_a_controller_with_ticks_is_holding_its_commands_by_hand(ticked):
    sim = la.Simulator(MODEL, dt=1e-3)
    for first in range(0, STEPS, TICK):
        sim.step(min(TICK, STEPS - first), command=law(sim.t, sim.q, sim.v))
    np.testing.assert_array_equal(sim.q, ticked.q[-1])
    np.testing.assert_array_equal(sim.p, ticked.p[-1])


def test_rows_for_ticks_and_rows_for_steps_are_the_same(ticked):
    rows = np.array([law(ticked.t[k], ticked.q[k], ticked.v[k]) for k in range(0, STEPS, TICK)])
    for_steps = np.repeat(rows, TICK, axis=0)[:STEPS]
    same(run(command=rows, control_every=TICK), ticked)
    same(run(command=for_steps), ticked)
    same(run(command=for_steps, control_every=TICK), ticked)
    same(run(command=lambda t, q, v: for_steps[round(t / 1e-3)]), ticked)
    with pytest.raises(ValueError, match=r"command must have shape \(4,\) or \(95, 4\) or \(10, 4\), not \(9, 4\)"):
        run(command=rows[1:], control_every=TICK)


def test_compiled_functions_are_asked_at_the_same_ticks(ticked):
    same(run(command=numba.njit(law), control_every=TICK), ticked)
    held = [0.1, 0.2, 0.3, 0.0]

    def push(t, q, v):
        return -0.05 * v  # with ten times that, held for 10 ms, the rate grows tenfold in each tick

    for every in (1, TICK):
        same(run(control=numba.njit(push), command=held, control_every=every),
             run(control=push, command=held, control_every=every))


def test_joint_forces_add_to_those_of_actuators(ticked):
    """A motor is a force, so commanding it is the same as giving the force, whoever gives which."""
    command, tau = np.array([0.4, 0.5, 0.8, 0.2]), np.array([0.2, 0.0, 0.4])
    rows = np.tile(tau, (STEPS, 1))
    asked = run(command=command)
    for control in (tau, rows, lambda t, q, v: tau):
        same(run(command=command * [1, 1, 0, 0], control=control), asked)
    wrench = np.random.default_rng(0).normal(size=(STEPS, 3, 6))
    same(run(command=law, control_every=TICK, control=rows, wrench=wrench),
         run(command=law, control_every=TICK, control=rows, wrench=lambda t, q, v: wrench[round(t / 1e-3)]))


def test_control_functions_have_the_same_ticks():
    rows = []

    def push(t, q, v):
        rows.append(-0.5 * v)
        return rows[-1]

    model = la.library.chain(3)
    got = la.simulate(model, dt=1e-3, steps=STEPS, control=push, control_every=TICK)
    assert len(rows) == 1 + 10  # asked once before, to see whether it can be
    same(la.simulate(model, dt=1e-3, steps=STEPS, control=np.array(rows[1:]), control_every=TICK), got)


def test_a_run_in_a_file_goes_on_between_two_ticks(ticked, tmp_path):
    path = tmp_path / "run.h5"
    options = {"command": law, "control_every": TICK, "checkpoint_every": 7}
    stored = run(out=path, **options)
    same(stored, ticked)
    assert la.open(path).origin is None  # a file holds no function
    again = la.open(path, command=law)
    assert again.origin.control_every == TICK
    calls = []

    def noting(t, q, v):
        calls.append(t)
        return law(t, q, v)

    longer = la.resume(path, steps=STEPS + 20, command=noting)
    same(longer, la.simulate(MODEL, dt=1e-3, steps=STEPS + 20, command=law, control_every=TICK, **QUIET))
    assert np.allclose(calls[1:], [0.1, 0.11])  # not asked between its ticks, but for the first call
    with pytest.raises(ValueError, match=r"driven by a function, .* la.resume\(path, control=\.\.\., wrench"):
        la.resume(path, steps=STEPS + 50)


def test_nodes_that_were_not_kept_are_made_again(ticked, tmp_path):
    few = run(command=law, control_every=TICK, record_every=40, out=tmp_path / "few.h5", checkpoint_every=13)
    for traj in (few, la.open(tmp_path / "few.h5", command=law),
                 run(command=law, control_every=TICK, record_every=40)):
        for k in (7, 27, 66):
            np.testing.assert_array_equal(traj.at(k * 1e-3).q, ticked.q[k])


@pytest.mark.parametrize("command", [[0.1, 0.2, 0.3, 0.4], np.full((STEPS, 4), 0.2), None])
def test_files_hold_commands(command, tmp_path):
    first = run(command=command, record_every=10)
    path = first.save(tmp_path / "saved.h5")
    np.testing.assert_array_equal(la.open(path).origin.command, first.origin.command)
    np.testing.assert_array_equal(la.open(path).at(0.033).q, run(command=command).q[33])


def test_without_a_command_that_of_the_model_is_held_and_said():
    model = make()
    with pytest.warns(la.ModelWarning, match="no command is given, so zero is held by the actuators 'hold', 'turn'"):
        bare = la.simulate(model, dt=1e-3, steps=STEPS, ignore="damping")
    same(bare, run(command=np.zeros(4)))
    model.command0 = [0.1, 0.2, 0.3, 0.4]
    sim = la.Simulator(model, dt=1e-3, **QUIET)
    sim.step(STEPS)
    np.testing.assert_array_equal(sim.q, run(command=model.command0).q[-1])


@pytest.mark.parametrize(("command", "message"), [
    ({"hold": 1.0}, r"must be an array of shape \(4,\), in the order of model\.actuators, not \{'hold': 1\.0\}"),
    (np.zeros((4, 30)), r"must have shape \(4,\) or \(30, 4\), not \(4, 30\); transpose it"),
    (lambda t, q, v: {"hold": 1.0}, "what command returns must be an array of shape"),
])
def test_a_command_of_another_form_is_refused_with_the_right_one(command, message):
    with pytest.raises(ValueError, match=message):
        la.simulate(make(), dt=1e-3, steps=30, command=command, **QUIET)


def test_joint_forces_are_no_commands():
    with pytest.raises(ValueError, match="tau are joint forces: commands of actuators are command="):
        la.Simulator(make(), dt=1e-3, **QUIET).step(1, np.zeros(9))


def test_a_command_without_actuators_is_refused():
    for options in ({"command": [1.0]}, {"command": lambda t, q, v: [1.0]}):
        with pytest.raises(ValueError, match="has no actuators that could take a command"):
            la.simulate(la.library.chain(2), steps=1, **options)
    with pytest.raises(ValueError, match="has no actuators"):
        la.Simulator(la.library.chain(2)).step(command=[1.0])


def test_what_a_command_returns_is_checked():
    with pytest.raises(ValueError, match=r"what command returns must have shape \(4,\), not \(3,\)"):
        run(command=lambda t, q, v: q)

    def failing(t, q, v):
        return law(t, q, v) if t < 0.025 else 1 / 0

    with pytest.raises(ZeroDivisionError) as caught:
        run(command=failing, control_every=TICK)
    assert "at step 30, t = 0.03 s" in caught.value.__notes__[0]
    with pytest.raises(ValueError, match="control_every must be a whole number of at least 1, not 0"):
        run(command=law, control_every=0)


def test_members_of_a_batch_have_commands():
    commands = [[0.1 * b, 0.2, -0.1 * b, 0.0] for b in range(5)]
    commands += [law, np.array([law(1e-3 * k, MODEL.q0, MODEL.v0) for k in range(0, STEPS, TICK)])]
    many = la.simulate_many(MODEL, dt=1e-3, steps=STEPS, command=commands, control_every=TICK, **QUIET)
    for b, command in enumerate(commands):
        alone = run(command=command, control_every=TICK)
        np.testing.assert_allclose(many[b].q, alone.q, rtol=0, atol=1e-11)
        if not callable(command):
            np.testing.assert_array_equal(many[b].origin.command, alone.origin.command)
    with pytest.raises(ValueError, match=r"member 2: command must have shape"):
        la.simulate_many(MODEL, dt=1e-3, steps=STEPS, command=[[0] * 4, [0] * 4, [0] * 3], **QUIET)


def test_an_ensemble_has_commands(tmp_path):
    study = la.Ensemble(MODEL, 3, {"v": lambda rng: rng.normal(size=3)}, dt=1e-3, steps=20, command=law,
                        control_every=5, **QUIET)
    results = study.run(tmp_path / "study", progress=False)
    alone = la.simulate(MODEL, None, results.v[1][0], dt=1e-3, steps=20, command=law, control_every=5, **QUIET)
    np.testing.assert_array_equal(results.q[1], alone.q)


def test_accuracy_asks_a_controller_at_its_own_ticks(ticked):
    asked = []

    def noting(t, q, v):
        asked.append(round(1e3 * t, 6))
        return law(t, q, v)

    first = run(command=noting, control_every=TICK)
    asked.clear()
    estimate = first.accuracy()
    assert asked[1:] == [*range(0, STEPS, TICK)]
    exact = la.simulate(MODEL, dt=1e-3 / 16, steps=16 * STEPS, command=law, control_every=16 * TICK, record_every=16,
                        **QUIET)
    true = np.abs(exact.q - first.q).max()
    assert 0.7 < estimate.max_error / true < 1.4


def test_the_verdict_knows_that_actuators_work():
    assert run(command=law, control_every=TICK).judgement.reason == "actuators may do work"
    motors = la.library.chain(3)
    motors.add_actuator("push", la.Motor("link3"))
    assert la.simulate(motors, steps=20, command=[0.0]).judgement.reason == ""
    assert la.simulate(motors, steps=20, command=[0.1]).judgement.reason == "actuators may do work"
