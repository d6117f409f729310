"""The site has every public name and every example, and what its pages tell the reader to do works."""

import inspect
import os
import re
import shlex
import subprocess
import sys
from functools import partial
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import leastaction as la
from leastaction.model.loops import ROWS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MODULES = {"library": "leastaction.model.library", "convert": "leastaction.formats.convert",
           "peers": "leastaction.integrators.peers"}


def page(name):
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(name, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page(name), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", [*la.__all__, "open"])
def test_public_name_is_documented(name):
    described = re.findall(r"^\.\. (?:auto\w+|data):: (\S+)$", page("api.rst"), re.MULTILINE)
    assert MODULES.get(name, f"leastaction.{name}") in described
    if name != "__version__":
        assert inspect.getdoc(getattr(la, name))


def test_examples_are_in_the_gallery():
    shown = re.findall(r"^```\{example\} (\S+)$", page("gallery.md"), re.MULTILINE)
    assert shown == sorted(path.stem for path in (ROOT / "examples").glob("*.py"))


def test_pages_are_in_the_contents():
    trees = "\n".join(blocks("index.md", r"\{toctree\}"))
    listed = {line for line in trees.split() if not line.startswith(":")}
    assert {path.stem for path in DOCS.glob("*.md")} - {"index"} <= listed


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_links_lead_to_files(path):
    targets = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    assert [target for target in targets if not (DOCS / target).is_file()] == []


def test_notation_names_what_is_in_the_kernels():
    names = set(re.findall(r"`((?:[a-z]\w*\.)?[a-z]\w*)\.(?!py`)([A-Za-z]\w*)`", page("notation.md")))
    names -= {("module", "name"), ("folder.module", "name"), ("tree", "parent"), ("L", "arm")}
    assert len(names) > 70
    assert [(m, n) for m, n in names if not hasattr(import_module(f"leastaction.kernels.{m}"), n)] == []


def test_notation_has_the_fields_of_a_link():
    """As tools/print_notation.py prints them."""
    spec = spec_from_file_location("print_notation", DOCS.parent / "tools" / "print_notation.py")
    tool = module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.tables() in page("notation.md"), "run python tools/print_notation.py --publish docs/notation.md"


@pytest.mark.parametrize(("tool", "name"), [("count_flops", "performance.md"), ("print_notation", "notation.md")])
def test_tools_print_what_pages_have_and_write_only_when_told(tool, name, tmp_path):
    before = page(name)
    copy = tmp_path / name
    copy.write_text(re.sub(r"^\|.*\n", "", before, flags=re.MULTILINE), encoding="utf-8")   # its tables taken out

    def run(*options):
        return subprocess.run([sys.executable, ROOT / "tools" / f"{tool}.py", *options], check=True,
                              capture_output=True, text=True, encoding="utf-8").stdout

    assert "--publish PAGE" in run("--help")
    text = run("--publish", copy)
    assert text in before and text.strip() in copy.read_text(encoding="utf-8")
    assert page(name) == before


@pytest.fixture(scope="module")
def places():
    """The ends of all paths in the repository: "kernels/step.py" is one, and "kernels/" as well."""
    folders = [ROOT / name for name in ("src", "benchmarks", "tests", "tools", "docs", "examples")]
    found = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    texts = [path.relative_to(ROOT).as_posix() + "/" * path.is_dir() for path in found]
    return {text[at:] for text in texts for at in (0, *(match.end() for match in re.finditer("/", text)))}


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_paths_in_the_text_exist(path, places):
    named = set(re.findall(r"`((?:[a-z_]\w*/)+(?:\w+\.py)?|\w+\.py)`", path.read_text(encoding="utf-8")))
    theirs = {"polar.py", "src/leastaction/kernels/module.py"}   # of the reader, and a placeholder
    assert named - theirs - places == set()
    assert len(named) > 10 or path.name != "architecture.md"


def test_quick_start(tmp_path, monkeypatch):
    """The three lines, then the robot and its commands, as a newcomer would try them."""
    from typer.testing import CliRunner

    from leastaction.cli.commands import app

    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for code in blocks("quickstart.md", "python"):
        exec(compile(code, "quickstart.md", "exec"), names)
    assert Path("energy.png").is_file()
    assert names["many"].q.shape == (100, 101, 10) and len(names["table"]) == 100 * 101
    (robot,) = blocks("quickstart.md", "xml")
    Path("robot.urdf").write_text(robot, encoding="utf-8")
    commands = [line for text in blocks("quickstart.md", "") for line in text.splitlines()
                if line.startswith("leastaction ")]
    assert len(commands) >= 4
    for command in commands:
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        assert result.exit_code == 0, f"{command}\n{result.output}"
    assert Path("run.html").is_file() and Path("certificate.html").is_file()


def test_examples_of_the_reference_page(capsys):
    names: dict = {}
    for code in blocks("reference.md", "python"):
        exec(compile(code, "reference.md", "exec"), names)
    assert float(capsys.readouterr().out) < 3e-11
    J = la.discrete_jacobian(names["model"], *[names["model"].q0] * 2, names["state"].q, 1e-2, "exp")
    np.testing.assert_allclose(names["x"] @ J.T, np.eye(5), atol=1e-9)


def test_examples_of_the_page_on_actuators():
    names: dict = {}
    for code in blocks("actuators.md", "python"):
        exec(compile(code, "actuators.md", "exec"), names)
    model, traj, sim = (names[name] for name in ("model", "traj", "sim"))
    assert list(model.actuators) == ["shoulder", "elbow", "wrist"] and names["arm"].nu == 3
    np.testing.assert_array_equal(sim.q, traj.q[10])


def test_names_of_the_reference_are_documented():
    described = re.findall(r"^\.\. auto\w+:: leastaction\.reference\.(\w+)$", page("api.rst"), re.MULTILINE)
    assert sorted(described) == sorted(la.reference.__all__)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:Port 8787")
def test_ensembles(tmp_path, monkeypatch):
    """What the page shows works in its order: the first one, the command, processes, and Dask in this process."""
    import distributed
    from typer.testing import CliRunner

    from leastaction.cli.commands import app

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(distributed, "LocalCluster", partial(distributed.LocalCluster, processes=False, protocol="tcp"))
    names: dict = {"__name__": "__main__"}
    for code in blocks("ensembles.md", "python"):
        exec(compile(code, "ensembles.md", "exec"), names)
    assert Path("fan.png").is_file() and names["results"].members == 200
    (command,) = (line for line in page("ensembles.md").splitlines() if line.startswith("leastaction ensemble "))
    result = CliRunner().invoke(app, shlex.split(command)[1:])
    assert result.exit_code == 0, result.output
    first, by_command, on_dask = (la.open_ensemble(name) for name in ("study", "study2", "study_on_dask"))
    assert Path("fan2.png").is_file()
    np.testing.assert_array_equal(by_command.q[:, -1], first.q[:, -1])
    np.testing.assert_array_equal(on_dask.q, first.q)


def walk(words):
    """The code of the extending page that has these words."""
    (code,) = (code for code in blocks("extending.md", "python") if words in code)
    return code


def test_stability_names_what_the_walks_import():
    """And those names are there."""
    rows = re.findall(r"^\|[^|]*\| `(leastaction[\w.]*)` \| (.*) \|$", page("stability.md"), re.MULTILINE)
    named = {(module, name) for module, names in rows for name in re.findall(r"`(\w+)`", names)}
    taken = {(module, name.strip())
             for code in blocks("extending.md", "python")
             for module, names in re.findall(r"^from (leastaction[\w.]*) import (.*)$", code, re.MULTILINE)
             for name in names.split(",")}
    assert len(taken) > 20 and taken <= named
    assert named - taken == {("leastaction", "Force"), ("leastaction.kernels.elements.points", "span")}   # in the text
    assert [pair for pair in named if not hasattr(import_module(pair[0]), pair[1])] == []


def code_of_the_joint():
    """The file with the joint, and the script that uses it."""
    return walk("class Polar"), walk("from polar import")


def test_joint_of_the_extending_page(tmp_path, monkeypatch, capsys):
    """One file outside the package: single runs, lanes, a file of results and a plot take the joint."""
    definition, script = code_of_the_joint()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "polar.py").write_text(definition, encoding="utf-8")
    names: dict = {"__name__": "__main__"}
    exec(compile(script, "extending.md", "exec"), names)
    np.testing.assert_allclose(names["traj"].q[-1], [np.pi / 4, np.sqrt(2) - 1], atol=1e-6)
    np.testing.assert_allclose(names["many"].q[:, -1, 0], np.arctan([0.5, 1.0, 1.5, 2.0, 2.5]), atol=1e-5)
    assert names["again"].model.bodies[0].joint == names["model"].bodies[0].joint
    assert names["upper"].get_ylabel() == "q (rad, m)" and names["lower"].get_ylabel() == "v (rad/s, m/s)"
    assert [line.get_label() for line in names["upper"].get_lines()] == ["puck turn", "puck along"]
    assert len(capsys.readouterr().out.splitlines()) == 2
    with pytest.raises(la.ModelError, match="body 'puck': joint arm is zero"):
        wrong = la.Model()
        wrong.add_body("puck", joint=names["Polar"]((0, 0, 1), (0, 0, 0)), inertia=la.Inertia(1.0))
        wrong.validate()


def test_file_with_a_joint_from_outside_names_what_is_missing(monkeypatch):
    from leastaction.errors import NotDefinedError
    from leastaction.model.joint import OUTSIDE

    definition, _ = code_of_the_joint()
    names: dict = {"__name__": "outside"}
    exec(compile(definition, "extending.md", "exec"), names)
    model = la.Model()
    model.add_body("puck", joint=names["Polar"]((0, 0, 1), (1, 0, 0)), inertia=la.Inertia(1.0, (1, 0, 0)))
    data = model.to_dict()
    assert la.Model.from_dict(data).bodies[0].joint == model.bodies[0].joint
    monkeypatch.delitem(OUTSIDE, "outside.Polar")
    with pytest.raises(NotDefinedError, match=r"body 'puck' is of the class outside\.Polar, .*: import outside "):
        la.Model.from_dict(data)
    with pytest.raises(la.ModelError, match="joint of body 'puck' cannot be written down"):
        model.to_dict()


def test_joint_of_the_extending_page_in_a_notebook(tmp_path):
    """The class in a cell, defined a second time as one does in notebooks; then the script without its import."""
    import nbformat
    from nbclient import NotebookClient

    definition, script = code_of_the_joint()
    cells = [nbformat.v4.new_code_cell(text) for text in
             (definition, definition, script.replace("from polar import Polar\n", ""), "model", definition,
              "la.simulate(model, v=[2.0, 0.0], steps=1000, out='more.h5').q[-1, 0]")]
    done = NotebookClient(nbformat.v4.new_notebook(cells=cells), kernel_name="python3", timeout=120,
                          resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert "polar" in done.cells[3].outputs[0].data["text/html"]
    value = done.cells[5].outputs[0].data["text/plain"]
    assert float(re.search(r"[\d.]+(?=\)?$)", value)[0]) == pytest.approx(np.arctan(2.0), abs=1e-5)


def test_force_of_the_extending_page(tmp_path, monkeypatch, capsys):
    """As cells of a notebook, in simulate and in lanes; then as a script, and as cells in a third process: nothing is
    compiled anew, a run is saved, and a process without the class is told what is missing. The cells are in this
    process, which compiles faster than a fresh one."""
    from leastaction.model import FORCE_KINDS

    code = walk("class Charge(la.Force)")
    exec(compile(code, "cell", "exec"), {"__name__": "__main__"})
    monkeypatch.delitem(FORCE_KINDS, "__main__.Charge")
    printed = capsys.readouterr().out
    script = tmp_path / "charges.py"
    script.write_text(code, encoding="utf-8")

    def run(*arguments):
        return subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, encoding="utf-8",
                              env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, check=True)

    alone = run("charges.py")
    assert alone.stdout == printed and not alone.stderr
    energy, momentum, lanes = map(float, printed.split())
    assert energy < 1e-4 and momentum < 1e-13 and lanes < 1e-11
    cells = f"exec({code!r}); traj.save('run.h5'); assert la.open('run.h5').model == model"
    again = run("-c", cells)
    assert [float(x) for x in again.stdout.split()] == [energy, momentum, lanes] and not again.stderr
    with pytest.raises(la.FileError, match=r"force 'attraction' is of the class __main__\.Charge, which is not known "
                                           r"here: run the definition of Charge first"):
        la.open(tmp_path / "run.h5")


IN_LANES = """
charged = la.simulate_many(model, v=np.outer((0.8, 0.9, 1.0, 1.1, 1.2), v), dt=1e-3, duration=2.0)
print(abs(charged[2].q - traj.q).max(), abs(charged[0].q - traj.q).max())
"""
BY_HEUN = """
model = la.library.paper_chain(4)
speeds = model.v0 + np.outer(np.linspace(0.0, 0.4, 5), np.ones(4))
swung = la.simulate_many(model, v=speeds, dt=1e-3, steps=40, integrator=Heun())
alone = [la.simulate(model, v=v, dt=1e-3, steps=40, integrator=Heun()) for v in speeds]
exact = la.simulate(model, v=speeds[4], dt=1e-3, steps=40, integrator=la.DormandPrince8(1e-12))
print(max(abs(a.q - b.q).max() for a, b in zip(swung, alone)), abs(swung[4].q[-1] - exact.q[-1]).max())
"""


def test_force_and_integrator_of_the_extending_page_in_a_notebook(tmp_path):
    """Each defined twice, as one does in notebooks, after which the second definition is the one that runs; five
    members, which an explicit integrator makes one by one and the force makes in lanes."""
    import nbformat
    from nbclient import NotebookClient

    force, script = walk("class Charge(la.Force)").split("\n\n\nmodel = ")
    heun, _ = walk("class Heun(").split("\n\n\nif __name__")
    texts = [force, force, f"model = {script}", IN_LANES, heun, heun, BY_HEUN]
    done = NotebookClient(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in texts]),
                          kernel_name="python3", timeout=240, resources={"metadata": {"path": str(tmp_path)}}).execute()

    def printed(cell):
        text = "".join(one.text for one in done.cells[cell].outputs if one.get("name") == "stdout")
        return list(map(float, text.split()))

    energy, momentum, lanes = printed(2)
    assert energy < 1e-4 and momentum < 1e-13 and lanes < 1e-11
    same, other = printed(3)
    assert same < 1e-11 and other > 0.1
    company, error = printed(6)
    assert company == 0.0 and error < 1e-4


FORCE_IN_JOINTS = """
random = np.random.default_rng(1)
screws = (la.Revolute(axis=(0, 1, 0)), la.Prismatic(axis=(1, 0, 2)), la.Helical((0, 1, 1), 0.3),
          la.Planar((1, 0, 0), (0, 1, 0)))
tree, body = la.Model(), la.Inertia(1.0, com=(0.1, 0.2, 0.3), matrix=np.diag([0.2, 0.3, 0.4]))
tree.add_body("base", joint=la.Free(), inertia=body)
for k, joint in enumerate(screws):
    tree.add_body(f"b{k}", parent="base" if k == 2 else tree.names[-1], joint=joint, position=(0.3, 0, 0), inertia=body)
q, v, tau = tree.q0 + 0.0, random.normal(size=tree.nv), np.zeros(tree.nv)
q[7:] = random.normal(size=tree.nq - 7)
plain = la.Model.from_dict(tree.to_dict())
for k, name in enumerate(("b0", "b1", "b2", "b3", "b3", "b3")):
    tree.add_force(f"hard {k}", HardSpring(name, 2.0, dof=max(k - 3, 0)))
    tau[6 + k] = -2.0 * q[7 + k] ** 3
print(abs(la.forward_dynamics(tree, q, v) - la.forward_dynamics(plain, q, v, tau=tau)).max())
print(la.energy(tree, q, v) - la.energy(plain, q, v) - 0.5 * (q[7:] ** 4).sum())
for steps in (50, 100):
    run = la.simulate(tree, q, v, dt=0.4 / steps, steps=steps)
    print(run.max_energy_error)
tree.add_force("wrong", HardSpring("base", 1.0))
try:
    la.simulate(tree, q, v, duration=0.01)
except la.ModelError as error:
    print(error)
"""


def test_force_inside_a_joint_of_the_extending_page(tmp_path):
    """In every joint made of screws it does what given joint forces do. Not compiled, which would take long."""
    script = tmp_path / "hard.py"
    script.write_text(walk("class HardSpring(") + FORCE_IN_JOINTS, encoding="utf-8")
    run = subprocess.run([sys.executable, "hard.py"], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True,
                         env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "NUMBA_DISABLE_JIT": "1"})
    *numbers, message = run.stdout.splitlines()
    chain, forces, energy, coarse, fine = map(float, numbers)
    assert chain < 1e-3 and forces < 1e-12 and abs(energy) < 1e-12
    assert 3.5 < coarse / fine < 4.5
    assert message.startswith("force 'wrong' (HardSpring): the joint of body 'base' is not made of screws")


def test_forces_page(capsys):
    code, beam = blocks("forces.md", "python")
    names: dict = {}
    exec(compile(code, "forces.md", "exec"), names)
    assert "thruster 'jet': 'pod', 5 N in 2 burns" in capsys.readouterr().out
    traj = names["traj"]
    gained = traj.momentum[-1, 5] - traj.momentum[0, 5]
    assert gained == pytest.approx(5.0 * 15.0, rel=0.05)
    exec(compile(beam, "forces.md", "exec"), names)
    assert "bending 20, torsion 5 N m" in str(names["beam"]) and (np.diff(names["traj"].energy) < 0).all()


def test_loop_of_the_loops_page(capsys):
    (code,) = blocks("loops.md", "python")
    names: dict = {}
    exec(compile(code, "loops.md", "exec"), names)
    assert float(capsys.readouterr().out.splitlines()[0]) < 1e-13
    kinds = re.findall(r"^\| `la\.(\w+)\(.*?\)` \| (\d) \|", page("loops.md"), re.MULTILINE)
    known = {kind.__name__: rows for kind, rows in ROWS.items()}
    assert {name: int(rows) for name, rows in kinds} == {**known, "Rod": 1}
