"""Pictures show the numbers of the trajectory, in the right plane, and leave matplotlib as they found it."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

import leastaction as la
from leastaction import plots
from leastaction.plots.sticks import drawing_plane, stick_figure
from leastaction.viewers.outline import leaf_tips, shapes
from reference.mechanisms import bricard, four_bar


@pytest.fixture(scope="module")
def swing():
    return la.simulate(la.library.double_pendulum(), dt=5e-3, duration=1.0)


@pytest.fixture(scope="module")
def tumble():
    return la.simulate(la.library.ragdoll(), dt=5e-3, duration=0.5)


@pytest.fixture(autouse=True)
def no_open_figures():
    yield
    plt.close("all")


def heights(ax):
    return [line.get_ydata() for line in ax.get_lines()]


def test_energy_shows_the_error_in_percent(swing):
    ax = plots.energy(swing, label="a run")
    np.testing.assert_array_equal(heights(ax)[0], 100 * swing.energy_error)
    assert ax.get_legend().get_texts()[0].get_text() == "a run"
    assert "%" in ax.get_ylabel()


def test_energy_draws_on_given_axes_with_given_line(swing):
    _, ax = plt.subplots()
    assert plots.energy(swing, ax, color="red") is ax
    assert ax.get_lines()[0].get_color() == "red"


def test_compare_energy_zooms_on_what_is_dwarfed(swing):
    rough = la.simulate(swing.model, dt=5e-3, duration=1.0, integrator=la.SemiImplicitEuler())
    assert np.abs(rough.energy_error).max() > 10 * np.abs(swing.energy_error).max()
    whole, close = plots.compare_energy({"fine": swing, "rough": rough})
    assert len(whole.get_lines()) == len(close.get_lines()) + 1
    assert max(map(abs, close.get_ylim())) < 0.3 * max(map(abs, whole.get_ylim()))
    assert len(plots.compare_energy({"one": swing, "same": swing})) == 1


def test_compare_energy_gives_a_run_one_colour_in_both_panels(swing):
    rough = la.simulate(swing.model, dt=5e-3, duration=1.0, integrator=la.SemiImplicitEuler())
    axes = plots.compare_energy({"rough": rough, "fine": swing})
    fine = [line.get_color() for ax in axes for line in ax.get_lines()
            if np.array_equal(line.get_ydata(), 100 * swing.energy_error)]
    assert len(fine) == 2 and fine[0] == fine[1]


def test_momentum_shows_angular_above_linear(tumble):
    upper, lower = plots.momentum(tumble)
    np.testing.assert_array_equal(heights(upper), tumble.momentum[:, :3].T)
    np.testing.assert_array_equal(heights(lower), tumble.momentum[:, 3:].T)


def test_state_shows_chosen_joints_only(tumble):
    model = tumble.model
    upper, lower = plots.state(tumble, joints=["head", "pelvis"])
    q = np.hstack([tumble.q[:, model.q_slice("head")], tumble.q[:, model.q_slice("pelvis")]])
    v = np.hstack([tumble.v[:, model.v_slice("head")], tumble.v[:, model.v_slice("pelvis")]])
    np.testing.assert_array_equal(heights(upper), q.T)
    np.testing.assert_array_equal(heights(lower), v.T)
    assert upper.get_lines()[-1].get_label() == "pelvis qz"
    assert lower.get_lines()[-1].get_label() == "pelvis vz"


def test_state_of_an_unknown_joint(swing):
    with pytest.raises(la.ModelError, match="link3"):
        plots.state(swing, joints=["link3"])


def test_state_has_units_of_every_joint():
    model = la.Model()
    box = la.Inertia.box(1.0, (0.1, 0.2, 0.3))
    joints = (la.Prismatic((1, 0, 0)), la.Helical((0, 0, 1), pitch=0.1), la.Universal((1, 0, 0), (0, 1, 0)),
              la.Planar((1, 0, 0), (0, 1, 0)), la.Cylindrical((0, 0, 1)), la.Ball(), la.Free(), la.Fixed())
    for joint in joints:
        model.add_body(type(joint).__name__, joint=joint, inertia=box)
    upper, lower = plots.state(la.simulate(model, dt=1e-2, steps=3))
    assert (upper.get_ylabel(), lower.get_ylabel()) == ("q (m, rad, unit quaternion)", "v (m/s, rad/s)")
    assert (len(upper.get_lines()), len(lower.get_lines())) == (model.nq, model.nv)


def test_settings_of_matplotlib_are_restored(swing):
    before = dict(mpl.rcParams)
    plots.energy(swing)
    plots.momentum(swing)
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(("model", "tip"), [
    (la.library.pendulum(2.0), (0, 0, -2)),        # a point mass ends at its COM
    (la.library.chain(3, length=0.2), (0.2, 0, 0)),   # a rod at its end
    (la.library.paper_chain(2), (0, 0, -1.5)),     # a heavy bar at twice its COM
])
def test_leaf_ends_where_a_rod_would(model, tip):
    (index, found), = leaf_tips(model).items()
    assert index == model.nb - 1
    np.testing.assert_allclose(found, tip, atol=1e-12)


def test_links_join_ground_joints_and_tip(swing):
    figure = stick_figure(swing, np.array([0]))
    first = np.array([-np.sin(1.0), 0.0, -np.cos(1.0)])
    second = first - np.array([np.sin(1.5), 0.0, np.cos(1.5)])
    ground = np.zeros(3)
    expected = [[ground, ground], [ground, first], [first, second]]
    np.testing.assert_allclose(figure.links[0], expected, atol=1e-12)
    np.testing.assert_allclose(figure.bobs[0], [first, second], atol=1e-12)


def test_joints_at_their_limits_are_marked():
    model = la.Model()
    model.add_body("arm", joint=la.Revolute((0, 1, 0), limits=(-9.0, 0.5)),
                   inertia=la.Inertia.rod(1.0, 1.0, com=(0, 0, -0.5)))
    run = la.simulate(model, q=[-0.5], v=[4.0], dt=2e-3, duration=0.4)
    hit = int(np.flatnonzero(run.limit_force[:, 0])[0])
    assert 20 < hit < 180
    assert stick_figure(run, np.array([hit - 10, hit, hit + 40])).stopped[:, 0].tolist() == [False, True, True]


def test_planar_motion_is_seen_in_its_plane(swing, tumble):
    down = np.array([0.0, 0.0, -9.81])
    np.testing.assert_allclose(drawing_plane(stick_figure(swing, np.arange(50)).points, down), [[1, 0, 0], [0, 0, 1]])
    assert drawing_plane(stick_figure(tumble, np.arange(50)).points, down) is None


def test_oblique_plane_keeps_gravity_down():
    rng = np.random.default_rng(0)
    right, up = np.array([0.6, 0.8, 0.0]), np.array([0.0, 0.0, 1.0])
    points = rng.normal(size=(40, 2)) @ [right, up] + [1.0, 2.0, 3.0]
    np.testing.assert_allclose(drawing_plane(points, np.array([0.0, 0.0, -9.81])), [right, up], atol=1e-12)


@pytest.mark.parametrize(("speed", "fps", "frames", "delay"), [(1.0, 25, 26, 40), (0.5, 20, 41, 50), (1.0, 33, 34, 30)])
def test_animation_lasts_as_long_as_the_run(swing, tmp_path, speed, fps, frames, delay):
    path = plots.animate(swing, tmp_path / "swing.gif", fps=fps, speed=speed, trail=False)
    with Image.open(path) as gif:
        assert gif.n_frames == frames
        assert gif.info["duration"] == delay
    assert plt.get_fignums() == []


def test_animation_moves_and_trails(swing, tmp_path):
    pictures = {}
    for trail in (False, True):
        with Image.open(plots.animate(swing, tmp_path / f"{trail}.gif", fps=5, trail=trail)) as gif:
            first = np.asarray(gif.convert("RGB"), dtype=int)
            gif.seek(gif.n_frames - 1)
            pictures[trail] = np.asarray(gif.convert("RGB"), dtype=int)
        assert (first != pictures[trail]).any()
    reddish = {trail: (p[..., 0] - p[..., 2] > 60).sum() for trail, p in pictures.items()}
    assert reddish[False] == 0 and reddish[True] > 100


@pytest.mark.parametrize("view", [None, "xz", (20.0, 30.0)])
def test_animation_in_space_and_from_chosen_sides(tumble, tmp_path, view):
    with Image.open(plots.animate(tumble, tmp_path / "tumble.gif", fps=5, view=view)) as gif:
        assert gif.n_frames == 3


@pytest.mark.parametrize(("arguments", "message"), [
    ({"path": "run.mp4"}, r"run\.gif.*traj\.to_html\(.run\.html.\)"),
    ({"fps": 0}, "fps and speed must be positive"),
    ({"speed": float("nan")}, "fps and speed must be positive"),
    ({"view": "zz"}, "two different letters"),
])
def test_animation_refuses_nonsense(swing, tmp_path, arguments, message):
    arguments = {"path": tmp_path / "run.gif", **arguments}
    with pytest.raises(ValueError, match=message):
        plots.animate(swing, **arguments)


def test_sticks_of_loops_meet():
    """Both ends of a loop are drawn, joined to their bodies, and in the same place; a rod is a stick of its length."""
    pinned = stick_figure(la.simulate(four_bar(), dt=1e-2, steps=5), np.arange(6))
    np.testing.assert_allclose(pinned.pins[:, 0], pinned.pins[:, 1], atol=1e-13)
    assert pinned.links.shape == (6, 5, 2, 3)  # two on the ground, of no length, and three bars
    held = stick_figure(la.simulate(four_bar(la.Rod(0.3)), dt=1e-2, steps=5), np.arange(6))
    way = held.links[:, -1, 1] - held.links[:, -1, 0]
    np.testing.assert_allclose(np.linalg.norm(way, axis=1), 0.3, atol=1e-13)
    hung = stick_figure(la.simulate(bricard(), dt=1e-2, steps=1), np.arange(2))
    assert hung.anchors.tolist() == [[0, 0, 0], [0, 0, 1]]


def test_pins_of_loops_are_shapes():
    model = four_bar()
    balls = [(i, shape.position.tolist()) for i, shape in shapes(model) if shape.shape == "sphere"]
    assert (1, [2.0, 0.0, 0.0]) in balls and (2, [1.5, 0.0, 0.0]) in balls
