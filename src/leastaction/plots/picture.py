"""Small PNG files: the repository keeps every version of the documentation's pictures."""

from io import BytesIO
from pathlib import Path

from matplotlib.figure import Figure

MOST_BYTES = 250_000
COLOURS = 256  # enough for thin lines and their soft edges; with them a file is a third as large


def save(figure: Figure, path: Path, dpi: float = 200) -> None:
    """Write a figure as a PNG file of at most `MOST_BYTES`: in few colours, and coarser than ``dpi`` if necessary.

    Parameters
    ----------
    figure : what to write
    path : of the PNG file
    dpi : pixels an inch, at most
    """
    while len(content := _png(figure, dpi)) > MOST_BYTES:
        dpi *= min(0.9, (MOST_BYTES / len(content)) ** 0.5)
    path.write_bytes(content)


def _png(figure: Figure, dpi: float) -> bytes:
    from PIL import Image

    drawn, small = BytesIO(), BytesIO()
    figure.savefig(drawn, format="png", dpi=dpi)
    few = Image.open(drawn).convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=2,
                                                    dither=Image.Dither.NONE)
    few.save(small, "PNG", optimize=True)
    return small.getvalue()
