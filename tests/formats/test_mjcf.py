"""MJCF files written here, against MuJoCo's own reading of them."""

import mujoco
import numpy as np
import pytest
from peers import Mujoco, agree

import leastaction as la
from leastaction.errors import ModelWarning

QUIET = ("collision", "actuators", "limits", "friction", "mocap", "inert")
EVERYTHING = """
<mujoco model="everything">
  <compiler angle="degree" eulerseq="zyx" autolimits="true" boundmass="0.01"/>
  <option gravity="0.3 -0.2 -9"/>
  <default>
    <geom density="700"/>
    <joint damping="0.3"/>
    <default class="stiff"><joint stiffness="4" springref="20" armature="0.05"/></default>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="base" pos="0 0 1" euler="10 20 30">
      <freejoint name="root"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.05 0 0" euler="0 30 10"/>
      <body name="arm" pos="0.1 0.2 0.3" quat="0.8 0.6 0 0" childclass="stiff">
        <joint name="yaw" axis="1 2 3" pos="0.05 -0.1 0.2" ref="30" range="-40 90"/>
        <joint name="slip" type="slide" axis="0 1 1" pos="1 2 3" ref="0.2" springref="0.4"/>
        <joint name="pitch" axis="0 1 0" pos="-0.3 0 0.1" frictionloss="0.2" actuatorfrcrange="-5 7"/>
        <geom type="capsule" fromto="0 0 0 0.3 0.2 0.5" size="0.05" mass="1.5"/>
        <frame pos="0.3 0 0" euler="40 0 0">
          <body name="hand" pos="0 0 0.1">
            <joint name="wrist" type="ball" pos="0.1 0.2 -0.05" stiffness="2" damping="0.1" armature="0.02"/>
            <inertial pos="0.1 0 0" mass="2" fullinertia="0.05 0.06 0.07 0.01 -0.005 0.002"/>
            <site name="tip"/>
            <body name="nail" pos="0.1 0 0"><geom type="ellipsoid" size="0.02 0.03 0.04"/></body>
          </body>
        </frame>
      </body>
    </body>
    <body pos="1 0 0"><joint axis="0 1 0"/><geom size="0.1" pos="0.2 0 0"/></body>
    <body name="post" pos="2 0 0"><geom type="cylinder" size="0.1 0.3" rgba="0 1 0 1"/></body>
    <body name="ghost" mocap="true"/>
  </worldbody>
  <actuator><motor name="drive" joint="yaw"/><motor joint="wrist"/></actuator>
  <keyframe>
    <key name="home" qpos="1 2 3 0.6 0 0.8 0 0.1 0.2 0.3 0.6 0.8 0 0 0.5" qvel="1 2 3 4 5 6 7 8 9 1 2 3 4"/>
  </keyframe>
</mujoco>
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def make(text: str, **options) -> la.Model:
        (tmp_path / "made.xml").write_text(text)
        return la.load(tmp_path / "made.xml", **{"ignore": QUIET, **options})

    make.path = tmp_path / "made.xml"
    return make


def test_everything_agrees_with_mujoco(load):
    agree(load(EVERYTHING), Mujoco(load.path))


@pytest.mark.parametrize("kind", ["free", "ball", "slide", "hinge"])
def test_passive_forces_of_every_joint_agree_with_mujoco(load, kind):
    text = pendulum(joint=f'type="{kind}" damping="0.3" armature="0.2" stiffness="2"').replace(
        '<body name="b">', '<body name="b" pos="1 2 3" euler="20 30 40">')
    agree(load(text), Mujoco(load.path))


def test_from_mujoco_is_the_same_model(load):
    model = load(EVERYTHING)
    theirs = mujoco.MjModel.from_xml_path(str(load.path))
    again = la.from_mujoco(theirs, ignore=QUIET)
    assert again.names == model.names and again.name == "everything"
    assert np.array_equal(la.mass_matrix(again, model.q0), la.mass_matrix(model, model.q0))


def test_what_the_bodies_and_joints_keep(load):
    model = load(EVERYTHING)
    assert model.names == ("base", "arm.yaw", "arm.slip", "arm", "hand", "nail", "body5", "post", "ghost")
    yaw, pitch = model.bodies[1].joint, model.bodies[3].joint
    assert yaw.name == "yaw" and np.allclose(yaw.limits, np.radians([-40, 90]))
    assert (pitch.friction, pitch.effort_limit) == (0.2, 7)
    assert model.actuators == {"drive": la.Motor("arm.yaw")}
    assert model.ignored == {
        "limits": ("'yaw'",), "effort": ("'pitch' (effort)",), "friction": ("'pitch'",),
        "actuators": ("actuator 1 (on a ball or free joint)",), "mocap": ("'ghost'",),
        "collision": ("geom 0", "geom 1", "geom 2", "geom 3", "geom 4", "geom 5"),
    }
    (post,) = model.bodies[7].geometry
    assert (post.shape, post.size.tolist(), post.color.tolist()) == ("cylinder", [0.1, 0.3, 0], [0, 1, 0, 1])


def test_keyframes_are_the_initial_state(load):
    model = load(EVERYTHING)
    theirs = Mujoco(load.path).theirs
    q, v = la.convert.from_mujoco(model, theirs, theirs.key_qpos[0], theirs.key_qvel[0])
    assert np.allclose(model.q0, q, atol=1e-15) and np.allclose(model.v0, v, atol=1e-15)
    assert list(model.keyframes) == ["home"]


def test_shapes_are_where_mujoco_draws_them(load):
    model = load(EVERYTHING)
    theirs = Mujoco(load.path)
    theirs(model, model.q0, model.v0)
    poses = la.poses(model, model.q0)
    shapes = [(b, shape) for b, body in enumerate(model.bodies) for shape in body.geometry]
    places = [(poses[b] @ [*shape.position, 1])[:3] for b, shape in shapes]
    assert np.allclose(places, theirs.data.geom_xpos[1:])   # all but the plane


@pytest.mark.parametrize("flag", ["gravity", "spring", "damper"])
def test_flags_that_switch_forces_off(load, flag):
    flagged = f'<option gravity="0 0 -9"><flag {flag}="disable"/></option>'
    model = load(EVERYTHING.replace('<option gravity="0.3 -0.2 -9"/>', flagged))
    agree(model, Mujoco(load.path), states=3)
    assert (flag == "gravity") == (model.gravity.tolist() == [0, 0, 0])


def test_root_of_an_mjcf_file(load):
    fixed = load(EVERYTHING, root="fixed")
    assert fixed.nv == load(EVERYTHING).nv - 6
    assert np.allclose(fixed.bodies[0].position, [0, 0, 1])
    keyless = EVERYTHING.replace("<keyframe>", "<!--").replace("</keyframe>", "-->")
    freed = load(keyless.replace('<freejoint name="root"/>', ""), root="free")
    assert isinstance(freed.bodies[0].joint, la.Free)
    assert np.allclose(freed.q0[:3], [0, 0, 1])
    theirs = load(keyless)
    assert np.allclose(la.poses(freed, freed.q0), la.poses(theirs, theirs.q0))


def test_refuses_to_free_what_has_its_own_joint(load):
    with pytest.raises(la.ModelError, match="no tree can be freed"):
        load(pendulum(), root="free")


def pendulum(inside: str = "", section: str = "", joint: str = "") -> str:
    return (f'<mujoco><worldbody><body name="b"><joint name="j" axis="0 1 0" {joint}/><geom name="g" size="0.1" '
            f'pos="0 0 -1"/>{inside}</body></worldbody>{section}</mujoco>')


@pytest.mark.parametrize(("word", "text"), [
    ("tendon", pendulum(section='<tendon><fixed name="t" stiffness="1"><joint joint="j" coef="1"/></fixed></tendon>')),
    ("tendon", pendulum(section='<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon><equality><tendon '
                                'tendon1="t"/></equality>')),
    ("fluid", pendulum(section='<option density="1.2"/>')),
    ("gravcomp", pendulum('<body gravcomp="1"><geom size="0.1"/></body>')),
])
def test_what_changes_the_model_is_an_error_that_names_the_way_out(load, word, text):
    with pytest.raises(la.ModelError, match=rf"not supported.*ignore=\('{word}',\)"):
        load(text)
    assert word in load(text, ignore=(*QUIET, word)).ignored


@pytest.mark.parametrize(("word", "attribute"), [("nonlinear", 'stiffness="1 2 3"'), ("nonlinear", 'damping="1 2 3"')])
def test_polynomial_springs_and_dampers(load, word, attribute):
    """In versions of MuJoCo that have them; in others the file is an error all the same."""
    with pytest.raises(la.ModelError):
        load(pendulum(joint=attribute))


def test_one_warning(load):
    with pytest.warns(ModelWarning) as caught:
        load(EVERYTHING, ignore=())
    (warning,) = caught
    for words in ("limits of effort or velocity (1)", "collision geometry (6)", "actuators (1)"):
        assert words in str(warning.message)


def test_includes_and_meshes(load, tmp_path):
    (tmp_path / "parts" / "deep").mkdir(parents=True)
    (tmp_path / "parts" / "arm.xml").write_text('<mujocoinclude><geom type="mesh" mesh="box"/></mujocoinclude>')
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 2)]
    faces = "\n".join(f"v {x} {y} {z}" for x, y, z in corners)
    quads = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    (tmp_path / "parts" / "deep" / "box.obj").write_text(faces + "\n" + "\n".join(f"f {quad}" for quad in quads))
    text = ('<mujoco><compiler meshdir="parts/deep"/><asset><mesh file="box.obj" scale="0.1 0.1 0.1"/></asset>'
            '<worldbody><body><joint/><include file="parts/arm.xml"/></body></worldbody></mujoco>')
    model = load(text)
    agree(model, Mujoco(load.path), states=3)
    assert model.total_mass == pytest.approx(2.0)
    assert len(model.bodies[0].geometry[0].faces) == 12


def test_a_deep_file_is_laid_flat(load):
    """As deep as MuJoCo still reads, so that it can be asked; classes are inherited through all levels."""
    def chain(n: int) -> str:
        bodies = "".join(f'<body name="b{i}" pos="0.1 0 0"{inherits(i)}><joint name="j{i}" axis="0 1 {i % 3}"/>'
                         f'<geom size="0.0{1 + i % 5}"/>' for i in range(n))
        return ('<mujoco><default><default class="a"><joint damping="2"/></default><default class="c">'
                f'<geom density="9"/></default></default><worldbody>{bodies}{"</body>" * n}</worldbody></mujoco>')

    def inherits(i: int) -> str:
        return ' childclass="a"' if i == 5 else ' childclass="c"' if i == 100 else ""

    model = load(chain(320))
    agree(model, Mujoco(load.path), states=1)
    long = load(chain(3000))   # MuJoCo takes time that grows with the square of this, 10 s or so at 10,000
    assert long.nv == 3000 and long.parents.tolist() == list(range(-1, 2999))
    with pytest.raises(la.ModelError, match=r"<replicate>.*cannot be used in a file that is nested"):
        load(chain(400).replace('<geom size="0.03"/>', '<replicate count="2"><geom size="0.1"/></replicate>', 1))


def test_states_of_a_model_made_by_hand():
    """Free joints placed anywhere: MuJoCo's are always in the world."""
    model = la.Model()
    model.add_body("box", None, la.Free(), (1, 2, 3), (0.6, 0.8, 0, 0), la.Inertia.box(1, (1, 2, 3)))
    theirs = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><freejoint name="box"/><geom size="1"/></body></worldbody></mujoco>')
    qpos, qvel = la.convert.to_mujoco(model, theirs, [1, 0, 0, 1, 0, 0, 0], [1, 2, 3, 4, 5, 6])
    assert np.allclose(qpos, [2, 2, 3, 0.6, 0.8, 0, 0])
    q, v = la.convert.from_mujoco(model, theirs, qpos, qvel)
    assert np.allclose(q, [1, 0, 0, 1, 0, 0, 0]) and np.allclose(v, [1, 2, 3, 4, 5, 6])
    with pytest.raises(la.ModelError, match="MuJoCo's model has no joint 'link1'"):
        la.convert.to_mujoco(la.library.pendulum(), theirs, [0], [0])
    with pytest.raises(ValueError, match="qpos must have the shape"):
        la.convert.from_mujoco(model, theirs, [0], qvel)
