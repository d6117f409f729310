"""One frame of a film as a small PNG, drawn with NumPy alone: for places that show neither frames nor scripts."""

import struct
import zlib

import numpy as np

from leastaction.model.arrays import rotation_matrix
from leastaction.viewers.coarsening import coarsened
from leastaction.viewers.film import Film
from leastaction.viewers.solids import ball, solid_of

Array = np.ndarray

# The camera and the light of the player, see camera.js and renderer.js.
AZIMUTH, ELEVATION, SLOPE = -1.05, 0.22, np.tan(np.radians(16.0))
SUN = np.array([0.45, -0.35, 0.85]) / np.linalg.norm([0.45, -0.35, 0.85])
SKY, FLOOR, SHADOW = np.array([236, 240, 244]), np.array([247, 249, 250]), np.array([206, 210, 216])
SHADES = 24  # steps of brightness: few colours make a small file
FACES = 20_000  # triangles of all meshes, and of all balls
ROUGH = (2, 5)  # least and greatest number of segments of a ball from its pole to its equator
CANDIDATES = 2_000_000  # pixels examined at once


def png(shown: Film, frame: int, width: int = 640, height: int = 360) -> bytes:
    """Draw a frame.

    Parameters
    ----------
    shown : the film
    frame : which of its frames
    width, height : of the picture, pixels

    Returns
    -------
    bytes
        A PNG file.
    """
    corners, normals, colours = _triangles(shown, frame)
    back = np.array([np.cos(ELEVATION) * np.cos(AZIMUTH), np.cos(ELEVATION) * np.sin(AZIMUTH), np.sin(ELEVATION)])
    right = np.array([-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0])
    axes = np.stack([right, np.cross(back, right), back])
    distance = 0.95 * shown.radius / np.sin(np.arctan(SLOPE * min(1.0, width / height)))

    def seen(points: Array) -> Array:
        """Column, row and depth of points (..., 3) relative to the focus; two columns and rows make a pixel."""
        x, y, z = np.moveaxis(points @ axes.T, -1, 0)
        depth = np.maximum(distance - z, 0.02 * distance)
        scale = height / (SLOPE * depth)
        return np.stack([width + scale * x, height - scale * y, depth], axis=-1)

    ground = shown.floor - (0.0 if shown.floor_follows else shown.focus[frame, 2])
    picture = _backdrop(2 * width, 2 * height, ground, axes, distance)
    flat = corners - SUN * ((corners[..., 2:] - ground) / SUN[2])
    dark, _ = _nearest(seen(flat[(corners[..., 2] > ground).all(axis=1)]), 2 * width, 2 * height)
    picture[dark >= 0] = SHADOW
    front, weights = _nearest(seen(corners), 2 * width, 2 * height)
    hit = front >= 0
    facing = np.einsum("pc,pci->pi", weights[hit], normals[front[hit]])
    facing /= np.maximum(np.linalg.norm(facing, axis=1, keepdims=True), 1e-12)
    facing *= np.where(facing @ back < 0, -1.0, 1.0)[:, None]
    bright = 0.50 + 0.18 * facing[:, 2] + 0.52 * np.maximum(facing @ SUN, 0.0)
    bright = np.round(SHADES * bright)[:, None] / SHADES
    picture[hit] = np.clip(255.0 * (colours[front[hit]] * bright) ** (1 / 2.2), 0, 255)
    small = picture.reshape(height, 2, width, 2, 3).mean(axis=(1, 3))
    return _encoded(np.round(small).astype(np.uint8))


def _triangles(shown: Film, frame: int) -> tuple[Array, Array, Array]:
    """Corners and normals (m, 3, 3) of all triangles, relative to the focus; and their colours (m, 3), linear."""
    lit = [mark for mark, seen in zip(shown.marks, shown.lit[frame], strict=True) if seen]
    drawn = coarsened([*shown.shapes, *lit], FACES)
    half = int(np.clip(np.sqrt(FACES / 16 / max(len(drawn), 1)), *ROUGH))
    turns, places = rotation_matrix(shown.quaternions[frame]), shown.positions[frame]
    corners, normals, colours = [np.zeros((0, 3, 3))], [np.zeros((0, 3, 3))], [np.zeros((0, 3))]
    for body, shape in drawn:
        name, solid, size = solid_of(shape)
        solid = ball(4 * half, 2 * half) if name == "ball" else solid
        turn, place = rotation_matrix(shape.quaternion), shape.position
        if body >= 0:
            turn, place = turns[body] @ turn, turns[body] @ place + places[body]
        points = solid.stretched(size) @ turn.T + place - shown.focus[frame]
        corners.append(points[solid.faces])
        normals.append(((solid.normals / size[:3]) @ turn.T)[solid.faces])
        colours.append(np.tile(shape.color[:3] ** 2.2, (len(solid.faces), 1)))
    return np.concatenate(corners), np.concatenate(normals), np.concatenate(colours)


def _backdrop(width: int, height: int, ground: float, axes: Array, distance: float) -> Array:
    """Sky and floor (height, width, 3), the floor fading into the sky far away."""
    rows = (1.0 - (np.arange(height) + 0.5) * 2.0 / height) * SLOPE
    down = -(axes[1, 2] * rows - axes[2, 2])  # how steeply a ray through each row falls
    eye = distance * axes[2, 2] - ground
    far = np.where(down > 1e-6, eye / np.maximum(down, 1e-6) / distance, np.inf)
    share = np.clip(1.6 - 0.3 * far, 0.0, 1.0)[:, None] if eye > 0 else np.zeros((height, 1))
    return np.repeat((SKY + share * (FLOOR - SKY))[:, None], width, axis=1)


def _nearest(triangles: Array, width: int, height: int) -> tuple[Array, Array]:
    """Find the nearest of triangles (m, 3, 3) at every pixel, -1 for none (height, width), and its weights there.

    Triangles whose boxes are of about the same size are examined together.
    """
    front = np.full(height * width, -1)
    nearest = np.full(height * width, np.inf)
    weights = np.zeros((height * width, 3))
    low = np.floor(triangles[..., :2].min(axis=1)).astype(int)
    size = np.ceil(triangles[..., :2].max(axis=1)).astype(int) - low + 1
    inside = ((low < (width, height)) & (low + size > 0)).all(axis=1) & (size < 4 * max(width, height)).all(axis=1)
    boxes = 1 << np.ceil(np.log2(np.maximum(size, 1))).astype(int)
    for box in np.unique(boxes[inside], axis=0) if inside.any() else ():
        members = np.flatnonzero(inside & (boxes == box).all(axis=1))
        across, along = np.meshgrid(np.arange(box[0]), np.arange(box[1]))
        offsets = np.stack([across.ravel(), along.ravel()], axis=1)
        for some in np.array_split(members, 1 + len(members) * len(offsets) // CANDIDATES):
            _draw(triangles, some, low[some, None] + offsets, (width, height), front, nearest, weights)
    return front.reshape(height, width), weights.reshape(height, width, 3)


def _draw(triangles: Array, some: Array, pixels: Array, size: tuple[int, int], front: Array, nearest: Array,
          weights: Array) -> None:
    """Draw triangles where they are nearer than what was drawn before; pixels (k, c, 2) are those of their boxes."""
    a, b, c = np.moveaxis(triangles[some], 1, 0)
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (b[:, 1] - a[:, 1])
    area = np.where(area == 0, np.inf, area)[:, None]
    x, y = pixels[..., 0] + 0.5 - a[:, :1], pixels[..., 1] + 0.5 - a[:, 1:2]
    second = (x * (c[:, 1] - a[:, 1])[:, None] - y * (c[:, 0] - a[:, 0])[:, None]) / area
    third = (y * (b[:, 0] - a[:, 0])[:, None] - x * (b[:, 1] - a[:, 1])[:, None]) / area
    shares = np.stack([1.0 - second - third, second, third], axis=-1)
    covered = (shares >= 0).all(axis=2) & (pixels >= 0).all(axis=2) & (pixels < size).all(axis=2)
    covered &= np.isfinite(area)
    which, at = np.nonzero(covered)
    shares = shares[which, at]
    place = pixels[which, at, 1] * size[0] + pixels[which, at, 0]
    depth = np.einsum("pc,pc->p", shares, np.stack([a[:, 2], b[:, 2], c[:, 2]], axis=1)[which])
    farthest_first = np.argsort(-depth, kind="stable")  # so that of several at a pixel the nearest is written last
    place, depth, shares, which = (values[farthest_first] for values in (place, depth, shares, some[which]))
    nearer = depth < nearest[place]
    place = place[nearer]
    nearest[place], front[place], weights[place] = depth[nearer], which[nearer], shares[nearer]


def _encoded(picture: Array) -> bytes:
    """Encode a picture (height, width, 3) of bytes as PNG, each row as its differences from the row above."""
    height, width, _ = picture.shape
    above = np.concatenate([np.zeros((1, width, 3), np.uint8), picture[:-1]])
    rows = np.concatenate([np.full((height, 1), 2, np.uint8), (picture - above).reshape(height, -1)], axis=1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9))
            + chunk(b"IEND", b""))
