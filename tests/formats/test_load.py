"""Models by name or file, and what is said when an optional package is missing."""

import pytest

import leastaction as la
from leastaction.formats import meshes, mujoco_model

URDF = '<robot name="r"><link name="a">{}</link></robot>'
SOUND = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def test_find_model_takes_names_and_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert la.find_model("chain:3").nb == 3
    (tmp_path / "r.urdf").write_text(URDF.format(SOUND))
    assert la.find_model("r.urdf", root="free").nv == 6
    (tmp_path / "plain").write_text(URDF.format(SOUND))   # the content says what it is, not the name
    assert la.find_model("plain").name == "r"


@pytest.mark.parametrize(("name", "words"), [
    ("chian:10", "there is no built-in model 'chian', only .* and no file of this name; did you mean 'chain'"),
    ("robot.urdf", "cannot read robot.urdf: No such file"),
    ("chain:ten", "cannot read 'chain:ten'"),
])
def test_find_model_says_what_is_wrong(name, words):
    with pytest.raises(la.ModelError, match=words):
        la.find_model(name)


def test_mjcf_without_mujoco_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setattr(mujoco_model, "find_spec", lambda name: None)
    (tmp_path / "a.xml").write_text("<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>")
    with pytest.raises(la.ModelError, match=r"pip install 'leastaction\[models\]'"):
        la.load(tmp_path / "a.xml")


def test_urdf_without_trimesh_loses_only_the_picture(tmp_path, monkeypatch):
    monkeypatch.setattr(meshes, "find_spec", lambda name: None)
    (tmp_path / "m.stl").write_bytes(b"solid")
    looks = '<visual><geometry><mesh filename="m.stl"/></geometry></visual>'
    (tmp_path / "a.urdf").write_text(URDF.format(SOUND + looks))
    with pytest.warns(la.ModelWarning, match="meshes that cannot be drawn"):
        model = la.load(tmp_path / "a.urdf", root="free")
    assert model.ignored["mesh"] == ("'m.stl': reading it needs pip install 'leastaction[models]'",)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_mesh_that_hides_entities_is_not_read(tmp_path, encoding):
    bomb = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><COLLADA>&a;</COLLADA>'
    (tmp_path / "m.dae").write_text(bomb, encoding=encoding)
    looks = '<visual><geometry><mesh filename="m.dae"/></geometry></visual>'
    (tmp_path / "a.urdf").write_text(URDF.format(SOUND + looks))
    with pytest.warns(la.ModelWarning):
        model = la.load(tmp_path / "a.urdf", root="free")
    assert "document types and entities are refused" in model.ignored["mesh"][0]
