"""Every robot of the zoo that loads is the robot that the peers read from the same file."""

from functools import cache
from pathlib import Path

import pytest
from peers import Mujoco, Pinocchio, agree

from leastaction.errors import ModelError
from leastaction.importers import zoo

pytestmark = pytest.mark.filterwarnings("ignore::leastaction.errors.ModelWarning")   # Romeo's inertias, for one
survey = cache(zoo.survey)
ROOT = Path(__file__).parents[2]
URDF = zoo.paths("example-robot-data")
MJCF = [path for package in ("gymnasium", "dm_control") for path in zoo.paths(package)]


def test_the_zoo_is_there():
    assert len(URDF) == 69
    assert len(zoo.paths("gymnasium")) == 14


def test_enough_of_the_zoo_loads():
    assert sum(survey(path).model is not None for path in URDF) >= 60
    assert all(survey(path).model is not None for path in zoo.paths("gymnasium"))


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
