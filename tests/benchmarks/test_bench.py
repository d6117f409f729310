"""The bench measures what it says, puts it beside the aims and writes it down. How fast anything is, is not tested."""

import csv
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.anatomy import Anatomy
from benchmarks.batch import Batch
from benchmarks.calls import Calls
from benchmarks.findings import Finding, Results
from benchmarks.fresh import run_fresh
from benchmarks.long_chain import LongChain, peak_memory
from benchmarks.precision import Motion, Run
from benchmarks.scaling import Cost
from benchmarks.startup import Startup
from benchmarks.steps import StepCost
from typer.testing import CliRunner

import leastaction as la
from benchmarks import __main__ as command
from benchmarks import anatomy, batch, findings, peers, report, scaling, steps, suite
from leastaction.cli.commands import app
from leastaction.markdown import BEGIN, END

# A script that compiles nothing, so that the cold start is quick.
TINY = suite.Plan(sizes=(2, 50, 100), body_steps=200, repeats=1, long=300, long_steps=2, starts=1,
                  script="import leastaction", step_sizes=(2,), step_budget=1e-3,
                  motions=(Motion("pendulum", la.library.double_pendulum, 0.2, 1e-2),), durations=(0.3,),
                  budgets=(1e-3, 1e-3), batch=(2, 2, 10, 1), humanoid=False, anatomy_sizes=(2,),
                  explicit_sizes=(2,))
MADE_UP = Results([Cost(n, 4.0, 4e-6 * n, 1e-6 * n) for n in (10, 100, 1000)], LongChain(100_000, 0.5, 7e8),
                  Startup(0.1, ["mujoco"], 20.0, 1.0),
                  [StepCost(findings.STEP, 10, 3e-6), StepCost(findings.ABA, 10, 4e-6),
                   StepCost("MuJoCo RK4", 10, 5e-3)],
                  [Run("paper chain", 100.0, "leastaction order 4", step, 8.0 / step, 1e-6 * step**4, math.nan)
                   for step in (10.0, 1.0, 0.1)] +
                  [Run("paper chain", 100.0, "MuJoCo RK4", step, 4.0 / step, 1e-6 * step**4, math.nan)
                   for step in (10.0, 1.0, 0.1)],
                  {"paper chain": 2e-11}, [Batch(0, 1e6), Batch(1, 2.5e6), Batch(2, 4e6)],
                  [Anatomy("Newton", 10, 3.0, 5e-6, 1e-6, 2e-6)], calls=Calls(5e-6, 9e-6, 6e-6))


def test_suite_measures_and_writes(tmp_path, capfd, monkeypatch):
    few = [m for m in peers.methods() if m.name in ("leastaction order 2", "MuJoCo RK4", findings.ABA)]
    monkeypatch.setattr(peers, "methods", lambda: few)
    monkeypatch.setattr(suite, "ANATOMY_BODY_STEPS", 100)
    results = suite.run(TINY, tmp_path / "new")
    assert [c.n for c in results.costs] == list(TINY.sizes)
    for c in results.costs:
        assert c.evaluations >= 1 and c.step > 0
        assert c.evaluation == pytest.approx(c.step / c.evaluations)
    assert results.long_chain.n == TINY.long and results.long_chain.step > 0
    assert results.long_chain.memory > 1e7
    assert min(results.startup.imported, results.startup.cold, results.startup.warm) > 0
    assert results.startup.heavy == []
    everyone = [m.name for m in few]
    assert [s.method for s in results.steps] == everyone and all(s.seconds > 0 for s in results.steps)
    assert {r.method for r in results.runs} <= {*everyone, "leastaction DOP853"}
    assert all(r.seconds > 0 and r.energy >= 0 for r in results.runs)
    assert {r.duration: math.isnan(r.error) for r in results.runs} == {0.2: False, 0.3: True}
    printed = capfd.readouterr().out
    for finding in findings.findings(results):
        assert f"{finding}\n" in printed
    assert [a.finder for a in results.anatomies] == ["Newton", "RIQN"]
    assert min(results.calls) > 0
    assert [e.n for e in results.explicit] == [2] and min(results.explicit[0]) > 0
    for name in ("report.md", "findings.csv", "scaling.csv", "steps.csv", "precision.csv", "cost.png", "steps.png",
                 "precision.png"):
        assert f"wrote {tmp_path / 'new' / name}" in printed
        assert (tmp_path / "new" / name).stat().st_size > 0


def test_evaluations_are_those_of_the_steps_on_the_clock():
    got = scaling.costs([3], body_steps=90, repeats=1)[0]
    run = la.simulate(la.library.chain(3), dt=scaling.DT, steps=scaling.SETTLE + 30, integrator=scaling.METHOD)
    assert got.evaluations == run.iterations[scaling.SETTLE :].mean()


@pytest.mark.parametrize(("body_steps", "steps"), [(1, scaling.LEAST_STEPS), (10**9, scaling.MOST_STEPS)])
def test_number_of_steps_is_bounded(monkeypatch, body_steps, steps):
    timed = []
    monkeypatch.setattr(scaling, "_timed", lambda _model, count: timed.append(count) or 1.0)
    assert scaling.costs([2], body_steps, repeats=2)[0].step == 1.0 / steps
    assert timed == [steps, steps]


@pytest.mark.parametrize("power", [1.0, 1.5])
def test_slope_is_the_exponent_of_a_power_law(power):
    assert scaling.slope([Cost(n, 4.0, 1.0, 3e-7 * n**power) for n in (100, 300, 1000)]) == pytest.approx(power)


def test_findings_stand_beside_their_targets():
    found = {finding.what: str(finding) for finding in findings.findings(MADE_UP)}
    assert found["a variational step relative to one pin.aba, n = 10"].endswith(": 0.75 × (≤ 0.5 ×: not met)")
    assert found["a variational step relative to one pin.aba, n = 100"].endswith(": – (≤ 0.5 ×: not measured)")
    assert found["slope of the cost of an evaluation, n = 100…1000"].endswith(": 1 (≤ 1.05: met)")
    assert found["simulate_many, one thread, relative to simulate one by one"].endswith(": 2.5 × (≥ 1.9 ×: met)")
    assert found["simulate_many, two threads relative to one"].endswith(": 1.6 × (≥ 1.7 ×: not met)")
    assert found["Simulator.step(), beyond the step itself, n = 10"].endswith(": 5 µs (≤ 6 µs: met)")
    assert found["a control in Python, a step, beyond the step itself, n = 10"].endswith(": 9 µs (≤ 8 µs: not met)")
    assert found["a call of forward_dynamics, n = 10"].endswith(": 6 µs (≤ 6 µs: met)")
    assert found["a call of poses, n = 10"].endswith(": – (≤ 6 µs: not measured)")
    assert found["a step of a chain of 100,000 bodies"].endswith(": 0.5 s (≤ 1 s: met)")
    assert found["peak memory with 100,000 bodies"].endswith(": 0.7 GB (≤ 1 GB: met)")
    assert found["large libraries imported along (mujoco)"].endswith(": 1 (≤ 0: not met)")


def test_worst_ratio_is_of_ours_to_the_fastest_rival():
    assert findings.worst_ratio(MADE_UP.runs) == pytest.approx(2.0)
    slow = [Run("paper chain", 100.0, "Drake RK3", 1.0, 1e3, 1e-9, math.nan)]
    assert findings.worst_ratio(MADE_UP.runs + slow) == pytest.approx(2.0)
    assert math.isnan(findings.worst_ratio([]))
    assert [duel.level for duel in findings.duels(MADE_UP.runs)] == list(findings.LEVELS)
    assert findings.duels(MADE_UP.runs)[0][1::2] == ("leastaction order 4", "MuJoCo RK4")


def test_finding_is_met_at_its_target():
    assert Finding("", 1.0, "", 1.0).verdict == Finding("", 1.0, "", 1.0, True).verdict == "met"


def test_report_has_the_machine_the_findings_and_every_size(tmp_path):
    report.write(MADE_UP, tmp_path)
    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    for name, value in (report.machine() | peers.versions()).items():
        assert f"- {name}: {value}" in page
    assert "| a step of a chain of 100,000 bodies | 0.5 s | ≤ 1 s | met |" in page
    assert "| 1000 | 4.00 | 4000 | 1000 | 1000 |" in page
    assert "| MuJoCo RK4 | 5000 |" in page
    assert "| MuJoCo RK4 | 0.4 | 0.711 | 1.26 | 2.25 | 4 | 7.11 | 12.6 |" in page
    with (tmp_path / "scaling.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [Cost(int(r["n"]), *(float(r[k]) for k in Cost._fields[1:])) for r in rows] == MADE_UP.costs
    with (tmp_path / "findings.csv").open(encoding="utf-8") as file:
        assert [r["what"] for r in csv.DictReader(file)] == [f.what for f in findings.findings(MADE_UP)]
    assert (tmp_path / "batches.png").stat().st_size > 0


def test_readme_shows_the_tables_between_its_marks(tmp_path):
    (tmp_path / "README.md").write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    for name in report.PICTURES:
        (tmp_path / name).write_bytes(b"a picture")
    made = report.publish(MADE_UP, tmp_path, tmp_path)
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert page.startswith("before\n") and page.endswith("after\n") and "old" not in page
    whole = made[1].read_text(encoding="utf-8")
    assert f"| {findings.STEP} | 3 |" in page and "| MuJoCo RK4 |" not in page
    assert "| MuJoCo RK4 | 5000 |" in whole and "| leastaction order 4 | 0.8 |" in whole
    assert all(path.stat().st_size > 0 for path in made) and len(made) == 4
    assert "| 1e-06 | leastaction order 4 | 8 | MuJoCo RK4 | 4 | 2 |" in made[1].read_text(encoding="utf-8")
    assert "| 10 | Newton | 3.00 | 5 | 1 | 2 | 40% | 100 | 200 |" in made[1].read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["README.md", "docs/performance.md"])
def test_repository_has_a_place_for_the_tables(name):
    page = (Path(__file__).parents[2] / name).read_text(encoding="utf-8")
    assert page.count(BEGIN) == page.count(END) == 1


def test_anatomy_is_the_line_through_evaluations_and_times(monkeypatch):
    def measured(method, n, steps):
        evaluations = -math.log10(method.root_finder.tol) + 2 * (method.guess == "current")
        return evaluations, 2e-6 + 1e-6 * evaluations

    monkeypatch.setattr(anatomy, "_measured", measured)
    got = anatomy.anatomy(la.RIQN, 5, 10)
    assert got[:4] == ("RIQN", 5, 12.0, pytest.approx(14e-6))
    assert got[4:] == (pytest.approx(1e-6), pytest.approx(2e-6))


def test_peers_that_are_missing_are_left_out_by_name(monkeypatch):
    monkeypatch.setitem(peers.PEERS, "drake", ("no_such_module", "drake"))
    assert "drake" in peers.missing()
    assert not any(m.library == "Drake" for m in peers.methods())
    assert "left out: " in report.markdown(MADE_UP) and "drake" in report.markdown(MADE_UP)


def test_batches_are_run_as_asked_for(monkeypatch):
    asked = []

    def many(_model, q, v, *, threads, **options):
        asked.append((q.shape, v.shape, threads, options["steps"]))

    monkeypatch.setattr(la, "simulate_many", many, raising=False)
    monkeypatch.setattr(batch.os, "cpu_count", lambda: 2)
    found = batch.batches(3, 2, 5, 1)
    assert [b.threads for b in found] == [0, 1, 2] and all(b.rate > 0 for b in found)
    assert asked == [((3, 2), (3, 2), 1, 5), ((3, 2), (3, 2), 2, 5)] * 2  # in turns


def test_step_is_timed_from_the_moving_chain():
    ours = peers.methods()[0]
    model, q, v = steps.moving_chain(2)
    run = la.simulate(model, dt=steps.DT, duration=steps.BEGIN)
    np.testing.assert_array_equal(q, run.q[-1])
    np.testing.assert_array_equal(v, run.v[-1])
    assert steps.step_costs([ours], [2], 1e-3)[0].seconds > 0


def test_fresh_interpreter_has_its_own_cache_and_its_failures_are_not_swallowed(tmp_path):
    printed, seconds = run_fresh("import os; print(os.environ['LEASTACTION_CACHE'])", tmp_path)
    assert printed.strip() == str(tmp_path) and seconds > 0
    with pytest.raises(Exception, match="non-zero exit status"):
        run_fresh("raise SystemExit(3)")


def test_peak_memory_counts_bytes():
    before = peak_memory()
    ballast = np.ones(30_000_000)
    assert math.isnan(before) or peak_memory() >= ballast.nbytes
    assert math.isnan(before) or before < 1e11


@pytest.mark.parametrize(("options", "plan"), [([], suite.FULL), (["--quick"], suite.QUICK)])
def test_commands_choose_the_plan_and_the_folder(monkeypatch, tmp_path, options, plan):
    asked = []
    monkeypatch.setattr(command, "run", lambda *arguments: asked.append(arguments))
    monkeypatch.setattr(sys, "argv", ["bench", *options, "--out", str(tmp_path)])
    command.main()
    assert asked == [(plan, tmp_path, None)]


def test_installed_command_says_where_the_bench_is():
    result = CliRunner().invoke(app, ["bench"])
    assert result.exit_code == 0
    assert "make bench" in result.stdout and "make choose" in result.stdout
