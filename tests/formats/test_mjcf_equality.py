"""Equality constraints of MJCF files: what we assemble, MuJoCo finds closed, and the same velocities keep it so."""

import mujoco
import numpy as np
import pytest

import leastaction as la
from leastaction.errors import ModelWarning

QUIET = ("collision", "softness", "inert")
BODIES = """
<mujoco><compiler angle="radian" autolimits="false"/><worldbody>
  <site name="hook" pos="0.1 0.2 1.1" euler="0.2 0.1 0"/>
  <body name="arm" pos="0 0 1" euler="0.1 0.2 0.3">
    <joint name="yaw" axis="1 2 3" pos="0.05 -0.1 0.2" ref="0.3"/>
    <joint name="slip" type="slide" axis="0 1 1" ref="0.2"/>
    <geom size="0.1" pos="0.2 0 0"/>
    <site name="palm" pos="0.3 0.1 0" euler="0.3 0 0.1"/>
    <body name="hand" pos="0.4 0 0.1"><joint name="wrist" type="ball" pos=".1 0 -.05"/><geom size="0.1" pos="0.1 0 0"/>
      <site name="tip" pos="0.2 0 0"/></body>
  </body>
  <body name="leg" pos="0.5 0.3 1" euler="0 0.4 0">
    <joint name="hip" axis="0 1 0" pos="0 0.1 0" ref="-0.2"/><geom size="0.1" pos="0 0 -0.2"/>
    <body name="foot" pos="0 0 -0.4"><joint name="knee" axis="0 1 0"/><geom size="0.1" pos="0 0 -0.2"/></body>
  </body>
  <body name="box" pos="0.3 0.1 0.6"><freejoint/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/>
    <site name="lid" pos="0 0.2 0.3" euler="0.1 0.2 0"/></body>
</worldbody><equality>{}</equality>{}</mujoco>"""
CASES = {
    "connect": '<connect body1="box" body2="hand" anchor="0.1 0.2 0.3"/>',
    "connect to the world": '<connect body1="box" anchor="0.1 0.2 0.3"/>',
    "connect, anchors moved": '<connect body1="arm" body2="box" anchor="0.1 0 0"/>',
    "connect sites": '<connect site1="tip" site2="lid"/>',
    "connect sites, world first": '<connect site1="hook" site2="lid"/>',
    "weld": '<weld body1="hand" body2="box"/>',
    "weld to the world": '<weld body1="box"/>',
    "weld with a pose": '<weld body1="box" body2="leg" relpose="0.1 0.2 0.3 0.9 0.1 0.3 0.2" anchor="0.05 0.1 -0.1"/>',
    "weld sites": '<weld site1="palm" site2="lid"/><connect body1="foot" body2="hand" anchor="0 0 0"/>',
    "weld without torque": '<weld body1="box" body2="leg" torquescale="0"/>',
    "joints": '<joint joint1="hip" joint2="yaw" polycoef="0.1 -0.7 0.2 0.3 -0.05"/>',
    "one joint": '<joint joint1="slip" polycoef=".1 0 0 0 0"/><joint joint1="knee" joint2="hip" polycoef="0 2 0 0 0"/>',
}


@pytest.fixture
def load(tmp_path):
    def make(equality, section="", **options):
        (tmp_path / "made.xml").write_text(BODIES.format(equality, section))
        return la.load(tmp_path / "made.xml", **{"ignore": QUIET, **options})

    make.path = tmp_path / "made.xml"
    return make


@pytest.mark.parametrize("equality", CASES.values(), ids=CASES)
@pytest.mark.filterwarnings("ignore:.*open at model.q0")
def test_mujoco_finds_closed_what_we_assemble(load, equality):
    model, rng = load(equality), np.random.default_rng(0)
    mj = mujoco.MjModel.from_xml_path(str(load.path))
    data = mujoco.MjData(mj)
    q = la.increment(model, model.q0, 0.1 * rng.normal(size=model.nv))
    q, v = la.assemble(model, q, rng.normal(size=model.nv))
    data.qpos[:], data.qvel[:] = la.convert.to_mujoco(model, mj, q, v)
    mujoco.mj_forward(mj, data)
    rows = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    if "torquescale" in equality:
        rows[np.flatnonzero(rows)[3:]] = False
    assert np.count_nonzero(rows) == len(la.constraint_jacobian(model, q))
    np.testing.assert_allclose(data.efc_pos[rows], 0.0, atol=1e-12)
    J = data.efc_J.reshape(-1, mj.nv)[rows] @ la.convert.mujoco_basis(model, mj, q)
    np.testing.assert_allclose(J @ v, 0.0, atol=1e-11)
    A = la.constraint_jacobian(model, q)
    assert np.linalg.matrix_rank(np.vstack([A, J]), rtol=1e-9) == np.linalg.matrix_rank(A, rtol=1e-9)
    assert "equality" not in model.ignored


def test_second_anchors_are_those_of_qpos0(load):
    """MuJoCo works them out so that the file's own configuration is closed; so it is here, without a warning."""
    model = load(CASES["connect"] + CASES["weld to the world"])
    assert la.closure(model).max() < 1e-14


def test_a_start_that_is_open_is_said(load):
    with pytest.warns(ModelWarning, match=r"open at model\.q0: 'equality0' by .* m; la\.assemble\(model\) closes them"):
        load(CASES["connect sites"])
    with pytest.raises(la.ModelError, match="loops are open"):
        load(CASES["connect sites"], strict=True)


def test_what_is_switched_off_does_not_act(load):
    assert load('<weld body1="hand" body2="box" active="false"/>').loops == ()
    assert load('<weld body1="hand" body2="box"/>', '<option><flag equality="disable"/></option>').loops == ()
    model = load('<weld name="w" body1="hand" body2="box"/>', ignore=(*QUIET, "equality"))
    assert model.loops == () and model.ignored["equality"] == ("'w'",)


def test_softness_is_a_note(load):
    model = load('<weld name="w" body1="hand" body2="box" solref="0.1 1" torquescale="3"/><connect name="c" '
                 'body1="leg" body2="box" anchor="0 0 0"/>')
    assert model.ignored["softness"] == ("'w'", "torquescale of 'w'")
    with pytest.warns(ModelWarning, match=r"softness of equality constraints, which are exact here \(2\)"):
        load('<weld name="w" body1="hand" body2="box" solref="0.1 1" torquescale="3"/>', ignore="collision")


def test_tendons(load):
    fixed = '<tendon><fixed name="t" {}><joint joint="hip" coef="1"/></fixed></tendon>'
    assert load("", fixed.format("")).ignored["inert"] == ("'t'",)
    for force in ('stiffness="1"', 'damping="1"', 'limited="true" range="0 1"', 'frictionloss="1"', 'armature="1"'):
        with pytest.raises(la.ModelError, match=r"tendons are not supported.*'t'; ignore=\('tendon',\)"):
            load("", fixed.format(force))
    with pytest.raises(la.ModelError, match=r"tendons are not supported.*equality 'e'"):
        load('<tendon name="e" tendon1="t"/>', fixed.format(""))


def test_bodies_that_cannot_move_are_named(load):
    with pytest.raises(la.ModelError, match="loop 'equality0' joins 'box' to the ground, which cannot move against"):
        load('<weld body1="box"/>', root="fixed")
