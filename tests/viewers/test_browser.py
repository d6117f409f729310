"""The page that plays a run, opened from disk in Chromium."""

import numpy as np
import pytest

import leastaction as la
from browser import Watched, chromium


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
