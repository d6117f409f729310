"""The momenta that a system conserves: along motions of the whole that change nothing for gravity and the ground."""

from dataclasses import dataclass

import numpy as np

from leastaction.compiled import compile_model
from leastaction.dynamics import poses
from leastaction.kernels.constraints.rows import COUPLE
from leastaction.model import BALL, FREE, Cylindrical, Free, Joint, Model, Planar, merge_fixed
from leastaction.model import Fixed as Welded
from leastaction.model.arrays import rotation_matrix
from leastaction.model.force import Fixed, Vector
from leastaction.model.unhonoured import FRICTION, LIMITS
from leastaction.trajectory import Trajectory

Array = np.ndarray

TINY = 1e-9


@dataclass(frozen=True, eq=False)
class Symmetry:
    """A motion of the whole system that changes nothing, so that the momentum along it is conserved.

    Attributes
    ----------
    screw : (6,) rotation axis and velocity of the world's origin, world axes; its product with the total momentum is
        conserved
    name : of that momentum
    unit : of that momentum
    """

    screw: Array
    name: str
    unit: str


def symmetries(model: Model) -> list[Symmetry]:
    """List the momenta that a model conserves by itself, without controls and wrenches."""
    if held_by_loops(model):
        return []
    forbidden = [_forbidden_by_gravity(model.gravity)]
    fixed = _fixed_points(model)
    forbidden += [_complement(screws) for force in model.forces.values() for screws in force.symmetries(fixed)]
    forbidden += [_complement(screws) for screws in _root_screws(model)]
    rows = np.concatenate(forbidden)
    _, sizes, axes = np.linalg.svd(rows)
    allowed = axes[np.count_nonzero(sizes > TINY) :]
    return [_named(screw) for screw in _reduced(allowed)]


def conserved(run: Trajectory) -> tuple[list[Symmetry], str]:
    """List the momenta that a run should have conserved; and, if there are none, why."""
    if run.origin is None:
        return [], "it is not known which forces drove the run"
    if run.origin.wrench is not None and (callable(run.origin.wrench) or np.any(run.origin.wrench)):
        return [], "external wrenches act"
    if callable(run.origin.control):
        return [], "a control function acts, perhaps against the ground"
    if run.origin.control is not None:
        roots = [run.model.v_slice(run.model.names[i]) for i in root_bodies(run.model)]
        if any(np.any(np.asarray(run.origin.control)[..., at]) for at in roots):
            return [], "a control acts against the ground"
    if held_by_loops(run.model):
        return [], "a loop or a coupling acts against the ground"
    if driven_on_the_ground(run.model) and not run.model.drives.idle(run.origin.command):
        return [], "an actuator acts against the ground"
    found = symmetries(run.model)
    return found, "" if found else f"{_listed(_acting(run.model))} leave none"


def _acting(model: Model) -> list[str]:
    """List what may change the momenta of a model."""
    acting = ["gravity"] if np.any(model.gravity) else []
    acting += ["the forces between bodies"] if model.forces else []
    grounded = any(not isinstance(model.bodies[i].joint, Free) for i in root_bodies(model))
    return acting + (["the joints on the ground"] if grounded else [])


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def held_by_loops(model: Model) -> bool:
    """Tell whether a loop joins a body to the ground, or a coupling one of the joints that stand on it."""
    rows = compile_model(model).rows
    if rows is None:
        return False
    n, coupled = len(rows.root) - 1, rows.kind == COUPLE
    on_root = [np.isin(ends[coupled], rows.root[:-1]) for ends in (rows.a, rows.b)]
    return bool((rows.b[~coupled] == n).any() or any(ends.any() for ends in on_root))


def driven_on_the_ground(model: Model) -> set[str]:
    """Name the bodies whose joints join them to the ground and have actuators."""
    return {actuator.joint for actuator in model.actuators.values()} & {model.names[i] for i in root_bodies(model)}


def root_bodies(model: Model) -> list[int]:
    """List the bodies, by index, whose joints join them to the ground, directly or through welded bodies."""
    parents, welded = model.parents.tolist(), set()
    roots = []
    for i in model.order():
        if parents[i] < 0 or parents[i] in welded:
            if isinstance(model.bodies[i].joint, Welded):
                welded.add(i)
            else:
                roots.append(i)
    return roots


def _fixed_points(model: Model) -> Fixed:
    """Where points of bodies are that do not move."""
    carrier = merge_fixed(model).carrier if model.forces else np.zeros(0)
    world = poses(model) if model.forces else np.zeros((0, 4, 4))

    def fixed(body: str | None, point: Vector) -> Array | None:
        if body is None:
            return np.array(point)
        b = model.body_index(body)
        return world[b, :3, :3] @ np.array(point) + world[b, :3, 3] if carrier[b] < 0 else None

    return fixed


def _root_screws(model: Model) -> list[Array]:
    """Motions (k, 6) that each joint on the ground allows the tree on it, as screws in world axes."""
    world, parents, driven = poses(model), model.parents, driven_on_the_ground(model)
    found = []
    for i in root_bodies(model):
        body = model.bodies[i]
        base = world[parents[i]] if parents[i] >= 0 else np.eye(4)
        R = base[:3, :3] @ rotation_matrix(body.quaternion)
        p = base[:3, :3] @ body.position + base[:3, 3]
        own = [] if body.name in driven else _own_screws(body.joint, model.switched_off)
        screws = [np.concatenate([R @ a, R @ b + np.cross(p, R @ a)]) for a, b in own]
        found.append(np.array(screws).reshape(-1, 6))
    return found


def _own_screws(joint: Joint, off: frozenset[str]) -> list[tuple[Array, Array]]:
    """Rotation axes and velocities, joint frame, of the motions of a joint that only move all that hangs on it."""
    first, *others = joint.parts()
    # Motions of the first part leave the others as they are; in a plane and on a cylinder any does.
    moved = [first, *others] if isinstance(joint, Planar | Cylindrical) else [first]
    if any(part.damping or part.sprung or part.armature for part in moved):
        return []
    if any((LIMITS not in off and (part.low > -np.inf or part.high < np.inf))
           or (FRICTION not in off and part.friction > 0) for part in moved):
        return []
    still, axes = np.zeros(3), np.eye(3)
    if first.kind == FREE:
        return [(axis, still) for axis in axes] + [(still, axis) for axis in axes]
    if first.kind == BALL:
        return [(axis, still) for axis in axes]
    return [(part.turn, part.slide) for part in moved]


def _forbidden_by_gravity(gravity: Array) -> Array:
    """Directions (k, 6) that no symmetry has under gravity: turning about a level axis, and falling."""
    size = float(np.linalg.norm(gravity))
    if size == 0:
        return np.zeros((0, 6))
    down = gravity / size
    level = _complement3(down)
    rows = [np.concatenate([axis, np.zeros(3)]) for axis in level]
    return np.array([*rows, np.concatenate([np.zeros(3), down])])


def _complement3(direction: Array) -> Array:
    return np.linalg.svd(direction[None])[2][1:]


def _complement(rows: Array) -> Array:
    """Orthonormal rows (6 - rank, 6) orthogonal to rows (k, 6)."""
    if len(rows) == 0:
        return np.eye(6)
    _, sizes, axes = np.linalg.svd(rows)
    return axes[np.count_nonzero(sizes > TINY) :]


def _reduced(rows: Array) -> list[Array]:
    """The reduced row echelon form of rows (k, 6), which is a readable basis."""
    rows, pivot = rows.copy(), 0
    for column in range(6):
        if pivot == len(rows):
            break
        best = pivot + int(np.argmax(np.abs(rows[pivot:, column])))
        if abs(rows[best, column]) < TINY:
            continue
        rows[[pivot, best]] = rows[[best, pivot]]
        rows[pivot] /= rows[pivot, column]
        others = np.arange(len(rows)) != pivot
        rows[others] -= np.outer(rows[others, column], rows[pivot])
        pivot += 1
    return list(np.where(np.abs(rows) < TINY, 0.0, rows))


def _named(screw: Array) -> Symmetry:
    turn, slide = screw[:3], screw[3:]
    if not turn.any():
        return Symmetry(screw / np.linalg.norm(slide), f"linear momentum along {_direction(slide)}", "kg m/s")
    screw = screw / np.linalg.norm(turn)
    turn, slide = screw[:3], screw[3:]
    through = np.cross(turn, slide) + 0.0  # no minus zero
    place = f" through ({', '.join(f'{x:.3g}' for x in through)}) m" if np.abs(through).max() > TINY else ""
    pitch = float(turn @ slide)
    rising = f", with {pitch:.3g} m/rad along it" if abs(pitch) > TINY else ""
    return Symmetry(screw, f"angular momentum about {_direction(turn)}{place}{rising}", "kg m²/s")


def _direction(vector: Array) -> str:
    unit = vector / np.linalg.norm(vector)
    largest = int(np.argmax(np.abs(unit)))
    if abs(unit[largest]) > 1 - TINY:
        return "xyz"[largest]
    return f"({', '.join(f'{x:.3g}' for x in unit)})"
