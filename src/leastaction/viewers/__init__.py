"""Runs to look at: in the browser, live or as one file that plays offline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leastaction.model import Model
from leastaction.simulate import simulate
from leastaction.viewers import server
from leastaction.viewers.html import write_html
from leastaction.viewers.server import Viewer

if TYPE_CHECKING:
    from leastaction.trajectory import Trajectory

__all__ = ["Viewer", "view", "write_html"]


def view(subject: Model | Trajectory, port: int = 8080, block: bool | None = None, duration: float = 10.0,
         dt: float = 1e-3) -> Viewer:
    """Show a run, or a model as it moves from its default state, in the browser at http://127.0.0.1:port.

    Parameters
    ----------
    subject : a trajectory; or a model, which is simulated first
    port : where to listen; the next free one if it is taken
    block : whether to wait here until Ctrl-C; None waits unless Python is being used interactively
    duration, dt : of the simulation of a model, s
    """
    run = simulate(subject, dt=dt, duration=duration) if isinstance(subject, Model) else subject
    return server.view(run, port, block)
