"""A rigid body that turns about a fixed point under gravity, or flies, to 30 digits: Euler's equations by mpmath.

The body's own frame has its origin at the point, or for flight away from the centre of mass, so that both motions use
all of a ball joint's and of a free joint's coordinates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import mp, mpf

import leastaction as la

GRAVITY, MASS, COM = 9.81, 1.3, (0.1, -0.2, 0.4)
INERTIA = (0.3, 0.5, 0.7)  # about the centre of mass, kg m²
TURNING, MOVING = (1.0, -2.0, 3.0), (0.5, 1.5, -1.0)  # at the start, body axes, rad/s and m/s
DIGITS = 30


def model(joint: la.Ball | la.Free) -> la.Model:
    made = la.Model(gravity=(0, 0, -GRAVITY))
    made.add_body("body", joint=joint, inertia=la.Inertia(MASS, COM, np.diag(INERTIA)))
    return made


def cross(a: Any, b: Any) -> list[Any]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def turned(q: Any, x: Any) -> list[Any]:
    """R x of a unit quaternion."""
    t = [2 * c for c in cross(q[1:], x)]
    return [x[k] + q[0] * t[k] + cross(q[1:], t)[k] for k in range(3)]


def turned_back(q: Any, x: Any) -> list[Any]:
    return turned([q[0], -q[1], -q[2], -q[3]], x)


def rotation(t: float, inertia: Any, moment: Any) -> tuple[list[Any], list[Any]]:
    """Quaternion and body rates at time t, from the identity and TURNING, of I ω̇ = moment(q) − ω × I ω."""
    inverse = inertia**-1

    def rate(_t: Any, y: Any) -> list[Any]:
        q, w = y[:4], y[4:]
        change = [(-q[1] * w[0] - q[2] * w[1] - q[3] * w[2]) / 2,
                  *[(q[0] * w[k] + cross(q[1:], w)[k]) / 2 for k in range(3)]]
        momentum = inertia * mp.matrix(w)
        torque = mp.matrix([a - b for a, b in zip(moment(q), cross(w, momentum), strict=True)])
        return [*change, *(inverse * torque)]

    start = [mpf(1), mpf(0), mpf(0), mpf(0), *map(mpf, TURNING)]
    y = mp.odefun(rate, 0, start)(mpf(t))
    return y[:4], y[4:]


def top(t: float) -> np.ndarray:
    """q and v (7,) of the body on a ball joint at time t."""
    with mp.workdps(DIGITS):
        c, m = [mpf(x) for x in COM], mpf(MASS)
        inertia = mp.diag([mpf(x) for x in INERTIA])
        for i in range(3):
            for j in range(3):
                inertia[i, j] += m * ((sum(x * x for x in c) if i == j else 0) - c[i] * c[j])
        weight = [mpf(0), mpf(0), -m * mpf(GRAVITY)]
        q, w = rotation(t, inertia, lambda q: cross(c, turned_back(q, weight)))
        return np.array([float(x) for x in [*q, *w]])


def flight(t: float) -> np.ndarray:
    """q and v (13,) of the body on a free joint at time t: about the centre of mass, which falls."""
    with mp.workdps(DIGITS):
        c, time = [mpf(x) for x in COM], mpf(t)
        q, w = rotation(t, mp.diag([mpf(x) for x in INERTIA]), lambda q: [0, 0, 0])
        start = [mpf(v) + x for v, x in zip(MOVING, cross(list(map(mpf, TURNING)), c), strict=True)]
        velocity = [start[0], start[1], start[2] - mpf(GRAVITY) * time]
        centre = [c[k] + time * (start[k] + velocity[k]) / 2 for k in range(3)]
        origin = [a - b for a, b in zip(centre, turned(q, c), strict=True)]
        speed = [a - b for a, b in zip(turned_back(q, velocity), cross(w, c), strict=True)]
        return np.array([float(x) for x in [*origin, *q, *w, *speed]])
