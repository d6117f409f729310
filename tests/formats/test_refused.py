"""Bad files give a ModelError that names file, line and element, and nothing is opened that should not be."""

import subprocess
import sys

import pytest

import leastaction as la
from leastaction.errors import ModelWarning

SOUND = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
LIMIT = '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'


def link(name: str, inertial: str = SOUND, more: str = "") -> str:
    return f'<link name="{name}">{inertial}{more}</link>\n'


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = LIMIT) -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>\n'


def urdf(*parts: str) -> str:
    return '<robot name="r">\n' + "".join(parts) + "</robot>"


def arm(inertial: str = SOUND, more: str = "", **joint_options: str) -> str:
    return urdf(link("a"), link("b", inertial, more), joint("j", "a", "b", **joint_options))


def mjcf(joint: str = "", geom: str = 'size="0.1"', more: str = "", section: str = "") -> str:
    return (f'<mujoco>\n{section}\n<worldbody>\n<body name="b">\n<joint name="j" {joint}/>\n<geom name="g" {geom}/>\n'
            f"{more}</body>\n</worldbody>\n</mujoco>")


def inertial(**entries: str) -> str:
    text = SOUND
    for key, value in entries.items():
        name = "value" if key == "mass" else key
        text = text.replace(f'{name}="1"', f'{name}="{value}"')
    return text


BOMB = '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
EXTERNAL = '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
TRIANGLE = ("solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
            "endsolid s\n")
CUBE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
MESH = '<visual><geometry><mesh filename="{}"/></geometry></visual>'

UNREAD = {   # pictures, so that the model loads without them
    "absolute": ("/etc/passwd", "outside the model's folder and not opened"),
    "above": ("../secret.stl", "outside the model's folder and not opened"),
    "file://": ("file:///etc/passwd", "outside the model's folder and not opened"),
    "package": ("package://p/../../secret.stl", "outside the model's folder and not opened"),
    "package above": ("package://p/meshes/../../secret.stl", "outside the model's folder and not opened"),
    "link": ("link.stl", "outside the model's folder and not opened"),
    "URL": ("http://localhost/a.stl", "is a URL, and nothing is fetched"),
    "beside, by .. and back": ("../meshes/../../secret.stl", "outside the model's folder and not opened"),
    "beside, no mesh": ("../meshes/secret.txt", "outside the model's folder and not opened"),
    "beside, a link out": ("../meshes/link.stl", "outside the model's folder and not opened"),
    "beside, other folder": ("../private/secret.stl", "outside the model's folder and not opened"),
    "beside, absent": ("../meshes/absent.stl", "not found"),
}

FAULTS = {
    # numbers
    "nan": (arm(inertial(mass="nan")), ["bad.urdf, line 3: <mass> of link 'b': value=\"nan\": 'nan' is not a number"]),
    "inf": (arm(inertial(ixx="inf")), ["bad.urdf, line 3: <inertia> of link 'b': ixx=\"inf\" is not finite"]),
    "unit": (arm(inertial(mass="1,5kg")), ["<mass> of link 'b': value=\"1,5kg\": '1,5kg' is not a number"]),
    "too few": (arm(inside='<origin xyz="1 2"/>'), ["<origin> of joint 'j': xyz=\"1 2\" must be 3 numbers, not 2"]),
    "negative mass": (arm(inertial(mass="-1")), ["bad.urdf: body 'b': mass is negative: -1 kg"]),
    "negative moment": (arm(inertial(ixx="-1")),
                        ["body 'b': inertia about the centre of mass has the negative moment -1"]),
    "no mass": (arm("<inertial/>"),
                ["link 'b': its inertial has no mass value", "link 'b': its inertial has no inertia"]),
    # joints
    "zero axis": (arm(inside='<axis xyz="0 0 0"/>'),
                  ["bad.urdf, line 4: joint 'j': its axis is zero; give it a direction"]),
    "limits": (arm(inside='<limit lower="1" upper="-1"/>'),
               ["joint 'j': its limits are in the wrong order: lower 1 > upper -1"]),
    "type": (arm(kind="spherical"), ["joint 'j': unknown joint type 'spherical'; URDF has revolute, continuous"]),
    "self mimic": (arm(inside='<mimic joint="j"/>'), ["joint 'j': mimics itself"]),
    "damping": (arm(inside='<dynamics damping="-1"/>'), ["joint 'j': its damping is negative: -1"]),
    # the tree
    "cycle": (urdf(link("r"), link("a"), link("b"), joint("i", "a", "b"), joint("j", "b", "a")),
              ["links a, b are each other's ancestors, and no root carries them"]),
    "no root": (urdf(link("a"), joint("j", "a", "a")), ["no link is the root: a are each other's ancestors"]),
    "two parents": (urdf(link("a"), link("b"), joint("i", "a", "b"), joint("j", "a", "b")),
                    ["joint 'j': link 'b' is already the child of joint 'i'"]),
    "two roots": (urdf(link("a"), link("b")), ["bad.urdf: links a, b are all roots"]),
    "duplicate link": (urdf(link("a"), link("a")), ["line 3: link 'a': another link of this name is in line 2"]),
    "duplicate joint": (urdf(link("a"), link("b"), link("c"), joint("j", "a", "b"), joint("j", "a", "c")),
                        ["joint 'j': another joint of this name is in line 5"]),
    "no such link": (urdf(link("a"), joint("j", "a", "z")), ["joint 'j': its child 'z' is no link of the file"]),
    "no links": (urdf(), ["bad.urdf: there are no links"]),
    # the file
    "truncated": (arm()[:-20], ["not readable as XML"]),
    "bomb": (BOMB + arm(), ["line 1: document types and entities are refused"]),
    "external entity": (EXTERNAL + arm(), ["line 1: document types and entities are refused"]),
    "other": ("<sdf/>", ["<sdf> is neither a URDF (<robot>) nor an MJCF file (<mujoco>)"]),
    "xacro": (urdf("<xacro:macro/>", link("a")), ["this is a xacro file"]),
    "all at once": (urdf(link("a", inertial(mass="x")), link("b", inertial(mass="-2")),
                         joint("j", "a", "b", "revolute", '<axis xyz="0 0 0"/>')),
                    ["3 faults", "'x' is not a number", "its axis is zero", "mass is negative: -2 kg"]),
}
MJCF_FAULTS = {
    "nan": (mjcf('damping="nan"'), ["bad.xml, line 5: joint 'j': damping=\"nan\": 'nan' is not a number"]),
    "inf": (mjcf(geom='size="inf"'), ["bad.xml, line 6: geom 'g': size=\"inf\" is not finite"]),
    "unit": (mjcf(geom='size="1" mass="1,5kg"'), ["geom 'g': mass=\"1,5kg\": '1,5kg' is not a number"]),
    "negative mass": (mjcf(geom='size="1" mass="-1"'), ["bad.xml", "mass"]),
    "zero axis": (mjcf('axis="0 0 0"'), ["joint 'j': its axis is zero; give it a direction"]),
    "limits": (mjcf('range="1 -1"'), ["joint 'j': its limits are in the wrong order: 1 > -1"]),
    "type": (mjcf('type="screw"'), ["joint 'j': unknown joint type 'screw'; MJCF has hinge, slide, ball, free"]),
    "duplicate": (mjcf(more='<body name="b"><joint name="j"/></body>'),
                  ["body 'b': another body of this name is in line 4",
                   "joint 'j': another joint of this name is in line 5"]),
    "schema": (mjcf(more="<wheel/>"), ["bad.xml: MuJoCo cannot compile it", "'wheel'"]),
    "no numbers": (mjcf(section='<equality><connect body1="b" anchor=""/></equality>'),
                   ["<connect>: anchor=\"\" must be 3 numbers, not 0"]),
    "percent": (mjcf(geom='size="1" class="%n"'), ["geom 'g': class=\"%n\": MuJoCo does not bear a percent sign"]),
    "truncated": (mjcf()[:-12], ["not readable as XML"]),
    "bomb": (BOMB + mjcf(), ["document types and entities are refused"]),
    "absolute include": (mjcf(more='<include file="/etc/passwd"/>'),
                         ["outside the model's folder and not opened: '/etc/passwd'; move"]),
    "include above": (mjcf(more='<include file="../secret.stl"/>'), ["not opened: '../secret.stl'"]),
    "linked include": (mjcf(more='<include file="link.stl"/>'), ["not opened: 'link.stl'"]),
    "no include": (mjcf(more='<include file="absent.xml"/>'), ["<include> of body 'b': 'absent.xml' is not there"]),
    "include loop": (mjcf(more='<include file="loop.inc"/>'), ["'loop.inc' is included twice"]),
    "mesh above": (mjcf(section='<asset><mesh file="../secret.stl"/></asset>'),
                   ["outside the model's folder and not opened: '../secret.stl'; move what is needed there"]),
    "meshdir above": (mjcf(section='<compiler meshdir=".."/><asset><mesh file="secret.stl"/></asset>'),
                      ["outside the model's folder and not opened: 'secret.stl'"]),
    "many above": (mjcf(section='<asset>' + "".join(f'<mesh file="../{k}.stl"/>' for k in range(20)) + "</asset>"),
                   ["bad.xml: outside the model's folder and not opened: '../0.stl', '../1.stl'", "and 8 more; move"]),
    "mesh by URL": (mjcf(section='<asset><mesh file="http://x/a.stl"/></asset>'), ["'http://x/a.stl' is a URL"]),
    "no mesh": (mjcf(section='<asset><mesh name="m" file="m.stl"/></asset>'), ["mesh 'm': mesh 'm.stl' is not there"]),
    "other model": (mjcf(section='<asset><model file="b.xml"/></asset>'), ["files of <model> are not read ('b.xml')"]),
    "many copies": (mjcf(more='<replicate count="1000000"><geom size="1"/></replicate>'), ["makes 1e+06 copies"]),
    "piece": ("<mujocoinclude/>", ["bad.xml is a piece that other files include"]),
    "empty": ("<mujoco/>", ["bad.xml: there are no bodies in it"]),
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "secret.stl").write_text("solid secret\nendsolid")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link.stl").symlink_to(tmp_path / "secret.stl")
    for name in ("meshes", "assets", "private"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "fine.stl").write_text(TRIANGLE)
        (tmp_path / name / "secret.txt").write_text("secret")
    (tmp_path / "private" / "secret.stl").write_text(TRIANGLE)
    (tmp_path / "meshes" / "link.stl").symlink_to(tmp_path / "private" / "secret.stl")
    (inside / "loop.inc").write_text('<mujocoinclude><include file="loop.inc"/></mujocoinclude>')
    return inside


@pytest.mark.parametrize("case", FAULTS)
def test_bad_urdf(folder, case):
    text, expected = FAULTS[case]
    (folder / "bad.urdf").write_text(text)
    with pytest.raises(la.ModelError) as caught:
        la.load(folder / "bad.urdf")
    for words in expected:
        assert words in str(caught.value)


@pytest.mark.parametrize("case", MJCF_FAULTS)
def test_bad_mjcf(folder, case):
    text, expected = MJCF_FAULTS[case]
    (folder / "bad.xml").write_text(text)
    with pytest.raises(la.ModelError) as caught:
        la.load(folder / "bad.xml")
    for words in expected:
        assert words in str(caught.value)


def test_sound_files_pass(folder):
    """The files above, before they were made bad."""
    (folder / "good.urdf").write_text(arm())
    (folder / "good.xml").write_text(mjcf())
    for name in ("good.urdf", "good.xml"):
        la.load(folder / name, ignore=("limits", "collision"), strict=True)


@pytest.mark.parametrize("case", UNREAD)
def test_a_picture_that_may_not_be_read_is_only_missed(folder, case):
    reference, why = UNREAD[case]
    (folder / "a.urdf").write_text(arm(more=MESH.format(reference)))
    with pytest.warns(ModelWarning, match=r"^a\.urdf: kept but not acting: meshes that cannot be drawn \(1\); "):
        model = la.load(folder / "a.urdf", ignore="limits")
    (noted,) = model.ignored["mesh"]
    assert noted.startswith(f"'{reference}': ") and why in noted
    with pytest.raises(la.ModelError, match="meshes that cannot be drawn"):
        la.load(folder / "a.urdf", ignore="limits", strict=True)


def test_many_pictures_are_counted_in_one_line(folder):
    (folder / "a.urdf").write_text(arm(more="".join(MESH.format(f"../{k}.stl") for k in range(40))))
    with pytest.warns(ModelWarning) as caught:
        la.load(folder / "a.urdf", ignore="limits")
    (warning,) = caught
    assert "meshes that cannot be drawn (40);" in str(warning.message) and len(str(warning.message)) < 200


@pytest.mark.parametrize("name", ["meshes", "assets"])
@pytest.mark.parametrize("reference", ["../{}/fine.stl", "package://robot/{}/fine.stl"])
def test_meshes_beside_the_folder_are_read(folder, name, reference):
    """The layout of most robots: robot/urdf/robot.urdf and robot/meshes, without the package.xml of ROS."""
    (folder / "a.urdf").write_text(arm(more=MESH.format(reference.format(name))))
    model = la.load(folder / "a.urdf", ignore="limits", strict=True)
    assert len(model.bodies[1].geometry[0].faces) == 1
    (folder / "package.xml").write_text("<package><name>robot</name></package>")   # then the package is the limit
    with pytest.warns(ModelWarning, match="meshes that cannot be drawn"):
        la.load(folder / "a.urdf", ignore="limits")


def test_meshes_of_mjcf_beside_the_folder_are_read(folder):
    (folder.parent / "assets" / "cube.obj").write_text(CUBE)
    section = '<compiler meshdir="../assets"/><asset><mesh file="cube.obj"/></asset>'
    (folder / "a.xml").write_text(mjcf(geom='type="mesh" mesh="cube"', section=section))
    assert len(la.load(folder / "a.xml", ignore="collision").bodies[0].geometry[0].faces) == 4


def test_what_lies_outside_may_be_allowed(folder):
    (folder.parent / "secret.stl").write_text(TRIANGLE)
    (folder / "a.urdf").write_text(arm(more=MESH.format("../secret.stl")))
    model = la.load(folder / "a.urdf", allow_external=True, ignore="limits")
    assert len(model.bodies[1].geometry) == 1
    assert not la.load(folder / "a.urdf", ignore=("limits", "mesh")).bodies[1].geometry


def test_triangle_inequality_warns_and_with_strict_raises(folder):
    (folder / "a.urdf").write_text(arm(inertial(ixx="3")))
    with pytest.warns(ModelWarning, match=r"a\.urdf: the inertia of 'b' violates the triangle inequality"):
        la.load(folder / "a.urdf", ignore="limits")
    with pytest.raises(la.ModelError, match="triangle inequality"):
        la.load(folder / "a.urdf", ignore="limits", strict=True)


def test_round_off_in_a_zero_inertia_is_removed(folder):
    """Of the size of m |com|², or of the shapes of the link, as files of robots have it."""
    noisy = inertial(ixx="-5.4e-20", iyy="2e-21", izz="0")
    for origin, shape in (('<origin xyz="0 0 0.03"/>', ""),
                          ("", '<visual><geometry><box size="0.1 0.1 0.1"/></geometry></visual>')):
        (folder / "a.urdf").write_text(arm(noisy.replace("<mass", origin + "<mass"), more=shape))
        words = r"a\.urdf: the inertia of 'b' has negative moments of round-off, at most 5\.4e-20 kg m\^2.* set to zero"
        with pytest.warns(ModelWarning, match=words):
            model = la.load(folder / "a.urdf", ignore="limits")
        assert not model.bodies[1].inertia.matrix.any()
    (folder / "a.urdf").write_text(arm(noisy))   # of a point at the joint: then nothing says what is small
    with pytest.raises(la.ModelError, match="negative moment"):
        la.load(folder / "a.urdf", ignore="limits")
    grave = noisy.replace("-5.4e-20", "-1e-5").replace("<mass", '<origin xyz="0 0 0.03"/><mass')
    (folder / "a.urdf").write_text(arm(grave))
    with pytest.raises(la.ModelError, match="has the negative moment -1e-05"):
        la.load(folder / "a.urdf", ignore="limits")


def test_a_file_without_inertials_says_so(folder):
    (folder / "a.urdf").write_text(urdf(link("a", ""), link("b", ""), joint("j", "a", "b")))
    with pytest.warns(ModelWarning, match=r"a\.urdf: no link has an <inertial>, so nothing has mass"):
        la.load(folder / "a.urdf", ignore="limits")


def test_a_single_link_names_the_free_root(folder):
    (folder / "a.urdf").write_text(urdf(link("a")))
    with pytest.raises(la.ModelError, match=r'nothing in the model can move.*root="free"'):
        la.simulate(la.load(folder / "a.urdf"), steps=1)


def test_a_joint_with_nothing_to_move_is_named(folder):
    (folder / "a.urdf").write_text(arm(""))
    model = la.load(folder / "a.urdf", ignore="limits")
    with pytest.raises(la.ModelError, match="the joint of body 'b' has nothing to move"):
        la.forward_dynamics(model, None, None, None)


def test_no_such_file(folder):
    with pytest.raises(la.ModelError, match=r"cannot read .*absent\.urdf: No such file"):
        la.load(folder / "absent.urdf")
    with pytest.raises(la.ModelError, match="cannot read"):
        la.load(folder)
    with pytest.raises(la.ModelError, match="not a file"):
        la.load("/dev/zero")


WATCH = """
import sys, warnings
import mujoco, trimesh
import leastaction as la
warnings.simplefilter("ignore")
seen = []
sys.addaudithook(lambda event, args: seen.append((event, str(args[0]))) if event in ("open", "os.scandir") else None)
for path in sys.argv[1:]:
    try:
        la.load(path)
    except la.ModelError:
        pass
print("\\n".join(name for _, name in seen))
"""


def test_nothing_outside_is_opened(folder):
    """Watched in a process of its own, as an audit hook cannot be taken off again."""
    names = []
    pictures = [arm(more=MESH.format(reference)) for reference, _ in UNREAD.values()]
    pictures.append(arm(more=MESH.format("../meshes/fine.stl")))
    for k, text in enumerate([*(text for text, _ in [*FAULTS.values(), *MJCF_FAULTS.values()]), *pictures]):
        names.append(folder / f"{k}.xml")
        names[-1].write_text(text)
    done = subprocess.run([sys.executable, "-c", WATCH, *map(str, names)], capture_output=True, text=True, check=True)
    opened = [name for name in done.stdout.splitlines() if "secret" in name or "passwd" in name or "link.stl" in name
              or "private" in name]
    assert not opened
    assert any(name.endswith("meshes/fine.stl") for name in done.stdout.splitlines())   # what is allowed is opened
    assert sum(name.startswith(str(folder)) for name in done.stdout.splitlines()) >= len(names)   # the hook does watch


def test_mujoco_is_given_everything_from_memory(folder, monkeypatch):
    """MuJoCo opens files itself, unseen by Python, unless the names it is given are those of its assets."""
    import mujoco

    from leastaction.formats import mjcf as importer

    given = {}
    monkeypatch.setattr(importer, "compile_text", lambda text, assets, file: given.update(text=text, assets=assets)
                        or mujoco.MjModel.from_xml_string(text, assets))
    (folder / "cube.obj").write_text(CUBE)
    section = ('<asset><mesh file="cube.obj"/><texture type="2d" name="t" file="a.png"/><skin file="x.skn"/>'
               '<hfield name="h" file="h.png"/></asset>')
    (folder / "a.xml").write_text(mjcf(geom='type="mesh" mesh="cube"', section=section))
    la.load(folder / "a.xml", ignore="collision")
    assert list(given["assets"]) == ["asset0.obj"]
    assert given["text"].count("file=") == 1 and 'file="asset0.obj"' in given["text"]
