"""Algorithms 1 and 3: from a guess to the configuration at which DRNEA is zero; and the step that this makes.

Both algorithms are one loop. They differ in what is solved for the update:

- "newton": Newton's method in O(n), by the sweep over the Jacobian; the default of the library, not in the paper;
- "riqn": Algorithm 3, Δt M(q^k)⁻¹ e by the sweep over the mass matrix, O(n), equation (25);
- "dense_newton": Algorithm 1 with the Jacobian of Algorithm 4 and a dense solve, O(n³).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from leastaction.model import Model

from .drnea import State, drnea, end_of_step, generalized_momentum
from .drnea_derivative import drnea_derivative, mass_system, newton_system
from .guess import initial_guess
from .lie import Array
from .links import increment
from .retractions import chosen
from .sweep import factor, solve

Update = Callable[[Array, Array], Array]  # from q_next (nq,) and the residual there (nv,) to the increment (nv,)


def newton(model: Model, q: Array, h: float, retraction: str) -> Update:
    """J_f(q^{k+1})⁻¹ e in O(n)."""
    def update(q_next: Array, e: Array) -> Array:
        system = newton_system(model, q, q_next, h, retraction)
        return solve(system, factor(system), e)
    return update


def riqn(model: Model, q: Array, h: float, retraction: str) -> Update:
    """Δt M(q^k)⁻¹ e in O(n), equation (25): one factorisation serves the whole step."""
    system = mass_system(model, q)
    factors = factor(system, symmetric=True)
    return lambda q_next, e: h * solve(system, factors, e)


def dense_newton(model: Model, q: Array, h: float, retraction: str) -> Update:
    """J_f(q^{k+1})⁻¹ e in O(n³)."""
    return lambda q_next, e: np.linalg.solve(drnea_derivative(model, q, q_next, h, retraction), e)


ROOT_FINDERS = {"newton": newton, "riqn": riqn, "dense_newton": dense_newton}


def find_root(model: Model, state: State, h: float, tau: ArrayLike | None = None, wrench: ArrayLike | None = None,
              retraction: str = "exp", root_finder: str = "newton", guess: str = "IG3", epsilon: float = 1e-10,
              max_iteration: int = 50) -> tuple[Array, int]:
    """Algorithms 1 and 3: q^{k+1} (nq,) and the number of updates that it took.

    Parameters
    ----------
    state, h, tau, wrench, retraction : as for `drnea`
    root_finder : "newton", "riqn" or "dense_newton"
    guess : "IG1", "IG2" or "IG3", where to begin
    epsilon : ε, the residual ‖e‖ at which to stop; round-off allows no less than about 1e-15 of the momentum, over h
    """
    q_next = initial_guess(model, state.q, state.v, h, guess, tau, wrench)  # line 1
    update = chosen(ROOT_FINDERS, root_finder, "root_finder")(model, state.q, h, retraction)
    for iteration in range(max_iteration + 1):  # lines 2 and 6 (Alg. 1), 2 and 7 (Alg. 3)
        e = drnea(model, state, q_next, h, tau, wrench, retraction)  # line 3
        if np.linalg.norm(e) < epsilon:  # line 4, where ‖e < ε‖ is a misprint of ‖e‖ < ε
            return q_next, iteration
        q_next = increment(model, q_next, -update(q_next, e))  # line 5 (Alg. 1), 5 and 6 (Alg. 3)
    raise ArithmeticError(f"{root_finder} has not converged in {max_iteration} updates, ‖e‖ = {np.linalg.norm(e):.1e}: "
                          "give a smaller h, or a larger epsilon if that is the round-off of this model")


def step(model: Model, state: State, h: float, tau: ArrayLike | None = None, wrench: ArrayLike | None = None,
         retraction: str = "exp", root_finder: str = "newton", guess: str = "IG3", epsilon: float = 1e-10) -> State:
    """Return the state after one step of length h, s, which may be negative; arguments as for `find_root`."""
    q_next, _ = find_root(model, state, h, tau, wrench, retraction, root_finder, guess, epsilon)
    return end_of_step(model, state.q, q_next, h, tau, wrench, retraction)


def velocity(model: Model, state: State) -> Array:
    """q̇ (nv,) = M(q)⁻¹ p of a state, body axes, rad/s and m/s: what a trajectory of the library has as v."""
    system = mass_system(model, state.q)
    return solve(system, factor(system, symmetric=True), generalized_momentum(model, state))
