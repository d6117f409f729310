"""URDF files written here, against Pinocchio's reading of them, and what a model keeps of a file."""

import numpy as np
import pytest
from peers import Pinocchio, agree, assert_close, random_state

import leastaction as la
from leastaction.errors import ModelWarning
from leastaction.formats import zoo

INERTIAL = """<inertial><origin xyz="0.1 -0.2 0.3" rpy="0.3 -0.5 0.7"/><mass value="{mass}"/>
  <inertia ixx="0.5" ixy="0.01" ixz="-0.02" iyy="0.4" iyz="0.03" izz="0.3"/></inertial>"""


def robot(joints: str, links: int, extra: str = "") -> str:
    bodies = "\n".join(f'<link name="l{i}">{INERTIAL.format(mass=1 + i)}</link>' for i in range(links))
    return f'<?xml version="1.0"?>\n<robot name="made">\n{bodies}\n{joints}\n{extra}</robot>'


def joint(i: int, kind: str, axis: str = "0.3 -0.4 1.2", more: str = "") -> str:
    limit = '<limit lower="-1" upper="2" effort="30" velocity="4"/>' if kind in ("revolute", "prismatic") else ""
    return (f'<joint name="j{i}" type="{kind}"><parent link="l{i - 1}"/><child link="l{i}"/>'
            f'<origin xyz="0.2 {i} -0.1" rpy="0.4 {0.1 * i} -1.1"/><axis xyz="{axis}"/>{limit}{more}</joint>')


@pytest.fixture
def load(tmp_path):
    def make(text: str, **options) -> la.Model:
        (tmp_path / "made.urdf").write_text(text)
        return la.load(tmp_path / "made.urdf", **{"ignore": ("limits", "friction", "collision"), **options})

    make.path = tmp_path / "made.urdf"
    return make


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "fixed", "floating"])
def test_every_joint_agrees_with_pinocchio(load, kind, free):
    text = robot(joint(1, "revolute") + joint(2, kind) + joint(3, "continuous"), 4)
    model = load(text, root="free" if free else "fixed")
    agree(model, Pinocchio(load.path, free))


def test_planar_joint_agrees_with_pinocchio(load):
    """Pinocchio's planar joint knows the normal z only; its bias forces are those of body axes."""
    model = load(robot(joint(1, "revolute") + joint(2, "planar", "0 0 1") + joint(3, "revolute"), 4))
    theirs = Pinocchio(load.path, free=False)
    rng = np.random.default_rng(2)
    for _ in range(5):
        q, v = random_state(model, rng)
        M, _, kinetic, _ = theirs(model, q, v)
        assert_close(la.mass_matrix(model, q), M)
        assert_close(la.kinetic_energy(model, q, v), kinetic)
        assert_close(la.inverse_dynamics(model, q, np.zeros(5), None), theirs(model, q, np.zeros(5))[1])
        q_back, v_back = la.convert.from_pinocchio(
            model, theirs.theirs, *la.convert.to_pinocchio(model, theirs.theirs, q, v))
        assert_close(q_back, q)
        assert_close(v_back, v)


@pytest.mark.parametrize("axis", ["1 0 0", "0 -2 0", "0.3 -0.4 1.2"])
def test_planar_joint_moves_across_its_axis(load, axis):
    model = load(robot(joint(1, "planar", axis), 2))
    normal = np.array(axis.split(), dtype=float)
    normal /= np.linalg.norm(normal)
    planar = model.bodies[1].joint
    across = np.cross(planar.axis1, planar.axis2)
    assert np.allclose(across / np.linalg.norm(across), normal)


def test_what_the_joints_keep(load):
    text = robot(joint(1, "revolute", more='<dynamics damping="0.5" friction="0.25"/>'), 2)
    with pytest.warns(ModelWarning) as caught:
        model = load(text, ignore=())
    hinge = model.bodies[1].joint
    assert (hinge.name, hinge.limits, hinge.damping, hinge.friction) == ("j1", (-1, 2), 0.5, 0.25)
    assert (hinge.effort_limit, hinge.velocity_limit) == (30, 4)
    assert model.ignored == {"effort": ("'j1' (effort, velocity)",)}
    (warning,) = caught
    assert warning.filename == __file__   # it points at the line that loads
    assert str(warning.message).startswith("made.urdf: kept but not acting: limits of effort or velocity (1);")


def test_strict_makes_the_warning_an_error(load):
    with pytest.raises(la.ModelError, match=r"kept but not acting: limits of effort or velocity \(1\)"):
        load(robot(joint(1, "revolute"), 2), ignore=(), strict=True)


def test_gravity(load):
    text = robot(joint(1, "continuous"), 2)
    assert load(text).gravity.tolist() == [0, 0, -9.81]
    assert load(text, gravity=(1, 2, 3)).gravity.tolist() == [1, 2, 3]


def test_mimic_couples_joints(load):
    mimic = '<mimic joint="{}" multiplier="{}" offset="{}"/>'.format
    text = robot(joint(1, "continuous") + joint(2, "prismatic", more=mimic("j1", 2, 0.3))
                 + joint(3, "continuous", more=mimic("j2", -1.5, 0)) + joint(4, "fixed", more=mimic("j1", 1, 0))
                 + joint(5, "continuous", more=mimic("j4", 1, 0.7)), 6)
    with pytest.warns(ModelWarning, match=r"open at model\.q0: 'j2' by 0\.3 m, 'j5' by .*; la\.assemble"):
        model = load(text)
    q, v = la.assemble(model, (0.4, 0, 0, 0), (1.0, 0, 0, 0), keep="j1")
    np.testing.assert_allclose(q, (0.4, 1.1, -1.65, 0.7), atol=1e-14)
    np.testing.assert_allclose(v, (1.0, 2.0, -3.0, 0.0), atol=1e-14)
    assert [loop.name for loop in model.loops] == ["j2", "j3", "j5"] and "mimic" not in model.ignored
    free = load(text, ignore=("mimic", "limits"))
    assert free.loops == () and free.ignored["mimic"][0] == "'j2' follows 'j1'"


def test_mimic_of_what_is_not_there(load):
    text = robot(joint(1, "continuous") + joint(2, "continuous", more='<mimic joint="j"/>'), 3)
    with pytest.raises(la.ModelError, match=r"joint 'j2': mimics 'j', which is no joint; ignore=\('mimic',\) lets it"):
        load(text)
    assert load(text, ignore="mimic").loops == ()
    text = robot(joint(1, "floating") + joint(2, "continuous", more='<mimic joint="j1"/>'), 3)
    with pytest.raises(la.ModelError, match="joint 'j2': mimics 'j1', and only joints of one degree of freedom can"):
        load(text)


def test_unknown_ignore_word_is_refused(load):
    with pytest.raises(ValueError, match="ignore= does not know 'mimics'; choose from"):
        load(robot(joint(1, "continuous"), 2), ignore="mimics")
    with pytest.raises(ValueError, match="root must be"):
        load(robot(joint(1, "continuous"), 2), root="floating")


def test_a_chain_of_ten_thousand_links(load):
    n = 10_000
    model = load(robot("".join(joint(i, "continuous", "0 1 0") for i in range(1, n)), n))
    assert (model.nb, model.nv) == (n, n - 1)
    assert model.order() == list(range(n))


SHAPES = f"""
<link name="l0">{INERTIAL.format(mass=1)}
 <visual><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><geometry><box size="2 4 6"/></geometry>
   <material name="red"/></visual>
 <visual><geometry><cylinder radius="0.5" length="3"/></geometry></visual>
 <visual><geometry><mesh filename="meshes/corner.stl" scale="1 -2 1"/></geometry></visual>
 <visual><geometry><mesh filename="meshes/absent.stl"/></geometry></visual>
 <collision><geometry><sphere radius="0.25"/></geometry></collision>
</link>
<material name="red"><color rgba="1 0 0 0.5"/></material>
"""
CORNER = """solid corner
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid corner
"""


def test_shapes_are_kept_for_viewers(load, tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "corner.stl").write_text(CORNER)
    with pytest.warns(ModelWarning, match="meshes that cannot be drawn"):
        model = load(f'<robot name="made">{SHAPES}</robot>', ignore=("collision",), root="free")
    box, cylinder, mesh, sphere = model.bodies[0].geometry
    assert (box.shape, box.size.tolist(), box.color.tolist()) == ("box", [1, 2, 3], [1, 0, 0, 0.5])
    assert np.allclose(box.position, [1, 2, 3]) and np.allclose(box.quaternion, [np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
    assert (cylinder.shape, cylinder.size.tolist()) == ("cylinder", [0.5, 1.5, 0])
    assert (sphere.shape, sphere.size.tolist(), sphere.visual) == ("sphere", [0.25, 0, 0], False)
    a, b, c = mesh.vertices[mesh.faces[0]]
    assert np.allclose(np.cross(b - a, c - a), [0, 0, 2])   # a mirrored face still looks the same way
    assert model.ignored["mesh"] == ("'meshes/absent.stl': not found",)
    assert len(load(f'<robot name="made">{SHAPES}</robot>', ignore=("collision", "mesh")).bodies[0].geometry) == 3


def test_meshes_of_a_package(tmp_path):
    folder = tmp_path / "arm_description"
    for name in ("urdf", "meshes"):
        (folder / name).mkdir(parents=True)
    (folder / "package.xml").write_text("<package><name>arm</name></package>")
    (folder / "meshes" / "corner.stl").write_text(CORNER)
    for package in ("arm", "arm_description"):
        text = (f'{INERTIAL.format(mass=1)}<visual><geometry><mesh filename="package://{package}/meshes/corner.stl"/>'
                "</geometry></visual>")
        (folder / "urdf" / "a.urdf").write_text(f'<robot name="a"><link name="l">{text}</link></robot>')
        model = la.load(folder / "urdf" / "a.urdf", root="free")
        assert len(model.bodies[0].geometry[0].faces) == 1


def test_real_meshes_have_the_size_of_the_robot():
    """Panda's hull, COLLADA and all: its first link reaches about a third of a metre."""
    (path,) = (path for path in zoo.paths("example-robot-data") if path.name == "panda.urdf")
    with pytest.warns(ModelWarning):
        model = la.load(path)
    assert "mesh" not in model.ignored
    shapes = [shape for body in model.bodies for shape in body.geometry if shape.visual]
    assert all(len(shape.faces) for shape in shapes)
    spans = [np.ptp(shape.vertices, axis=0).max() for shape in shapes]
    assert min(spans) > 0.02 and 0.2 < max(spans) < 0.5
