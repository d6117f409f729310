"""What dampers between bodies do in a step of half its length, at a configuration that does not change meanwhile.

A damper along a line takes off the rate of its length, ṙ = J v, by ṗ = −Jᵀ c J M⁻¹ p. With a = J M⁻¹ Jᵀ, what a unit
impulse along the line does to that rate, ṙ decays as exp(−c a t): solved exactly, by the impulse
(1 − exp(−c a t)) ṙ / a at either end. So the energy never grows, no damping makes the rate change its sign, and the
momentum is kept, as the two impulses balance. In a step, damping stands between the impulses of potentials and the
motion, the dampers one by one, after the motion in the opposite order: a symmetric composition, of second order, and of
a higher one in composed steps. Each damper takes two solves with the mass matrix, O(n).
"""

from math import exp

from numba.extending import overload

from ..machine.jit import INNER, kernel
from ..machine.memory import link
from ..machine.simd import COMPILED, below, choose, less
from ..maths.vec3 import NONE, cross, neg
from ..momentum import momentum_solve_up
from ..sweep import down, factor_mass, up
from .points import Line, pull, separation
from .seam import verbs_of

SMALL = 1e-4  # of the exponent, below which 1 − exp(−x) is a polynomial


@kernel
def rate_of(tree, w, line):
    """Rate of the length of a line by the answers of the last solve, m/s."""
    down(tree, w, w, None, None, None)
    return separation(line, link(w, line.on).answer, link(w, line.other).answer)


@kernel
def unit_pull(tree, w, line):
    """Set the right-hand side of a solve to a unit impulse that drives the ends of a line apart, and eliminate."""
    on, other, arm, other_arm, way = line
    for i in range(tree.n):
        L = link(w, i)
        L.wrench = NONE
        L.tau6 = NONE
    if on < tree.n:
        link(w, on).wrench = cross(arm, way), way
    if other < tree.n:
        link(w, other).wrench = neg(cross(other_arm, way)), neg(way)
    up(tree, w, w, None)


@kernel
def relieve(damper, table, tree, w, k, h):
    """Let damper k act for a time h. Needs factor_mass(tree, w, 0)."""
    on, other, arm, other_arm, way, coefficient = damper(table, w, k)
    line = Line(on, other, arm, other_arm, way)
    momentum_solve_up(tree, w)
    rate = rate_of(tree, w, line)
    unit_pull(tree, w, line)
    mobility = rate_of(tree, w, line)
    x = coefficient * h * mobility
    small = less(abs(x), SMALL)
    taken = choose(small, coefficient * h * (1.0 - x * (0.5 - x / 6.0)), (1.0 - exp(-x)) / choose(small, 1.0, mobility))
    pull(tree, w, line, taken * rate)


@kernel
def relieve_all(damper, table, tree, w, h, last_first):
    """Let all dampers of a table act, one after the other."""
    count = len(table[0])
    for j in range(count):
        relieve(damper, table, tree, w, count - 1 - j if last_first else j, h)


@kernel
def note_rates(damper, table, tree, w, out):
    """Write c a, 1/s, of every damper of a table to ``out``. Needs factor_mass(tree, w, 0)."""
    for k in range(len(table[0])):
        on, other, arm, other_arm, way, coefficient = damper(table, w, k)
        line = Line(on, other, arm, other_arm, way)
        unit_pull(tree, w, line)
        out[k] = coefficient * rate_of(tree, w, line)


@kernel
def factor_once(tree, state):
    """Factor the mass matrix of the node, unless it is."""
    if below(state.factored[0], 0.5):
        factor_mass(tree, state.w, 0.0)
        state.factored[0] = 1.0


def damped(elements):
    """Whether a table has dampers."""
    return any(verbs_of(type(table))[2] for table in elements)


def walk_dampers(elements, tree, w, h, last_first):
    for table in elements[::-1] if last_first else elements:
        if verbs_of(type(table))[2]:
            relieve_all(verbs_of(type(table))[2], table, tree, w, h, last_first)


def damp(elements, tree, state, h, last_first):
    """Let all dampers act for a time h, in the order of the tables or in the opposite one. Leaves the mass matrix
    factored. Needs place()."""
    if damped(elements):
        factor_once(tree, state)
        walk_dampers(elements, tree, state.w, h, last_first)


def decay_rates(elements, tree, w, out, t):
    """Rates c a, 1/s, at which each damper by itself brings its ends to rest, a row for every table from row t on."""
    for table in elements:
        if verbs_of(type(table))[2]:
            note_rates(verbs_of(type(table))[2], table, tree, w, out[t])
        t += 1


if COMPILED:
    @overload(decay_rates, jit_options=INNER)
    def _decay_rates(elements, tree, w, out, t):
        if len(elements) == 0:
            return lambda elements, tree, w, out, t: None
        damper = verbs_of(elements[0].instance_class)[2]
        if damper is None:
            return lambda elements, tree, w, out, t: decay_rates(elements[1:], tree, w, out, t + 1)

        def walk(elements, tree, w, out, t):
            note_rates(damper, elements[0], tree, w, out[t])
            decay_rates(elements[1:], tree, w, out, t + 1)

        return walk

    @overload(walk_dampers, jit_options=INNER)
    def _walk_dampers(elements, tree, w, h, last_first):
        if len(elements) == 0:
            return lambda elements, tree, w, h, last_first: None
        damper = verbs_of(elements[0].instance_class)[2]
        if damper is None:
            return lambda elements, tree, w, h, last_first: walk_dampers(elements[1:], tree, w, h, last_first)

        def walk(elements, tree, w, h, last_first):
            if last_first:
                walk_dampers(elements[1:], tree, w, h, last_first)
            relieve_all(damper, elements[0], tree, w, h, last_first)
            if not last_first:
                walk_dampers(elements[1:], tree, w, h, last_first)

        return walk

    @overload(damp, jit_options=INNER)
    def _damp(elements, tree, state, h, last_first):
        if not any(verbs_of(table.instance_class)[2] for table in elements):
            return lambda elements, tree, state, h, last_first: None

        def act(elements, tree, state, h, last_first):
            factor_once(tree, state)
            walk_dampers(elements, tree, state.w, h, last_first)

        return act
