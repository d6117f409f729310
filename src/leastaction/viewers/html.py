"""One HTML file that plays a run offline: a small WebGL player of our own with the film inside."""

import json
from base64 import b64encode
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leastaction.analysis.certificate import method
from leastaction.viewers.film import FPS, Film, film, thinned
from leastaction.viewers.outline import Drawn
from leastaction.viewers.solids import Solid, solid_of

if TYPE_CHECKING:
    from leastaction.trajectory import Trajectory

SCRIPTS = ("decode.js", "camera.js", "shaders.js", "trails.js", "renderer.js", "curves.js", "player.js")
COLOURS = ("#0072B2", "#D55E00", "#009E73")


def write_html(traj: "Trajectory", path: str | Path = "run.html", fps: float = FPS) -> Path:
    """Write a page that plays a run in any browser, offline: nothing is fetched.

    Parameters
    ----------
    traj : what `simulate` returned
    path : the file to write, ending in .html
    fps : greatest number of frames kept for a second of model time

    Returns
    -------
    Path
        The file written.
    """
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"the page is an HTML file: name it '{path.with_suffix('.html')}' instead of '{path}'")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(traj, fps), encoding="utf-8")
    return path


def page(traj: "Trajectory", fps: float = FPS) -> str:
    """Return the text of the page that `write_html` writes."""
    web = resources.files("leastaction.viewers") / "web"
    parts = {
        "title": escape(traj.model.name),
        "style": (web / "page.css").read_text("utf-8"),
        "scene": json.dumps(scene(traj, film(traj, fps)), separators=(",", ":")).replace("<", "\\u003c"),
        "script": "\n".join((web / name).read_text("utf-8") for name in SCRIPTS),
    }
    text = (web / "page.html").read_text("utf-8")
    head, *rest = text.split("{{")
    return head + "".join(parts[name] + after for name, after in (piece.split("}}", 1) for piece in rest))


def scene(traj: "Trajectory", shown: Film) -> dict[str, Any]:
    """Describe a film in what JSON can hold; arrays of numbers are base64 of little-endian float32 or uint32."""
    solids, batches = _batches(shown.shapes)
    return {
        "name": traj.model.name,
        "about": _about(traj),
        "bodies": traj.model.nb,
        "t": _floats(shown.t),
        "poses": _floats(np.concatenate([shown.positions, shown.quaternions], axis=2)),
        "focus": _floats(shown.focus),
        "radius": shown.radius,
        "floor": shown.floor,
        "floorFollows": shown.floor_follows,
        "tips": [{"body": body, "at": point.tolist()} for body, point in shown.tips],
        "thickness": _thickness(shown.shapes),
        "solids": solids,
        "batches": batches,
        "panels": _panels(traj),
    }


def _batches(drawn: list[Drawn]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Solids, each once; and batches of instances that share a solid, opaque ones first."""
    solids: dict[str, Solid] = {}
    members: dict[tuple[bool, str], list[tuple[int, np.ndarray]]] = {}
    for body, shape in drawn:
        name, solid, size = solid_of(shape)
        solids.setdefault(name, solid)
        row = np.concatenate([shape.position, shape.quaternion, size, shape.color])
        members.setdefault((bool(shape.color[3] < 1.0), name), []).append((body, row))
    names = list(solids)
    batches = [{"solid": names.index(name), "glassy": glassy, "bodies": [body for body, _ in rows],
                "rows": _floats(np.array([row for _, row in rows]))}
               for (glassy, name), rows in sorted(members.items(), key=lambda item: item[0][0])]
    return [{"vertices": _floats(np.column_stack([s.vertices, s.normals, s.ends])), "faces": _ints(s.faces)}
            for s in solids.values()], batches


def _thickness(drawn: list[Drawn]) -> float:
    """Radius of the thinnest capsule, m: trails are thinner."""
    return min((float(shape.size[0]) for _, shape in drawn if shape.shape == "capsule"), default=0.0)


def _panels(traj: "Trajectory") -> list[dict[str, Any]]:
    """Curves beside the scene: the energy error, and both halves of the total momentum."""
    def curve(label: str, colour: str, values: np.ndarray) -> dict[str, Any]:
        t, y = thinned(traj.t, values)
        return {"label": label, "colour": colour, "t": _floats(t), "y": _floats(y)}

    def along_axes(vectors: np.ndarray) -> list[dict[str, Any]]:
        return [curve(*named) for named in zip("xyz", COLOURS, vectors.T, strict=True)]

    return [
        {"title": "energy change" if traj.judgement.reason else "energy error", "unit": "% of peak kinetic energy",
         "curves": [curve("", COLOURS[0], 100.0 * traj.energy_error)]},
        {"title": "angular momentum", "unit": "kg m²/s", "curves": along_axes(traj.momentum[:, :3])},
        {"title": "linear momentum", "unit": "kg m/s", "curves": along_axes(traj.momentum[:, 3:])},
    ]


def _about(traj: "Trajectory") -> str:
    """The run in one line."""
    freedom = "1 degree" if traj.model.nv == 1 else f"{traj.model.nv} degrees"
    return f"{freedom} of freedom · {method(traj.integrator)} · step {1e3 * traj.dt:g} ms"


def _floats(values: np.ndarray) -> str:
    return b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


def _ints(values: np.ndarray) -> str:
    return b64encode(np.ascontiguousarray(values, dtype="<u4").tobytes()).decode("ascii")
