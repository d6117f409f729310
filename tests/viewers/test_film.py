"""What viewers show: the shapes of a model, its poses at a steady rate, curves that keep their peaks."""

import numpy as np
import pytest

import leastaction as la
from leastaction.model.arrays import rotation_matrix
from leastaction.viewers import solids
from leastaction.viewers.film import film, thinned
from leastaction.viewers.outline import GROUND, quaternions, shapes


def test_quaternions_of_rotations():
    rng = np.random.default_rng(0)
    given = rng.normal(size=(200, 4))
    given[:4] = np.eye(4)   # each component once the only one
    given /= np.linalg.norm(given, axis=1, keepdims=True)
    np.testing.assert_allclose(rotation_matrix(quaternions(rotation_matrix(given))), rotation_matrix(given), atol=1e-14)


def test_capsules_join_the_joints_of_a_bare_model():
    model = la.library.chain(3, length=0.4)
    for body, shape in (found for found in shapes(model) if found[0] != GROUND):
        assert shape.shape == "capsule"
        ends = shape.position + np.outer((-1, 1), rotation_matrix(shape.quaternion)[:, 2]) * shape.size[1]
        np.testing.assert_allclose(ends, [(0, 0, 0), (0.4, 0, 0)], atol=0.012, err_msg=model.names[body])
    assert [body for body, _ in shapes(model)].count(GROUND) == 1


@pytest.mark.parametrize("end", [(0, 0, -0.7), (0, 0, 0.7), (0.3, -0.2, 0.1)])
def test_capsule_between_two_points(end):
    start = np.array([0.1, 0.2, 0.3])
    shape = la.Geometry.capsule(start, start + end, 0.05, (1, 0, 0, 1))
    axis = rotation_matrix(shape.quaternion)[:, 2] * shape.size[1]
    np.testing.assert_allclose([shape.position - axis, shape.position + axis], [start, start + end], atol=1e-15)


def test_own_shapes_are_taken_and_frames_left_out():
    model = la.Model()
    box = la.Geometry.capsule((0, 0, 0), (0, 0, 1), 0.1, (1, 0, 0, 1))
    model.add_body("seen", joint=la.Free(), inertia=la.Inertia.sphere(1.0, 0.1), geometry=[box])
    model.add_body("frame", "seen", position=(0, 0, 1))
    model.add_body("bare", "seen", la.Revolute((0, 1, 0)), inertia=la.Inertia.rod(1.0, 0.5, com=(0, 0, 0.25)))
    assert {model.names[body] for body, _ in shapes(model)} == {"seen", "bare"}
    assert box in [shape for _, shape in shapes(model)]


def test_what_is_welded_to_a_shape_needs_none():
    model = la.Model()
    shape = la.Geometry.capsule((0, 0, 0), (0, 0, 1), 0.1, (1, 0, 0, 1))
    model.add_body("hip", joint=la.Free(), inertia=la.Inertia.sphere(1.0, 0.1))
    model.add_body("cover", "hip", geometry=[shape])
    model.add_body("battery", "hip", inertia=la.Inertia.sphere(1.0, 0.1))
    assert [(model.names[body], found) for body, found in shapes(model)] == [("cover", shape)]


def stopped():
    """A door that hits its stop at 0.4 s and bounces, beside one that rests at its stop."""
    model = la.Model(gravity=(0, 0, 0))
    inertia = la.Inertia.rod(1.0, 0.8, axis=(1, 0, 0), com=(0.4, 0, 0))
    model.add_body("door", joint=la.Revolute((0, 0, 1), limits=(-0.5, 0.4), limit_restitution=1.0), inertia=inertia)
    model.add_body("held", joint=la.Revolute((0, 0, 1), limits=(0.0, 2.0)), position=(0, 1, 0), inertia=inertia)
    model.add_body("free", joint=la.Revolute((0, 0, 1), limits=(-9.0, 9.0)), position=(0, 2, 0), inertia=inertia)
    return la.simulate(model, v=[1.0, 0.0, 1.0], dt=1e-3, steps=1000, control=[0.0, -1.0, 0.0])


def test_joints_at_their_limits_are_marked():
    run = stopped()
    shown = film(run, fps=20.0)
    assert [run.model.names[body] for body, _ in shown.marks] == ["door", "held"]
    door, held = shown.lit.T
    assert held.all()
    assert shown.t[door].min() == pytest.approx(0.4) and 0.4 < shown.t[door].max() <= 0.5
    assert shown.every(3).lit.shape == (len(shown.every(3).t), 2)
    sparse = film(run, fps=2.0)
    assert sparse.lit[:, 0].tolist() == [False, True, False]   # an impact between two frames is not lost
    ignored = la.simulate(run.model, v=[1.0, 0.0, 1.0], dt=1e-3, steps=500, ignore="limits")
    assert film(ignored).marks == [] and film(ignored).lit.shape[1] == 0


def test_what_flies_off_is_let_go():
    model = la.Model()
    for k in range(4):
        model.add_body(f"part{k}", None, la.Free(), (0.3 * k, 0, 0), inertia=la.Inertia.sphere(1.0, 0.1))
    model.gravity = (0, 0, 0)
    model.v0 = np.append(np.zeros(18), (0, 0, 0, 0, 0, 50.0))
    shown = film(la.simulate(model, dt=0.01, duration=2.0))
    assert shown.radius < 3 and np.abs(shown.focus).max() < 3


@pytest.mark.parametrize("solid", [solids.ball(), solids.cylinder(), solids.box()], ids=["ball", "cylinder", "box"])
def test_solids_are_closed_and_face_outwards(solid):
    """The volume by the divergence theorem is that of the shape, so every triangle is there and turned outwards."""
    size = np.array([0.5, 0.5, 0.5, 0.3])
    expected = {id(solids.ball()): np.pi * 0.25 * 0.6 + 4 / 3 * np.pi * 0.125, id(solids.box()): 1.0,
                id(solids.cylinder()): np.pi * 0.25 * 0.6}[id(solid)]
    a, b, c = np.moveaxis(solid.stretched(size)[solid.faces], 1, 0)
    assert np.sum(a * np.cross(b, c)) / 6 == pytest.approx(expected, rel=0.02)
    # and the shading normals agree with the triangles
    flat = np.cross(b - a, c - a)
    assert (np.einsum("ij,ij->i", flat, solid.normals[solid.faces].sum(axis=1)) >= -1e-12).all()


def test_normals_of_a_mesh_keep_edges_and_smooth_curves():
    cube = solids.box()
    sharp = solids.mesh(cube.vertices, cube.faces)
    np.testing.assert_allclose(np.abs(sharp.normals).max(axis=1), 1.0, atol=1e-3)
    assert len(sharp.vertices) == 24
    ball = solids.ball()
    smooth = solids.mesh(ball.vertices, ball.faces)
    radial = np.einsum("ij,ij->i", smooth.normals, smooth.vertices)
    assert radial.min() > 0.98


def test_frames_are_the_trajectory_at_no_more_than_sixty_a_second():
    traj = la.simulate(la.library.ragdoll(), dt=1e-3, duration=0.5)
    shown = film(traj)
    assert len(shown.t) <= 32 and shown.t[-1] == traj.t[-1]
    nodes = np.searchsorted(traj.t, shown.t)
    expected = traj.poses(steps=nodes)
    np.testing.assert_allclose(shown.positions, expected[..., :3, 3])
    np.testing.assert_allclose(rotation_matrix(shown.quaternions), expected[..., :3, :3], atol=1e-12)


def test_long_runs_get_fewer_frames(monkeypatch):
    traj = la.simulate(la.library.double_pendulum(), dt=1e-2, duration=10.0)
    monkeypatch.setattr("leastaction.viewers.film.MOST", 200)
    shown = film(traj)
    assert 95 <= len(shown.t) <= 102 and shown.t[-1] == traj.t[-1]


def test_gravity_points_down_whatever_its_direction():
    model = la.library.pendulum()
    model.gravity = (0, 9.81, 0)
    model.q0 = [0.0]
    shown = film(la.simulate(model, dt=1e-3, duration=0.01))
    turned = rotation_matrix(shown.quaternions[0, 0]) @ (0, 0, -1)
    assert turned[2] == pytest.approx(0, abs=1e-12)   # z of the world is level now


def test_what_falls_far_is_followed():
    shown = film(la.simulate(la.library.ragdoll(), dt=5e-3, duration=3.0))
    assert shown.floor_follows
    assert np.ptp(shown.focus[:, 2]) > 30
    middle = shown.positions.mean(axis=1)
    assert np.linalg.norm(middle - shown.focus, axis=1).max() < 2 * shown.radius


def test_thinning_keeps_the_peaks():
    t = np.linspace(0, 1, 50_001)
    y = np.random.default_rng(0).normal(size=len(t))
    y[1234], y[40_000] = 50.0, -40.0
    few_t, few_y = thinned(t, y, 500)
    assert len(few_t) < 520 and (np.diff(few_t) > 0).all()
    assert few_y.max() == 50.0 and few_y.min() == -40.0 and few_t[-1] == 1.0


def test_springs_and_thrusters_are_drawn():
    """Beads lie evenly between the ends of a spring in every frame, a nozzle is where the thrust acts."""
    model = la.Model(gravity=(1.0, 0, 0))  # the picture is turned upright
    for k in range(2):
        model.add_body(f"{k}", None, la.Free(), (0, 0, k), inertia=la.Inertia.sphere(1.0, 0.1))
    model.add_force("tie", la.Spring("0", "1", (0.1, 0, 0), (0, 0.2, 0), stiffness=5.0, rest=0.3))
    model.add_force("leash", la.Spring("1", None, other_point=(0, 1, 0), stiffness=5.0, damping=1.0))
    model.add_force("unseen", la.Field(1.0, (9, 9, 9), "0", (1, 0, 0), uniform=(1, 0, 0)))
    model.add_force("jet", la.Thruster("0", (0, 0, 3), 2.0, point=(0.1, 0, 0)))
    run = la.simulate(model, dt=1e-2, steps=50)
    shown = film(run)
    beads = [body for body, shape in shown.shapes if shape.shape == "sphere" and body >= model.nb]
    assert len(beads) == 2 * 14 and shown.positions.shape[1] == model.nb + len(beads)
    start, end = (run.poses(f"{k}") @ [*point, 1] for k, point in ((0, (0.1, 0, 0)), (1, (0, 0.2, 0))))
    middle = 0.5 * (start + end)[:, :3]
    between = 0.5 * (shown.positions[:, beads[6]] + shown.positions[:, beads[7]])
    frames = np.searchsorted(run.t, shown.t - 1e-9)
    np.testing.assert_allclose(np.linalg.norm(between, axis=1), np.linalg.norm(middle[frames], axis=1), atol=1e-9)
    (nozzle,) = [(body, shape) for body, shape in shown.shapes if shape.shape == "mesh"]
    assert nozzle[0] == 0 and np.any(np.all(np.isclose(nozzle[1].vertices, (0.1, 0, 0)), axis=1))
    assert nozzle[1].vertices[:, 2].max() == 0.0  # the jet goes down, the push up
