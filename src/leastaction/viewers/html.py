"""One HTML file that plays a run offline: a small WebGL player of our own with the film inside."""

import json
from dataclasses import replace
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leastaction.viewers.coarsening import coarsened
from leastaction.viewers.film import FPS, Film, film, thinned
from leastaction.viewers.outline import Drawn
from leastaction.viewers.packing import Store, pack_curve, pack_mesh, pack_motion
from leastaction.viewers.panels import POINTS, panels
from leastaction.viewers.solids import Solid, solid_of

if TYPE_CHECKING:
    from leastaction.trajectory import Trajectory

SCRIPTS = ("decode.js", "solids.js", "camera.js", "shaders.js", "trails.js", "renderer.js", "curves.js", "player.js")
LARGEST = 3_000_000  # bytes of a page; a longer film loses frames
FACES = 60_000  # triangles of all meshes; finer ones lose detail


def write_html(traj: "Trajectory", path: str | Path = "run.html", fps: float = FPS) -> Path:
    """Write a page of at most 3 MB that plays a run in any browser, offline: nothing is fetched.

    Parameters
    ----------
    traj : what `simulate` returned
    path : the file to write, ending in .html
    fps : greatest number of frames kept for a second of model time; long runs get fewer

    Returns
    -------
    Path
        The file written.
    """
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"the page is an HTML file: name it '{path.with_suffix('.html')}' instead of '{path}'")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(traj, film(traj, fps)), encoding="utf-8")
    return path


def page(traj: "Trajectory", shown: Film) -> str:
    """Return the text of the page that `write_html` writes, with as many frames of a film as it may hold."""
    shown = replace(shown, shapes=coarsened(shown.shapes, FACES))
    text = _page(traj, shown)
    while len(text) > LARGEST and len(shown.t) > 2:
        shown = shown.every(-(-len(text) // LARGEST))
        text = _page(traj, shown)
    return text


def _page(traj: "Trajectory", shown: Film) -> str:
    web = resources.files("leastaction.viewers") / "web"
    described, data = scene(traj, shown)
    parts = {
        "title": escape(traj.model.name),
        "style": (web / "page.css").read_text("utf-8"),
        "scene": json.dumps(described, separators=(",", ":")).replace("<", "\\u003c"),
        "data": data,
        "script": "\n".join((web / name).read_text("utf-8") for name in SCRIPTS),
    }
    text = (web / "page.html").read_text("utf-8")
    head, *rest = text.split("{{")
    return head + "".join(parts[name] + after for name, after in (piece.split("}}", 1) for piece in rest))


def scene(traj: "Trajectory", shown: Film) -> tuple[dict[str, Any], str]:
    """Describe a film as data that JSON can hold, which refer to arrays in a `packing.Store`."""
    store = Store()
    solids, batches = _batches(store, shown.shapes, shown.marks)
    for batch in batches:
        if batch.pop("marks"):
            batch["lit"] = store.add(shown.lit.T, "u1")
    described = {
        "name": traj.model.name,
        "about": _about(traj),
        "bodies": shown.positions.shape[1],
        **pack_motion(store, shown),
        "radius": shown.radius,
        "floor": shown.floor,
        "floorFollows": shown.floor_follows,
        "tips": [{"body": body, "at": point.tolist()} for body, point in shown.tips],
        "thickness": _thickness(shown.shapes),
        "solids": solids,
        "batches": batches,
        "panels": _panels(store, traj, shown),
    }
    return described, store.text()


def _batches(
    store: Store, drawn: list[Drawn], marks: list[Drawn]
) -> tuple[list[str | dict[str, Any]], list[dict[str, Any]]]:
    """Solids, each once, and by name only if the page can make them; and batches of instances, opaque ones first.

    What marks joints at their limits has a batch of its own.
    """
    solids: dict[str, Solid] = {}
    members: dict[tuple[bool, bool, str], list[tuple[int, np.ndarray]]] = {}
    for k, (body, shape) in enumerate([*drawn, *marks]):
        name, solid, size = solid_of(shape)
        solids.setdefault(name, solid)
        row = np.concatenate([shape.position, shape.quaternion, size, shape.color])
        members.setdefault((bool(shape.color[3] < 1.0), k >= len(drawn), name), []).append((body, row))
    names = list(solids)
    batches = [{"solid": names.index(name), "glassy": glassy, "marks": mark, "bodies": [body for body, _ in rows],
                "rows": store.add(np.array([row for _, row in rows]), "f4")}
               for (glassy, mark, name), rows in sorted(members.items(), key=lambda item: item[0][:2])]
    return [pack_mesh(store, solid) if name.startswith("mesh") else name for name, solid in solids.items()], batches


def _thickness(drawn: list[Drawn]) -> float:
    """Radius of the thinnest capsule, m: trails are thinner."""
    return min((float(shape.size[0]) for _, shape in drawn if shape.shape == "capsule"), default=0.0)


def _panels(store: Store, traj: "Trajectory", shown: Film) -> list[dict[str, Any]]:
    start, end = float(traj.t[0]), float(traj.t[-1])
    return [{"title": panel.title, "unit": panel.unit, "least": panel.least,
             "curves": [{"label": label, **pack_curve(store, *thinned(traj.t, values, POINTS), start, end)}
                        for label, values in panel.curves.items()]}
            for panel in panels(traj, shown.radius)]


def _about(traj: "Trajectory") -> str:
    """The run in one line."""
    freedom = "1 degree" if traj.model.nv == 1 else f"{traj.model.nv} degrees"
    return f"{freedom} of freedom · {traj.integrator.label} · step {1e3 * traj.dt:g} ms"
