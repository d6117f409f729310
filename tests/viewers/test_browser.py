"""The page that plays a run, opened from disk in Chromium."""

from importlib import resources

import numpy as np
import pytest

import leastaction as la
from browser import Watched, chromium
from leastaction.model.arrays import rotation_matrix
from leastaction.viewers import solids


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def swing():
    return la.simulate(la.library.pendulum(), dt=5e-3, duration=2.0)


def wait_for_the_clock(page):
    """Until the first frame is drawn. A function: the page's policy forbids to evaluate an expression at every poll."""
    page.wait_for_function("() => document.getElementById('clock').textContent !== ''")


@pytest.fixture
def opened(browser, swing, tmp_path):
    watched = Watched(browser, swing.to_html(tmp_path / "swing.html"))
    wait_for_the_clock(watched.page)
    yield watched
    watched.assert_quiet()
    watched.page.close()


def go_to(page, time):
    page.evaluate("""time => {
        const slider = document.getElementById("time");
        slider.value = time;
        slider.dispatchEvent(new Event("input"));
    }""", time)
    page.wait_for_function("time => document.getElementById('clock').textContent.startsWith(time)", arg=f"{time:.2f}")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def bob(picture):
    """Column and row of the middle of the orange mass, in the left part, where no curve is drawn."""
    red, green, blue = np.moveaxis(picture[:, :600], -1, 0)
    rows, columns = np.nonzero((red > 150) & (red > green + 60) & (green > blue + 20))
    assert len(rows) > 50
    return columns.mean(), rows.mean()


def test_the_canvas_shows_the_pendulum_where_it_is(opened, swing):
    """The slider moves the mass as the trajectory says: to the right with x, up with z."""
    opened.page.select_option("#speed", "0.05")   # in slow motion the trail, of the mass's colour, is short
    seen = []
    for time in (0.0, 0.5, 1.0, 1.5):
        go_to(opened.page, time)
        picture = opened.picture("#scene")
        assert picture.std() > 3
        node = int(np.argmin(abs(swing.t - time)))
        x, _, z, _ = la.poses(swing.model, swing.q[node])[0] @ (0, 0, -1, 1)
        seen.append((x, z, *bob(picture)))
    x, z, column, row = np.transpose(seen)
    assert np.corrcoef(x, column)[0, 1] > 0.99
    assert np.corrcoef(z, -row)[0, 1] > 0.9   # what comes nearer also sinks in the picture
    assert np.ptp(column) > 50


def test_it_plays_pauses_and_hides_its_curves(opened):
    page = opened.page
    clock = page.locator("#clock")
    first = clock.inner_text()
    page.wait_for_function("first => document.getElementById('clock').textContent !== first", arg=first)
    page.keyboard.press("Space")
    page.wait_for_timeout(150)
    stopped = clock.inner_text()
    page.wait_for_timeout(250)
    assert clock.inner_text() == stopped
    assert page.locator(".panel").count() == 3
    assert opened.picture(".panel >> nth=0").std() > 3
    page.locator("#curves").click()
    assert not page.locator("#panels").is_visible()


def test_the_tip_leaves_a_trail(opened):
    go_to(opened.page, 1.0)
    long = opened.picture("#scene")[:, :500]
    opened.page.select_option("#speed", "0.05")
    go_to(opened.page, 1.0)
    opened.page.wait_for_timeout(100)
    changed = np.abs(opened.picture("#scene")[:, :500] - long).max(axis=2) > 20
    assert 200 < changed.sum() < 0.2 * changed.size


def test_dragging_turns_the_camera(opened):
    go_to(opened.page, 0.5)
    before = opened.picture("#scene")
    mouse = opened.page.mouse
    mouse.move(300, 300)
    mouse.down()
    mouse.move(420, 330)
    mouse.up()
    opened.page.wait_for_timeout(200)
    assert np.abs(opened.picture("#scene") - before).max() > 50


def test_between_frames_bodies_go_the_short_way(browser, tmp_path):
    """A top that turns through many half turns: in between, its quaternion is the middle one and of unit length."""
    model = la.Model(gravity=(0, 0, 0))
    model.add_body("top", None, la.Free(), inertia=la.Inertia.sphere(1.0, 0.1))
    model.v0 = [0.0, 0.0, 20.0, 1.0, 0.0, 0.0]
    traj = la.simulate(model, dt=1 / 240, duration=2.0)
    watched = Watched(browser, traj.to_html(tmp_path / "top.html"))
    wait_for_the_clock(watched.page)
    for node in range(2, 480, 34):   # frames are at every fourth
        found = np.array(watched.page.evaluate("time => player.poses(time)", float(traj.t[node])))
        expected = la.poses(model, traj.q[node])[0]
        assert np.linalg.norm(found[3:]) == pytest.approx(1.0)
        np.testing.assert_allclose(rotation_matrix(found[3:]), expected[:3, :3], atol=1e-3)
        np.testing.assert_allclose(found[:3], expected[:3, 3], atol=6e-3)   # a chord in place of an arc
    watched.assert_quiet()
    watched.page.close()


def inside(inner, outer):
    return (inner["x"] >= outer["x"] and inner["x"] + inner["width"] <= outer["x"] + outer["width"]
            and inner["y"] >= outer["y"] and inner["y"] + inner["height"] <= outer["y"] + outer["height"])


@pytest.mark.parametrize("height", [844, 460], ids=["phone", "cell"])
def test_on_a_phone_everything_has_its_place(browser, swing, tmp_path, height):
    """Buttons are in the bar, the slider is long, and the curves leave the model free."""
    watched = Watched(browser, swing.to_html(tmp_path / "swing.html"), 390, height)
    page = watched.page
    wait_for_the_clock(page)
    bar, panels = (page.locator(name).bounding_box() for name in ("#bar", "#panels"))
    for name in ("#play", "#time", "#clock", "#speed", "#curves"):
        assert inside(page.locator(name).bounding_box(), bar), name
    assert inside(bar, {"x": 0, "y": 0, "width": 390, "height": height})
    assert page.locator("#time").bounding_box()["width"] > 250
    assert panels["y"] + panels["height"] <= bar["y"]
    for time in (0.0, 0.5, 1.0, 1.5):
        go_to(page, time)
        picture = watched.picture()[: int(panels["y"])]
        red, green, blue = np.moveaxis(picture, -1, 0)
        mass = (red > 150) & (red > green + 60) & (green > blue + 20)
        assert mass.sum() > 20 and not mass[-4:].any() and not mass[:, :2].any() and not mass[:, -2:].any()
    watched.assert_quiet()
    page.close()


def test_it_is_dark_where_pages_are_dark(browser, swing, tmp_path):
    path = swing.to_html(tmp_path / "swing.html")
    brightness = {}
    for scheme in ("light", "dark"):
        watched = Watched(browser, path, scheme=scheme)
        wait_for_the_clock(watched.page)
        go_to(watched.page, 0.5)
        brightness[scheme] = [np.median(watched.picture(part)) for part in ("#scene", ".panel >> nth=0", "#bar")]
        watched.assert_quiet()
        watched.page.close()
    assert min(brightness["light"]) > 220 and max(brightness["dark"]) < 60


def test_solids_that_the_page_makes_are_those_of_python(browser):
    source = (resources.files("leastaction.viewers") / "web" / "solids.js").read_text("utf-8")
    page = browser.new_page()
    made = page.evaluate("() => { " + source + """
        return Object.entries(MADE).map(([name, make]) => [name, [...make().rows], [...make().faces]]); }""")
    page.close()
    assert {name for name, *_ in made} == {"ball", "cylinder", "box"}
    for name, rows, faces in made:
        rows, solid = np.reshape(rows, (-1, 7)), getattr(solids, name)()
        corners = np.column_stack([solid.vertices, solid.normals, solid.ends])
        ours, theirs = (np.sort(by[triangles].reshape(-1, 21).round(5) + 0.0, axis=0)
                        for by, triangles in ((corners, solid.faces), (rows, np.reshape(faces, (-1, 3)))))
        np.testing.assert_allclose(theirs, ours, atol=1e-5, err_msg=name)
        a, b, c = np.moveaxis(rows[np.reshape(faces, (-1, 3)), :3], 1, 0)
        x, y, z = np.moveaxis(solid.vertices[solid.faces], 1, 0)
        np.testing.assert_allclose(np.sum(a * np.cross(b, c)), np.sum(x * np.cross(y, z)), rtol=1e-5, atol=1e-9)


def test_every_shape_is_drawn(browser, tmp_path):
    """Six bodies in a row, each of another shape and colour: every colour is to be seen."""
    model = la.Model(gravity=(0, 0, 0))
    tetrahedron = np.array([(1, 1, 1), (-1, -1, 1), (-1, 1, -1), (1, -1, -1)]) * 0.2
    colours = np.array([(1, 0, 0), (0, 0.7, 0), (0, 0, 1), (1, 0, 1), (0, 0.8, 0.8), (1, 0.8, 0)])
    sizes = {"box": (0.2, 0.2, 0.2), "sphere": (0.2, 0, 0), "capsule": (0.1, 0.2, 0), "cylinder": (0.2, 0.2, 0),
             "ellipsoid": (0.1, 0.2, 0.3), "mesh": (0, 0, 0)}
    for k, (shape, size) in enumerate(sizes.items()):
        mesh = shape == "mesh"
        model.add_body(shape, None, la.Free(), (0.6 * k, 0, 0), inertia=la.Inertia.sphere(1.0, 0.2), geometry=[
            la.Geometry(shape, np.array(size, dtype=float), np.zeros(3), np.array([1.0, 0, 0, 0]),
                        np.append(colours[k], 1.0), tetrahedron if mesh else np.zeros((0, 3)),
                        np.array([(0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2)]) if mesh else np.zeros((0, 3), int))])
    watched = Watched(browser, la.simulate(model, dt=0.01, duration=0.1).to_html(tmp_path / "shapes.html"))
    wait_for_the_clock(watched.page)
    watched.page.locator("#curves").click()
    watched.page.wait_for_timeout(200)
    picture = watched.picture("#scene").reshape(-1, 3)
    saturated = picture[np.ptp(picture, axis=1) > 110]
    nearest = np.argmax((saturated / np.linalg.norm(saturated, axis=1, keepdims=True))
                        @ (colours / np.linalg.norm(colours, axis=1, keepdims=True)).T, axis=1)
    assert (np.bincount(nearest, minlength=6) > 150).all()
    watched.assert_quiet()
    watched.page.close()


def test_a_run_without_a_step_is_a_picture(browser, tmp_path):
    watched = Watched(browser, la.simulate(la.library.ragdoll(), steps=0).to_html(tmp_path / "still.html"))
    wait_for_the_clock(watched.page)
    assert watched.picture("#scene").std() > 3
    watched.assert_quiet()
    watched.page.close()


def test_joints_at_their_limits_light_up(browser, tmp_path):
    model = la.Model()
    model.add_body("arm", joint=la.Revolute((0, 1, 0), limits=(-9.0, 0.5), limit_restitution=1.0),
                   inertia=la.Inertia.rod(1.0, 1.0, com=(0, 0, -0.5)))
    run = la.simulate(model, q=[-0.5], v=[4.0], dt=2e-3, duration=1.0)
    hit = float(run.t[1:][run.limit_force[:, 0] != 0][0])
    watched = Watched(browser, run.to_html(tmp_path / "stop.html"))
    wait_for_the_clock(watched.page)
    seen = []
    for time in (0.5 * hit, hit + 0.05, hit + 0.15):
        go_to(watched.page, round(time, 3))
        red, green, blue = np.moveaxis(watched.picture()[:, :600], -1, 0)
        seen.append(int(np.count_nonzero((red > 150) & (green < 90) & (blue < 100))))
    assert seen[0] == seen[2] == 0 < 50 < seen[1]
    watched.assert_quiet()
    watched.page.close()
