"""The one look of all pictures: a colour-blind-safe palette, thin spines, a quiet grid."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from cycler import cycler

# Okabe and Ito's colours without the yellow, which is lost on white paper.
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK = PALETTE = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222")
QUIET = "#8a8a8a"
GRID = "#e8e8e8"

SETTINGS: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": QUIET,
    "axes.grid": True,
    "axes.labelcolor": BLACK,
    "axes.linewidth": 0.6,
    "axes.prop_cycle": cycler(color=PALETTE),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "figure.constrained_layout.use": True,
    "figure.dpi": 110,
    "figure.facecolor": "white",
    "font.size": 9.5,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.handlelength": 1.4,
    "lines.linewidth": 1.3,
    "lines.solid_joinstyle": "round",
    "savefig.dpi": 200,
    "text.color": BLACK,
    "xtick.color": QUIET,
    "xtick.labelcolor": BLACK,
    "xtick.major.width": 0.6,
    "ytick.color": QUIET,
    "ytick.labelcolor": BLACK,
    "ytick.major.width": 0.6,
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in the library's style inside ``with style():`` or under ``@style()``; afterwards restore the settings."""
    with mpl.rc_context(SETTINGS):
        yield
