"""`leastaction ensemble`: it makes what `Ensemble` makes, goes on where it was, and answers mistakes in a line."""

import json
import shlex
import signal
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image
from runner import run

import leastaction as la
from leastaction.cli import ensemble as command
from leastaction.cli.app import app
from leastaction.cli.vary import read_vary
from leastaction.simulation.progress import Progress

LINE = ["ensemble", "chain:3", "--members", "40", "--vary", "mass:*=5%", "--vary", "q:link1=0.5..1", "--vary",
        "gravity=0,0,-9.8+-0,0,0.1", "--dt", "0.005", "--duration", "0.5", "--seed", "3", "--chunk", "16"]


def test_it_makes_what_python_makes_and_the_same_line_goes_on(tmp_path):
    out, picture = tmp_path / "study", tmp_path / "fan.png"
    result = run(*LINE, "--out", out, "--plot", picture, "--of", "v:link2")
    assert result.exit_code == 0, result.output
    vary = {"mass:*": la.Normal(relative=0.05), "q:link1": la.Uniform(0.5, 1.0),
            "gravity": la.Normal((0, 0, -9.8), (0, 0, 0.1))}
    expected = la.Ensemble("chain:3", 40, vary, dt=5e-3, duration=0.5, seed=3).run(tmp_path / "python", progress=False)
    results = la.open_ensemble(out)
    for name in ("q", "v", "energy"):
        np.testing.assert_array_equal(getattr(results, name), getattr(expected, name))
    assert results.digest == expected.digest
    with Image.open(picture) as drawn:
        assert min(drawn.size) > 200
    first, *_, last, _ = result.stdout.splitlines()
    assert first == "chain: 40 members of 100 steps of 0.005 s"
    assert last == f"in {out}; open it with: leastaction.open_ensemble({str(out)!r})"
    (out / "chunks" / "00000001.h5").unlink()
    kept = {path: path.stat().st_mtime_ns for path in (out / "chunks").iterdir()}
    again = run(*LINE, "--out", out, "--json")
    assert {path: path.stat().st_mtime_ns for path in kept} == kept and not la.open_ensemble(out).missing
    found, energy = json.loads(again.stdout), expected.statistics
    assert (found["members"], found["failed"], found["kept"], found["chunk"]) == (40, 0, 101, 16)
    assert found["energy_at_the_end"]["mean"] == energy.mean["energy"][-1]
    assert found["energy_at_the_end"]["std"] == energy.std["energy"][-1]


@pytest.mark.parametrize(("options", "recorded", "kept"), [
    (["--keep", "last"], 101, 1), (["--keep", "50"], 101, 3), (["--keep", "statistics"], 101, 0),
    (["--record-every", "100"], 2, 2), (["--dt", "0.0005"], 201, 201)])
def test_what_is_kept(tmp_path, options, recorded, kept):
    result = run(*LINE, "--out", tmp_path / "e", "--members", 8, "--json", *options)
    found = json.loads(result.stdout)
    assert (found["recorded"], found["kept"]) == (recorded, kept)


@pytest.mark.parametrize("steps", [1, 7, 199, 200, 201, 1000, 10_007, 30_000])
def test_nodes_unless_told(steps):
    every = command.spread(steps * 1e-3, 1e-3)
    assert steps % every == 0 and steps // every <= 200
    assert not any(steps % k == 0 and steps // k <= 200 for k in range(1, every))


@pytest.mark.parametrize(("text", "expected"), [
    ("5%", la.Normal(relative=0.05)), ("5 %", la.Normal(relative=0.05)), ("2±0.1", la.Normal(2.0, 0.1)),
    ("2 +- 0.1", la.Normal(2.0, 0.1)), ("-2+/-1e-3", la.Normal(-2.0, 1e-3)), ("±0.1", la.Normal(std=0.1)),
    ("-1..1", la.Uniform(-1.0, 1.0)), ("1e-3 .. 2e-3", la.Uniform(1e-3, 2e-3)),
    ("0,0,-9.8±0,0,0.1", la.Normal((0, 0, -9.8), (0, 0, 0.1))), ("-1,0..1,0", la.Uniform((-1, 0), (1, 0)))])
def test_values(text, expected):
    assert read_vary([f"q:a=b={text}"]) == {"q:a=b": expected}


@pytest.mark.parametrize(("options", "words"), [
    (["--vary", "mass:*"], "cannot take --vary 'mass:*': write it as NAME=VALUE"),
    (["--vary", "mass:*=five%"], "cannot take --vary 'mass:*=five%': 'five' is no number. Write 5% (of"),
    (["--vary", "mass:*=1,"], "a number is missing"),
    (["--vary", "mass:*=5"], "not how it varies. Write 5% (of the model's value), 2±0.1"),
    (["--vary", "mass:*=1±5%"], "a deviation in percent is one of the model's own value"),
    (["--vary", "mass:*=2..1"], "cannot take --vary 'mass:*=2..1': low of Uniform must not be greater than high"),
    (["--vary", "com:*=±1", "--vary", "com:*=±2"], "--vary has 'com:*' twice"),
    (["--vary", "com=±0.1"], "'com' needs the name of a body or joint: 'com:*' for all"),
    (["--vary", "mas:*=5%"], "did you mean 'mass'"),
    (["--vary", "v=5%"], "'v' is 0 in chain, and a part of 0 is 0"),
    (["--vary", "v=±1", "--members", "ten"], "--members must be a whole number such as 10000 or 1e4, not 'ten'"),
    (["--vary", "v=±1", "--members", "1.5"], "--members must be a whole number"),
    (["--vary", "v=±1", "--keep", "some"], "keep must be 'all', 'last', 'statistics' or a whole number"),
    (["--vary", "v=±1", "--most-failures", "few"], "--most-failures must be a part such as 0.1 or 10%"),
    (["--vary", "v=±1", "--record-every", "7"], "give a divisor, such as 5"),
    (["--vary", "v=±1", "--dt", "0"], "dt must be a positive number"),
    (["--vary", "v=±1", "--plot", "fan"], "--plot fan needs a suffix"),
    (["--vary", "v=±1", "--plot", "fan.png", "--of", "lnk1"], "did you mean 'link1'"),
    (["--vary", "v=±1", "--workers", "2", "--scheduler", "x"], "give either --workers, "),
    (["--vary", "v=±1", "--scheduler", "localhost"], "no Dask scheduler answers at 'localhost' (missing port number"),
], ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_mistakes_are_one_line_and_code_2_before_anything_is_made(tmp_path, options, words):
    result = run("ensemble", "chain:3", "--members", 10, "--duration", 0.1, "--dt", 5e-3, "--out", tmp_path / "e",
                 *options)
    assert result.exit_code == 2 and result.stdout == ""
    assert words in result.stderr
    assert result.stderr.startswith("leastaction: ") and result.stderr.count("\n") == 1
    assert not (tmp_path / "e").exists()


def test_another_ensemble_and_too_many_failures(tmp_path):
    line = ["ensemble", "chain:3", "--members", 20, "--duration", 0.01, "--out", tmp_path / "e"]
    failed = run(*line, "--vary", "mass:*=150%")
    assert failed.exit_code == 3 and failed.stderr.count("\n") == 1
    assert "11 of 20 members failed" in failed.stderr and "mass is negative" in failed.stderr
    allowed = run(*line, "--vary", "mass:*=150%", "--most-failures", "60%")
    assert allowed.exit_code == 0 and "failed           11, 55 % of them\n" in allowed.stdout
    assert "body 'link2': mass is negative" in allowed.stdout
    other = run(*line, "--vary", "mass:*=5%")
    assert other.exit_code == 4 and "has another ensemble: vary 'mass:*' relative is 1.5 there and 0.05" in other.stderr
    assert run(*line, "--vary", "v=±1", "--plot", "absent/fan.png").exit_code == 4


def test_workers_of_its_own(tmp_path):
    result = run(*LINE, "--out", tmp_path / "e", "--workers", 2)
    assert result.exit_code == 0, result.output
    assert not la.open_ensemble(tmp_path / "e").missing


@pytest.mark.parametrize(("error", "code"), [
    (RuntimeError("chunk 0 ended 3 worker processes"), 3), (ConnectionResetError("the scheduler is gone"), 4),
    (type("KilledWorker", (Exception,), {"__module__": "distributed.scheduler"})("it died 4 times"), 3)])
def test_what_is_left_when_a_worker_fails_is_told(tmp_path, monkeypatch, error, code):
    def make(*_):
        raise error
        yield

    monkeypatch.setattr("leastaction.ensemble.engines.Threads.make", make)
    result = run(*LINE, "--out", tmp_path / "e")
    assert result.exit_code == code
    left = f"0 of 40 members are in {tmp_path / 'e'}: the same line makes the rest"
    assert result.stderr == f"leastaction: {error}. {left}\n"


def test_ctrl_c_says_how_to_go_on(tmp_path, monkeypatch):
    line, update, pressed = [*LINE, "--chunk", 4, "--out", tmp_path / "e"], Progress.update, []

    def press(bar, members):
        update(bar, members)
        if bar.unit == "member" and bar.done >= 12 and not pressed:
            pressed.append(bar.done)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Progress, "update", press)
    result = run(*line)
    assert result.exit_code == 130 and result.stdout == ""
    assert result.stderr == (f"leastaction: interrupted; 12 of 40 members are in {tmp_path / 'e'}: the same line "
                             "makes the rest\n")
    assert la.open_ensemble(tmp_path / "e").missing
    assert run(*line).exit_code == 0
    assert not la.open_ensemble(tmp_path / "e").missing


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:Port 8787")
def test_a_scheduler(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, host="127.0.0.1", protocol="tcp",
                                  dashboard_address=None) as cluster:
        result = run(*LINE, "--out", tmp_path / "e", "--scheduler", cluster.scheduler_address)
    assert result.exit_code == 0, result.output
    assert not la.open_ensemble(tmp_path / "e").missing


def test_examples_of_the_help_are_right():
    (epilog,) = (one.epilog for one in app.registered_commands if one.callback is command.ensemble)
    lines = [line for line in epilog.splitlines() if "leastaction ensemble" in line]
    assert len(lines) == 3
    for line in lines:
        words = shlex.split(line)
        vary = read_vary(word for before, word in pairwise(words) if before == "--vary")
        la.Ensemble("chain:10", 3, vary, dt=1e-2, steps=2)

