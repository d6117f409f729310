"""Damping that a step cannot resolve.

A step of h turns the rate of a mode of damping into (1 − x) / (1 + x) of it, x = h λ / 2, with λ an eigenvalue of M⁻¹D.
Beyond x = 1 that is negative: the rate changes sign at every step instead of dying out. The greatest λ decides, and it
is found by repeated products with M⁻¹, each in O(n). The inertia of the joint alone, its parent held still (ABA's
Sᵀ I^A S), would do for one joint on the ground; on a parent that gives way, and where several joints are damped,
λ is greater than damping / inertia of any of them, and a ringing joint would go unnamed.
"""

from collections.abc import Callable

import numpy as np

from leastaction.model import Model

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


def unresolved(model: Model, dt: float, longest: float, solve: Callable[[Array], Array]) -> str:
    """Name the joint whose damping a step cannot resolve, and a dt that does; empty if there is no such joint.

    Parameters
    ----------
    dt : time step, s
    longest : the longest part of a composed step, in parts of dt; 1 if the step is not composed
    solve : as for `fastest_decay`, at the configuration of the start
    """
    damping = np.concatenate([np.broadcast_to(body.joint.damping, body.joint.nv) for body in model.bodies])
    rate, share = fastest_decay(damping, solve)
    ratio = 0.5 * dt * longest * rate
    if ratio <= 1.0:
        return ""
    starts = model.layout.v_start  # of bodies without degrees of freedom, too: the last of equal starts has some
    body = model.bodies[int(np.searchsorted(starts, np.argmax(share), side="right")) - 1]
    limit = dt / ratio
    digit = 10.0 ** np.floor(np.log10(limit))
    remedy = f"dt={float(np.floor(limit / digit) * digit):.1g} resolves it"
    if ratio > HOPELESS:
        remedy = "that inertia is next to nothing, so give the joint an armature, or its body an inertia"
    return (f"a step of {dt:g} s cannot resolve the damping of the joint '{body.joint.name or body.name}': "
            f"dt × damping / (2 × inertia) is {ratio:.3g}, and above 1 the rate changes sign or grows instead of dying "
            f"out; {remedy}")
