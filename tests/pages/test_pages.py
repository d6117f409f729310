"""Pages of findings, opened from disk in Chromium: their figures are drawn and nothing is fetched."""

import pytest

import leastaction as la
from browser import Watched, chromium


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def assert_drawn(browser, path, figures, words):
    watched = Watched(browser, path)
    page = watched.page
    assert page.locator("svg").count() == figures
    page.set_viewport_size({"width": 1000, "height": page.evaluate("document.documentElement.scrollHeight")})
    seen = watched.picture()
    for k in range(figures):
        box = page.locator("svg").nth(k).bounding_box()
        top, left = int(box["y"]), int(box["x"])
        assert seen[top : top + int(box["height"]), left : left + int(box["width"])].std() > 3
    text = page.inner_text("main")
    for word in words:
        assert word in text
    # Every mark that a figure refers to is its own, though they share a page.
    ids = page.evaluate("[...document.querySelectorAll('svg [id]')].map(e => e.id)")
    used = page.evaluate("[...document.querySelectorAll('svg use')].map(e => e.getAttribute('xlink:href').slice(1))")
    assert set(used) <= set(ids)
    watched.assert_quiet()
    page.close()


def test_certificate(browser, tmp_path):
    certificate = la.audit(la.library.ragdoll(), duration=0.5)
    path = certificate.html(tmp_path / "new" / "certificate.html")
    assert_drawn(browser, path, 4, [certificate.verdict[0], "Momentum", "linear momentum along x", "ragdoll"])


def test_comparison(browser, tmp_path):
    compared = la.compare(la.library.spinning_top(), duration=0.5)
    path = compared.html(tmp_path / "comparison.html")
    assert_drawn(browser, path, 3, ["Side by side", *(entry.label for entry in compared.entries)])


def test_names_are_escaped(tmp_path):
    model = la.library.pendulum()
    model.name = "<b>pendulum</b>"
    text = la.audit(model, duration=0.1).html(tmp_path / "page.html").read_text("utf-8")
    assert "<b>" not in text and "&lt;b&gt;pendulum" in text


def test_a_page_is_an_html_file(tmp_path):
    with pytest.raises(ValueError, match=r"name it '.*page\.html' instead"):
        la.audit(la.library.pendulum(), duration=0.1).html(tmp_path / "page.pdf")
