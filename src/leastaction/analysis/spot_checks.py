"""Whether the step is symplectic, and whether a step back undoes a step: measured at a few states, by differences."""

from typing import Any, NamedTuple

import numpy as np

from leastaction.analysis.accuracy import distance
from leastaction.assembly import assemble
from leastaction.compiled import compile_model
from leastaction.dynamics import increment, mass_matrix
from leastaction.integrators import Integrator
from leastaction.model import Ball, Free, Model
from leastaction.simulation.simulator import variational_step

Array = np.ndarray
State = tuple[Array, Array]

PAIRS = 3  # pairs of directions tried at a state
NUDGE = 1e-3  # rad and m; large for a difference, as the formula is of fourth order
RETRACED = 10  # steps forward and back
LIMIT = 1e-8  # defects below this may be errors of the differences of fourth order
LEFT = 1e-12  # part of the momentum that the search for a root may leave as its residual


class Spot(NamedTuple):
    """What a spot check found.

    defect : how far the step is from what it should be
    noise : how large the defect may be by round-off and the solver's tolerance alone
    """

    defect: float
    noise: float

    @property
    def passed(self) -> bool:
        """Whether the defect is explained by differences, round-off and the tolerance."""
        return self.defect <= max(LIMIT, self.noise)


def at_rest_in_the_world(model: Model, q: Array, v: Array) -> State:
    """Move every floating tree to the origin of the world and take away the velocity of its root.

    The step is the same there, and round-off does not grow with the distance flown. If forces act between bodies, the
    step may differ there, and the state stays as it is.

    Parameters
    ----------
    q : (nq,) configuration, rad, m, unit quaternions
    v : (nv,) velocity, body axes, rad/s, m/s

    Returns
    -------
    q : (nq,) configuration
    p : (nv,) momentum conjugate to v, kg m²/s, kg m/s
    """
    q, v = q.copy(), v.copy()
    rows = compile_model(model).rows
    # A loop that joins trees, or one to the ground, would open
    tied = rows is not None and bool((rows.root[rows.a] != rows.root[rows.b]).any())
    for body in () if tied or model.forces else model.bodies:
        if body.parent is None and isinstance(body.joint, Free):
            q[model.q_slice(body.name)][:3] = 0.0
            v[model.v_slice(body.name)][3:] = 0.0
    return q, mass_matrix(model, q) @ v


def symplecticity(model: Model, integrator: Integrator, q: Array, p: Array, h: float) -> Spot:
    """Measure how far one step is from keeping the symplectic form, |Ω₁(Ju, Jw) − Ω₀(u, w)| in random directions.

    Parameters
    ----------
    q : (nq,) configuration, rad, m, unit quaternions
    p : (nv,) momentum conjugate to v, kg m²/s, kg m/s
    h : time step, s

    Returns
    -------
    the greatest defect, relative to |δq₁| |δp₂| + |δp₁| |δq₂|
    """
    rng, M = np.random.default_rng(0), mass_matrix(model, q)
    q1, p1 = step(model, integrator, (q, p), h)
    far, eps = np.linalg.norm(np.linalg.solve(M, p)) * abs(h), np.finfo(float).eps
    noise_p = LEFT * np.linalg.norm(p1) / NUDGE
    noise_q = (LEFT * far + eps * max(1.0, np.abs(q).max())) / NUDGE

    def carried(direction: State) -> tuple[State, State]:
        """A direction and the derivative of the step in it, by a central difference of fourth order."""
        starts = [_nudged(model, q, p, direction, size) for size in (2 * NUDGE, NUDGE, -NUDGE, -2 * NUDGE)]
        ends = [step(model, integrator, start, h) for start in starts]
        derivative = _difference(model, (q1, p1), ends)
        return _difference(model, (q, p), starts) if model.loops else direction, derivative

    found = []
    for _ in range(PAIRS):
        dq = rng.normal(size=(2, model.nv)) / np.sqrt(model.nv)
        dp = rng.normal(size=(2, model.nv)) @ M / np.sqrt(model.nv)
        (u, u1), (w, w1) = (carried((dq[k], dp[k])) for k in range(2))
        a, b, c, d = (np.linalg.norm(part) for part in (*u, *w))
        size = a * d + b * c
        change = _form(model, p1, u1, w1) - _form(model, p, u, w)
        found.append(Spot(float(abs(change) / size), float((noise_p * (a + c) + noise_q * (b + d)) / size)))
    return max(found)


def _nudged(model: Model, q: Array, p: Array, direction: State, size: float) -> State:
    """A state near another; with loops, the closed one that is near it."""
    moved = increment(model, q, size * direction[0]), p + size * direction[1]
    if not model.loops:
        return moved
    v = np.linalg.solve(mass_matrix(model, moved[0]), moved[1])
    q, v = assemble(model, moved[0], v)
    return q, mass_matrix(model, q) @ v


def _difference(model: Model, middle: State, ends: list[State]) -> State:
    """The derivative, by a central difference of fourth order, of what is at the ends 2, 1, −1 and −2 nudges away."""
    a, b, c, d = (_small_difference(model, middle[0], q) for q, _ in ends)
    pa, pb, pc, pd = (p - middle[1] for _, p in ends)
    return (8 * (b - c) - (a - d)) / (12 * NUDGE), (8 * (pb - pc) - (pa - pd)) / (12 * NUDGE)


def irreversibility(model: Model, integrator: Integrator, q: Array, p: Array, h: float) -> Spot:
    """Measure how far ten steps forward and ten back end from the start, relative to the distance covered.

    Parameters
    ----------
    q : (nq,) configuration, rad, m, unit quaternions
    p : (nv,) momentum conjugate to v, kg m²/s, kg m/s
    h : time step, s
    """
    state, far = (q, p), 0.0
    for signed in (h, -h):
        for _ in range(RETRACED):
            state = step(model, integrator, state, signed)
        far = far or float(distance(model, q[None], state[0][None])[0])
    missed = float(distance(model, q[None], state[0][None])[0])
    lost = 2 * RETRACED * np.finfo(float).eps * max(1.0, float(np.abs(q).max()))
    return Spot(missed / max(far, np.finfo(float).tiny), 2 * RETRACED * LEFT + lost / max(far, np.finfo(float).tiny))


def step(model: Model, integrator: Integrator, state: State, h: float) -> State:
    """Make one step of any integrator as a map of (q, p)."""
    method: Any = integrator  # also explicit ones: the checks show that they are not variational
    return variational_step(model, *state, h, method)


def _small_difference(model: Model, start: Array, end: Array) -> Array:
    """The increment (nv,) from start to end (nq,) each, to first order, body axes, rad and m."""
    out = np.zeros(model.nv)
    for body in model.bodies:
        a, b = start[model.q_slice(body.name)], end[model.q_slice(body.name)]
        at = model.v_slice(body.name)
        if isinstance(body.joint, Ball):
            out[at] = _turn(a, b)
        elif isinstance(body.joint, Free):
            out[at] = np.concatenate([_turn(a[3:], b[3:]), _turned_back(a[3:], b[:3] - a[:3])])
        else:
            out[at] = b - a
    return out


def _turn(a: Array, b: Array) -> Array:
    """Twice the vector part (3,) of a⁻¹ b, for the one of ±b that is nearer to a."""
    vector = a[0] * b[1:] - b[0] * a[1:] - np.cross(a[1:], b[1:])
    turn: Array = 2.0 * np.copysign(1.0, a @ b) * vector
    return turn


def _turned_back(quaternion: Array, vector: Array) -> Array:
    w, axis = quaternion[0], -quaternion[1:]
    return vector + 2.0 * np.cross(axis, np.cross(axis, vector) + w * vector)


def _form(model: Model, p: Array, u: State, w: State) -> float:
    """Ω(p)(u, w) with body-axis variations: δq₁·δp₂ − δp₁·δq₂ and ⟨p, [δq₁, δq₂]⟩ of ball and free joints."""
    total = u[0] @ w[1] - u[1] @ w[0]
    for body in model.bodies:
        if isinstance(body.joint, Ball | Free):
            at = model.v_slice(body.name)
            total += p[at] @ _bracket(u[0][at], w[0][at])
    return float(total)


def _bracket(x: Array, y: Array) -> Array:
    """Lie bracket of rotation vectors (3,), or of twists (6,)."""
    turn = np.cross(x[:3], y[:3])
    return turn if len(x) == 3 else np.concatenate([turn, np.cross(x[:3], y[3:]) + np.cross(x[3:], y[:3])])
