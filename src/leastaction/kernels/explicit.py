"""Baselines on continuous dynamics: semi-implicit Euler, and Runge–Kutta 4 on the manifold (Munthe-Kaas).

They integrate v' = ABA(q, v), and configurations move by q ⊕ ε, so no joint needs a chart and no quaternion leaves its
sphere.
"""

from math import isfinite

import numpy as np

from .aba import aba
from .joints import move_by
from .kinematics import place, read3
from .layout import FREE, SCREW
from .machine.jit import entry, kernel
from .machine.memory import copy, look_at
from .machine.simd import numbers
from .maths.se3 import dlog_negative
from .momentum import generalized_momentum, momentum_of
from .record import follow, note_energy, record
from .rnea import kinetic_energy, total_momentum
from .settings import BAD_CONTROL, CONVERGED, NOT_FINITE
from .variational import arrive, potential_energy, set_wrenches

SEMI_IMPLICIT_EULER, RUNGE_KUTTA_4 = 0, 1


@kernel
def increment_rate(tree, epsilon, v, out):
    """Rate of ε when q ⊕ ε moves with velocity v: dlog_{−ε} v, joint by joint."""
    for i in range(tree.n):
        k = tree.iv[i]
        if tree.kind[i] == SCREW:
            out[k] = v[k]
            continue
        move, rate = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if tree.kind[i] == FREE:
            move, rate = read3(epsilon, k + 3), read3(v, k + 3)
        turn, move = dlog_negative(read3(epsilon, k), move, read3(v, k), rate)
        out[k], out[k + 1], out[k + 2] = turn
        if tree.kind[i] == FREE:
            out[k + 3], out[k + 4], out[k + 5] = move


@kernel
def semi_implicit_euler(system, w, q, v, tau, h, a):
    aba(system, w, q, v, tau, a[0])
    for j in range(len(v)):
        v[j] += h * a[0, j]
        a[0, j] = h * v[j]
    move_by(system.tree, q, a[0])


@kernel
def runge_kutta_4(system, w, q, v, tau, h, a, rate, stage_q, stage_v, epsilon):
    """a, rate: (4, nv) accelerations and increment rates of the stages."""
    tree = system.tree
    for stage in range(4):
        part = 0.0 if stage == 0 else (h if stage == 3 else 0.5 * h)
        before = max(stage - 1, 0)
        copy(q, stage_q, tree.nq)
        for j in range(len(v)):
            epsilon[j] = part * rate[before, j] if stage > 0 else 0.0
            stage_v[j] = v[j] + part * a[before, j] if stage > 0 else v[j]
        move_by(tree, stage_q, epsilon)
        increment_rate(tree, epsilon, stage_v, rate[stage])
        aba(system, w, stage_q, stage_v, tau, a[stage])
    for j in range(len(v)):
        epsilon[j] = h / 6.0 * (rate[0, j] + 2.0 * (rate[1, j] + rate[2, j]) + rate[3, j])
        v[j] += h / 6.0 * (a[0, j] + 2.0 * (a[1, j] + a[2, j]) + a[3, j])
    move_by(tree, q, epsilon)


@kernel
def node_momentum(tree, w, q, v, p):
    """p = M(q) v."""
    place(tree, w, q)
    momentum_of(tree, w, v)
    generalized_momentum(tree, w, p)


@entry
def run_explicit(system, state, control, tau, wrench, h, first, steps, every, method, out):
    """As variational.run, with an explicit method."""
    system, w = look_at(system), numbers(state.w)
    tree = system.tree
    q, v, p = state.q, state.v, state.p
    nv = len(v)
    a, rate, epsilon = np.zeros((4, nv)), np.zeros((4, nv)), np.zeros(nv)
    stage_q, stage_v, good_q, good_v = np.empty_like(q), np.empty_like(v), q.copy(), v.copy()
    nothing = tau.reshape(-1)[:0]
    kept = 0
    for k in range(steps):
        if len(wrench) > 1 or (len(wrench) == 1 and k == 0):
            set_wrenches(tree, w, wrench[k])
        if control is not None:
            held = control((first + k) * h, q, v)
        else:
            held = tau[k if len(tau) > 1 else 0] if len(tau) > 0 else nothing
        if control is not None and len(held) != nv:
            out.status[k] = BAD_CONTROL
            node_momentum(tree, w, q, v, p)
            return k, 0
        copy(q, good_q, tree.nq)
        copy(v, good_v, nv)
        if method == SEMI_IMPLICIT_EULER:
            semi_implicit_euler(system, w, q, v, held, h, a)
        else:
            runge_kutta_4(system, w, q, v, held, h, a, rate, stage_q, stage_v, epsilon)
        springs = arrive(system, w, q)
        momentum_of(tree, w, v)
        kinetic = kinetic_energy(tree, w, v)
        energy = kinetic + potential_energy(system, w, springs)
        out.status[k] = CONVERGED
        if not isfinite(energy):
            out.status[k] = NOT_FINITE
            copy(good_q, q, tree.nq)
            copy(good_v, v, nv)
            node_momentum(tree, w, q, v, p)
            return k, 0
        angular, linear = total_momentum(tree, w)
        follow(kinetic, energy, angular + linear, out.extremes)
        note_energy(out.looks, first, k, energy)
        if (first + k + 1) % every == 0:
            generalized_momentum(tree, w, p)
            record(tree, out, kept, state, energy, angular + linear)
            kept += 1
    return steps, -1
