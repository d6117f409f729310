"""A run in the browser, served to this machine only: play, scrub, speed, and curves beside the scene."""

import sys
import threading
import time
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from leastaction.viewers.film import Film, film, thinned
from leastaction.viewers.guard import Guard
from leastaction.viewers.panels import panels
from leastaction.viewers.solids import solid_of

if TYPE_CHECKING:
    from leastaction.trajectory import Trajectory

HOST = "127.0.0.1"
RATE = 30.0  # pictures a second sent to the browser
CURVE_POINTS = 400
MARK_EVERY = 0.2  # s; the mark on the curves is sent less often than the poses, as it takes far more numbers
COLOURS = ("#0072B2", "#D55E00", "#009E73")
SPEEDS = {"0.05×": 0.05, "0.1×": 0.1, "0.25×": 0.25, "0.5×": 0.5, "1×": 1.0, "2×": 2.0, "5×": 5.0}


def view(traj: "Trajectory", port: int = 8080, block: bool | None = None) -> "Viewer":
    """Show a run in the browser on this machine, at an address with a secret that is printed.

    The server listens on 127.0.0.1 only, and answers requests with that secret only, and none that another web page
    makes (`leastaction.viewers.guard`).

    Parameters
    ----------
    traj : what `simulate` returned
    port : where to listen; the next free one if it is taken
    block : whether to wait here until Ctrl-C; None waits unless Python is being used interactively

    Returns
    -------
    Viewer
        Its ``url``, with the secret in it, and ``close()``.
    """
    if find_spec("viser") is None:
        raise ModuleNotFoundError(
            "the live view needs viser: pip install 'leastaction[view]'; "
            "or write a page that needs nothing, with traj.to_html('run.html')", name="viser")
    viewer = Viewer(traj, port)
    if block or (block is None and not hasattr(sys, "ps1") and "ipykernel" not in sys.modules):
        print(f"{traj.model.name} is at {viewer.url} until Ctrl-C", flush=True)
        viewer.wait()
    else:
        print(f"{traj.model.name} is at {viewer.url}", flush=True)
    return viewer


class Viewer:
    """A server that shows one run.

    Parameters
    ----------
    traj : what `simulate` returned
    port : where to listen; the next free one if it is taken
    """

    def __init__(self, traj: "Trajectory", port: int = 8080) -> None:
        import viser

        self.film = film(traj)
        self.now = float(self.film.t[0])
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._guard = Guard()
        with self._guard.standing(), redirect_stdout(StringIO()):  # viser prints an address without the secret
            self.server = viser.ViserServer(host=HOST, port=port, label=traj.model.name, verbose=False)
        if not self._guard.stands:
            self.server.stop()
            raise RuntimeError(f"viser {viser.__version__} starts its server in a way that leastaction cannot guard; "
                               "take viser 1.1, or write a page that needs no server, with traj.to_html('run.html')")
        self.server.gui.configure_theme(control_width="large", show_logo=False, show_share_button=False,
                                        brand_color=(0, 114, 178))
        self.server.gui.main_panel.dock_right()
        self._frames, self._lights = _add_scene(self.server, self.film)
        self._add_controls()
        self._marks = _add_curves(self.server, traj, self.film.radius)
        self.seek(self.now)
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Address to open in a browser on this machine; its last part is a secret, new for every viewer."""
        return f"http://{HOST}:{self.server.get_port()}/{self._guard.secret}/"

    def seek(self, moment: float) -> None:
        """Show the frame nearest to a time, s."""
        shown = self.film
        self.now = float(np.clip(moment, shown.t[0], shown.t[-1]))
        k = int(np.argmin(np.abs(shown.t - self.now)))
        with self._lock, self.server.atomic():
            # A model that travels far is kept in the middle by moving the world instead.
            self._frames[-1].position = shown.focus[0] - shown.focus[k]
            for frame, position, quaternion in zip(self._frames, shown.positions[k], shown.quaternions[k],
                                                   strict=False):
                frame.position, frame.wxyz = position, quaternion
            for light, lit in zip(self._lights, shown.lit[k].tolist(), strict=True):
                if light.visible != lit:
                    light.visible = lit
            if abs(self._time.value - self.now) > 1e-9:
                self._time.value = self.now

    def wait(self) -> None:
        """Wait for Ctrl-C, then close."""
        try:
            while not self._closed.wait(0.5):
                pass
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """Stop serving."""
        if not self._closed.is_set():
            self._closed.set()
            self._thread.join()
            self.server.stop()

    def _add_controls(self) -> None:
        gui, t = self.server.gui, self.film.t
        start, end = float(t[0]), float(t[-1])
        # Any, because viser declares values that one may set as read-only.
        # A slider needs two moments at least, and a run without steps has one.
        self._time: Any = gui.add_slider("time (s)", start, max(end, start + 1e-3), step=1e-3, initial_value=start)
        self._playing: Any = gui.add_checkbox("play", initial_value=end > start)
        self._speed: Any = gui.add_dropdown("speed", tuple(SPEEDS), initial_value="1×")

        @self._time.on_update
        def _(event: Any) -> None:
            if event.client is not None:  # moved by hand, not by us
                self._playing.value = False
                self.seek(self._time.value)

    def _play(self) -> None:
        last, marked = time.perf_counter(), 0.0
        while not self._closed.wait(1.0 / RATE):
            clock = time.perf_counter()
            passed, last = clock - last, clock
            if self._playing.value:
                ended = self.now >= self.film.t[-1]
                self.seek(self.film.t[0] if ended else self.now + SPEEDS[self._speed.value] * passed)
            if clock - marked > MARK_EVERY:
                marked = clock
                for mark in self._marks:
                    mark.move(self.now)


class _Mark:
    """The mark of the present moment on a plot: a series that is NaN but for one place."""

    def __init__(self, plot: Any) -> None:
        self.plot, self.at = plot, -1

    def move(self, moment: float) -> None:
        t, *curves, mark = self.plot.data
        at = int(np.argmin(np.abs(t - moment)))
        if at != self.at:
            self.at = at
            mark = np.full(len(t), np.nan)
            mark[at] = curves[0][at]
            self.plot.data = (t, *curves, mark)


def _add_scene(server: Any, shown: Film) -> tuple[list[Any], list[Any]]:
    """Add the shapes and the floor; return the frames of the bodies, and last that of the world; and the marks."""
    scene, radius = server.scene, shown.radius
    scene.set_up_direction("+z")
    eye = shown.focus[0] + radius * np.array([1.3, -2.3, 0.6])
    server.initial_camera.position = tuple(eye.tolist())
    server.initial_camera.look_at = tuple(shown.focus[0].tolist())
    world = scene.add_frame("/world", show_axes=False)
    height = shown.floor + (shown.focus[0, 2] if shown.floor_follows else 0.0)
    size = 10.0 ** np.floor(np.log10(0.5 * radius))
    scene.add_grid(
        "/floor" if shown.floor_follows else "/world/floor", infinite_grid=True, fade_distance=14.0 * radius,
        cell_size=size, cell_color=(225, 228, 232), section_size=5.0 * size, section_color=(196, 201, 208),
        position=(0.0, 0.0, height))
    frames = [scene.add_frame(f"/world/{i}", show_axes=False) for i in range(shown.positions.shape[1])]
    added = []
    for n, (body, shape) in enumerate([*shown.shapes, *shown.marks]):
        _, solid, size4 = solid_of(shape)
        added.append(scene.add_mesh_simple(
            f"/world/{body}/{n}" if body >= 0 else f"/world/ground/{n}",
            solid.stretched(size4).astype(np.float32), solid.faces.astype(np.uint32),
            color=tuple((255 * shape.color[:3]).astype(int).tolist()),
            opacity=float(shape.color[3]) if shape.color[3] < 1 else None, side="double",
            position=shape.position, wxyz=shape.quaternion))
    return [*frames, world], added[len(shown.shapes) :]


def _add_curves(server: Any, traj: "Trajectory", radius: float) -> list[_Mark]:
    even = np.unique(np.linspace(0, len(traj.t) - 1, CURVE_POINTS).astype(int))
    plots = []
    for panel in panels(traj, radius):
        if len(panel.curves) > 1:
            t, curves = traj.t[even], {label: values[even] for label, values in panel.curves.items()}
            plots.append((f"{panel.title}, {panel.unit}", t, curves, panel.least))
            continue
        t, error = thinned(traj.t, panel.curves[""], CURVE_POINTS)
        largest = max(float(np.abs(error).max()), panel.least)
        power = int(np.floor(np.log10(largest)))  # uPlot's axes would round small numbers to zero
        plots.append((f"{panel.title}, 1e{power} {panel.unit}", t, {"error": error / 10.0**power},
                      panel.least / 10.0**power))
    return [_Mark(_add_plot(server, *plot)) for plot in plots]


def _add_plot(server: Any, title: str, t: np.ndarray, curves: dict[str, np.ndarray], least: float) -> Any:
    from viser import uplot

    low, high = min(-least, *(y.min() for y in curves.values())), max(least, *(y.max() for y in curves.values()))
    room = 0.05 * (high - low)  # uPlot cannot scale the axis itself, as almost all of the mark is NaN
    lines = [uplot.Series(label=name, stroke=colour, width=1.5) for name, colour in zip(curves, COLOURS, strict=False)]
    now = uplot.Series(label="now", stroke="#222222", points=uplot.Series_Points(show=True, size=7, fill="#222222"))
    return server.gui.add_uplot(
        data=(t.astype(float), *(y.astype(float) for y in curves.values()), np.full(len(t), np.nan)),
        series=(uplot.Series(label="t (s)"), *lines, now), title=title,
        scales={"x": uplot.Scale(time=False), "y": uplot.Scale(range=(low - room, high + room))},
        axes=(uplot.Axis(), uplot.Axis(size=64)), legend=uplot.Legend(show=len(curves) > 1), aspect=2.0)
