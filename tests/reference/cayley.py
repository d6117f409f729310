"""The Cayley transform on SE(3) by 4×4 matrices; a complex step passes through."""

from __future__ import annotations

import numpy as np

from leastaction.reference.lie import Array, bracket, unbracket


def cay_inverse(T: Array) -> Array:
    """Twist (6,) whose Cayley transform is the pose T (4, 4), by matrices: X = 2 (T - 1)(T + 1)^-1."""
    return unbracket(2 * (T - np.eye(4)) @ np.linalg.inv(T + np.eye(4)))


def dcay_inverse(T: Array) -> Array:
    """Right-trivialised derivative (6, 6) of cay_inverse at the pose T (4, 4): of dT = [zeta] T."""
    behind = T @ np.linalg.inv(T + np.eye(4))
    ahead = 2 * (np.eye(4) - (T - np.eye(4)) @ np.linalg.inv(T + np.eye(4)))
    return np.array([unbracket(ahead @ bracket(e) @ behind) for e in np.eye(6)]).T
