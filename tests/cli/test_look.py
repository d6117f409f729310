"""leastaction view and leastaction audit."""

import json

from PIL import Image
from runner import run

import leastaction as la
from leastaction import viewers


def test_view_writes_a_page_and_a_gif(tmp_path):
    page, gif = tmp_path / "new" / "run.html", tmp_path / "new" / "run.gif"
    result = run("view", "double_pendulum", "--duration", 0.3, "--html", page, "--gif", gif)
    assert result.exit_code == 0, result.output
    assert str(page) in result.stdout and str(gif) in result.stdout
    assert "<canvas" in page.read_text("utf-8")
    with Image.open(gif) as picture:
        assert picture.n_frames > 3


def test_view_serves_what_was_asked_for(monkeypatch):
    served = []
    monkeypatch.setattr(viewers, "view", lambda traj, port, block: served.append((traj, port, block)))
    result = run("view", "chain:3", "--duration", 0.2, "--dt", 2e-3, "--integrator", "rk4", "--port", 9999)
    assert result.exit_code == 0, result.output
    (traj, port, block), = served
    assert (traj.model.name, traj.dt, traj.t[-1], port, block) == ("chain", 2e-3, 0.2, 9999, True)
    assert isinstance(traj.integrator, la.RungeKutta4)


def test_audit_prints_the_certificate(tmp_path):
    result = run("audit", "double_pendulum", "--duration", 1, "--order", 4, "--html", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    expected = la.audit(la.library.double_pendulum(), duration=1.0, integrator=la.Variational(order=4))
    assert result.stdout.startswith(str(expected))
    assert (tmp_path / "page.html").is_file()


def test_audit_as_json_is_nothing_but_json(tmp_path):
    result = run("audit", "pendulum", "--duration", 0.5, "--json", "--html", tmp_path / "page.html")
    found = json.loads(result.stdout)
    assert found["model"] == "pendulum" and found["kept"] is True
    assert "page.html" in result.stderr


def test_audit_compares(tmp_path):
    result = run("audit", "pendulum", "--compare", "--duration", 0.2, "--html", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    assert "semi-implicit Euler" in result.stdout
    found = json.loads(run("audit", "pendulum", "--compare", "--duration", 0.2, "--json").stdout)
    assert len(found["methods"]) >= 5


def test_initial_state(tmp_path, monkeypatch):
    """--initial acts in view, audit and audit --compare, and is refused for a run, which has its own."""
    model, start = la.library.double_pendulum(), "q=2,1;v=0.5,0"
    served = []
    monkeypatch.setattr(viewers, "view", lambda traj, port, block: served.append(traj))
    assert run("view", "double_pendulum", "--duration", 0.1, "--initial", start).exit_code == 0
    assert (served[0].q[0].tolist(), served[0].v[0].tolist()) == ([2, 1], [0.5, 0])
    result = run("audit", "double_pendulum", "--duration", 0.3, "--initial", start)
    assert result.stdout.startswith(str(la.audit(model, [2, 1], [0.5, 0], duration=0.3)))
    found = json.loads(run("audit", "double_pendulum", "--compare", "--duration", 0.1, "--initial", start,
                           "--json").stdout)
    assert found["q"] == [2, 1] and found["v"] == [0.5, 0]
    served[0].save(tmp_path / "run.h5")
    for command in (["view"], ["audit"], ["audit", "--compare"]):
        result = run(*command, tmp_path / "run.h5", "--initial", start)
        assert result.exit_code == 2 and "--initial and --assemble are for a model" in result.stderr


def test_a_model_at_rest_is_named():
    at_rest = ("audit", "double_pendulum", "--duration", 0.2, "--initial", "q=0,0;v=0,0")
    assert "The model is at rest. Nothing moves" in run(*at_rest).stdout
    result = run(*at_rest, "--compare")
    assert result.exit_code == 2
    assert result.stderr == ("leastaction: the model 'double_pendulum' is at rest: nothing to compare; give q or v "
                             "(--initial)\n")


def test_bad_input_is_one_line_and_code_2():
    for command in ("view", "audit"):
        result = run(command, "chian:10")
        assert result.exit_code == 2
        assert result.stderr.startswith("leastaction: ") and result.stderr.count("\n") == 1
    assert run("audit", "pendulum", "--order", 3).exit_code == 2
    assert run("view", "pendulum", "--duration", 0.1, "--html", "run.txt").exit_code == 2
