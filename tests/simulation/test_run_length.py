"""A run is as long as asked for and its end is kept, or a warning tells at the user's own line."""

import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import leastaction as la
from leastaction.cli.commands import app

MODEL = la.library.pendulum()


def many(**options):
    return la.simulate_many(MODEL, [MODEL.q0, MODEL.q0], **options)


@pytest.mark.parametrize(("dt", "duration", "steps"), [
    (1e-3, 0.1, 100), (0.1, 0.3, 3), (1 / 3000, 1 / 3, 1000), (1e-3, np.float32(0.1), 100), (1e-3, 0.0, 0),
    (1e-3, 0.001, 1),
])
def test_multiples_of_the_step_are_met_in_silence(dt, duration, steps):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", la.AccuracyWarning)
        assert la.simulate(MODEL, dt=dt, duration=duration).steps == steps


@pytest.mark.parametrize("run", [
    lambda: la.simulate(MODEL, dt=0.03, duration=0.1).steps,
    lambda: many(dt=0.03, duration=0.1, control=lambda t, q, v: -v)[1].steps,
    lambda: la.audit(MODEL, dt=0.03, duration=0.1, estimate_accuracy=False).steps,
], ids=["simulate", "simulate_many", "audit"])
def test_other_durations_are_covered_and_the_end_is_named(run):
    with pytest.warns(UserWarning, match=r"no multiple of dt 0\.03 s: the run has 4 steps and ends at 0\.12 s") as said:
        assert run() == 4
    assert [warning.filename for warning in said] == [__file__]  # once, and where the user called


def test_a_duration_shorter_than_a_step_is_refused():
    for duration in (1e-5, 1e-9):
        with pytest.raises(ValueError, match=r"shorter than a step of 0\.001 s: give a smaller dt, or steps=1"):
            la.simulate(MODEL, duration=duration)


@pytest.mark.parametrize("run", [la.simulate, lambda model, **options: many(**options)[0]], ids=["one", "many"])
def test_an_end_that_is_not_kept_is_named(run):
    said = r"record_every=7 leaves out the end of 100 steps: the last node kept is at 0\.098 s, and at\(0\.1\)"
    with pytest.warns(UserWarning, match=said) as found:
        traj = run(MODEL, steps=100, record_every=7)
    assert [warning.filename for warning in found] == [__file__]
    end = traj.at(0.1)
    assert end.t == 0.1 and traj.t[-1] == 0.098
    np.testing.assert_allclose(end.q, la.simulate(MODEL, steps=100).q[-1], atol=1e-13)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traj.accuracy()  # which makes the run again
        run(MODEL, steps=98, record_every=7)


def test_the_command_says_it_in_a_note():
    result = CliRunner().invoke(app, ["simulate", "pendulum", "--dt", "0.03", "--duration", "0.1", "--json"])
    assert result.exit_code == 0
    assert result.stderr.startswith("note: duration 0.1 s is no multiple of dt 0.03 s")
    assert "UserWarning" not in result.stderr
