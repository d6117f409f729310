"""Forces between bodies that are too stiff for a step.

Their potentials act at the nodes, so a mode of frequency ω is stable only while dt ω < 2: beyond, its amplitude grows
at every step. The greatest ω² is an eigenvalue of M⁻¹K, K being the derivative of their forces at the start, and is
found by repeated products with both, each in O(n).
"""

from collections.abc import Callable

import numpy as np

from leastaction.compiled import Compiled
from leastaction.kernels import queries
from leastaction.kernels.layout import System
from leastaction.model import Model
from leastaction.tables import restricted

Array = np.ndarray
Product = Callable[[Array], Array]

PRODUCTS = 60  # at most
CLOSE = 1e-5  # relative change of the estimate at which to stop
NUDGE = 1e-6  # rad and m, for the derivative of the forces


def stiffest(model: Model, c: Compiled, q: Array, solve: Product) -> tuple[float, str]:
    """Estimate the greatest frequency of the forces between bodies, rad/s, never above it; and name the force.

    Parameters
    ----------
    q : (nq,) configuration, rad, m, unit quaternions
    solve : the product of M⁻¹ (nv, nv) with a vector (nv,)
    """
    forces = list(model.forces.values())
    springs = [f for f, force in enumerate(forces) if force.conservative]
    if not springs:
        return 0.0, ""
    stiffness = _stiffness(c, q, springs)
    square, mode = _greatest(stiffness, solve, c.nv)
    if square <= 0.0:
        return 0.0, ""
    shares = [mode @ _stiffness(c, q, [f])(mode) for f in springs] if len(springs) > 1 else [1.0]
    return float(np.sqrt(square)), list(model.forces)[springs[int(np.argmax(shares))]]


def _stiffness(c: Compiled, q: Array, chosen: list[int]) -> Product:
    """Return the product of K with a vector (nv,), by a central difference of the forces."""
    system = c.system._replace(elements=restricted(c.elements, c.force_rows, chosen))
    w = c.workspace()

    def product(x: Array) -> Array:
        size = NUDGE / max(float(np.abs(x).max()), np.finfo(float).tiny)
        ahead, behind = _forces(system, w, q, size * x, c.nv), _forces(system, w, q, -size * x, c.nv)
        change: Array = (behind - ahead) / (2.0 * size)
        return change

    return product


def _forces(system: System, w: Array, q: Array, epsilon: Array, nv: int) -> Array:
    out, moved = np.zeros(nv), q.copy()
    queries.element_forces(system, w, moved, epsilon, out)
    return out


def _greatest(stiffness: Product, solve: Product, nv: int) -> tuple[float, Array]:
    """Greatest eigenvalue of M⁻¹K, and the mode (nv,), by power iteration."""
    square, mode = _largest(stiffness, solve, nv, 0.0)
    if square < 0.0:  # the largest is of a direction in which the forces push away: count from there
        square, mode = _largest(stiffness, solve, nv, -square)
    return square, mode


def _largest(stiffness: Product, solve: Product, nv: int, shift: float) -> tuple[float, Array]:
    # Random, as a direction with a pattern might be at right angles to the one that is sought.
    momentum = np.random.default_rng(0).normal(size=nv)
    square, mode = 0.0, np.zeros(nv)
    for _ in range(PRODUCTS):
        momentum = momentum / np.abs(momentum).max()  # first: the square of a very weak force would be zero
        mode = solve(momentum)
        size = np.sqrt(mode @ momentum)  # of the mode by its kinetic energy
        mode, momentum = mode / size, momentum / size
        force = stiffness(mode)
        before, square = square, float(mode @ force)
        momentum = force + shift * momentum
        if abs(square - before) <= CLOSE * abs(square) or not momentum.any():
            break
    return square, mode


def too_stiff(model: Model, c: Compiled, q: Array, dt: float, limit: float, solve: Product) -> str:
    """Name the force between bodies that a step cannot follow, its frequency and the longest step; empty if none.

    Parameters
    ----------
    q : (nq,) configuration of the start, rad, m, unit quaternions
    dt : time step, s
    limit : of dt ω
    solve : as for `stiffest`
    """
    frequency, name = stiffest(model, c, q, solve)
    if abs(dt) * frequency < limit:
        return ""
    longest = limit / frequency
    digit = 10.0 ** (np.floor(np.log10(longest)) - 1)
    shown = float(np.floor(longest / digit * (1 - 1e-9)) * digit)
    return (f"the {model.forces[name].kind} '{name}' is too stiff for dt={abs(dt):g}: with the masses that it moves it "
            f"oscillates at {frequency:.4g} rad/s, and dt times that must be below {limit:.3g}; take dt={shown:.2g} or "
            "less, or a softer one; ignore=('stiffness',) runs it all the same")
