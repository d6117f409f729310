"""What an explicit method does to stay on the manifold, by index reduction: accelerations that keep A v = 0
(dynamics.py), and a projection of q and v after every step.

It is for a baseline: the projection takes the drift of the loops away, but not that of the energy.
"""

from ..joints import move_by
from ..kinematics import place
from ..layout import Made
from ..machine.jit import kernel, part
from ..machine.memory import link
from ..maths.vec3 import NONE
from ..momentum import momentum_of
from ..node import enter_node
from ..settings import EXHAUSTED, SINGULAR
from .closed import row
from .elimination import solve_node
from .filling import rows_at_node
from .projection import factor_node, project

CLOSED = 1e-14  # m: rows that are as small are closed …
ITERATIONS = 8  # … or as small as these make them, if that is
FAR = 1e-6  # m: rows that stay as large are not


@part
def close(system, state, epsilon, c):
    """Move q to the manifold, by Gauss–Newton steps in the metric of the mass matrix. Gives the largest row."""
    tree, w = system.tree, state.w
    most = 0.0
    for _ in range(ITERATIONS):
        place(tree, w, state.q)
        rows_at_node(tree, w, c)
        most = 0.0
        for r in range(c.places.rows):
            most = max(most, abs(row(c, r).rhs))
        if most <= CLOSED:
            break
        factor_node(tree, w, c)
        for i in range(tree.n):
            L = link(w, i)
            L.wrench = L.tau6 = NONE
        solve_node(tree, w, c, epsilon)
        move_by(tree, state.q, epsilon)
    return most


@kernel
def stay_closed(system, state, epsilon, lost, made, c):
    """Project the q and v that a step found; ``lost``: whether an elimination failed in it, epsilon (nv,): scratch. A
    model without rows (c is None) has no manifold to come back to."""
    if c is None:
        return made
    opened = close(system, state, epsilon, c)
    enter_node(system, state.w, state.q)
    momentum_of(system.tree, state.w, state.v)
    project(system.tree, state, c)
    if lost or not opened < FAR:
        return Made(made.evaluations, opened, float(SINGULAR if lost else EXHAUSTED), 0, 0.0, 0.0)
    return made
