"""Damaged files give a ModelError or load: no crash, no hang, nothing opened outside the folder."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_mjcf import EVERYTHING
from test_urdf import CORNER, SHAPES, joint, robot

WORKER = Path(__file__).with_name("fuzz.py")
BATCH = 500
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
CUBE = """v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"""
MJCF_WITH_FILES = """<mujoco><compiler meshdir="meshes"/><include file="meshes/default.inc"/>
<asset><mesh name="m" file="cube.obj"/><mesh name="n" file="cube.stl"/>
<texture name="t" type="2d" file="absent.png"/><material name="r" texture="t"/>
<hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset>
<worldbody><geom type="hfield" hfield="h"/><replicate count="3" offset="0 0 1"><body><joint type="slide" axis="1 0 0"/>
<geom type="mesh" mesh="m" material="r"/></body></replicate></worldbody>
<sensor><clock/></sensor></mujoco>"""
TENDONS = """<mujoco><option density="1.2"><flag gravity="disable"/></option><worldbody><frame euler="10 0 0">
<body name="b" gravcomp="1"><freejoint/><geom size="0.1"/><site name="s"/><body name="c"><joint name="j" type="ball"/>
<geom type="box" size="0.1 0.2 0.3"/><site name="t"/></body></body></frame></worldbody>
<equality><weld body1="b"/><connect body1="b" body2="c" anchor="0 0 0"/></equality>
<tendon><spatial stiffness="3"><site site="s"/><site site="t"/></spatial></tendon>
<actuator><position joint="j" kp="3" gear="1 0 0"/></actuator>
<keyframe><key qvel="1 0 0 0 0 0 0 0 0"/></keyframe></mujoco>"""


@pytest.fixture
def folder(tmp_path):
    fill_folder(tmp_path)
    return tmp_path


def fill_folder(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds"
    (seeds / "meshes").mkdir(parents=True)
    kinds = ("revolute", "continuous", "prismatic", "floating", "planar", "fixed")
    joints = "".join(joint(i, kind, more='<dynamics damping="1"/><mimic joint="j1"/>' if i == 3 else "")
                     for i, kind in enumerate(kinds, 1))
    (tmp_path / "secret.stl").write_text(CORNER)
    (seeds / "meshes" / "cube.obj").write_text(CUBE)
    (seeds / "meshes" / "corner.stl").write_text(CORNER)
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32)
    facets = b"".join(bytes(12) + corners[list(face)].tobytes() + bytes(2) for face in FACES)
    (seeds / "meshes" / "cube.stl").write_bytes(bytes(80) + np.uint32(len(FACES)).tobytes() + facets)
    (seeds / "meshes" / "default.inc").write_text("<mujocoinclude><default><geom mass='9'/></default></mujocoinclude>")
    files = {"made.urdf": robot(joints, 7), "shapes.urdf": f'<robot name="made">{SHAPES}</robot>',
             "made.xml": EVERYTHING, "files.xml": MJCF_WITH_FILES, "tendons.xml": TENDONS}
    for name, text in files.items():
        (seeds / name).write_text(text)


def run(folder: Path, first: int, count: int) -> None:
    done = subprocess.run([sys.executable, "-X", "faulthandler", str(WORKER), str(folder), str(first), str(count)],
                          capture_output=True, text=True, timeout=600, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-3000:]
    loaded = int(done.stdout.splitlines()[-1].split()[0])
    assert 0.05 * count < loaded < 0.95 * count   # damaged enough to matter, not so much that nothing is read


def test_damaged_files(folder):
    run(folder, 0, 300)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(1000, 21_000, BATCH))
def test_many_damaged_files(folder, first):
    run(folder, first, BATCH)
