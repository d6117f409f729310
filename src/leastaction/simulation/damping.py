"""Damping that a step cannot resolve: what explicit methods and compositions do with it.

The variational step of second order takes any damping (kernels/elements/lookahead.py). An explicit step of h multiplies
the rate of a mode of damping by about 1 − h λ, with λ an eigenvalue of M⁻¹D; beyond h λ = 2 it grows. The greatest λ
decides, and it is found by repeated products with M⁻¹, each in O(n). The inertia of the joint alone, its parent held
still (ABA's Sᵀ I^A S), would do for one joint on the ground; on a parent that gives way, and where several joints are
damped, λ is greater than damping / inertia of any of them, and such a joint would go unnamed. Compositions of higher
order step backwards in some of their stages, where damping feeds energy: they are for damping that is resolved.
"""

from collections.abc import Callable

import numpy as np

from leastaction.compiled import Compiled
from leastaction.kernels import queries
from leastaction.kernels.elements.damping import damped
from leastaction.kernels.elements.lookahead import RESOLVED
from leastaction.kernels.machine import memory
from leastaction.model import Body, Model

Array = np.ndarray

PRODUCTS = 12  # at most: a tenth too little matters only where the damping is just resolved
CLOSE = 1e-2  # relative change of the estimate at which to stop
HOPELESS = 1e6  # steps too long by more than this are not too long: there is nothing to move


def fastest_decay(damping: Array, solve: Callable[[Array], Array]) -> tuple[float, Array]:
    """Estimate the greatest eigenvalue of M⁻¹D, never above it.

    Parameters
    ----------
    damping : (nv,) force or moment per unit v, N m s/rad or N s/m
    solve : the product of M⁻¹ (nv, nv) with a vector (nv,)

    Returns
    -------
    the rate at which the fastest damped motion dies out, 1/s, and (nv,) the share of each degree of freedom in it
    """
    root = np.sqrt(damping)
    # Random, as a direction with a pattern might be at right angles to the one that is sought.
    direction = np.random.default_rng(0).normal(size=len(damping)) * (damping > 0)
    rate = 0.0
    for _ in range(PRODUCTS):
        direction = direction / np.linalg.norm(direction)
        product = root * solve(root * direction)  # of D^½ M⁻¹ D^½, which is symmetric with the same eigenvalues
        before, rate = rate, float(direction @ product)
        direction = product
        if abs(rate - before) <= CLOSE * rate:
            break
    return rate, direction * direction / max(float(direction @ direction), np.finfo(float).tiny)


def lookaheads(c: Compiled, w: Array) -> tuple[Array, Array]:
    """Return how far ahead the damping of each link's joint is seen (n,), s, and the force of its servo (n,), s.

    Both are 0 where the step resolves it.

    Parameters
    ----------
    w : memory of a simulation that was set up for the step
    """
    links = [memory.python_link(w, i) for i in range(c.tree.n)]
    return np.array([np.max(L.lookaheads) for L in links]), np.array([L.servo_lookahead for L in links])


def refuse_composition(model: Model, c: Compiled, w: Array, dt: float, order: int, longest: float) -> None:
    """Raise a ValueError if some joint has damping that the stages of a step do not resolve.

    Parameters
    ----------
    w : memory of a simulation that was set up for the longest stage
    dt : time step, s
    order : of the composition
    longest : its longest stage, in parts of dt
    """
    of_joints, of_servos = lookaheads(c, w)
    late = np.maximum(of_joints, of_servos) / (abs(dt) * longest)  # ½ − share of kernels/elements/lookahead.py
    worst = int(np.argmax(late))
    if late[worst] <= 0.0:
        return
    body = model.bodies[c.body_of_link[worst]]
    left = 4.0 * late[worst] - 1.0
    limit = abs(dt) * (0.5 - np.sin(np.arcsin(left) / 3.0))  # s of kernels/elements/lookahead.py, from 3 s² − 2 s³
    raise _backwards(order, dt, _at_joint(model, body, of_servos[worst] > of_joints[worst]), limit)


def decay_rates(c: Compiled, q: Array) -> Array:
    """Rates c a, 1/s, of all dampers between bodies at q (nq,): a row for every table of forces, if any has dampers."""
    if not damped(c.elements):
        return np.zeros((0, 0))
    rates = np.zeros((len(c.elements), max(len(table[0]) for table in c.elements)))
    queries.damper_rates(c.system, c.workspace(), q, rates)
    return rates


def refuse_dampers(model: Model, c: Compiled, q: Array, dt: float, order: int, longest: float) -> None:
    """Raise a ValueError if some force between bodies has damping that the stages of a step do not resolve.

    A stage backwards multiplies the rate of the damper's length by exp(h c a), with a = J M⁻¹ Jᵀ as in
    kernels/elements/damping.py. The bound is that of the joints.

    Parameters
    ----------
    q : (nq,) configuration of the start, rad, m, unit quaternions
    dt, order, longest : as for `refuse_composition`
    """
    rates = decay_rates(c, q)
    if abs(dt) * longest * rates.max(initial=0.0) <= RESOLVED:
        return
    t, row = np.unravel_index(np.argmax(rates), rates.shape)
    kind = type(c.elements[t]).__name__
    ends = np.cumsum([own.get(kind, 0) for own in c.force_rows])
    name = list(model.forces)[int(np.searchsorted(ends, row, side="right"))]
    limit = RESOLVED / (longest * rates.max())
    raise _backwards(order, dt, f"the damping of the {model.forces[name].kind} '{name}'", limit)


def _backwards(order: int, dt: float, what: str, limit: float) -> ValueError:
    """Return the error of damping that a composition does not resolve; with steps below ``limit``, s, it does."""
    return ValueError(f"order={order} steps backwards within a step, and with dt={abs(dt):g} s it does not resolve "
                      f"{what}: take order=2, which takes any damping, or dt={rounded_down(limit):.1g}")


def _at_joint(model: Model, body: Body, by_servo: bool) -> str:
    """Name what damps a joint: its damping, or the gain of actuators there."""
    if not by_servo:
        return f"the damping of the joint '{body.joint.name or body.name}'"
    there = ((name, one) for name, one in model.actuators.items() if one.joint == body.name)
    names = [f"'{name}'" for name, one in there if getattr(one, "kd", False)]
    return f"the kd of the actuator{'s' * (len(names) > 1)} {', '.join(names)}"


def rounded_down(seconds: float) -> float:
    """Round to one digit, down."""
    digit = 10.0 ** np.floor(np.log10(seconds))
    return float(np.floor(seconds / digit) * digit)


def unresolved(model: Model, dt: float, longest: float, solve: Callable[[Array], Array]) -> str:
    """Name the joint whose damping a step cannot resolve, and a dt that does; empty if there is no such joint.

    Parameters
    ----------
    dt : time step, s
    longest : the longest step that is made, in parts of dt
    solve : as for `fastest_decay`, at the configuration of the start
    """
    damping = np.concatenate([np.broadcast_to(body.joint.damping, body.joint.nv) for body in model.bodies])
    kd = np.zeros(len(damping))
    kd[model.drives.servos.v] += model.drives.servos.kd
    damping += kd
    rate, share = fastest_decay(damping, solve)
    ratio = 0.5 * dt * longest * rate
    if ratio <= 1.0:
        return ""
    starts = model.layout.v_start  # of bodies without degrees of freedom, too: the last of equal starts has some
    worst = int(np.argmax(share))
    body = model.bodies[int(np.searchsorted(starts, worst, side="right")) - 1]
    remedy = f"dt={rounded_down(dt / ratio):.1g} resolves it, and la.Variational() takes any damping"
    if ratio > HOPELESS:
        remedy = "that inertia is next to nothing, so give the joint an armature, or its body an inertia"
    what = _at_joint(model, body, 2.0 * kd[worst] > damping[worst])
    return (f"a step of {dt:g} s cannot resolve {what}: dt × damping / (2 × inertia) is {ratio:.3g}, and above 1 the "
            f"rate changes sign or grows instead of dying out; {remedy}")
