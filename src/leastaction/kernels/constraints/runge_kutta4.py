"""Runge–Kutta 4 on a model with closed loops, by index reduction: accelerations that keep A v = 0, and a projection of
q and v to the manifold after every step.

It is a baseline, as explicit/runge_kutta4.py: the projection takes the drift of the loops away, but not that of the
energy.
"""

from collections import namedtuple

from ..elements import set_time
from ..explicit.common import explicit_method, increment_rate, keep_velocity, made
from ..joints import get_solution, move_by
from ..kinematics import place
from ..layout import Made
from ..machine.jit import part
from ..machine.memory import copy, link
from ..machine.simd import after, integers, numbers
from ..maths.vec3 import NONE
from ..momentum import momentum_of
from ..node import arrive
from ..settings import EXHAUSTED, SINGULAR
from .dynamics import acceleration
from .elimination import down, up
from .filling import rows_at_node
from .projection import factor_node, project
from .rows import seen

# room: the desk of explicit/runge_kutta4.py; the rest as of step.Constrained
ConstrainedRungeKutta4 = namedtuple("ConstrainedRungeKutta4", "room rows ops targets places desk")
CLOSED = 1e-14  # m: rows that are as small are closed …
ITERATIONS = 8  # … or as small as these make them, if that is
FAR = 1e-6  # m: rows that stay as large are not


@part
def constrained_aba(method, system, state, q, v, held, a):
    """As aba.aba, on the manifold. Gives whether the elimination failed."""
    w, x, ops = state.w, numbers(method.desk), integers(method.ops)
    arrive(system, w, q)
    rows_at_node(system.tree, w, seen(method.rows), method.places, x)
    _, lost = factor_node(system.tree, w, seen(method.rows), ops, integers(method.targets), method.places, x)
    acceleration(system, w, v, held, seen(method.rows), ops, method.places, x, a)
    return lost


@part
def close(method, system, state, epsilon):
    """Move q to the manifold, by Gauss–Newton steps in the metric of the mass matrix. Gives the largest row."""
    tree, w, x, ops, places = system.tree, state.w, numbers(method.desk), integers(method.ops), method.places
    most = 0.0
    for _ in range(ITERATIONS):
        place(tree, w, state.q)
        rows_at_node(tree, w, seen(method.rows), places, x)
        most = 0.0
        for r in range(places.rows):
            most = max(most, abs(x[places.rhs + r]))
        if most <= CLOSED:
            break
        factor_node(tree, w, seen(method.rows), ops, integers(method.targets), places, x)
        for i in range(tree.n):
            L = link(w, i)
            L.wrench = L.tau6 = NONE
        up(tree, w, ops, places, x)
        down(tree, w, ops, places, x, None, None)
        get_solution(tree, w, w, epsilon)
        move_by(tree, state.q, epsilon)
    return most


@part
def runge_kutta_4(method, system, state, held, k, h):
    """As explicit.runge_kutta_4; then q and v are projected."""
    tree, q, v, nv = system.tree, state.q, state.v, system.tree.nv
    desk = numbers(method.room)
    a, rate, stage_v, epsilon, stage_q = desk, after(desk, 4 * nv), after(desk, 8 * nv), after(desk, 9 * nv), after(
        desk, 10 * nv)
    keep_velocity(tree, state)
    lost = False
    for stage in range(4):
        part_ = 0.0 if stage == 0 else (h if stage == 3 else 0.5 * h)
        before = max(stage - 1, 0) * nv
        copy(q, stage_q, tree.nq)
        for j in range(nv):
            epsilon[j] = part_ * rate[before + j] if stage > 0 else 0.0
            stage_v[j] = v[j] + part_ * a[before + j] if stage > 0 else v[j]
        move_by(tree, stage_q, epsilon)
        increment_rate(tree, epsilon, stage_v, after(rate, stage * nv))
        set_time(system.elements, tree, state.w, k * h + part_)
        lost = constrained_aba(method, system, state, stage_q, stage_v, held, after(a, stage * nv)) or lost
    for j in range(nv):
        epsilon[j] = h / 6.0 * (rate[j] + 2.0 * (rate[nv + j] + rate[2 * nv + j]) + rate[3 * nv + j])
        v[j] += h / 6.0 * (a[j] + 2.0 * (a[nv + j] + a[2 * nv + j]) + a[3 * nv + j])
    move_by(tree, q, epsilon)
    opened = close(method, system, state, epsilon)
    arrive(system, state.w, q)
    momentum_of(tree, state.w, v)
    project(tree, state, seen(method.rows), integers(method.ops), integers(method.targets), method.places,
            numbers(method.desk))
    if lost or not opened < FAR:
        return Made(4.0, opened, float(SINGULAR if lost else EXHAUSTED), 0, 0.0, 0.0)
    return made(4.0)


explicit_method(ConstrainedRungeKutta4, runge_kutta_4)
