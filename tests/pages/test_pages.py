"""Pages of findings, opened from disk in Chromium: their figures are drawn and nothing is fetched."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

import leastaction as la
from browser import Watched, chromium
from leastaction.analysis.comparison import Comparison, Entry
from leastaction.pages.comparison import growth


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def assert_drawn(browser, path, figures, words):
    watched = Watched(browser, path)
    page = watched.page
    assert page.locator("svg:visible").count() == figures
    page.set_viewport_size({"width": 1000, "height": page.evaluate("document.documentElement.scrollHeight")})
    seen = watched.picture()
    for k in range(figures):
        box = page.locator("svg:visible").nth(k).bounding_box()
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


def test_phone_and_dark_mode(browser, tmp_path):
    """On a phone nothing hangs out and the words of a figure are large enough; at night the page is dark."""
    path = la.audit(la.library.pendulum(), duration=0.2).html(tmp_path / "page.html")
    means = {}
    for scheme in ("light", "dark"):
        page = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme=scheme)
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        drawn = page.locator("svg:visible")
        assert drawn.count() == 3
        scale = drawn.first.evaluate("e => e.getBoundingClientRect().width / e.viewBox.baseVal.width")
        assert scale > 1.0   # words are drawn in 9.5 points
        means[scheme] = np.asarray(Image.open(BytesIO(page.screenshot())).convert("L")).mean()
        # Every colour of a figure comes from the page, or its words would be black on black.
        styles = page.evaluate("[...document.querySelectorAll('svg [style]')].map(e => e.getAttribute('style'))")
        assert styles and not [style for style in styles if ": #" in style]
        ink = drawn.first.evaluate("e => getComputedStyle(e.querySelector('[style*=\"--ink\"]')).fill")
        assert ink == {"light": "rgb(34, 34, 34)", "dark": "rgb(223, 227, 232)"}[scheme]
        page.close()
    assert means["light"] > 200 and means["dark"] < 60


def test_words_on_growth_follow_the_curves():
    """A bounded error and a drift are told apart by their factors over the second half."""
    t = np.linspace(0.0, 10.0, 1001)
    entries = [Entry(name, t, error, None, np.zeros_like(t), 1.0, 1000) for name, error in (
        ("bounded", 1e-3 * np.sin(20 * t)), ("drifting", -1e-3 * t), ("exact", np.zeros_like(t)))]
    entries.append(Entry("broken", t[:5], 1e-3 * t[:5], None, t[:5], 1.0, 5, "broke down"))
    words = growth(Comparison(la.library.pendulum(), np.zeros(1), np.zeros(1), 1e-3, 10.0, entries, {}, ""))
    assert "1.00 (bounded), 2.00 (drifting). A steady drift gives 2" in words
    assert "exact" not in words and "broken" not in words


def test_names_are_escaped(tmp_path):
    model = la.library.pendulum()
    model.name = "<b>pendulum</b>"
    text = la.audit(model, duration=0.1).html(tmp_path / "page.html").read_text("utf-8")
    assert "<b>" not in text and "&lt;b&gt;pendulum" in text


def test_a_page_is_an_html_file(tmp_path):
    with pytest.raises(ValueError, match=r"name it '.*page\.html' instead"):
        la.audit(la.library.pendulum(), duration=0.1).html(tmp_path / "page.pdf")
