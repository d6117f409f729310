"""The bench measures what it says, puts it beside the aims and writes it down. How fast anything is, is not tested."""

import csv
import math
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import leastaction as la
from leastaction.bench import __main__ as command
from leastaction.bench import report, scaling, suite
from leastaction.bench.fresh import run_fresh
from leastaction.bench.long_chain import LongChain, peak_memory
from leastaction.bench.scaling import Cost
from leastaction.bench.startup import Startup
from leastaction.cli.commands import app

# A script that compiles nothing, so that the cold start is quick.
TINY = suite.Plan(sizes=(2, 100, 200), body_steps=200, repeats=1, long=300, long_steps=2, starts=1,
                  script="import leastaction")
MADE_UP = report.Results([Cost(n, 4.0, 4e-6 * n, 1e-6 * n) for n in (10, 100, 1000)], LongChain(100_000, 0.5, 7e8),
                         Startup(0.1, ["mujoco"], 20.0, 1.0))


def test_suite_measures_and_writes(tmp_path, capsys):
    results = suite.run(TINY, tmp_path / "new")
    assert [c.n for c in results.costs] == list(TINY.sizes)
    for c in results.costs:
        assert c.evaluations >= 1 and c.step > 0
        assert c.evaluation == pytest.approx(c.step / c.evaluations)
    assert results.long_chain.n == TINY.long and results.long_chain.step > 0
    assert results.long_chain.memory > 1e7
    assert min(results.startup.imported, results.startup.cold, results.startup.warm) > 0
    assert results.startup.heavy == []
    printed = capsys.readouterr().out
    for finding in report.findings(results):
        assert f"{finding}\n" in printed
    for name in ("report.md", "findings.csv", "scaling.csv", "cost.png"):
        assert f"wrote {tmp_path / 'new' / name}" in printed
        assert (tmp_path / "new" / name).stat().st_size > 0


def test_evaluations_are_those_of_the_steps_on_the_clock():
    got = scaling.cost(3, body_steps=90, repeats=1)
    run = la.simulate(la.library.chain(3), dt=scaling.DT, steps=scaling.SETTLE + 30, integrator=scaling.METHOD)
    assert got.evaluations == run.iterations[scaling.SETTLE :].mean()


@pytest.mark.parametrize(("body_steps", "steps"), [(1, scaling.LEAST_STEPS), (10**9, scaling.MOST_STEPS)])
def test_number_of_steps_is_bounded(monkeypatch, body_steps, steps):
    timed = []
    monkeypatch.setattr(scaling, "_timed", lambda _model, count: timed.append(count) or 1.0)
    assert scaling.cost(2, body_steps, repeats=2).step == 1.0 / steps
    assert timed == [steps, steps]


@pytest.mark.parametrize("power", [1.0, 1.5])
def test_slope_is_the_exponent_of_a_power_law(power):
    assert scaling.slope([Cost(n, 4.0, 1.0, 3e-7 * n**power) for n in (100, 300, 1000)]) == pytest.approx(power)


def test_findings_stand_beside_their_aims():
    found = {finding.what: str(finding) for finding in report.findings(MADE_UP)}
    assert found["slope of the cost of an evaluation, n = 100…1000"].endswith(": 1 (aim: at most 1.1)")
    assert found["a step of a chain of 100,000 bodies"].endswith(": 0.5 s (aim: at most 1 s)")
    assert found["peak memory with 100,000 bodies"].endswith(": 0.7 GB (aim: at most 1 GB)")
    assert found["large libraries imported along (mujoco)"].endswith(": 1 (aim: at most 0)")


def test_report_has_the_machine_the_findings_and_every_size(tmp_path):
    report.write(MADE_UP, tmp_path)
    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    for name in ("processor", "Numba", "leastaction"):
        assert f"- {name}: {report.machine()[name]}" in page
    assert "| a step of a chain of 100,000 bodies | 0.5 s | ≤ 1 s |" in page
    assert "| 1000 | 4.00 | 4000 | 1000 | 1000 |" in page
    with (tmp_path / "scaling.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [Cost(int(r["n"]), *(float(r[k]) for k in Cost._fields[1:])) for r in rows] == MADE_UP.costs
    with (tmp_path / "findings.csv").open(encoding="utf-8") as file:
        assert [r["what"] for r in csv.DictReader(file)] == [f.what for f in report.findings(MADE_UP)]


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
    monkeypatch.setattr(suite, "run", lambda *arguments: asked.append(arguments))
    monkeypatch.setattr(command, "run", suite.run)
    monkeypatch.setattr(sys, "argv", ["bench", *options, "--out", str(tmp_path)])
    command.main()
    assert CliRunner().invoke(app, ["bench", *options, "--out", str(tmp_path)]).exit_code == 0
    assert asked == [(plan, tmp_path)] * 2
