"""Rotations in the coordinates of other libraries."""

import numpy as np

Array = np.ndarray


def vector_of_quaternion(quaternion: Array) -> Array:
    """Rotation vector (3,), rad, at most π long, of a unit quaternion (4,)."""
    w, vector = quaternion[0], quaternion[1:]
    length = np.linalg.norm(vector)
    if length == 0.0:
        return np.zeros(3)
    turn: np.ndarray = vector * (2 * np.arctan2(length, abs(w)) * (1 if w >= 0 else -1) / length)
    return turn


def quaternion_of_vector(vector: Array) -> Array:
    """Unit quaternion (4,) of a rotation vector (3,), rad."""
    half = np.asarray(vector) / 2
    angle = np.linalg.norm(half)
    return np.append(np.cos(angle), np.sinc(angle / np.pi) * half)


def quaternion_of_angles(angles: Array) -> Array:
    """Unit quaternion (4,) of roll, pitch and yaw (3,), rad: about x, then y, then z, all of them fixed."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles / 2), np.sin(angles / 2)
    return np.array([cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy,
                     cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy])


def angles_of_quaternion(quaternion: Array) -> Array:
    """Roll, pitch and yaw (3,), rad, of a unit quaternion (4,)."""
    w, x, y, z = quaternion
    return np.array([np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
                     np.arcsin(np.clip(2 * (w * y - z * x), -1.0, 1.0)),
                     np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))])
