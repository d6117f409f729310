"""The classical method of Runge and Kutta, of order four, for y = (ε, v) and ẏ = f(y) as in common.py:

    k₁ = f(y₀), k₂ = f(y₀ + h/2 k₁), k₃ = f(y₀ + h/2 k₂), k₄ = f(y₀ + h k₃)
    y₁ = y₀ + h/6 (k₁ + 2 k₂ + 2 k₃ + k₄)

Of a model with closed loops, f keeps them closed, and y₁ is projected (constraints/closing.py).
"""

from collections import namedtuple

from ..constraints.closed import closed_as_views
from ..constraints.closing import stay_closed
from ..joints import move_by
from ..machine.columns import matrix_row
from ..machine.jit import kernel, part
from ..machine.simd import after, numbers
from .common import Stage, explicit_method, keep_velocity, made, rates

# scratch, see room(); closed: see constraints/closed.py, or None
RungeKutta4 = namedtuple("RungeKutta4", "scratch closed")
# rate, a: (4, nv) ε̇ and v̇ of the stages; v, epsilon, q: of the present one
Scratch = namedtuple("Scratch", "rate a v epsilon q")


def room(nq, nv):
    """So many numbers in scratch."""
    return 10 * nv + nq


@kernel
def scratch_as_views(method, tree):
    a, nv = numbers(method.scratch), tree.nv
    rate = matrix_row(a, 4, nv)
    v = matrix_row(rate, 4, nv)
    epsilon = after(v, nv)
    return Scratch(rate, a, v, epsilon, after(epsilon, nv))


@part
def runge_kutta_4(method, system, state, held, k, h):
    """From the node to the next."""
    tree, q, v, nv = system.tree, state.q, state.v, system.tree.nv
    d, c = scratch_as_views(method, tree), closed_as_views(method.closed)
    keep_velocity(tree, state)
    lost = False
    for stage in range(4):
        part_ = 0.0 if stage == 0 else (h if stage == 3 else 0.5 * h)
        rate, a = matrix_row(d.rate, max(stage - 1, 0), nv), matrix_row(d.a, max(stage - 1, 0), nv)
        for j in range(nv):
            d.epsilon[j] = part_ * rate[j] if stage > 0 else 0.0
            d.v[j] = v[j] + part_ * a[j] if stage > 0 else v[j]
        at = Stage(k * h + part_, q, d.epsilon, d.v, d.q, matrix_row(d.rate, stage, nv), matrix_row(d.a, stage, nv))
        lost = rates(system, state, held, at, c) or lost
    r2, r3, r4 = matrix_row(d.rate, 1, nv), matrix_row(d.rate, 2, nv), matrix_row(d.rate, 3, nv)
    a2, a3, a4 = matrix_row(d.a, 1, nv), matrix_row(d.a, 2, nv), matrix_row(d.a, 3, nv)
    for j in range(nv):
        d.epsilon[j] = h / 6.0 * (d.rate[j] + 2.0 * (r2[j] + r3[j]) + r4[j])
        v[j] += h / 6.0 * (d.a[j] + 2.0 * (a2[j] + a3[j]) + a4[j])
    move_by(tree, q, d.epsilon)
    return stay_closed(system, state, d.epsilon, lost, made(4.0), c)


explicit_method(RungeKutta4, runge_kutta_4)
