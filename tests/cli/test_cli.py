"""The command prints a report, draws where told, and answers bad input with a line and a code, not a traceback."""

import sys

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import leastaction as la
from leastaction import cli
from leastaction.cli import report
from leastaction.cli.commands import app


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_version():
    assert run("--version").output.strip() == la.__version__


@pytest.mark.parametrize("integrator", list(report.Method))
def test_simulate_reports_the_energy_error(tmp_path, integrator):
    result = run("simulate", "double_pendulum", "--duration", 0.5, "--dt", 5e-3, "--integrator", integrator,
                 "--out-dir", tmp_path)
    assert result.exit_code == 0, result.output
    _, method = report.INTEGRATORS[integrator]
    expected = la.simulate(la.library.double_pendulum(), dt=5e-3, duration=0.5, integrator=method)
    assert result.stdout.startswith(expected.report())
    assert (tmp_path / "double_pendulum-energy.png").is_file()


def test_simulate_without_a_picture(tmp_path):
    result = run("simulate", "chain:3", "--duration", 0.01, "--no-plot", "--out-dir", tmp_path / "none")
    assert result.exit_code == 0, result.output
    assert not (tmp_path / "none").exists()


def test_demo_draws_and_says_where(tmp_path):
    result = run("demo", "--out", tmp_path / "new", "--duration", 0.3)
    assert result.exit_code == 0, result.output
    model = la.library.chain(10)
    for label, method in report.INTEGRATORS.values():
        expected = la.simulate(model, dt=1e-3, duration=0.3, integrator=method)
        line, = (line for line in result.stdout.splitlines() if line.startswith(label))
        largest, at_end = line.removeprefix(label).split()[:2]
        assert float(largest) == pytest.approx(100 * expected.max_energy_error, rel=6e-3)
        assert float(at_end) == pytest.approx(100 * expected.energy_error[-1], rel=6e-3)
    for name in ("energy.png", "chain.gif"):
        assert str(tmp_path / "new" / name) in result.stdout
        with Image.open(tmp_path / "new" / name) as picture:
            assert min(picture.size) > 200


@pytest.mark.parametrize(("arguments", "words"), [
    (["chian:10"], "there is no built-in model 'chian'"),
    (["chain:ten"], "cannot read 'chain:ten'"),
    (["chain:3", "--dt", "-1"], "dt"),
    (["chain:3", "--duration", "nan"], "duration"),
])
def test_bad_input_is_one_line_and_code_2(arguments, words):
    result = run("simulate", *arguments, "--no-plot")
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stderr.startswith("leastaction: ") and result.stderr.count("\n") == 1
    assert result.stdout == ""


URDF = """<robot name="arm"><link name="a"/><link name="b"><inertial><origin xyz="0 0 -1"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="hinge" type="revolute">
<parent link="a"/><child link="b"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
</joint></robot>"""


def test_simulate_takes_a_file(tmp_path):
    (tmp_path / "arm.urdf").write_text(URDF)
    result = run("simulate", tmp_path / "arm.urdf", "--duration", 0.01, "--out-dir", tmp_path)
    assert result.exit_code == 0, result.output
    assert "note: arm.urdf: kept but not acting: joint limits (1)" in result.stderr
    assert (tmp_path / "arm-energy.png").is_file()


def test_info_shows_the_tree(tmp_path):
    (tmp_path / "arm.urdf").write_text(URDF)
    result = run("info", tmp_path / "arm.urdf", "--root", "free", "--ignore", "limits")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "<Model 'arm': 2 bodies, nq = 8, nv = 7, 1 kg>",
        "└─a    free 'root_joint'  q[0:7]  0 kg",
        "  └─b  revolute 'hinge'   q[7]    1 kg",
        "not acting: limits (1)",
        "  limits: 'hinge'",
    ]
    assert result.stderr == ""
    assert run("info", "chain:70").stdout.count("revolute") == 70
    assert run("info", tmp_path / "absent.urdf").exit_code == 2


def test_output_folder_that_is_a_file(tmp_path):
    (tmp_path / "out").write_text("in the way")
    result = run("simulate", "pendulum", "--duration", 0.01, "--out-dir", tmp_path / "out")
    assert result.exit_code == 2
    assert "out" in result.stderr


def test_failed_step_is_code_3(monkeypatch):
    def fail(*_, **__):
        raise la.StepError("no convergence", 7, 0.007, 1e-3, "link2", np.zeros(3), np.zeros(3), np.zeros(3))

    monkeypatch.setattr(la, "simulate", fail)
    result = run("simulate", "chain:3", "--no-plot")
    assert result.exit_code == 3
    assert "step 7" in result.stderr and "'link2'" in result.stderr


def test_debug_shows_the_traceback():
    result = run("simulate", "chian", "--debug")
    assert isinstance(result.exception, la.ModelError)


def test_missing_typer_gives_a_hint(monkeypatch):
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == "typer" else object())
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == "leastaction: the command needs typer: pip install 'leastaction[cli]'"


def test_main_runs_the_app(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["leastaction", "--version"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 0
    assert capsys.readouterr().out.strip() == la.__version__
