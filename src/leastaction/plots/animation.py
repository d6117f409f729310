"""A stick figure that moves, as a GIF."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import to_rgb
from PIL import Image

from leastaction.plots.scene import Scene, View
from leastaction.plots.sticks import stick_figure
from leastaction.plots.style import BLACK, BLUE, GREEN, VERMILION, style
from leastaction.viewers.film import steps_every
from leastaction.viewers.outline import leaf_tips

if TYPE_CHECKING:
    from leastaction.trajectory import Trajectory

TRAIL_SECONDS = 0.7   # of the viewer's time
TRAIL_POINTS = 8      # a frame, so that a fast tip leaves a curve and not a polygon
MAX_TRAILS = 8


@style()
def animate(traj: Trajectory, path: str | Path = "run.gif", fps: float = 25.0, speed: float = 1.0,
            trail: bool = True, view: View = None) -> Path:
    """Save a moving stick figure of a run.

    Parameters
    ----------
    traj : Trajectory
        What `simulate` returned.
    path : str or Path
        The GIF to write.
    fps : float
        Frames per second, at most 50. GIF counts in hundredths of a second, so the nearest possible rate is taken.
    speed : float
        Seconds of the run shown in one second: 1 is real time, 0.1 slow motion.
    trail : bool
        Whether the tips leave a fading trail.
    view : None, str or (elevation, azimuth)
        None draws a planar motion in its plane and any other in space; two letters such as "xz" name the world
        axes to draw to the right and up; two angles in degrees ask for space, seen from there.

    Returns
    -------
    Path
        The file written.
    """
    path = Path(path)
    if path.suffix.lower() != ".gif":
        raise ValueError(f"animate writes GIF files, not '{path}': name it '{path.with_suffix('.gif')}', or let "
                         f"traj.to_html('{path.with_suffix('.html')}') write a film that any browser plays")
    if not (fps > 0 and speed > 0):
        raise ValueError(f"fps and speed must be positive, not {fps} and {speed}")
    delay = max(2, round(100 / fps)) / 100
    steps = steps_every(traj.t, speed * delay)
    trails = _trails(traj, speed * delay, round(TRAIL_SECONDS / delay) if trail else 0)
    scene = Scene(stick_figure(traj, steps), trails, traj.model.gravity, view)

    pictures = (Image.fromarray(scene.draw(k, traj.t[step])).convert("RGB") for k, step in enumerate(steps))
    palette = _palette()
    first, *others = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    first.save(path, save_all=True, append_images=others, duration=round(1000 * delay), loop=0)
    return path


def _palette() -> Image.Image:
    """Return a palette of the scene's colours in steps from white; all frames share it, so that no colour flickers."""
    shades = np.linspace(0.0, 1.0, 24)[:, None]
    ramps = [1.0 - shades * (1.0 - np.array(to_rgb(colour))) for colour in (BLACK, BLUE, GREEN, VERMILION)]
    palette = Image.new("P", (1, 1))
    palette.putpalette(np.round(255.0 * np.concatenate(ramps)).astype(np.uint8).tobytes())
    return palette


def _trails(traj: Trajectory, interval: float, frames: int) -> np.ndarray:
    """Where the tips were in the last frames before each one: (F, m, nt, 3), oldest first, world, m."""
    steps = steps_every(traj.t, interval / TRAIL_POINTS)
    tips = list(leaf_tips(traj.model).items())[:MAX_TRAILS]
    paths = np.empty((len(steps), len(tips), 3))
    for k, (i, tip) in enumerate(tips):
        poses = traj.poses(traj.model.bodies[i].name, steps=steps)
        paths[:, k] = poses[:, :3, 3] + poses[:, :3, :3] @ tip
    # Before the start the tips rest at their first place.
    now = TRAIL_POINTS * np.arange(len(steps_every(traj.t, interval)))
    trails: np.ndarray = paths[np.maximum(0, now[:, None] + np.arange(-frames * TRAIL_POINTS, 1))]
    return trails
