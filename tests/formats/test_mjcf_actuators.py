"""Actuators of MJCF files act as MuJoCo has them, or are named; and `to_mujoco` gives them back."""

import warnings

import mujoco
import numpy as np
import pytest

import leastaction as la

DRIVEN = """
<mujoco model="driven">
  <compiler angle="radian" autolimits="true"/>
  <worldbody>
    <body name="a">
      <joint name="x" axis="0 1 0"/>
      <geom size=".1" pos=".2 0 0"/>
      <body name="b" pos=".4 0 0">
        <joint name="y" type="slide" axis="1 0 0" armature=".1" actuatorfrcrange="-8 8"/>
        <joint name="z" axis="0 0 1" actuatorfrcrange="-6 6"/>
        <geom size=".1" pos=".2 0 0"/>
        <body name="c" pos=".4 0 0">
          <joint name="w" type="ball"/>
          <geom size=".1" pos=".2 0 0"/>
          <body name="d" pos=".4 0 0"><joint name="u" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="p" joint="x" kp="30" kv="2" gear="-3" forcerange="-4 4" ctrlrange="-1 1"/>
    <motor name="m" joint="x" gear="2" ctrlrange="-.5 .5" forcerange="-.7 .7"/>
    <position name="py" joint="y" kp="30"/>
    <velocity name="vy" joint="y" kv="7" gear="2"/>
    <motor name="my" joint="y" gear="5"/>
    <general name="g" joint="z" gainprm="20" biastype="affine" biasprm="0 -50 -3" forcerange="-9 9"/>
    <position joint="u" kp="11" dampratio="1"/>
    <velocity name="vu" jointinparent="u" kv="1.5"/>
  </actuator>
  <keyframe>
    <key name="home" qpos="0 0 0 1 0 0 0 0" ctrl="1 2 3 4 5 6 7 8"/>
    <key name="bare" qpos="1 0 0 1 0 0 0 0"/>
  </keyframe>
</mujoco>
"""
OTHERS = """
<motor name="ball" joint="w"/>
<position name="filtered" joint="u" kp="3" timeconst=".1"/>
<general name="offset" joint="u" gainprm="20" biastype="affine" biasprm="1 -50 -3"/>
<general name="upward" joint="u" gainprm="20" biastype="affine" biasprm="0 50 -3"/>
<motor joint="u" forcerange="-1 2"/>
<motor name="site" site="s"/>
<damper name="damper" joint="u" kv="3" ctrlrange="0 1"/>
<intvelocity name="int" joint="u" kp="3" actrange="-1 1"/>
<position name="first" joint="x" kp="3" forcerange="-1 1"/>
<position name="second" joint="x" kp="3"/>
"""
QUIET = ("collision", "effort", "actuators")


@pytest.fixture
def load(tmp_path):
    def make(text: str, **options) -> la.Model:
        (tmp_path / "made.xml").write_text(text)
        return la.load(tmp_path / "made.xml", **{"ignore": QUIET, **options})

    return make


def states(model, count):
    rng = np.random.default_rng(0)
    for _ in range(count):
        q, v, command = rng.normal(size=model.nq), rng.normal(size=model.nv), rng.normal(0, 2, model.nu)
        for at in model.layout.quaternions:
            q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
        yield q, v, command


def same_forces(model, mj, count=100):
    """Compare with qfrc_actuator of mj_forward; of MuJoCo's ball joints the basis is ours."""
    data, saturated = mujoco.MjData(mj), 0
    for q, v, command in states(model, count):
        data.qpos[:], data.qvel[:] = la.convert.to_mujoco(model, mj, q, v)
        data.ctrl[:] = command
        mujoco.mj_forward(mj, data)
        saturated += abs(data.actuator_force).max() >= 4.0
        np.testing.assert_allclose(la.actuator_forces(model, q, v, command), data.qfrc_actuator, rtol=1e-13, atol=1e-12)
    assert saturated > 0


def test_servos_and_motors_act_as_in_mujoco(load):
    model = load(DRIVEN)
    assert list(model.actuators) == ["p", "m", "py", "vy", "my", "g", "actuator6", "vu"]
    assert [type(one).__name__ for one in model.actuators.values()] == [
        "PD", "Motor", "PD", "Velocity", "Motor", "PD", "PD", "Velocity"]
    assert "actuators" not in model.ignored and "effort" not in model.ignored  # the efforts act
    same_forces(model, mujoco.MjModel.from_xml_string(DRIVEN))


def test_from_mujoco_and_to_mujoco_carry_them(load):
    model, theirs = load(DRIVEN), mujoco.MjModel.from_xml_string(DRIVEN)
    assert la.from_mujoco(theirs, ignore=QUIET).actuators == model.actuators
    again = la.to_mujoco(model)
    same_forces(model, again)
    back = la.from_mujoco(again)
    for q, v, command in states(model, 20):
        np.testing.assert_allclose(la.actuator_forces(back, q, v, command), la.actuator_forces(model, q, v, command),
                                   rtol=1e-13, atol=1e-12)


def test_keyframes_have_commands(load):
    model = load(DRIVEN)
    assert model.command0.tolist() == model.commands["home"].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert not model.commands["bare"].any()


def test_without_a_command_that_of_the_keyframe_is_held_and_told_once(load):
    model = load(DRIVEN)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        runs = [la.simulate(model, dt=1e-3, steps=5) for _ in range(2)]
    (told,) = [one for one in caught if issubclass(one.category, la.ModelWarning)]
    text = str(told.message)
    assert text.startswith("driven: no command is given, so model.command0 is held by the actuators 'p', 'm'")
    assert "ignore=('command',) silences this" in text
    given = la.simulate(model, dt=1e-3, steps=5, command=model.commands["home"])
    for run in runs:
        for name in ("q", "v", "p"):
            np.testing.assert_array_equal(getattr(run, name), getattr(given, name))
    none = la.simulate(model, dt=1e-3, steps=5, command=np.zeros(8))
    assert np.abs(none.v[-1] - given.v[-1]).max() > 1e-3


def test_what_is_no_servo_is_named_with_the_reason(load):
    text = DRIVEN.replace("</actuator>", f"{OTHERS}</actuator>").replace('<geom size=".1" pos=".2 0 0"/>\n      <body',
                                                                         '<site name="s"/><geom size=".1"/><body')
    with pytest.warns(la.ModelWarning, match=r"kept but not acting: actuators \(12\)"):
        model = load(text.replace('ctrl="1 2 3 4 5 6 7 8"', ""), ignore=("collision",))
    assert model.ignored["actuators"] == (
        "'p' (bounded beside another on the same joint)", "'m' (bounded beside another on the same joint)",
        "'ball' (on a ball or free joint)", "'filtered' (with dynamics of its own)",
        "'offset' (with a bias that is no servo's)", "'upward' (with a bias that is no servo's)",
        "actuator 12 (with a range of forces that is not symmetric)", "'site' (on a site)",
        "'damper' (of a kind that is no servo)", "'int' (with dynamics of its own)",
        "'first' (bounded beside another on the same joint)", "'second' (bounded beside another on the same joint)")
    assert list(model.actuators) == ["py", "vy", "my", "g", "actuator6", "vu"]


def test_delays_and_several_commands_are_named(load):
    """Of newer versions of MuJoCo, which read them; the commands of the others are those of the file."""
    if not hasattr(mujoco.MjModel, "actuator_delay"):
        return
    late = '<position name="late" joint="u" kp="3" delay=".1" nsample="10"/>'
    also = '<pid name="pid" joint="u"/><motor name="last" joint="u" ctrlrange="-1 2"/>'
    text = DRIVEN.replace("</actuator>", f"{late}{also}</actuator>").replace('7 8"', '7 8 9 10 11 1.5"')
    model = load(text)
    assert model.ignored["actuators"] == ("'late' (with a delay)", "'pid' (of a kind that is no servo)")
    assert model.actuators["last"].command_range == (-1.0, 2.0)
    assert model.command0.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 1.5]
    assert "-0.0" not in repr(model.actuators)


def test_a_file_may_be_loaded_without_its_actuators(load, recwarn):
    model = load(DRIVEN, actuators=False, ignore=("collision", "effort"))
    assert model.nu == 0 and len(model.ignored["actuators"]) == 8 and not recwarn.list
    assert model.ignored["effort"] == ("'y' (effort)", "'z' (effort)")


@pytest.mark.parametrize(("option", "why"), [
    ('<option><flag actuation="disable"/></option>', "switched off"),
    ('<option actuatorgroupdisable="0"/>', "switched off")])
def test_actuators_that_the_file_switches_off_do_not_act(load, option, why):
    model = load(DRIVEN.replace("<worldbody>", f"{option}<worldbody>", 1))
    assert model.nu == 0 and why in model.ignored["actuators"][0]


def test_clamping_of_commands_can_be_switched_off(load):
    model = load(DRIVEN.replace("<worldbody>", '<option><flag clampctrl="disable"/></option><worldbody>', 1))
    assert model.actuators["p"].command_range is None and load(DRIVEN).actuators["p"].command_range == (-1, 1)


def test_bounds_that_mujoco_does_not_have_are_refused(load):
    model = load(DRIVEN)
    model.add_actuator("own", la.Motor("y", effort=1.0))
    with pytest.raises(la.ModelError, match=r"MuJoCo bounds the sum of all actuators on the joint of 'b\.y'"):
        la.to_mujoco(model)


URDF = """
<robot name="r"><link name="base"/>
  <link name="arm"><inertial><mass value="1"/><origin xyz=".3 0 0"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0"
    iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="12" velocity="3"/></joint>
</robot>
"""


def test_the_effort_limit_of_a_urdf_bounds_its_actuators(tmp_path):
    (tmp_path / "r.urdf").write_text(URDF)
    model = la.load(tmp_path / "r.urdf", ignore="effort")
    assert model.ignored["effort"] == ("'shoulder' (effort, velocity)",)
    model.add_actuator("a", la.PD("shoulder", kp=100.0))
    assert model.ignored["effort"] == ("'shoulder' (velocity)",)
    assert la.actuator_forces(model, [0.0], [0.0], [1.0]) == [12.0]
