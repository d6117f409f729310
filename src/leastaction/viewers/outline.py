"""What to draw of a model: its own shapes, and sticks and blobs made of the joints and inertias where it has none."""

from collections.abc import Iterable, Iterator

import numpy as np

from leastaction.model import Body, Fixed, Free, Geometry, Loop, Model

Drawn = tuple[int, Geometry]  # which body it is fixed to, -1 for the ground; and the shape

GROUND = -1
THICKNESS = 0.12  # radius of a stick, as a part of the typical length of one
SLENDER, HAIR = 0.025, 0.0015  # its upper and lower bound, as parts of the length of the longest branch
POINT = 0.1  # a body whose half-length is less than this part of the distance to its COM is a point mass
BLOB = 2.4  # radius of a point mass, as a multiple of a stick's
# Links alternate between two tones, so that one sees where one ends and the next begins.
TONES = ((0.10, 0.42, 0.70, 1.0), (0.36, 0.64, 0.86, 1.0))
MASS = (0.84, 0.37, 0.0, 1.0)
PIVOT = (0.16, 0.17, 0.19, 1.0)
NEAR = 0.05  # of its distance by which the pin of a loop may be off a tip and count as that tip
NONE = np.zeros((0, 3))
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def shapes(model: Model) -> list[Drawn]:
    """List what to draw, each with the index of its body, -1 for the ground.

    A body without shapes gets capsules to the joints that it carries and to its tip, unless it is welded to a body with
    shapes. In a model that has shapes, massless bodies without any are mere frames, and are not drawn.
    """
    own = [(i, shape) for i, body in enumerate(model.bodies) for shape in body.geometry if shape.visual]
    carrier = carriers(model)
    dressed = {carrier[i] for i, _ in own}
    bare = [i for i, body in enumerate(model.bodies)
            if carrier[i] not in dressed and (not dressed or body.inertia.mass > 0)]
    return own + list(_sticks(model, bare))


def carriers(model: Model) -> list[int]:
    """Find the body that each is welded to: its own index if it moves, -1 if it is welded to the ground."""
    parents, carrier = model.parents.tolist(), list(range(model.nb))
    for i in model.order():
        if isinstance(model.bodies[i].joint, Fixed):
            carrier[i] = GROUND if parents[i] < 0 else carrier[parents[i]]
    return carrier


def leaf_tips(model: Model) -> dict[int, np.ndarray]:
    """Find the far ends of the leaves: by the body's index, (3,) in its own frame, m.

    The tip is the end of the uniform rod from the joint through the COM that has the body's transverse inertia. So a
    rod gets its true end and a point mass its COM; a body wider than long is drawn to twice its COM.
    """
    parents = {body.parent for body in model.bodies}
    tips = {}
    for i, body in enumerate(model.bodies):
        distance = float(np.linalg.norm(body.inertia.com))
        if body.name not in parents and body.inertia.mass > 0 and distance > 0:
            tips[i] = body.inertia.com * (1.0 + min(1.0, half_length(body) / distance))
    return tips


def pins(model: Model) -> list[tuple[int, np.ndarray]]:
    """List both ends of every loop: the body's index, -1 for the ground, and (3,) in its frame, m."""
    index: dict[str | None, int] = {name: i for i, name in enumerate(model.names)}
    index[None] = GROUND
    found = []
    for loop in model.loops:
        if isinstance(loop, Loop):
            found += [(index[loop.body], loop.position), (index[loop.other], loop.other_position)]
    return found


def pinned_arms(model: Model, tips: dict[int, np.ndarray]) -> list[tuple[int, np.ndarray]]:
    """List the pins that are to be joined to their bodies by sticks: those that no tip has already reached."""
    return [(i, pin) for i, pin in pins(model)
            if i != GROUND and (i not in tips or np.linalg.norm(pin - tips[i]) > NEAR * np.linalg.norm(pin))]


def is_point(body: Body) -> bool:
    """Tell whether a body is drawn as a point mass."""
    return body.inertia.mass > 0 and half_length(body) < POINT * float(np.linalg.norm(body.inertia.com))


def half_length(body: Body) -> float:
    """Half the length of the uniform rod along the COM's direction with the body's transverse inertia, m."""
    along = body.inertia.com / max(float(np.linalg.norm(body.inertia.com)), np.finfo(float).tiny)
    transverse = 0.5 * (np.trace(body.inertia.matrix) - along @ body.inertia.matrix @ along)
    return float(np.sqrt(3.0 * max(transverse, 0.0) / body.inertia.mass))


def _sticks(model: Model, bare: list[int]) -> Iterator[Drawn]:
    bodies, parents, tips = model.bodies, model.parents, leaf_tips(model)
    carried: dict[int, list[np.ndarray]] = {i: [] for i in range(-1, len(bodies))}
    for i, body in enumerate(bodies):
        if not isinstance(body.joint, Free):
            carried[int(parents[i])].append(body.position)
    for i, pin in pinned_arms(model, tips):
        carried[i].append(pin)
    wide = {i: _ellipsoid(bodies[i]) for i in bare if not carried[i] and _wide(bodies[i])}
    ends = {i: [*carried[i], *([bodies[i].inertia.com] if i in wide else [tips[i]] if i in tips else [])] for i in bare}
    lengths = [float(np.linalg.norm(end)) for several in ends.values() for end in several if end.any()]
    depth, longest = _branches(model, tips)
    typical = float(np.median(lengths)) if lengths else 0.0
    radius = float(np.clip(THICKNESS * typical, HAIR * longest, SLENDER * longest)) if lengths else 0.0
    for i in bare:
        for end in ends[i]:
            if end.any():
                yield i, Geometry.capsule(np.zeros(3), end, radius, TONES[depth[i] % 2])
        if i in wide:
            yield i, wide[i]
        elif is_point(bodies[i]):
            yield i, ball(bodies[i].inertia.com, BLOB * radius, MASS)
        if radius > 0 and parents[i] == GROUND and not isinstance(bodies[i].joint, Free):
            yield GROUND, ball(bodies[i].position, 1.35 * radius, PIVOT)
    for i, pin in pins(model):
        yield i, ball(pin, 1.35 * (radius or HAIR * longest), PIVOT)


def _branches(model: Model, tips: dict[int, np.ndarray]) -> tuple[list[int], float]:
    """How deep in the tree each body is, and the length of the longest branch from a root to a tip, m."""
    parents = model.parents.tolist()
    depth, length = [0] * model.nb, [0.0] * model.nb
    for i in model.order():
        if parents[i] >= 0:
            depth[i] = depth[parents[i]] + 1
            length[i] = length[parents[i]] + float(np.linalg.norm(model.bodies[i].position))
    return depth, max(length[i] + float(np.linalg.norm(tips.get(i, 0.0))) for i in range(model.nb))


def _wide(body: Body) -> bool:
    """Tell whether a body's mass lies more beside the line from its joint to its COM than along it."""
    if body.inertia.mass == 0 or is_point(body):
        return False
    distance = float(np.linalg.norm(body.inertia.com))
    if distance == 0:
        return bool(np.trace(body.inertia.matrix) > 0)
    along = body.inertia.com / distance
    about = float(along @ body.inertia.matrix @ along)
    return about > 0.33 * float(np.trace(body.inertia.matrix))  # ∫ x² + y² > 2 ∫ z², z along the line


def _ellipsoid(body: Body) -> Geometry:
    """Make the solid ellipsoid with the body's mass and inertia."""
    moments, axes = np.linalg.eigh(body.inertia.matrix)
    if np.linalg.det(axes) < 0:
        axes[:, 0] = -axes[:, 0]
    half = np.sqrt(np.maximum(2.5 * (moments.sum() - 2.0 * moments) / body.inertia.mass, 0.0))
    half = np.maximum(half, 0.05 * half.max())
    return Geometry("ellipsoid", half, body.inertia.com, quaternions(axes), np.array(TONES[0]), NONE, NONE)


def ball(centre: np.ndarray, radius: float, color: Iterable[float]) -> Geometry:
    """Make a ball, m."""
    return Geometry("sphere", np.array([radius, 0.0, 0.0]), centre, UPRIGHT, np.array(color), NONE, NONE)


def quaternions(rotations: np.ndarray) -> np.ndarray:
    """Return unit quaternions (..., 4) of rotation matrices (..., 3, 3), by the largest of the four components."""
    R = np.asarray(rotations)
    xx, yy, zz = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    wx, wy, wz = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    xy, xz, yz = R[..., 0, 1] + R[..., 1, 0], R[..., 0, 2] + R[..., 2, 0], R[..., 1, 2] + R[..., 2, 1]
    # 4 q qᵀ, any row of which is q times four of its components
    products = np.stack([
        np.stack([1 + xx + yy + zz, wx, wy, wz], -1),
        np.stack([wx, 1 + xx - yy - zz, xy, xz], -1),
        np.stack([wy, xy, 1 - xx + yy - zz, yz], -1),
        np.stack([wz, xz, yz, 1 - xx - yy + zz], -1),
    ], -2)
    largest = np.argmax(np.diagonal(products, axis1=-2, axis2=-1), axis=-1)
    row = np.take_along_axis(products, largest[..., None, None], -2)[..., 0, :]
    unit: np.ndarray = row / np.linalg.norm(row, axis=-1, keepdims=True)
    return unit
