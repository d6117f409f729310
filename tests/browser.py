"""Debian's Chromium, driven by Playwright, with everything watched that a page might do wrong."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


@contextmanager
def chromium() -> Iterator:
    """A browser without a window; skips the test where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("no Chromium: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


class Watched:
    """A page from disk, the requests it made, and its complaints."""

    def __init__(self, browser, path: Path, width: int = 1000, height: int = 640, scheme: str = "light") -> None:
        self.path, self.requests, self.complaints = path, [], []
        self.page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda line: line.type in ("error", "warning") and self.complaints.append(line.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(path.as_uri())

    def assert_quiet(self) -> None:
        """Nothing but the file itself was asked for, and nothing went wrong."""
        own = ("data:", "about:", self.path.as_uri())
        outside = [url for url in self.requests if not url.startswith(own)]
        assert outside == []
        assert self.complaints == []

    def picture(self, selector: str | None = None) -> np.ndarray:
        """What is seen, (height, width, 3), 0 to 255."""
        shot = (self.page.locator(selector) if selector else self.page).screenshot()
        return np.asarray(Image.open(BytesIO(shot)).convert("RGB")).astype(int)
