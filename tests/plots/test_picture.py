"""Pictures of the documentation stay small, so that the history does, and sharp."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from leastaction.plots.picture import MOST_BYTES, save
from leastaction.plots.style import PALETTE, style

ROOT = Path(__file__).parents[2]
PICTURES = [path for path in (ROOT / "docs" / "images").iterdir() if path.suffix != ".svg"]


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.name)
def test_pictures_of_the_documentation_are_small(path):
    assert MOST_BYTES <= 250_000 and path.stat().st_size <= MOST_BYTES


def test_whatever_draws_them_keeps_them_small():
    drawers = [*(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "src/leastaction/reproduce").rglob("*.py")]
    assert [path.name for path in drawers if ".savefig(" in path.read_text(encoding="utf-8")] == []


@style()
def test_lines_keep_their_colours_and_the_picture_its_size(tmp_path):
    figure, ax = plt.subplots(figsize=(4, 3))
    for k, colour in enumerate(PALETTE):
        ax.plot([0, 1], [k, k + 0.5], color=colour, linewidth=5)
    save(figure, tmp_path / "lines.png", dpi=100)
    figure.savefig(tmp_path / "plain.png", dpi=100)
    plt.close(figure)
    assert (tmp_path / "lines.png").stat().st_size < 0.6 * (tmp_path / "plain.png").stat().st_size
    lines, plain = (np.asarray(Image.open(tmp_path / name).convert("RGB")).astype(int)
                    for name in ("lines.png", "plain.png"))
    assert lines.shape == (300, 400, 3)
    assert np.abs(lines - plain).max() < 25 and np.abs(lines - plain).mean() < 0.5
    for colour in (*PALETTE, "#ffffff"):
        exact = [int(colour[k:k + 2], 16) for k in (1, 3, 5)]
        assert (np.abs(lines - exact).max(axis=-1) <= 2).sum() > 100


def test_a_picture_that_would_be_large_is_coarser(tmp_path, monkeypatch):
    monkeypatch.setattr("leastaction.plots.picture.MOST_BYTES", MOST_BYTES // 16)
    figure = plt.figure(figsize=(0.75, 0.75))
    figure.figimage(np.random.default_rng(0).random((150, 150, 3)), resize=False)
    save(figure, tmp_path / "noise.png")
    plt.close(figure)
    assert (tmp_path / "noise.png").stat().st_size <= MOST_BYTES // 16
    assert 50 < Image.open(tmp_path / "noise.png").width < 150
