"""A second method that chooses its steps, as a user writes it: the pair 3(2) of Bogacki and Shampine, on the manifold.

With y = (ε, v) and ẏ = f(y) = (dlog₋ε v, a(q₀ ⊕ ε, v)), in internal steps of length H that end at the nodes:

    k₁ = f(y₀), k₂ = f(y₀ + H/2 k₁), k₃ = f(y₀ + 3H/4 k₂), y₁ = y₀ + H (2 k₁ + 3 k₂ + 4 k₃) / 9, k₄ = f(y₁)
    e = H (−5 k₁ + 6 k₂ + 8 k₃ − 9 k₄) / 72

A step is taken if |e| ≤ tol (1 + |v|) for all numbers, and the next one is 0.9 (error)^(−1/3) times as long.
"""

from collections import namedtuple
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from leastaction.integrators import Integrator
from leastaction.kernels.explicit.common import Stage, explicit_method, keep_velocity, rates
from leastaction.kernels.joints import move_by
from leastaction.kernels.layout import Made
from leastaction.kernels.machine.simd import after, numbers
from leastaction.kernels.settings import TOO_SHORT

# memory: the length of the next internal step, kept from call to call and in files; scratch: 10 nv + nq numbers
Pair = namedtuple("Pair", "tol memory scratch")


def bogacki_shampine(method, system, state, held, k, h):
    """From the node to the next, by as many internal steps as it takes."""
    tree, q, v, nv = system.tree, state.q, state.v, system.tree.nv
    width, rate = 2 * nv, numbers(method.scratch)   # (4, 2 nv): ε̇ and v̇ of the stages
    epsilon = after(rate, 4 * width)
    stage_v, stage_q = after(epsilon, nv), after(epsilon, 2 * nv)
    memory = numbers(method.memory)
    keep_velocity(tree, state)
    passed, evaluations, greatest = 0.0, 0.0, 0.0
    span = memory[0] if memory[0] > 0.0 else h
    while passed < h:
        step = min(span, h - passed)
        for s in range(4):
            c = 0.0 if s == 0 else (0.5 if s == 1 else (0.75 if s == 2 else 1.0))
            before = after(rate, (s - 1) * width) if s > 0 else rate
            for j in range(nv):
                if s == 3:
                    epsilon[j] = step / 9.0 * (2.0 * rate[j] + 3.0 * rate[width + j] + 4.0 * rate[2 * width + j])
                    i = nv + j
                    stage_v[j] = v[j] + step / 9.0 * (2.0 * rate[i] + 3.0 * rate[width + i] + 4.0 * rate[2 * width + i])
                else:
                    epsilon[j], stage_v[j] = c * step * before[j], v[j] + c * step * before[nv + j]
            here = after(rate, s * width)
            at = Stage(k * h + passed + c * step, q, epsilon, stage_v, stage_q, here, after(here, nv))
            rates(system, state, held, at, None)
        evaluations += 4.0
        error = 0.0
        for j in range(width):
            off = step / 72.0 * (-5.0 * rate[j] + 6.0 * rate[width + j] + 8.0 * rate[2 * width + j]
                                 - 9.0 * rate[3 * width + j])
            part = abs(off) / (method.tol * (1.0 + (abs(v[j - nv]) if j >= nv else 0.0)))
            if not part <= error:
                error = part if part < inf else inf   # NaN too, which no step is taken with
        factor = min(5.0, max(0.2, 0.9 * error ** (-1.0 / 3.0))) if error > 0.0 else 5.0
        if error > 1.0:
            span = factor * step
            if span < 1e-12 * h:
                return Made(evaluations, method.tol * error, float(TOO_SHORT), 0, 0.0, 0.0)
            continue
        span = max(span, factor * step) if step < span else factor * step   # one that ends at a node may be short
        passed = h if step == h - passed else passed + step
        greatest = max(greatest, error)
        move_by(tree, q, epsilon)
        for j in range(nv):
            v[j] = stage_v[j]
    memory[0] = span
    return Made(evaluations, method.tol * greatest, 0.0, 0, 0.0, 0.0)


explicit_method(Pair, bogacki_shampine)


@dataclass(frozen=True)
class BogackiShampine(Integrator):
    """Third order, in steps that keep the estimated error below tol; of models without loops."""

    tol: float = 1e-6
    order = 3
    chooses_steps = True

    def method(self, c):
        """Return what the loop is given, for a model of nq and nv numbers."""
        return Pair(float(self.tol), np.zeros(1), np.zeros(10 * c.nv + c.nq))

    def finer(self):
        """Return the integrator with an error smaller by 2³."""
        return replace(self, tol=self.tol / 8)
