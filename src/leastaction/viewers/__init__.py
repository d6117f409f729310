"""Runs to look at: in a notebook, or in the browser, live or as one file that plays offline."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from leastaction.analysis.subject import run_of
from leastaction.viewers import server
from leastaction.viewers.html import write_html
from leastaction.viewers.notebook import cell, picture
from leastaction.viewers.server import Viewer

if TYPE_CHECKING:
    from leastaction.model import Model
    from leastaction.trajectory import Trajectory

__all__ = ["Viewer", "cell", "picture", "view", "write_html"]


def view(
    subject: Model | Trajectory, q: ArrayLike | None = None, v: ArrayLike | None = None, *, port: int = 8080,
    block: bool | None = None, duration: float = 10.0, dt: float = 1e-3, ignore: str | Iterable[str] = (),
) -> Viewer:
    """Show a run, or a model as it moves, in the browser at http://127.0.0.1:port.

    Parameters
    ----------
    subject : a trajectory; or a model, which is simulated first
    q : (nq,) initial configuration of a model, rad, m, unit quaternions; model.q0 if None
    v : (nv,) initial velocity of a model, body axes for ball and free joints, rad/s, m/s; model.v0 if None
    port : where to listen; the next free one if it is taken
    block : whether to wait here until Ctrl-C; None waits unless Python is being used interactively
    duration, dt : of the simulation of a model, s
    ignore : words that silence the warning of what does not act, as for `simulate`
    """
    return server.view(run_of(subject, q, v, dt=dt, duration=duration, ignore=ignore), port, block)
