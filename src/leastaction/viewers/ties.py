"""What to draw of forces between bodies: springs from end to end, nozzles of thrusters."""

import numpy as np

from leastaction.model import Geometry, Line, Model

Array = np.ndarray

BEADS, MOST_BEADS = 14, 600  # of a spring, and of all together
BEAD, NOZZLE = 0.013, 0.05  # radius of a bead and of a nozzle, of the size of the model
SPRING = (0.0, 0.62, 0.45, 1.0)
JET = (0.84, 0.37, 0.0, 1.0)
SIDES = 12  # of a nozzle
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def lines_of(model: Model, kind: str) -> list[Line]:
    """List what forces want drawn of a kind: "spring" or "thrust"."""
    return [line for force in model.forces.values() for line in force.lines() if line.kind == kind]


def ends(model: Model, lines: list[Line], poses: Array) -> Array:
    """Both ends (F, ns, 2, 3) of lines, world, m, where the bodies have the poses (F, nb, 4, 4)."""
    found = np.zeros((len(poses), len(lines), 2, 3))
    for k, line in enumerate(lines):
        for side, (body, point) in enumerate((line.start, line.end)):
            if body is None:
                found[:, k, side] = point
            else:
                pose = poses[:, model.body_index(body)]
                found[:, k, side] = pose[:, :3, :3] @ np.array(point) + pose[:, :3, 3]
    return found


def size_of(model: Model, poses: Array) -> float:
    """How large the model is in its first frame, with its springs, m."""
    springs = ends(model, lines_of(model, "spring"), poses[:1])
    points = np.concatenate([poses[0, :, :3, 3], springs.reshape(-1, 3),
                             poses[0, :, :3, 3] + np.array([body.inertia.com for body in model.bodies])])
    return float(np.linalg.norm(np.ptp(points, axis=0))) or 1.0


def beads(model: Model, poses: Array, size: float) -> tuple[Array, Geometry | None]:
    """Springs as rows of beads, since no solid of a viewer stretches: places (F, m, 3), world, m, and their shape."""
    springs = ends(model, lines_of(model, "spring"), poses)
    count = max(2, min(BEADS, MOST_BEADS // max(springs.shape[1], 1)))
    along = (np.arange(count) + 0.5)[:, None] / count
    places = springs[:, :, None, 0] + along * (springs[:, :, None, 1] - springs[:, :, None, 0])
    if not springs.shape[1]:
        return places.reshape(len(poses), 0, 3), None
    ball = Geometry("sphere", np.array([BEAD * size, 0.0, 0.0]), np.zeros(3), UPRIGHT, np.array(SPRING),
                    np.zeros((0, 3)), np.zeros((0, 3), dtype=int))
    return places.reshape(len(poses), -1, 3), ball


def nozzles(model: Model, size: float) -> list[tuple[int, Geometry]]:
    """Thrusters as cones that open where the jet goes, each with the index of its body."""
    return [(model.body_index(line.start[0]), _nozzle(line, size)) for line in lines_of(model, "thrust")
            if line.start[0] is not None]


def _nozzle(line: Line, size: float) -> Geometry:
    start = np.array(line.start[1])
    way = np.array(line.end[1]) - start
    way = way / np.linalg.norm(way)
    side = np.cross(way, np.eye(3)[int(np.argmin(np.abs(way)))])
    side /= np.linalg.norm(side)
    up = np.cross(way, side)
    angle = 2.0 * np.pi * np.arange(SIDES)[:, None] / SIDES
    rim = start + NOZZLE * size * (2.0 * way + np.cos(angle) * side + np.sin(angle) * up)
    vertices = np.concatenate([rim, [start, start + 2.0 * NOZZLE * size * way]])
    here, there = np.arange(SIDES), (np.arange(SIDES) + 1) % SIDES
    faces = np.concatenate([np.stack([there, here, np.full(SIDES, SIDES)], 1),
                            np.stack([here, there, np.full(SIDES, SIDES + 1)], 1)])
    return Geometry("mesh", np.zeros(3), np.zeros(3), UPRIGHT, np.array(JET), vertices, faces)
