"""From the loops and couplings of a model to rows, equations between two links each.

kernels/constraints/rows.py tells what the rows mean.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from leastaction.kernels.constraints.rows import COUPLE, DIST, DOT, POS, POWERS, Rows
from leastaction.kernels.layout import LINK, Tree
from leastaction.model import (
    Ball,
    Coupling,
    Cylindrical,
    Fixed,
    Joint,
    Loop,
    Model,
    Planar,
    Prismatic,
    Revolute,
    Rod,
    Universal,
)
from leastaction.model.arrays import product, rotated, rotation_matrix

Array = np.ndarray
STILL = np.zeros(3)
NEAR = 5  # links of a loop, from either end, that tell its length


class Marker(NamedTuple):
    """One end of a loop: a frame on a link (n: the ground), its axes being the columns of R (3, 3)."""

    link: int
    position: Array
    R: Array


class Row(NamedTuple):
    """One equation; see kernels/constraints/rows.py."""

    kind: int
    a: int
    b: int
    sa: Array = STILL
    sb: Array = STILL
    ea: Array = STILL
    eb: Array = STILL
    length: float = 0.0
    coefficients: tuple[float, ...] = (0.0,) * POWERS
    reference: tuple[float, float] = (0.0, 0.0)
    scale: float = 1.0
    loop: int = 0


def rows_of(
    model: Model, tree: Tree, constants: Array, link_of_body: Array, position: Array, quaternion: Array
) -> Rows | None:
    """Return the rows of a sound model, None if it has no loops.

    Parameters
    ----------
    tree, constants : the links, as Compiled has them
    link_of_body, position, quaternion : where the bodies are on the links, likewise
    """
    if not model.loops:
        return None
    found: list[Row] = []
    for k, loop in enumerate(model.loops):
        if isinstance(loop, Coupling):
            found.append(_coupled(model, tree, constants, loop)._replace(loop=k))
            continue
        a, b = markers(model, loop, tree.n, link_of_body, position, quaternion)
        joint, size = loop.joint, _length(tree, constants, a, b)
        if a.link == tree.n:  # a must move: let the two ends, and the axes on them, change places
            a, b = b, a
            joint = Universal(joint.axis2, joint.axis1) if isinstance(joint, Universal) else joint
        found += [row._replace(loop=k, scale=size if row.kind == DOT else 1.0) for row in _closed(joint, a, b)]
    root = np.arange(tree.n + 1)
    for i in range(tree.n):
        root[i] = i if tree.parent[i] == tree.n else root[tree.parent[i]]
    columns = (np.array(column) for column in zip(*found, strict=True))
    flat = [column.astype(np.int64 if column.dtype.kind == "i" else float).reshape(-1) for column in columns]
    return Rows(*[*flat, root.astype(np.int64)])


def markers(
    model: Model, loop: Loop, n: int, link_of_body: Array, position: Array, quaternion: Array
) -> tuple[Marker, Marker]:
    """Return the ends of a loop on their links: that on ``body`` first."""
    ends = []
    for name, own_position, own_quaternion in (
            (loop.body, loop.position, loop.quaternion), (loop.other, loop.other_position, loop.other_quaternion)):
        if name is None:
            ends.append(Marker(n, own_position, rotation_matrix(own_quaternion)))
            continue
        b = model.body_index(name)
        place = position[b] + np.array(rotated(quaternion[b], own_position))
        ends.append(Marker(int(link_of_body[b]), place, rotation_matrix(product(quaternion[b], own_quaternion))))
    return ends[0], ends[1]


def must_point_alike(loop: Loop) -> Array:
    """Directions (k, 3) in the frames of a loop's ends that must agree; its rows allow them to be opposite, too."""
    joint = loop.joint
    if isinstance(joint, Fixed | Prismatic):
        return np.eye(3)
    return _axes(joint)[2:] if isinstance(joint, Revolute | Cylindrical | Planar) else np.zeros((0, 3))


def _closed(joint: Joint | Rod, a: Marker, b: Marker) -> Iterator[Row]:
    """Yield the rows of a closure."""
    if isinstance(joint, Rod):
        yield Row(DIST, a.link, b.link, a.position, b.position, length=joint.length)
        return
    along = _axes(joint)
    # Marker a may slide along the last axis of a Prismatic or Cylindrical joint, and in the plane of the first two
    held = {Prismatic: along[:2], Cylindrical: along[:2], Planar: along[2:]}.get(type(joint), along)
    for axis in held:
        yield Row(POS, a.link, b.link, a.position, b.position, eb=b.R @ axis)
    for on_b, on_a in _right_angles(joint, along):
        yield Row(DOT, a.link, b.link, ea=a.R @ on_a, eb=b.R @ on_b, length=float(on_b @ on_a))


def _axes(joint: Joint | Rod) -> Array:
    """Three unit vectors (3, 3) at right angles; the last is the axis of the joint, or the normal of its plane."""
    if isinstance(joint, Revolute | Prismatic | Cylindrical):
        z = np.array(joint.axis)
    elif isinstance(joint, Planar):
        z = np.cross(joint.axis1, joint.axis2)
    else:
        return np.eye(3)
    z = z / np.linalg.norm(z)
    x = np.cross(np.eye(3)[np.argmin(abs(z))], z)
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(z, x), z])


def _right_angles(joint: Joint | Rod, along: Array) -> list[tuple[Array, Array]]:
    """Directions on b and on a whose angle the joint keeps as it is at its zero."""
    x, y, z = along
    if isinstance(joint, Ball):
        return []
    if isinstance(joint, Universal):
        first, second = (np.array(axis) / np.linalg.norm(axis) for axis in (joint.axis1, joint.axis2))
        return [(first, second)]
    if isinstance(joint, Revolute | Cylindrical | Planar):
        return [(x, z), (y, z)]
    return [(x, y), (y, z), (z, x)]  # no rotation at all; regular up to 90° off


def _coupled(model: Model, tree: Tree, constants: Array, coupling: Coupling) -> Row:
    """Return the row of a coupling, angles being weighed by the size of the link that turns."""
    starts = model.layout.q_start
    a, b = (tree.n if name is None else int(np.flatnonzero(tree.iq == starts[model.body_index(name)])[0])
            for name in (coupling.joint, coupling.to))
    coefficients = (*coupling.coefficients, *(0.0,) * (POWERS - len(coupling.coefficients)))
    scale = 1.0
    if constants[a, LINK.rows("turn")].any():
        children = constants[tree.parent == a][:, LINK.rows("base_position")]
        reach = np.linalg.norm(np.vstack([children, constants[a, LINK.rows("com")][None]]), axis=1).max()
        scale = float(reach) or 1.0
    return Row(COUPLE, a, b, coefficients=coefficients, reference=coupling.reference, scale=scale)


def _length(tree: Tree, constants: Array, a: Marker, b: Marker) -> float:
    """Half the way round a loop through the joints, m, by which angles compare to distances.

    Of a long loop only what is near its ends counts.
    """
    place = constants[:, LINK.rows("base_position")]
    paths = [_upwards(tree, end.link) for end in (a, b)]
    meeting = next((link for link in paths[0] if link in paths[1]), None)
    way, meet = 0.0, []
    for path, end in zip(paths, (a, b), strict=True):
        below = [link for link in path if link < tree.n] if meeting is None else path[: path.index(meeting)]
        if below:
            way += float(np.linalg.norm(place[below[:-1]], axis=1).sum() + np.linalg.norm(end.position))
        meet.append(place[below[-1]] if below else end.position)
    if meeting is not None:
        way += float(np.linalg.norm(meet[0] - meet[1]))
    return 0.5 * way or 1.0


def _upwards(tree: Tree, link: int) -> list[int]:
    """List a link and the nearest of its ancestors; the ground (n) is the last."""
    path = [link]
    while path[-1] < tree.n and len(path) < NEAR:
        path.append(int(tree.parent[path[-1]]))
    return path
