"""The residual of a step of trees of hinges and sliders to 30 digits, from what the solver itself holds.

The discrete Lagrangian is that of the split retraction: L_d = Σ (wᵀI w + m eᵀe)/2h − h (V₀ + V₁)/2 with w the rotation
vector of a body over the step and e the displacement of its centre of mass. The residual is p₀ + D₁L_d(q₀, q₁).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from mpmath import mp, mpf

from leastaction.kernels.machine.memory import python_link
from leastaction.model import Model, Revolute
from leastaction.simulation.simulator import Simulator

from .lie_mp import dlog3, exp3, log3

DIGITS = 30


class Placed(NamedTuple):
    """A body in the world: rotation (3, 3), origin (3,), axis of its joint (3,), centre of mass (3,)."""

    R: Any
    origin: Any
    axis: Any
    com: Any


def column(values: Any) -> Any:
    """A vector of exact numbers."""
    return mp.matrix([mpf(float(value)) for value in values])


def dot(a: Any, b: Any) -> Any:
    return sum(a[k] * b[k] for k in range(3))


def cross(a: Any, b: Any) -> Any:
    return mp.matrix([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def placed(model: Model, q: list[Any]) -> list[Placed]:
    """The bodies at q, exact numbers; parents come before their children, and frames are not turned at rest."""
    bodies: list[Placed] = []
    for body, angle in zip(model.bodies, q, strict=True):
        R, origin = (mp.eye(3), mp.matrix([0, 0, 0]))
        if body.parent is not None:
            parent = bodies[model.body_index(body.parent)]
            R, origin = parent.R, parent.origin
        origin = origin + R * column(body.position)
        axis = column(body.joint.axis)
        world = R * axis
        if isinstance(body.joint, Revolute):
            R = R * exp3([angle * component for component in axis])
        else:
            origin = origin + angle * world
        bodies.append(Placed(R, origin, world, origin + R * column(body.inertia.com)))
    return bodies


def held(sim: Simulator) -> tuple[list[Any], list[tuple[Any, Any]]]:
    """What a simulator carries into its next step: q with what round-off kept from it, and the momenta of the links."""
    state = sim._engine.state
    with mp.workdps(DIGITS):
        q = [mpf(float(high)) + mpf(float(low)) for high, low in zip(state.q, state.low, strict=True)]
    links = (python_link(state.w, i) for i in range(len(q)))
    momenta = [(column(m), column(f)) for m, f in (L.momentum for L in links)]
    return q, momenta


def residual(model: Model, q0: list[Any], momenta: list[tuple[Any, Any]], q1: list[Any], h: float) -> np.ndarray:
    """p₀ + D₁L_d (nv,), N m s and N s, of the step from q0 with the carried momenta to q1."""
    with mp.workdps(DIGITS):
        step, gravity = mpf(h), column(model.gravity)
        before, after = placed(model, q0), placed(model, q1)
        wrenches = []
        for body, a, b, (m, f) in zip(model.bodies, before, after, momenta, strict=True):
            e, w = b.com - a.com, mp.matrix(log3(a.R.T * b.R))
            force = body.inertia.mass / step * e - step / 2 * body.inertia.mass * gravity
            inertia = mp.matrix([[mpf(float(x)) for x in row] for row in body.inertia.matrix])
            moment = a.R * (dlog3(list(w)).T * (inertia * w)) / step
            # About the link's origin, as the carried ones are
            wrenches.append((m - moment - cross(a.com - a.origin, force), f - force))
        out = []
        for j, (body, own) in enumerate(zip(model.bodies, before, strict=True)):
            total = mpf(0)
            for i in range(j, len(before)):
                if not _carries(model, j, i):
                    continue
                m, f = wrenches[i]
                turns = isinstance(body.joint, Revolute)
                total += dot(own.axis, m + cross(before[i].origin - own.origin, f)) if turns else dot(own.axis, f)
            out.append(float(total))
        return np.array(out)


def _carries(model: Model, j: int, i: int) -> bool:
    """Whether body j is body i or one of those that carry it."""
    while i != j:
        parent = model.bodies[i].parent
        if parent is None:
            return False
        i = model.body_index(parent)
    return True
