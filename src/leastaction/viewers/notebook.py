"""A run in a notebook's cell: the player in a frame that may run its own script and reach nothing else.

Below the frame lies a picture of one moment, which is seen where frames are removed, as on GitHub.
"""

from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING

from leastaction.viewers.film import Film, film
from leastaction.viewers.html import page
from leastaction.viewers.still import png

if TYPE_CHECKING:
    from leastaction.trajectory import Trajectory

HEIGHT = 460  # of the cell, pixels
FILL = "position:absolute;inset:0;width:100%;height:100%;border:0"


def cell(traj: "Trajectory") -> str:
    """Return the player of a run as HTML, which a notebook shows for a trajectory.

    The frame may run the player's script and nothing else: it has neither network nor access to the notebook.

    Parameters
    ----------
    traj : what `simulate` returned
    """
    shown = film(traj)
    still = b64encode(_moment(shown)).decode("ascii")
    return (
        f"<div style='position:relative;height:{HEIGHT}px;overflow:hidden;border-radius:8px'>"
        f"<img alt='{escape(repr(traj))}' src='data:image/png;base64,{still}' style='{FILL};object-fit:cover'>"
        f"<iframe title='{escape(traj.model.name)}' sandbox='allow-scripts' style='{FILL}' loading='lazy' "
        f"srcdoc='{escape(page(traj, shown))}'></iframe></div>")


def picture(traj: "Trajectory") -> bytes:
    """Draw one moment of a run as a PNG, for notebooks that become paper.

    Parameters
    ----------
    traj : what `simulate` returned
    """
    return _moment(film(traj))


def _moment(shown: Film) -> bytes:
    """Draw the moment after a third of the run, when things have begun to move."""
    return png(shown, len(shown.t) // 3)
