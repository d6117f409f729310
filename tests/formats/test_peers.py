"""Every robot of the zoo that loads is the robot that the peers read from the same file."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from peers import Mujoco, Pinocchio, agree

import leastaction as la
from leastaction.errors import ModelError
from leastaction.formats import zoo

pytestmark = pytest.mark.filterwarnings("ignore::leastaction.errors.ModelWarning")   # Romeo's inertias, for one
survey = cache(zoo.survey)
ROOT = Path(__file__).parents[2]
URDF = zoo.paths("example-robot-data")
MJCF = [path for package in ("gymnasium", "dm_control") for path in zoo.paths(package)]


def test_the_zoo_is_there():
    assert len(URDF) == 69
    assert len(zoo.paths("gymnasium")) == 14


def test_enough_of_the_zoo_loads():
    assert sum(survey(path).model is not None for path in URDF) >= 68
    assert all(survey(path).model is not None for path in zoo.paths("gymnasium"))


WATCH = """
import json, sys, warnings
import collada, trimesh
import leastaction as la
from leastaction.formats import meshes
from leastaction.kernels.machine import cache
warnings.simplefilter("ignore")
meshes._parsed = lambda data, kind: (meshes.np.zeros((3, 3)), meshes.np.array([[0, 1, 2]]))   # reading it is enough
gears = la.Model()   # whether couplings are closed is looked up by kernels, whose compiler opens files of its own
for name in "ab":
    gears.add_body(name, joint=la.Revolute((0, 0, 1)), inertia=la.Inertia.sphere(1.0, 0.1))
gears.add_coupling("mesh", joint="a", to="b", coefficients=(0, -1))
la.closure(gears)
seen, loaded, refused = [], [], {}
sys.addaudithook(lambda event, args: seen.append(str(args[0])) if event in ("open", "os.scandir") else None)
for path in sys.argv[1:]:
    try:
        la.load(path)
        loaded.append(path)
    except la.ModelError as error:
        refused[path] = str(error)
json.dump([[name for name in seen if not name.startswith(cache.FOLDER)], loaded, refused], sys.stdout)
"""


def test_robots_load_with_default_options_and_open_nothing_outside_their_package():
    """Watched in a process of its own, as an audit hook cannot be taken off again."""
    done = subprocess.run([sys.executable, "-c", WATCH, *map(str, URDF)], capture_output=True, text=True, check=True)
    seen, loaded, refused = json.loads(done.stdout)
    assert len(loaded) >= 67
    assert all("which is no joint" in text or "there are no links" in text for text in refused.values())
    package = next(above for above in URDF[0].parents if (above / "package.xml").is_file())
    assert {name for name in seen if not Path(name).resolve().is_relative_to(package)} == set()
    assert len({name for name in seen if name.lower().endswith((".stl", ".dae", ".obj"))}) > 500   # the hook does watch


def mimics(path):
    """What joints that move mimic in a file, by name: the other joint, multiplier and offset."""
    joints = ElementTree.parse(path).getroot().findall("joint")
    return {joint.get("name"): (tag.get("joint"), float(tag.get("multiplier", "1")), float(tag.get("offset", "0")))
            for joint in joints if joint.get("type") != "fixed" for tag in joint.findall("mimic")}


def places(model, joint):
    """Where a joint of one degree of freedom is in q and in v, by its name in the file."""
    (body,) = (body.name for body in model.bodies if body.joint.name == joint)
    return model.q_slice(body).start, model.v_slice(body).start


def test_mimic_joints_follow():
    """Every one in the robots that load with them; none of Alex' hands, which need ignore=("mimic",). Joints that are
    fixed, as Talos' fingers are in some of its files, follow nothing."""
    followers, without = 0, []
    for entry in map(survey, URDF):
        if entry.model is None:
            continue
        model, told = entry.model, mimics(entry.path)
        if "mimic" in entry.ignore:
            without.append((entry.path.stem, len(told), len(model.loops)))
            continue
        assert {loop.name for loop in model.loops} == told.keys() and len(model.loops) == len(told)
        followers += len(told)
        if not told:
            continue
        way = 0.1 * np.random.default_rng(0).normal(size=model.nv)
        q, v = la.assemble(model, la.increment(model, model.q0, way), way)
        for joint, (other, multiplier, offset) in told.items():
            (here, rate), (there, other_rate) = (places(model, name) for name in (joint, other))
            assert q[here] == pytest.approx(multiplier * q[there] + offset, abs=1e-12) and q[here] != 0.0
            assert v[rate] == pytest.approx(multiplier * v[other_rate], abs=1e-12) and v[rate] != 0.0
    assert followers == 70
    assert without == [("alex_psyonic_hands", 8, 0)]


def test_mimic_joints_follow_in_a_run():
    """All of the robots that have them, for 0.1 s under gravity from a state that is not at rest: at every node, by the
    numbers in the file. Limits and dry friction act. A joint of Romeo's fingers has no mass to move, in the tree."""
    moved, refused = [], []
    for path in URDF:
        told = mimics(path)
        if not told or "mimic" in survey(path).ignore:
            continue
        model = survey(path).model
        way = np.random.default_rng(0).normal(size=model.nv)
        q, v = la.assemble(model, la.increment(model, model.q0, 0.1 * way), way)
        try:
            run = la.simulate(model, q, v, dt=1e-3, steps=100, progress=False)
        except ModelError as error:
            refused.append((path.stem, str(error)[:35]))
            continue
        assert len(run) == 101 and run.closure.max() < 1e-12  # m
        for joint, (other, multiplier, offset) in told.items():
            (here, rate), (there, other_rate) = (places(model, name) for name in (joint, other))
            np.testing.assert_allclose(run.q[:, here], multiplier * run.q[:, there] + offset, rtol=0, atol=1e-14)
            np.testing.assert_allclose(run.v[:, rate], multiplier * run.v[:, other_rate], rtol=0, atol=1e-12)
            moved.append(np.ptp(run.q[:, here]))
    assert refused == [("romeo", "the joint of body 'RThumb3Link' has")]
    assert len(moved) == 48 and min(moved) > 1e-5  # rad and m; fingers of Talos are stopped by dry friction


@pytest.mark.parametrize("package", ["example-robot-data", "gymnasium"])
def test_the_tables_of_the_page_are_fresh(package):
    assert zoo.table(package) in (ROOT / "docs" / "models.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", URDF, ids=lambda path: f"{path.parents[1].name}-{path.stem}")
def test_urdf_agrees_with_pinocchio(path):
    entry = survey(path)
    if entry.model is None:
        with pytest.raises(ModelError, match=path.name):
            entry.load()
        return
    if entry.root == "auto":
        agree(entry.model, Pinocchio(path, free=False))
    if path.stem == "romeo_laas_small":   # no free body can have such moments; on a hinge away from its centre it can
        with pytest.raises(ModelError, match=r"body 'base_link' with .* has the negative moment -0\.0213"):
            entry.load(root="free")
        return
    agree(entry.load(root="free"), Pinocchio(path, free=True), states=20 if entry.root == "free" else 3)


@pytest.mark.parametrize("path", MJCF, ids=lambda path: f"{path.parents[1].name}-{path.stem}")
def test_mjcf_agrees_with_mujoco(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)   # MuJoCo may write its log there
    entry = survey(path)
    if entry.model is None:
        with pytest.raises(ModelError, match=path.name):
            entry.load()
    elif entry.model.nv:
        agree(entry.model, Mujoco(path))
