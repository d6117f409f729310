"""Baselines on continuous dynamics: semi-implicit Euler, and Runge–Kutta 4 on the manifold (Munthe-Kaas).

They integrate v' = ABA(q, v), and configurations move by q ⊕ ε, so no joint needs a chart and no quaternion leaves its
sphere.
"""

from collections import namedtuple

from .aba import aba
from .joints import dispatch as joint, move_by
from .kinematics import place
from .layout import Made
from .machine.jit import kernel, part
from .machine.memory import copy
from .machine.simd import after, numbers
from .methods import method
from .momentum import generalized_momentum, momentum_of
from .node import arrive, potential_energy
from .rnea import kinetic_energy

# desk: scratch, as many times nv as the method has rows, and nq
SemiImplicitEuler = namedtuple("SemiImplicitEuler", "desk")
RungeKutta4 = namedtuple("RungeKutta4", "desk")
ROWS = 10  # of nv numbers on the desk, at most


@kernel
def increment_rate(tree, epsilon, v, out):
    """Rate of ε when q ⊕ ε moves with velocity v: dlog_{−ε} v, joint by joint."""
    for i in range(tree.n):
        joint.increment_rate(tree.kind[i], epsilon, v, out, tree.iv[i])


@part
def semi_implicit_euler(method, system, state, held, k, h):
    """v₁ = v₀ + h a(q₀, v₀), q₁ = q₀ ⊕ h v₁."""
    tree, q, v, a = system.tree, state.q, state.v, numbers(method.desk)
    copy(v, state.straight, tree.nv)
    aba(system, state.w, q, v, held, a)
    for j in range(tree.nv):
        v[j] += h * a[j]
        a[j] = h * v[j]
    move_by(tree, q, a)
    return made(1.0)


@part
def runge_kutta_4(method, system, state, held, k, h):
    """k₁ … k₄ of the classical method, for (ε, v) with q = q₀ ⊕ ε: ε̇ = dlog₋ε v, v̇ = a(q₀ ⊕ ε, v)."""
    tree, q, v, nv = system.tree, state.q, state.v, system.tree.nv
    desk = numbers(method.desk)  # accelerations and increment rates of the stages, then stage_v, epsilon and stage_q
    a, rate, stage_v, epsilon, stage_q = desk, after(desk, 4 * nv), after(desk, 8 * nv), after(desk, 9 * nv), after(
        desk, 10 * nv)
    copy(v, state.straight, nv)
    for stage in range(4):
        part_ = 0.0 if stage == 0 else (h if stage == 3 else 0.5 * h)
        before = max(stage - 1, 0) * nv
        copy(q, stage_q, tree.nq)
        for j in range(nv):
            epsilon[j] = part_ * rate[before + j] if stage > 0 else 0.0
            stage_v[j] = v[j] + part_ * a[before + j] if stage > 0 else v[j]
        move_by(tree, stage_q, epsilon)
        increment_rate(tree, epsilon, stage_v, after(rate, stage * nv))
        aba(system, state.w, stage_q, stage_v, held, after(a, stage * nv))
    for j in range(nv):
        epsilon[j] = h / 6.0 * (rate[j] + 2.0 * (rate[nv + j] + rate[2 * nv + j]) + rate[3 * nv + j])
        v[j] += h / 6.0 * (a[j] + 2.0 * (a[nv + j] + a[2 * nv + j]) + a[3 * nv + j])
    move_by(tree, q, epsilon)
    return made(4.0)


@kernel
def made(evaluations):
    """A step without a search; its node is always looked at."""
    return Made(evaluations, 0.0, 0.0, 0, 0.0, 0.0)


@kernel
def begin(method, system, state, h):
    """Nothing is to be done before the first step."""


@part
def look(method, system, state, springs, whole):
    """Twice the kinetic energy, and the energy, of the node at (q, v); its momenta are set."""
    springs = arrive(system, state.w, state.q)
    momentum_of(system.tree, state.w, state.v)
    kinetic = kinetic_energy(system.tree, state.w, state.v)
    return 2.0 * kinetic, kinetic + potential_energy(system, state.w, springs)


@kernel
def too_long(method, state, made, twice, energy, known):
    """The step is as long as the user says."""
    return 0.0


@part
def undo(method, system, state):
    """Come back to the node before the step."""
    tree = system.tree
    copy(state.saved_q, state.q, tree.nq)
    copy(state.straight, state.v, tree.nv)
    place(tree, state.w, state.q)
    momentum_of(tree, state.w, state.v)
    generalized_momentum(tree, state.w, state.p)


@kernel
def leave(method, system, state):
    """Nothing is left behind."""


method(SemiImplicitEuler, begin, semi_implicit_euler, look, too_long, undo, leave)
method(RungeKutta4, begin, runge_kutta_4, look, too_long, undo, leave)
