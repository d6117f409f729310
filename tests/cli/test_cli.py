"""The command prints a report, draws where told, and answers bad input with a line and a code, not a traceback."""

import importlib
import json
import signal
import sys
import types

import h5py
import numba
import numpy as np
import pytest
from numba.core import event
from PIL import Image
from runner import run

import leastaction as la
from leastaction import cli, stopwatch
from leastaction.cli import report
from leastaction.cli.initial import initial_state
from leastaction.files import writer
from leastaction.model.joint import OUTSIDE
from reference.mechanisms import four_bar


def test_version():
    assert run("--version").output.strip() == la.__version__


@pytest.mark.parametrize("integrator", list(report.Method))
def test_simulate_reports_the_energy_error(integrator):
    result = run("simulate", "double_pendulum", "--duration", 0.5, "--dt", 5e-3, "--integrator", integrator)
    assert result.exit_code == 0, result.output
    expected = la.simulate(la.library.double_pendulum(), dt=5e-3, duration=0.5, integrator=integrator.value)
    assert result.stdout.startswith(expected.report())


def test_simulate_as_json():
    start = "link1=2;v=1,-1"
    result = run("simulate", "double_pendulum", "--duration", 0.5, "--order", 4, "--initial", start, "--json")
    assert result.exit_code == 0, result.output
    expected = la.simulate(la.library.double_pendulum(), [2, 0.5], [1, -1], duration=0.5,
                           integrator=la.Variational(order=4))
    found = json.loads(result.stdout)
    assert found["max_energy_error"] == expected.max_energy_error
    assert found["steps"] == 500 and found["statuses"] == {"converged": 500} and found["out"] is None
    assert found["integrator"]["order"] == 4


def test_simulate_by_a_tolerance():
    result = run("simulate", "chain:3", "--duration", 1, "--dt", 0.1, "--integrator", "dop853", "--tol", 1e-7, "--json")
    assert result.exit_code == 0, result.output
    found, expected = json.loads(result.stdout), la.simulate(la.library.chain(3), dt=0.1, duration=1.0,
                                                             integrator=la.DormandPrince8(1e-7))
    assert found["integrator"] == {"kind": "DormandPrince8", "tol": 1e-7}
    assert found["evaluations"] == expected.iterations.sum()


def test_resume_elsewhere(tmp_path, monkeypatch):
    """With another Numba the rest cannot be the same bit for bit: the error names the option that accepts it."""
    file = tmp_path / "run.h5"
    la.simulate(la.library.chain(3), dt=1e-3, duration=0.1, out=file)
    monkeypatch.setattr(numba, "__version__", "0.63.1")
    refused = run("resume", file, "--duration", 0.2)
    assert refused.exit_code != 0 and "Numba was" in refused.stderr and "--allow-other-bits" in refused.stderr
    assert run("resume", file, "--duration", 0.2, "--allow-other-bits").exit_code == 0
    assert la.open(file).steps == 200


def test_simulate_to_a_file_plot_and_resume(tmp_path):
    file = tmp_path / "run.h5"
    result = run("simulate", "chain:3", "--duration", 0.2, "--record-every", 5, "--out", file)
    assert result.exit_code == 0, result.output
    expected = la.simulate(la.library.chain(3), duration=0.2, record_every=5)
    np.testing.assert_array_equal(la.open(file).q, expected.q)
    again = run("resume", file, "--json")
    assert json.loads(again.stdout)["steps"] == 200
    drawn = run("plot", file, "--curve", "energy", "--curve", "state", "--out", tmp_path / "pictures")
    assert drawn.exit_code == 0, drawn.output
    for name in ("energy", "state"):
        with Image.open(tmp_path / "pictures" / f"run-{name}.png") as picture:
            assert min(picture.size) > 200
    assert run("plot", file, "--curve", "colour").exit_code == 2
    refused = run("simulate", "chain:3", "--duration", 0.1, "--out", file)
    assert refused.exit_code == 4 and "run.h5 exists: " in refused.stderr and "--overwrite" in refused.stderr
    allowed = run("simulate", "chain:3", "--duration", 0.1, "--out", file, "--overwrite")
    assert allowed.exit_code == 0 and la.open(file).steps == 100


def test_an_initial_state_that_is_closed_first():
    """Joints that are named stay, the others follow; without the option the open start names it."""
    model = four_bar()
    q, v = initial_state(model, "crank=1.3", assemble=True)
    expected = la.assemble(model, (1.3, *model.q0[1:]), keep="crank")
    np.testing.assert_array_equal(q, expected[0])
    np.testing.assert_array_equal(v, expected[1])
    with pytest.raises(ValueError, match="--assemble of the command, gives a closed state near it"):
        la.Simulator(model, *initial_state(model, "crank=1.3"), dt=1e-3)
    for command in ("simulate", "audit", "view"):
        assert "--assemble" in run(command, "--help").output


def test_initial_states(tmp_path):
    model, file = la.library.chain(3), tmp_path / "run.h5"
    traj = la.simulate(model, steps=10, out=file)
    q, v = initial_state(model, str(file))
    np.testing.assert_array_equal([q, v], [traj.q[-1], traj.v[-1]])
    (tmp_path / "start.json").write_text(json.dumps({"q": [1, 2, 3], "link2": 5}))
    q, v = initial_state(model, str(tmp_path / "start.json"))
    np.testing.assert_array_equal([q, v], [[1, 5, 3], [0, 0, 0]])
    np.testing.assert_array_equal(initial_state(model, None)[0], model.q0)
    with pytest.raises(ValueError, match="does not fit"):
        initial_state(la.library.chain(4), str(file))


def test_ctrl_c_says_how_to_go_on(tmp_path, monkeypatch):
    """Ctrl-C in the middle of a run: code 130, and the file can go on."""
    file, room = tmp_path / "run.h5", writer.Writer.room

    def press(self, first, steps):
        if first > 1000 and not (tmp_path / "pressed").exists():
            (tmp_path / "pressed").touch()
            signal.raise_signal(signal.SIGINT)
        return room(self, first, steps)

    monkeypatch.setattr(writer.Writer, "room", press)
    result = run("simulate", "chain:3", "--duration", 50, "--out", file)
    assert result.exit_code == 130
    reached = la.open(file).steps
    assert 1000 < reached < 50_000
    assert f"interrupted after {reached} steps" in result.stderr and f"leastaction resume {file}" in result.stderr
    assert run("resume", file).exit_code == 0
    np.testing.assert_array_equal(la.open(file).q, la.simulate(la.library.chain(3), duration=50).q)


@pytest.mark.parametrize("command", ["demo", "hour"])
@pytest.mark.parametrize("duration", ["-5", "0.5", "nan"])
def test_an_hour_shorter_than_a_second_draws_nothing(command, duration, tmp_path):
    result = run(command, "--duration", duration, "--out" if command == "demo" else "--root", tmp_path)
    assert result.exit_code == 2 and not list(tmp_path.iterdir())
    assert f"duration must be a second or more, as the energy is taken once a second, not {duration}" in result.stderr


def test_demo_draws_and_says_where(tmp_path):
    result = run("demo", "--out", tmp_path / "new", "--duration", 6)
    assert result.exit_code == 0, result.output
    sim = la.Simulator(la.library.chain(10), dt=5e-4)
    energy = [sim.energy] + [sim.energy for _ in range(6) if sim.step(2000) is None]
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("variational, order 2 "))
    *_, greatest, _, level, _ = line.split()
    error = (np.array(energy) - energy[0]) / sim._engine.extremes.kinetic
    assert float(level) == pytest.approx(100 * error[-1], rel=6e-2)
    assert float(greatest) >= 99 * np.abs(error).max()
    for name in ("hour.png", "chain.gif"):
        assert str(tmp_path / "new" / name) in result.stdout
        with Image.open(tmp_path / "new" / name) as picture:
            assert min(picture.size) > 200


@pytest.mark.parametrize(("arguments", "words"), [
    (["chian:10"], "there is no built-in model 'chian'"),
    (["chain:ten"], "cannot read 'chain:ten'"),
    (["chain:3", "--dt", "-1"], "dt"),
    (["chain:3", "--duration", "nan"], "duration"),
    (["chain:3", "--order", "3"], "order must be one of 2, 4, 6, 8"),
    (["chain:3", "--order", "4", "--integrator", "rk4"], "--order is for the variational integrator"),
    (["chain:3", "--tol", "1e-6", "--integrator", "rk4"], "--tol is for the integrator dop853"),
    (["chain:3", "--tol", "1", "--integrator", "dop853"], "tol must be a number from 1e-14 to 0.01"),
    (["chain:3", "--initial", "q=1,2"], "'q' in the initial state has 2 numbers, but needs 3"),
    (["chain:3", "--initial", "link9=1"], "there is no body 'link9'"),
    (["chain:3", "--initial", "q=one"], "cannot read 'q=one'"),
])
def test_bad_input_is_one_line_and_code_2(arguments, words):
    result = run("simulate", *arguments)
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
    result = run("simulate", tmp_path / "arm.urdf", "--duration", 0.01)
    assert result.exit_code == 0, result.output
    assert "note: arm.urdf: kept but not acting: limits of effort or velocity (1)" in result.stderr


def test_info_shows_the_tree(tmp_path):
    (tmp_path / "arm.urdf").write_text(URDF)
    result = run("info", tmp_path / "arm.urdf", "--root", "free", "--ignore", "limits")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "<Model 'arm': 2 bodies, nq = 8, nv = 7, 1 kg>",
        "└─a    free 'root_joint'  q[0:7]  0 kg",
        "  └─b  revolute 'hinge'   q[7]    1 kg",
        "not acting: limits (1), effort (1)",
        "  limits: 'hinge'",
        "  effort: 'hinge' (effort, velocity)",
    ]
    assert result.stderr == ""
    assert run("info", "chain:70").stdout.count("revolute") == 70
    assert run("info", tmp_path / "absent.urdf").exit_code == 2


def test_info_says_what_a_file_of_results_is(tmp_path):
    model = la.library.pendulum()
    traj = la.simulate(model, dt=1e-3, steps=3, out=tmp_path / "run.h5")
    la.Simulator(model, dt=1e-3).checkpoint(tmp_path / "state.h5")
    for name, attribute in (("export.h5", "description"), ("ensemble.h5", "members_missing"), ("other.h5", "other")):
        with h5py.File(tmp_path / name, "w") as file:
            file.attrs[attribute] = 1
    (tmp_path / "export.nc").write_bytes(b"CDF\x02")
    shown = run("info", tmp_path / "run.h5").stdout
    assert repr(traj) in shown and "revolute" in shown
    for name, words in (("state.h5", "is a checkpoint, not a run: la.Simulator.restore"),
                        ("other.h5", "not one of leastaction"), ("export.h5", "what to_xarray() gave"),
                        ("export.nc", "what to_xarray() gave"), ("ensemble.h5", "the results of an ensemble")):
        result = run("info", tmp_path / name)
        assert result.exit_code == 4 and words in result.stderr, result.stderr
    with pytest.raises(la.FileError, match="part of an ensemble"), h5py.File(tmp_path / "part.h5", "w") as file:
        file["statistics_count"] = [1]
        file.close()
        la.open(tmp_path / "part.h5")


HINGE = """
from dataclasses import dataclass
import leastaction as la

@dataclass(frozen=True)
class Hinge(la.Revolute):
    pass
"""


@pytest.mark.parametrize("module", ["__main__", "own_hinge"])
def test_classes_of_the_user_are_imported_when_asked_for(module, tmp_path, monkeypatch):
    """Those of a module, and those of a script that wrote the file, when it is imported."""
    namespace = {"__name__": module}
    exec(HINGE, namespace)
    model = la.Model()
    model.add_body("arm", joint=namespace["Hinge"]((0, 1, 0)), inertia=la.Inertia.sphere(1.0, 0.1, com=(0.5, 0, 0)))
    la.simulate(model, dt=1e-3, steps=3, out=tmp_path / "run.h5")
    OUTSIDE.pop(f"{module}.Hinge")
    result = run("info", tmp_path / "run.h5")
    assert result.exit_code == 4 and f"is of the class {module}.Hinge" in result.stderr
    assert "--import MODULE does that here" in result.stderr
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    assert "--import own_hinge: No module named" in run("info", tmp_path / "run.h5", "--import", "own_hinge").stderr
    (tmp_path / "own_hinge.py").write_text(HINGE)
    importlib.invalidate_caches()
    result = run("info", tmp_path / "run.h5", "--import", "own_hinge")
    assert result.exit_code == 0 and "hinge" in result.stdout, result.stderr
    sys.modules.pop("own_hinge")
    OUTSIDE.pop("own_hinge.Hinge")


@pytest.mark.parametrize("arguments", [["resume", "none.h5"], ["plot", "none.h5"],
                                       ["simulate", "chain:3", "--out", "none/run.h5"]], ids=" ".join)
def test_files_that_are_not_there_are_code_4(arguments):
    result = run(*arguments)
    assert result.exit_code == 4
    assert "none" in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["simulate", "resume", "plot"])
def test_help_has_examples_and_codes(command):
    text = run(command, "--help").stdout
    assert f"leastaction {command} " in text and "130" in text


def test_failed_step_is_code_3(monkeypatch):
    def fail(*_, **__):
        raise la.StepError("no convergence", 7, 0.007, 1e-3, "link2", np.zeros(3), np.zeros(3), np.zeros(3))

    monkeypatch.setattr(la, "simulate", fail)
    result = run("simulate", "chain:3")
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


def test_the_time_of_a_run_is_without_compiling(monkeypatch):
    simulate = la.simulate
    clock = types.SimpleNamespace(now=0.0, perf_counter=lambda: clock.now, thread_time=lambda: clock.now)

    def slow(*args, **options):
        clock.now += 3.0
        with event.trigger_event("numba:compiler_lock"):
            clock.now += 10.0
        return simulate(*args, **options)

    monkeypatch.setattr(la, "simulate", slow)
    monkeypatch.setattr(stopwatch, "time", clock)
    assert json.loads(run("simulate", "pendulum", "--duration", 0.05, "--json").stdout)["seconds"] == 3.0
