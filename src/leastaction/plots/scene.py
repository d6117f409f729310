"""The figure in which a stick figure moves, in its plane or in space."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from leastaction.plots.sticks import Sticks, drawing_plane
from leastaction.plots.style import BLACK, BLUE, GREEN, GRID, VERMILION

View = str | tuple[float, float] | None

FOLLOW = 3.0             # the camera follows a model that travels this many times its own size
MARGIN = 1.1
TURNS, WIDTH = 13, 0.05  # of a spring: corners, and how far they are aside, of its length
INCHES, DPI = 4.4, 100
LABELS = (0.7, 0.5)     # room for the labels of a plane's axes, inches
AROUND = (18.0, -60.0)   # elevation and azimuth of the view in space, degrees


class Scene:
    """A stick figure drawn at one instant after another.

    Parameters
    ----------
    sticks : Sticks, at F instants
    trails : (F, m, nt, 3) the last m places of nt tips, oldest first, world, m
    gravity : (3,) world, m/s²
    view : as `animate` takes it
    """

    def __init__(self, sticks: Sticks, trails: np.ndarray, gravity: np.ndarray, view: View) -> None:
        axes, angles = _projection(view, sticks.points, gravity)
        self.flat = len(axes) == 2
        self.links, self.trails = sticks.links @ axes.T, trails @ axes.T
        self.joints = np.concatenate((sticks.joints, sticks.pins), axis=1) @ axes.T
        self.bobs, self.stopped = sticks.bobs @ axes.T, sticks.stopped
        self.springs, self.jets = coils(sticks.springs @ axes.T), sticks.jets @ axes.T
        anchors = sticks.anchors @ axes.T
        self.low, self.high = _camera(sticks.points @ axes.T, anchors)
        if np.ptp(self.low, axis=0).any():   # a moving camera would leave the trails behind
            self.trails = self.trails[:, :1]

        self.figure = Figure(dpi=DPI)
        self.canvas = FigureCanvasAgg(self.figure)
        # Any, because matplotlib's types do not say which axes and collections a projection has.
        space = {} if self.flat else {"projection": "3d", "computed_zorder": False}
        self.ax: Any = self.figure.add_subplot(**space)
        self.clock = self.figure.text(0.98, 0.98, "", ha="right", va="top")
        self._aim(0)
        if self.flat:
            self._dress_plane(axes, self.high[0] - self.low[0])
        else:
            self._dress_space(angles, self.high[0] - self.low[0])

        collection: Any = LineCollection if self.flat else Line3DCollection
        self.trail = collection(self.links[0], linewidths=1.8, capstyle="round", zorder=2)
        self.bars = collection(self.links[0], colors=BLUE, linewidths=4.0, capstyle="round", zorder=3)
        self.coils = collection(self.springs[0], colors=GREEN, linewidths=1.4, capstyle="round", zorder=3)
        self.plumes = collection(self.jets[0], colors=VERMILION, linewidths=5.0, capstyle="butt", zorder=3)
        for drawn in (self.trail, self.bars, self.coils, self.plumes):
            self.ax.add_collection(drawn)
        self.balls, = self.ax.plot(*self.bobs[0].T, "o", color=BLUE, markersize=13, zorder=4)
        self.pins, = self.ax.plot(*self.joints[0].T, "o", color="white", markeredgecolor=BLUE,
                                  markeredgewidth=1.2, markersize=4.5, zorder=5)
        self.ax.plot(*anchors.T, "s", color=BLACK, markersize=6.5, zorder=6)
        self.stops, = self.ax.plot(*self._at_limits(0).T, "o", color=VERMILION, markersize=8.0, zorder=7)

    def draw(self, frame: int, time: float) -> np.ndarray:
        """Draw one instant and return the picture, (height, width, 4) uint8, RGBA.

        Parameters
        ----------
        frame : int, which instant
        time : float, its time, s
        """
        self.bars.set_segments(self.links[frame])
        self.coils.set_segments(self.springs[frame])
        self.plumes.set_segments(self.jets[frame])
        _move(self.pins, self.joints[frame])
        _move(self.balls, self.bobs[frame])
        _move(self.stops, self._at_limits(frame))
        self._draw_trails(self.trails[frame])
        self._aim(frame)
        self.clock.set_text(f"t = {time:.2f} s")
        self.canvas.draw()
        return np.asarray(self.canvas.buffer_rgba())

    def _at_limits(self, frame: int) -> np.ndarray:
        """Places (m, d) of the joints at their limits."""
        stopped: np.ndarray = self.joints[frame, : self.stopped.shape[1]][self.stopped[frame]]
        return stopped

    def _draw_trails(self, lately: np.ndarray) -> None:
        segments = np.stack((lately[:-1], lately[1:]), axis=2)
        # Fading to white and not to transparent, which would show where the segments overlap.
        faded = 1.0 - np.linspace(0.0, 1.0, len(segments) + 1)[1:, None] ** 1.5
        colours = faded + (1.0 - faded) * to_rgb(VERMILION)
        self.trail.set_segments(segments.reshape(-1, 2, lately.shape[-1]))
        self.trail.set_color(np.repeat(colours, lately.shape[1], axis=0))

    def _aim(self, frame: int) -> None:
        for axis, low, high in zip("xyz", self.low[frame], self.high[frame], strict=False):
            getattr(self.ax, f"set_{axis}lim")(low, high)

    def _dress_plane(self, axes: np.ndarray, extent: np.ndarray) -> None:
        self.figure.set_size_inches(INCHES * extent / np.sqrt(np.prod(extent)) + LABELS)
        self.ax.set_aspect("equal")
        self.ax.set(xlabel=_axis_label(axes[0]), ylabel=_axis_label(axes[1]))
        self.ax.locator_params(nbins=6)
        # Laid out once: doing it for every frame takes longer than drawing, and the axes would wobble.
        self.canvas.draw()
        self.figure.set_layout_engine("none")

    def _dress_space(self, angles: tuple[float, float], extent: np.ndarray) -> None:
        self.figure.set_size_inches(INCHES, INCHES)
        self.figure.set_layout_engine("none")
        self.ax.set_position((0.0, 0.04, 0.94, 0.98))
        self.ax.view_init(*angles)
        self.ax.set_box_aspect(extent, zoom=0.94)
        self.ax.set(xlabel="x (m)", ylabel="y (m)", zlabel="z (m)")
        self.ax.locator_params(nbins=5)
        for axis in (self.ax.xaxis, self.ax.yaxis, self.ax.zaxis):
            axis.pane.set_facecolor("white")
            axis.pane.set_edgecolor(GRID)
            axis.line.set_color(GRID)


def coils(ends: np.ndarray) -> np.ndarray:
    """Draw springs with both ends (F, n, 2, d) as zigzags (F, n, m, d)."""
    start, way = ends[:, :, :1], ends[:, :, 1:] - ends[:, :, :1]
    along = np.array([0.0, *np.linspace(0.15, 0.85, TURNS), 1.0])[:, None]
    aside = WIDTH * np.array([0.0, *np.resize([1.0, -1.0], TURNS), 0.0])[:, None]
    if ends.shape[-1] == 2:
        across = np.stack((-way[..., 1], way[..., 0]), axis=-1)
    else:
        across = np.cross(way, np.eye(3)[np.argmin(np.abs(way), axis=-1)])
    zigzag: np.ndarray = start + along * way + aside * across
    return zigzag


def _move(marks: Any, points: np.ndarray) -> None:
    (marks.set_data if points.shape[1] == 2 else marks.set_data_3d)(*points.T)


def _projection(view: View, points: np.ndarray, gravity: np.ndarray) -> tuple[np.ndarray, tuple[float, float]]:
    """World axes drawn to the right and up (2, 3), or all three, and the angles of the view in space, degrees."""
    if view is None:
        plane = drawing_plane(points, gravity)
        return (np.eye(3) if plane is None else plane), AROUND
    if isinstance(view, str):
        if len(view) != 2 or view[0] == view[1] or not set(view) <= set("xyz"):
            raise ValueError(f"a view in a plane is two different letters of x, y and z, such as 'xz', not '{view}'")
        return np.eye(3)[["xyz".index(letter) for letter in view]], AROUND
    elevation, azimuth = view
    return np.eye(3), (elevation, azimuth)


def _camera(points: np.ndarray, anchors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper corners of what the camera sees in every frame, (F, d) each, m."""
    size = np.ptp(points, axis=1).max()
    low, high = points.min(axis=(0, 1)), points.max(axis=(0, 1))
    if len(anchors) == 0 and (high - low).max() > FOLLOW * size:
        centre = 0.5 * (points.min(axis=1) + points.max(axis=1))
        half = np.full_like(centre, 0.5 * size)
    else:
        low, high = np.min([low, *anchors], axis=0), np.max([high, *anchors], axis=0)
        centre = np.tile(0.5 * (low + high), (len(points), 1))
        half = np.tile(0.5 * (high - low), (len(points), 1))
    widest = half.max() or 1.0
    half = MARGIN * np.maximum(half, 0.6 * widest)   # so that no picture is much longer than wide
    return centre - half, centre + half


def _axis_label(direction: np.ndarray) -> str:
    """Name the world axis that an axis of the picture shows; an oblique one gets only the unit."""
    letter = "xyz"[int(np.argmax(np.abs(direction)))]
    return f"{letter} (m)" if np.max(np.abs(direction)) > 1 - 1e-9 else "(m)"
