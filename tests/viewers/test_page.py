"""The page that plays a run: small, complete, and right to a ten-thousandth of the model's size."""

import json
import re
import zlib
from base64 import b64decode
from dataclasses import replace

import numpy as np
import pytest

import leastaction as la
from leastaction.model.arrays import rotation_matrix
from leastaction.viewers import html, solids
from leastaction.viewers.coarsening import coarsened
from leastaction.viewers.film import MOST, film
from leastaction.viewers.packing import bends
from leastaction.viewers.panels import about_centre, panels


@pytest.fixture(scope="module")
def ragdoll():
    return la.simulate(la.library.ragdoll(), dt=1e-3, duration=5.0)


class Read:
    """A page's film, decoded as decode.js does it."""

    def __init__(self, text):
        self.scene = json.loads(re.search(r'id="film">(.*?)</script>', text, re.S)[1])
        self.data = zlib.decompress(b64decode(re.search(r'id="data">(.*?)</script>', text, re.S)[1]))
        self.t, self.focus, self.scales = (self.numbers(self.scene[name]) for name in ("t", "focus", "scales"))
        codes = self.planes(self.scene["poses"]).reshape(self.scene["bodies"], 7, len(self.t)).astype(int)
        second = (codes >> 1) ^ -(codes & 1)
        whole = np.cumsum(np.cumsum(second, axis=2), axis=2).astype(np.int16) / 32767
        self.positions = np.moveaxis(whole[:, :3] * self.scales[:, None, None] + self.focus.reshape(3, -1), -1, 0)
        self.quaternions = np.moveaxis(whole[:, 3:], -1, 0)

    def numbers(self, reference):
        kind, start, count = reference
        return np.frombuffer(self.data, f"<{kind}", count, start)

    def planes(self, reference):
        low, high = self.numbers(reference).reshape(2, -1).astype(np.uint16)
        return low | high << 8


def test_five_seconds_of_the_ragdoll_are_small(ragdoll, tmp_path):
    assert ragdoll.to_html(tmp_path / "new" / "run.html").stat().st_size <= 110_000


@pytest.mark.parametrize("gravity", [9.81, 0.0])
def test_the_page_holds_the_poses(gravity, tmp_path):
    """To 1e-4 of the model's size, however deep it has fallen, and without a word from elsewhere."""
    model = la.library.ragdoll()
    model.gravity = (0, 0, -gravity)
    traj = la.simulate(model, dt=1e-2, duration=60.0)
    text = traj.to_html(tmp_path / "run.html").read_text("utf-8")
    read = Read(text)
    expected = traj.poses(steps=np.rint(read.t / 1e-2).astype(int))
    size = np.linalg.norm(np.ptp(expected[0, :, :3, 3], axis=0))
    assert np.linalg.norm(read.positions - expected[..., :3, 3], axis=2).max() <= 1e-4 * size
    assert np.abs(rotation_matrix(read.quaternions) - expected[..., :3, :3]).max() <= 1e-4
    # nearest signs, so that the page may interpolate between any two frames
    assert (np.einsum("fbi,fbi->fb", read.quaternions[1:], read.quaternions[:-1]) > 0).all()
    assert not re.search(r'(?:src|href)="(?!data:)', text)


def test_a_part_that_flies_off_does_not_blur_the_others(tmp_path):
    model = la.Model(gravity=(0, 0, 0))
    for k in range(4):
        model.add_body(f"part{k}", None, la.Free(), (0.3 * k, 0, 0), inertia=la.Inertia.sphere(1.0, 0.1))
    model.v0 = np.concatenate([(0, 0, 3, 0.01, 0, 0.02), np.zeros(12), (0, 0, 0, 0, 0, 5000.0)])
    traj = la.simulate(model, dt=0.01, duration=2.0)
    read = Read(traj.to_html(tmp_path / "run.html").read_text("utf-8"))
    expected = traj.poses(steps=np.rint(read.t / 0.01).astype(int))[..., :3, 3]
    assert np.abs(read.positions - expected)[:, :3].max() <= 1e-4


def test_bends_are_undone_by_summing_twice_whatever_the_numbers():
    values = np.random.default_rng(0).integers(-32767, 32768, (3, 50))
    codes = bends(values).astype(int)
    back = np.cumsum(np.cumsum((codes >> 1) ^ -(codes & 1), axis=1), axis=1).astype(np.int16)
    np.testing.assert_array_equal(back, values)


def test_long_films_lose_frames_until_they_fit(ragdoll, monkeypatch):
    shown = film(ragdoll)
    monkeypatch.setattr(html, "LARGEST", 85_000)
    text = html.page(ragdoll, shown)
    read = Read(text)
    assert len(text) <= 85_000 and 50 < len(read.t) < len(shown.t)
    assert read.t[0] == shown.t[0] and read.t[-1] == np.float32(shown.t[-1])


def test_no_run_needs_more_than_three_megabytes(ragdoll):
    """Not even one of an hour whose poses change at random, which compresses worst."""
    shown, frames = film(ragdoll), MOST // ragdoll.model.nb
    rng = np.random.default_rng(0)
    quaternions = rng.normal(size=(frames, ragdoll.model.nb, 4))
    quaternions /= np.linalg.norm(quaternions, axis=2, keepdims=True)
    wild = replace(shown, t=np.linspace(0, 5, frames), positions=rng.normal(size=(frames, ragdoll.model.nb, 3)),
                   quaternions=quaternions, focus=np.zeros((frames, 3)), lit=np.zeros((frames, 0), bool))
    text = html.page(ragdoll, wild)
    assert len(text) <= 3_000_000
    assert len(Read(text).t) >= frames // 2


def test_curves_keep_their_peaks_in_six_hundred_points(ragdoll, tmp_path):
    spiky = ragdoll.energy.copy()
    spiky[1234] += 0.5 * ragdoll.peak_kinetic_energy
    read = Read(replace(ragdoll, energy=spiky).to_html(tmp_path / "run.html").read_text("utf-8"))
    energy = read.scene["panels"][0]["curves"][0]
    t, y = read.planes(energy["points"]).reshape(2, -1) / 65535
    assert len(t) <= 602
    assert energy["high"] == pytest.approx(50.0, rel=1e-3) and y.max() == 1.0
    assert t[np.argmax(y)] * 5.0 == pytest.approx(1.234, abs=1e-3)


def test_curves_of_a_run_that_blew_up_leave_out_what_is_not_finite(ragdoll, tmp_path):
    energy = ragdoll.energy.copy()
    energy[3000:4000], energy[4000:] = np.inf, np.nan
    blown = replace(ragdoll, energy=energy, peak_kinetic_energy=np.inf)
    with np.errstate(invalid="ignore"):
        text = blown.to_html(tmp_path / "run.html").read_text("utf-8")
    assert "NaN" not in json.dumps(Read(text).scene) and "Infinity" not in json.dumps(Read(text).scene)


def test_angular_momentum_of_what_flies_is_about_its_centre_of_mass(ragdoll):
    """So gravity leaves it constant, which it does not about the world's origin."""
    spin = about_centre(ragdoll)
    assert np.ptp(spin, axis=0).max() < 1e-9 * np.abs(spin).max()
    assert np.ptp(ragdoll.momentum[:, :3], axis=0).max() > 10 * np.abs(spin).max()
    _, angular, _ = panels(ragdoll, 1.0)
    assert angular.unit == "about COM, kg m²/s"
    np.testing.assert_array_equal(angular.curves["y"], spin[:, 1])
    model = ragdoll.model   # by the definition, at a node where the momentum had to be integrated
    node = 2501
    poses = la.poses(model, ragdoll.q[node])
    masses = np.array([body.inertia.mass for body in model.bodies])
    centre = masses @ [T[:3, :3] @ body.inertia.com + T[:3, 3] for body, T in zip(model.bodies, poses, strict=True)]
    expected = ragdoll.momentum[node, :3] - np.cross(centre / masses.sum(), ragdoll.momentum[node, 3:])
    np.testing.assert_allclose(spin[node], expected, atol=1e-9)


def test_what_hangs_on_the_ground_keeps_the_worlds_origin():
    traj = la.simulate(la.library.pendulum(), dt=1e-2, duration=0.5)
    _, angular, _ = panels(traj, 1.0)
    assert angular.unit == "kg m²/s"
    np.testing.assert_array_equal(angular.curves["y"], traj.momentum[:, 1])


def test_what_is_welded_to_the_ground_is_no_part_of_the_centre_of_mass():
    model = la.Model()
    model.add_body("rock", None, position=(5, 0, 0), inertia=la.Inertia.sphere(1000.0, 1.0))
    model.add_body("stone", None, la.Free(), inertia=la.Inertia.sphere(1.0, 0.1))
    model.v0 = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    traj = la.simulate(model, dt=1e-3, duration=0.2)
    np.testing.assert_allclose(about_centre(traj), np.tile(0.4 * 0.01 * np.array([1, 2, 3]), (201, 1)), atol=1e-12)


def test_names_cannot_break_the_page(tmp_path):
    model = la.library.pendulum()
    model.name = "</script><b>{{scene}}"
    text = la.simulate(model, dt=0.01, steps=2).to_html(tmp_path / "run.html").read_text("utf-8")
    assert text.count("</script>") == 3 and "<b>" not in text


def mesh_of(solid):
    upright = np.array([1.0, 0, 0, 0])
    return la.Geometry("mesh", np.zeros(3), np.zeros(3), upright, np.ones(4), solid.vertices, solid.faces)


def test_large_meshes_are_coarsened_and_small_ones_are_not():
    ball, box = mesh_of(solids.ball(400, 200)), mesh_of(solids.box())
    (_, few), (_, same) = coarsened([(0, ball), (1, box)], 10_000)
    assert same.faces is box.faces
    assert 2_000 < len(few.faces) < 10_000
    np.testing.assert_allclose(np.linalg.norm(few.vertices, axis=1), 1.0, atol=0.03)
    a, b, c = np.moveaxis(few.vertices[few.faces], 1, 0)
    assert np.sum(a * np.cross(b, c)) / 6 == pytest.approx(4 / 3 * np.pi, rel=0.05)   # closed, facing outwards
    assert coarsened([(0, box)], 10_000)[0][1].faces is box.faces


def test_a_page_is_an_html_file(tmp_path):
    with pytest.raises(ValueError, match=r"name it '.*run\.html' instead"):
        la.simulate(la.library.pendulum(), steps=1).to_html(tmp_path / "run.gif")
