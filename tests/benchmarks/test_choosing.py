"""The command measures and writes its tables between the marks of a page. How fast anything is, is not tested."""

from collections import Counter

import numpy as np
import pytest
from benchmarks.choosing import __main__ as command
from benchmarks.choosing import forced_orders, orders, retractions, root_finders, suite
from benchmarks.choosing.orders import Result
from benchmarks.choosing.root_finders import FINDERS, GUESSES, Case, Cost

import leastaction as la
from leastaction.markdown import BEGIN, END, fill

CASE = Case("two links", lambda: la.library.chain(2), begin=0.01)
TINY = suite.Plan(
    cases=(CASE,), steps=20, motions=(orders.Motion("pendulum", la.library.pendulum, 0.1),),
    methods=("order 2", "Runge–Kutta 4"), finest=2.0, repeats=1,
    retracted=(orders.Motion("swing", la.library.pendulum, 0.1),), forces=("none", "control law u(t, q, v)"),
)
FAILURE = la.StepError("no convergence", 7, 0.25, 1.0, "link", *np.zeros((3, 1)))


def test_command_rewrites_the_part_between_the_marks(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    page.write_text(f"# Advice\n\n{BEGIN}\nold numbers\n{END}\n\nThe end.\n", encoding="utf-8")
    monkeypatch.setattr(command, "QUICK", TINY)
    monkeypatch.setattr("sys.argv", ["choosing", "--quick", "--out", str(page)])
    command.main()
    assert f"wrote {page}" in capsys.readouterr().out
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# Advice\n\n{BEGIN}\n") and text.endswith(f"\n{END}\n\nThe end.\n")
    assert "old numbers" not in text
    for heading in ("### Root finder and guess", "### Order and step", "### Retraction", "### Order under forces"):
        assert heading in text
    lines = text.splitlines()
    assert "| two links | " + " | ".join(FINDERS) + " |" in lines
    assert sum(line.startswith("| `extrapolated` |") for line in lines) == 2
    assert [line.split(" | ")[1] for line in lines if line.startswith("| order 2 |")] == ["2 ms", "5 ms"]


def test_page_is_made_if_missing_and_kept_if_it_has_no_marks(tmp_path):
    fill(tmp_path / "new" / "page.md", "text")
    assert (tmp_path / "new" / "page.md").read_text(encoding="utf-8") == f"{BEGIN}\ntext\n{END}\n"
    plain = tmp_path / "plain.md"
    plain.write_text("precious", encoding="utf-8")
    with pytest.raises(ValueError, match=r"plain\.md has no lines"):
        fill(plain, "text")
    assert plain.read_text(encoding="utf-8") == "precious"


def test_evaluations_are_those_of_the_steps_measured():
    costs = root_finders.measure(CASE, steps=20, repeats=1)
    start = la.simulate(la.library.chain(2), duration=0.01)
    assert set(costs) == {(guess, finder) for guess in GUESSES for finder in FINDERS}
    for (guess, finder), cost in costs.items():
        method = la.Variational(root_finder=FINDERS[finder], guess=guess)
        run = la.simulate(la.library.chain(2), start.q[-1], start.v[-1], steps=20, integrator=method)
        assert cost.evaluations == run.iterations.mean()
        assert cost.seconds > 0 and not cost.failure


def test_cost_in_words():
    assert str(Cost(2.5, 12.34e-6, Counter(), None)) == "2.50 · 12.3 µs"
    assert str(Cost(2.5, 1234e-6, Counter(slow=3, divided=1), None)) == "2.50 · 1234 µs, 3 slow, 1 divided"
    assert str(Cost(2.5, 1e-6, Counter(), FAILURE)) == "fails at 0.25 s"


def test_relative_time_is_a_geometric_mean_and_failures_never_win():
    def costs(chord, riqn, failure=None):
        return {("euler", "Newton, chord"): Cost(1, chord, Counter(), failure),
                ("euler", "RIQN"): Cost(1, riqn, Counter(), None)}

    sound = [costs(1.0, 4.0), costs(1.0, 1.0)]
    assert root_finders.relative_time(sound, "euler", "Newton, chord") == 1.0
    assert root_finders.relative_time(sound, "euler", "RIQN") == pytest.approx(2.0)
    failed = [costs(1.0, 4.0, FAILURE)]
    assert root_finders.relative_time(failed, "euler", "Newton, chord") == np.inf
    assert root_finders.relative_time(failed, "euler", "RIQN") == 1.0


def test_cheapest_run_that_is_good_enough():
    runs = [Result("a", 1, 0, 1e-3, 5.0), Result("b", 1, 0, 1e-5, 7.0), Result("c", 1, 0, 1e-7, 6.0)]
    assert orders.cheapest(runs, 1e-2).method == "a"
    assert orders.cheapest(runs, 1e-4).method == "c"
    assert orders.cheapest(runs, 1e-9) is None


def test_free_flight_wants_the_split_retraction():
    """What docs/choosing.md says: speed does not spoil the rotation, as it does when bodies move along screws."""
    falling, weightless = (m for m in retractions.MOTIONS if "ragdoll" in m.name)
    assert retractions.error(falling, "exp", 2, 1.0) > 10 * retractions.error(weightless, "exp", 2, 1.0)
    found = [retractions.error(motion, "split", 2, 1.0) for motion in (falling, weightless)]
    assert found[0] == pytest.approx(found[1], rel=0.01)
    assert found[0] < 1e-4


@pytest.mark.parametrize("name", forced_orders.CASES)
def test_orders_under_forces(name):
    """What docs/choosing.md says: what is constant over the run keeps the order, a sampled law is of first order."""
    limit = {"u(t) at the middle of each step, as an array": 2, "u(t) as a function": 1, "control law u(t, q, v)": 1}
    model, forces = forced_orders.CASES[name]
    for order, integrator in ((2, la.Variational()), (4, la.Variational(order=4))):
        got = forced_orders.observed_order(model, forces, integrator, 0.02)
        assert got == pytest.approx(min(order, limit.get(name, order)), abs=0.1)
