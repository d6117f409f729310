"""A notebook: executed, exported without anything from elsewhere, and opened in Chromium."""

import re
from html.parser import HTMLParser
from io import BytesIO

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from PIL import Image

import leastaction as la
from browser import Watched, chromium
from leastaction.analysis import Comparison
from leastaction.analysis.comparison import Entry
from leastaction.model.arrays import rotation_matrix
from leastaction.viewers.film import film
from leastaction.viewers.still import png

HOSTILE = """<img src="http://nowhere.invalid/x" onerror='alert("x")'></table></iframe><script>alert(1)</script>&"""
START = f"""
import leastaction as la
model = la.library.ragdoll()
model.name = {HOSTILE!r}
traj = la.simulate(model, dt=2e-3, duration=1.5)
"""


@pytest.fixture(scope="module")
def notebook():
    cells = [nbformat.v4.new_code_cell(text) for text in (START, "model", "traj", "la.audit(traj)")]
    return NotebookClient(nbformat.v4.new_notebook(cells=cells), kernel_name="python3", timeout=120).execute()


@pytest.fixture(scope="module")
def exported(notebook, tmp_path_factory):
    """The page that nbconvert makes of the notebook, by its template that has neither styles nor scripts."""
    body, _ = HTMLExporter(template_name="basic").from_notebook_node(notebook)
    path = tmp_path_factory.mktemp("notebook") / "notebook.html"
    path.write_text(f"<!DOCTYPE html><meta charset='utf-8'><link rel='icon' href='data:,'>{body}", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def same_run():
    return la.simulate(la.library.ragdoll(), dt=2e-3, duration=1.5)


def test_a_run_plays_in_a_notebook(browser, exported, same_run):
    watched = Watched(browser, exported)
    watched.page.locator("iframe").scroll_into_view_if_needed()
    player = watched.page.locator("iframe").element_handle().content_frame()
    player.wait_for_function("() => window.player && document.getElementById('clock').textContent !== ''")
    # it moves
    player.evaluate("() => { player.pause(); player.seek(0.1); }")
    watched.page.wait_for_timeout(300)
    before = watched.picture("iframe")
    player.evaluate("() => player.seek(1.2)")
    watched.page.wait_for_timeout(300)
    after = watched.picture("iframe")
    assert before.std() > 3 and (np.abs(after - before).max(axis=2) > 40).mean() > 0.01
    # its poses are those of the run
    size = np.linalg.norm(np.ptp(la.poses(same_run.model)[:, :3, 3], axis=0))
    for node in (0, 125, 500, 750):   # of these there are frames
        found = np.reshape(player.evaluate("time => player.poses(time)", float(np.float32(same_run.t[node]))), (-1, 7))
        expected = la.poses(same_run.model, same_run.q[node])
        assert np.linalg.norm(found[:, :3] - expected[:, :3, 3], axis=1).max() <= 1e-4 * size
        assert np.abs(rotation_matrix(found[:, 3:]) - expected[:, :3, :3]).max() <= 1e-4
    watched.assert_quiet()
    watched.page.close()


def test_without_frames_a_picture_is_left(browser, exported, tmp_path):
    """As on GitHub, which removes them."""
    text = re.sub("<iframe.*?</iframe>", "", exported.read_text("utf-8"), flags=re.S)
    path = tmp_path / "stripped.html"
    path.write_text(text, encoding="utf-8")
    watched = Watched(browser, path)
    assert watched.page.locator("img").count() == 1
    assert watched.page.evaluate("() => document.querySelector('img').naturalWidth") == 640
    assert watched.picture("img").std() > 3
    watched.assert_quiet()
    watched.page.close()


class Tags(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, text):
        super().__init__()
        self.found, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data


def shown(notebook, cell):
    """What a cell shows, by type; it may have said before that kernels are being compiled."""
    return notebook.cells[cell].outputs[-1].data


@pytest.mark.parametrize("cell", [1, 2, 3], ids=["model", "trajectory", "certificate"])
def test_names_are_harmless(notebook, cell):
    tags = Tags(shown(notebook, cell)["text/html"])
    assert not {"script", "b"} & {tag for tag, _ in tags.found}
    assert not any(name.startswith("on") for _, attributes in tags.found for name in attributes)
    pictures = [attributes for tag, attributes in tags.found if tag == "img"]
    assert all(attributes["src"].startswith("data:image/png;base64,") for attributes in pictures)
    frames = [attributes for tag, attributes in tags.found if tag == "iframe"]
    assert all(attributes["sandbox"] == "allow-scripts" for attributes in frames)
    assert (len(pictures), len(frames)) == ((1, 1) if cell == 2 else (0, 0))


def test_a_model_shows_its_tree(notebook):
    text = Tags(shown(notebook, 1)["text/html"]).text
    model = la.library.ragdoll()
    assert all(name in text for name in model.names) and HOSTILE in text and "nv = 48" in text


def test_a_certificate_shows_its_verdict(notebook, same_run):
    certificate = same_run.audit()
    text = Tags(shown(notebook, 3)["text/html"]).text
    assert certificate.verdict[0] in text and "energy error" in text
    assert repr(certificate) == str(certificate) and certificate.verdict[0] in repr(certificate)
    assert shown(notebook, 3)["text/plain"].splitlines()[0].endswith("variational, order 2")


def test_a_comparison_shows_its_table():
    t = np.linspace(0, 1, 50)
    model = la.library.pendulum()
    model.name = "<script>x</script>"
    entry = Entry(label="good & <b>", t=t, energy_error=1e-5 * t, momentum_error=None, error=1e-6 * t, cpu_seconds=1e-3,
                  steps=50)
    comparison = Comparison(model=model, q=model.q0, v=model.v0, dt=1e-3, duration=1.0, entries=[entry],
                            left_out={"MuJoCo": "<script>no</script>"}, energy_reason="")
    tags = Tags(comparison._repr_html_())
    assert not {"script", "b"} & {tag for tag, _ in tags.found}
    assert "good & <b>" in tags.text and "1.0e-05" in tags.text and "MuJoCo is left out" in tags.text
    assert repr(comparison) == str(comparison)


def test_exports_to_paper_find_a_picture(notebook):
    """nbconvert's LaTeX and Markdown take image/png where they cannot take HTML."""
    assert shown(notebook, 2)["image/png"].startswith("iVBOR")


def test_five_seconds_of_the_ragdoll_are_small():
    assert len(la.simulate(la.library.ragdoll(), dt=1e-3, duration=5.0)._repr_html_()) <= 150_000


def test_the_still_shows_the_model_where_it_is():
    """The pendulum's orange mass is right of the middle when x is positive there, left when it is negative."""
    traj = la.simulate(la.library.pendulum(), dt=5e-3, duration=2.0)
    shown = film(traj)
    found = []
    for frame in range(0, len(shown.t), 24):
        picture = np.asarray(Image.open(BytesIO(png(shown, frame)))).astype(int)
        assert picture.shape == (360, 640, 3)
        red, green, blue = np.moveaxis(picture, -1, 0)
        orange = np.nonzero((red > green + 60) & (green > blue + 20))[1]
        assert len(orange) > 30
        node = int(np.argmin(abs(traj.t - shown.t[frame])))
        found.append(((la.poses(traj.model, traj.q[node])[0] @ (0, 0, -1, 1))[0], orange.mean()))
    x, seen = np.transpose(found)
    assert np.corrcoef(x, seen)[0, 1] > 0.99 and np.ptp(seen) > 50
