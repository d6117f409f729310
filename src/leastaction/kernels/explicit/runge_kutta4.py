"""The classical method of Runge and Kutta, of order four, for y = (ε, v) and ẏ = f(y) as in common.py:

    k₁ = f(y₀), k₂ = f(y₀ + h/2 k₁), k₃ = f(y₀ + h/2 k₂), k₄ = f(y₀ + h k₃)
    y₁ = y₀ + h/6 (k₁ + 2 k₂ + 2 k₃ + k₄)

Of a model with closed loops, f keeps them closed, and y₁ is projected (constraints/closing.py).
"""

from collections import namedtuple

from ..constraints.closed import closed_as_views
from ..constraints.closing import stay_closed
from ..joints import move_by
from ..machine.jit import part
from ..machine.simd import after, numbers
from .common import Stage, explicit_method, keep_velocity, made, rates

# scratch, see room(); closed: see constraints/closed.py, or None
RungeKutta4 = namedtuple("RungeKutta4", "scratch closed")


def room(nq, nv):
    """So many numbers in scratch: accelerations and increment rates of the stages, then stage_v, epsilon, stage_q."""
    return 10 * nv + nq


@part
def runge_kutta_4(method, system, state, held, k, h):
    """From the node to the next."""
    tree, q, v, nv = system.tree, state.q, state.v, system.tree.nv
    scratch, c = numbers(method.scratch), closed_as_views(method.closed)
    a, rate, stage_v = scratch, after(scratch, 4 * nv), after(scratch, 8 * nv)
    epsilon, stage_q = after(scratch, 9 * nv), after(scratch, 10 * nv)
    keep_velocity(tree, state)
    lost = False
    for stage in range(4):
        part_ = 0.0 if stage == 0 else (h if stage == 3 else 0.5 * h)
        before = max(stage - 1, 0) * nv
        for j in range(nv):
            epsilon[j] = part_ * rate[before + j] if stage > 0 else 0.0
            stage_v[j] = v[j] + part_ * a[before + j] if stage > 0 else v[j]
        at = Stage(k * h + part_, q, epsilon, stage_v, stage_q, after(rate, stage * nv), after(a, stage * nv))
        lost = rates(system, state, held, at, c) or lost
    for j in range(nv):
        epsilon[j] = h / 6.0 * (rate[j] + 2.0 * (rate[nv + j] + rate[2 * nv + j]) + rate[3 * nv + j])
        v[j] += h / 6.0 * (a[j] + 2.0 * (a[nv + j] + a[2 * nv + j]) + a[3 * nv + j])
    move_by(tree, q, epsilon)
    return stay_closed(system, state, epsilon, lost, made(4.0), c)


explicit_method(RungeKutta4, runge_kutta_4)
