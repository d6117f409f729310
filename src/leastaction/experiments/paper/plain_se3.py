"""SE(3) in plain NumPy, as the paper prints it: an independent witness for the errata."""

from itertools import pairwise

import numpy as np

Array = np.ndarray
TERMS = 30  # of the dlog series: exact to round-off for rotations up to about a radian


def bernoulli(count: int) -> list[float]:
    """B_0 = 1, B_1 = −1/2, B_2 and so on."""
    found = [1.0]
    binomial = [1, 1]
    for _ in range(1, count):
        binomial = [1, *(a + b for a, b in pairwise(binomial)), 1]
        found.append(-sum(c * b for c, b in zip(binomial, found, strict=False)) / (len(found) + 1))
    return found


def hat(w: Array) -> Array:
    """Cross product as a matrix (3, 3)."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def ad(x: Array) -> Array:
    """[ad_x] (6, 6) of a twist (6,)."""
    return np.block([[hat(x[:3]), np.zeros((3, 3))], [hat(x[3:]), hat(x[:3])]])


def adjoint(T: Array) -> Array:
    """[Ad_T] (6, 6) of a pose (4, 4)."""
    R = T[:3, :3]
    return np.block([[R, np.zeros((3, 3))], [hat(T[:3, 3]) @ R, R]])


def inverse(T: Array) -> Array:
    """Inverse of a pose (4, 4)."""
    R = T[:3, :3]
    return np.block([[R.T, -R.T @ T[:3, 3:]], [np.zeros((1, 3)), np.ones((1, 1))]])


def exp(x: Array) -> Array:
    """Pose (4, 4) of a twist (6,), by the series of the matrix exponential."""
    X = np.zeros((4, 4))
    X[:3, :3], X[:3, 3] = hat(x[:3]), x[3:]
    T, term = np.eye(4), np.eye(4)
    for j in range(1, TERMS):
        term = term @ X / j
        T = T + term
    return T


def log(T: Array) -> Array:
    """Twist (6,) of a pose (4, 4) that turns, by less than half a turn."""
    R, p = T[:3, :3], T[:3, 3]
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    angle = np.arctan2(np.linalg.norm(axis), (np.trace(R) - 1) / 2)
    w = axis * angle / np.linalg.norm(axis)
    beta = (1 - angle / 2 / np.tan(angle / 2)) / angle**2
    return np.concatenate([w, p - np.cross(w, p) / 2 + beta * np.cross(w, np.cross(w, p))])


def dlog(x: Array, terms: int = TERMS) -> Array:
    """[dlog_x] (6, 6) by the paper's series, cut after so many terms."""
    result, power = np.zeros((6, 6)), np.eye(6)
    for j, number in enumerate(bernoulli(terms)):
        result += number * power
        power = power @ ad(x) / (j + 1)
    return result
