"""Arrays of a page: quantised, coded so that they compress well, and all in one text."""

import zlib
from base64 import b64encode

import numpy as np

from leastaction.viewers.film import Film
from leastaction.viewers.solids import Solid

Array = np.ndarray
Reference = tuple[str, int, int]  # type of the numbers, the byte at which they begin, how many there are

ALIGNMENT = 8  # bytes; JavaScript reads numbers only at multiples of their size
LARGEST = 32767


class Store:
    """Arrays that share one run of bytes; the page finds each by its reference."""

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, values: Array, kind: str) -> Reference:
        """Append an array as little-endian numbers of a kind: f4, u4, u2, u1 or i1."""
        flat = np.ascontiguousarray(values, dtype=f"<{kind}").reshape(-1)
        self._data += bytes(-len(self._data) % ALIGNMENT)
        start = len(self._data)
        self._data += flat.tobytes()
        return kind, start, flat.size

    def add_planes(self, values: Array) -> Reference:
        """Append 16-bit numbers, all their low bytes before their high ones, which are mostly zero."""
        codes = np.asarray(values, dtype=np.uint16).reshape(-1)
        return self.add(np.concatenate([codes & 255, codes >> 8]), "u1")

    def text(self) -> str:
        """Return everything, deflated, in base64."""
        return b64encode(zlib.compress(bytes(self._data), 9)).decode("ascii")


def bends(values: Array) -> Array:
    """Code whole numbers (..., F) that run smoothly along the last axis as small ones: their second differences.

    They are taken modulo 2¹⁶ and folded, 0 −1 1 −2 … to 0 1 2 3 …, so that small ones have no high byte.
    """
    before = np.zeros((*values.shape[:-1], 2), dtype=np.int64)
    second = np.diff(np.concatenate([before, values.astype(np.int64)], axis=-1), n=2).astype(np.int16).astype(np.int64)
    return ((second << 1) ^ (second >> 15)).astype(np.uint16)


def pack_motion(store: Store, shown: Film) -> dict[str, Reference]:
    """Store times, the camera's focus and the poses of a film.

    Positions are relative to the focus, in 16 bits of the greatest distance of that body: so a fall of any depth is as
    sharp as its first second, and a part that flies off does not blur the others.
    """
    focus = shown.focus.astype(np.float32)
    relative = shown.positions - focus[:, None]
    scales = np.abs(relative).max(axis=(0, 2)).astype(np.float32) * np.float32(1 + 1e-6)
    scales[scales == 0] = 1.0
    poses = np.concatenate([relative / scales[:, None], _continuous(shown.quaternions)], axis=2)
    whole = np.rint(LARGEST * poses).astype(int)
    return {"t": store.add(shown.t, "f4"), "focus": store.add(focus.T, "f4"), "scales": store.add(scales, "f4"),
            "poses": store.add_planes(bends(np.moveaxis(whole, 0, -1)))}


def pack_curve(store: Store, t: Array, y: Array, start: float, end: float) -> dict[str, object]:
    """Store a curve (n,), times and values in 16 bits of their ranges: finer than any screen.

    Values that are not finite are left out, as JSON cannot hold them.
    """
    finite = np.isfinite(y)
    t, y = (t[finite], y[finite]) if finite.any() else (t[:1], np.zeros(1))
    low, high = float(y.min()), float(y.max())
    parts = (t - start) / (end - start or 1.0), (y - low) / (high - low or 1.0)
    return {"low": low, "high": high, "points": store.add_planes(np.rint(65535 * np.stack(parts)))}


def pack_mesh(store: Store, mesh: Solid) -> dict[str, object]:
    """Store a mesh: vertices in 16 bits of its box, normals in 8."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    size = np.maximum(high - low, np.finfo(float).tiny)
    return {
        "low": low.tolist(), "size": size.tolist(),
        "vertices": store.add_planes(np.rint(65535 * (mesh.vertices - low) / size).T),
        "normals": store.add(np.rint(127 * mesh.normals).T, "i1"),
        "faces": store.add(mesh.faces, "u2" if len(mesh.vertices) < 2**16 else "u4"),
    }


def _continuous(quaternions: Array) -> Array:
    """Choose of the two quaternions of every rotation (F, nb, 4) the one nearer to that of the frame before."""
    turned = np.einsum("fbi,fbi->fb", quaternions[1:], quaternions[:-1]) < 0
    flips = np.cumsum(np.concatenate([np.zeros((1, quaternions.shape[1]), bool), turned]), axis=0)
    return np.where(flips[..., None] % 2 == 1, -quaternions, quaternions)
