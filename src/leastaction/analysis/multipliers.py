"""The multipliers of the discrete equations of a run with loops: impulses, as the steps themselves find them."""

from typing import NamedTuple

import numpy as np

from leastaction.compiled import compile_model
from leastaction.kernels.constraints.closed import of_rows
from leastaction.kernels.constraints.projection import FOUND
from leastaction.simulation.again import begin_again, go_on
from leastaction.trajectory import Trajectory

Array = np.ndarray


class Multipliers(NamedTuple):
    """Impulses of all rows at the kept nodes, N s, as rows are in metres: angles count by the length of their loop.

    With p, q, A = `la.constraint_jacobian` of node k, and f⁻, f⁺ the impulses of forces without a potential,
        p_k + f⁻ + A_kᵀ λ_k = −D₁L_d(q_k, q_{k+1}),    p_k = D₂L_d(q_{k−1}, q_k) + f⁺ + A_kᵀ μ_k.
    So (μ_k + λ_k)/h is the force of the rows, to order h². Of rows that follow from others only Aᵀ λ and Aᵀ μ are
    unique.

    lam : (N, m) λ of the step that begins at each node. NaN at the last node, and where there is no single step: at
        orders above 2, and where the step was divided, by an event at a joint limit or because the search failed
    mu : (N, m) μ of the projection at each node; 0 at the start, which is on the manifold
    Both are NaN with explicit integrators, whose equations have no such terms.
    """

    lam: Array
    mu: Array


def multipliers(run: Trajectory) -> Multipliers:
    """Find the multipliers of the kept nodes of a run by making it again."""
    c, every = compile_model(run.model), run.record_every
    m = 0 if c.rows is None else len(c.rows.kind)
    found = Multipliers(np.full((len(run), m), np.nan), np.full((len(run), m), np.nan))
    if not run.events.size:  # no method with multipliers
        return found
    again = begin_again(run, 0, "the multipliers are not kept, and to find them")
    engine = again.sim._engine
    found.mu[0] = 0.0
    for k in range(len(run)):
        go_on(again, k * every)
        closed = engine.base.closed
        if k > 0:
            found.mu[k] = c.of_all_rows(of_rows(closed, "kick"))
        if k < len(run) - 1:
            engine._told[FOUND] = 0.0
            go_on(again, k * every + 1)
            closed = engine.base.closed  # which may have been planned anew
            if engine._told[FOUND] == 1.0:
                found.lam[k] = c.of_all_rows(of_rows(closed, "total")) - found.mu[k]
    return found
