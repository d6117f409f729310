"""What dampers between bodies do in a step of half its length, at a configuration that does not change meanwhile.

A damper along a line takes off the rate of its length, ṙ = J v, by ṗ = −Jᵀ c J M⁻¹ p. With a = J M⁻¹ Jᵀ, what a unit
impulse along the line does to that rate, ṙ decays as exp(−c a t): solved exactly, by the impulse
(1 − exp(−c a t)) ṙ / a at either end. So the energy never grows, no damping makes the rate change its sign, and the
momentum is kept, as the two impulses balance. In a step, damping stands between the impulses of potentials and the
motion, the dampers one by one, after the motion in the opposite order: a symmetric composition, of second order, and of
a higher one in composed steps. Each damper takes two solves with the mass matrix, O(n). What it takes of the kinetic
energy, P (ṙ − ½ a P) by an impulse P, goes to the ledger.

With closed loops M⁻¹ p is the velocity that opens none: M v − Aᵀ μ = p, A v = 0. That of p alone lacks the rows' half
of an impulse at the node, so it is off by O(h), always to the same side.
"""

from math import exp

from numba.extending import overload

from ..constraints.closed import set_rhs, told_of
from ..constraints.elimination import down as down_with_rows, up as up_with_rows
from ..constraints.filling import rows_at_node
from ..constraints.projection import FAILED, factor_node
from ..machine.jit import INNER, kernel
from ..machine.memory import link
from ..machine.simd import COMPILED, below, choose, less, number
from ..maths.vec3 import NONE, cross, neg
from ..momentum import drop_momenta
from ..record import DAMPING
from ..sweep import down, factor_mass, up
from .points import Line, pull, separation
from .seam import tried_damper, verbs_of

SMALL = 1e-4  # of the exponent, below which 1 − exp(−x) is a polynomial


@kernel
def eliminate(tree, w, c):
    """Begin a solve for the right-hand side that the links and joints have. Needs factored()."""
    if c is None:
        up(tree, w, w, None)
    else:
        set_rhs(c, 0.0)
        up_with_rows(tree, w, c)


@kernel
def rate_of(tree, w, c, line):
    """Rate of the length of a line by the solve that has begun, m/s."""
    if c is None:
        down(tree, w, w, None, None, None)
    else:
        down_with_rows(tree, w, c, None, None)
    return separation(line, link(w, line.on).answer, link(w, line.other).answer)


@kernel
def unit_pull(tree, w, c, line):
    """Begin a solve for a unit impulse that drives the ends of a line apart."""
    on, other, arm, other_arm, way = line
    for i in range(tree.n):
        L = link(w, i)
        L.wrench = NONE
        L.tau6 = NONE
    if on < tree.n:
        link(w, on).wrench = cross(arm, way), way
    if other < tree.n:
        link(w, other).wrench = neg(cross(other_arm, way)), neg(way)
    eliminate(tree, w, c)


@kernel
def relieve(damper, table, tree, w, c, k, h):
    """Let damper k act for a time h. Gives the energy that it takes, J. Needs factored()."""
    on, other, arm, other_arm, way, coefficient = damper(table, w, k)
    line = Line(on, other, arm, other_arm, way)
    drop_momenta(tree, w)
    eliminate(tree, w, c)
    rate = rate_of(tree, w, c, line)
    unit_pull(tree, w, c, line)
    mobility = rate_of(tree, w, c, line)
    x = coefficient * h * mobility
    small = less(abs(x), SMALL)
    taken = choose(small, coefficient * h * (1.0 - x * (0.5 - x / 6.0)), (1.0 - exp(-x)) / choose(small, 1.0, mobility))
    pull(tree, w, line, taken * rate)
    return taken * rate * rate * (1.0 - 0.5 * mobility * taken)


@kernel
def relieve_all(damper, table, tree, w, c, h, last_first):
    """Let all dampers of a table act, one after the other. Gives the energy that they take, J."""
    count, energy = len(table[0]), number(w, 0.0)
    for j in range(count):
        energy += relieve(damper, table, tree, w, c, count - 1 - j if last_first else j, h)
    return energy


@kernel
def note_rates(damper, table, tree, w, out):
    """Write c a, 1/s, of every damper of a table to ``out``. Needs factor_mass(tree, w, 0)."""
    for k in range(len(table[0])):
        on, other, arm, other_arm, way, coefficient = damper(table, w, k)
        line = Line(on, other, arm, other_arm, way)
        unit_pull(tree, w, None, line)
        out[k] = coefficient * rate_of(tree, w, None, line)


@kernel
def factored(tree, state, c):
    """Factor the mass matrix of the node, with its rows if it has some; else only if it is not factored."""
    if c is not None:
        rows_at_node(tree, state.w, c)
        _, lost = factor_node(tree, state.w, c)
        if lost:
            told_of(c)[FAILED] = 1.0
        state.factored[0] = 0.0
    elif below(state.factored[0], 0.5):
        factor_mass(tree, state.w, 0.0)
        state.factored[0] = 1.0


def damped(elements):
    """Whether a table has dampers."""
    return any(verbs_of(type(table))[2] for table in elements)


def walk_dampers(elements, tree, w, c, h, last_first):
    energy = 0.0
    for table in elements[::-1] if last_first else elements:
        if verbs_of(type(table))[2]:
            energy += relieve_all(verbs_of(type(table))[2], table, tree, w, c, h, last_first)
    return energy


def damp(elements, tree, state, c, h, last_first):
    """Let all dampers act for a time h, in the order of the tables or in the opposite one, on a tree with the rows c or
    without (None). Without, it leaves the mass matrix factored; with, FAILED is told where that failed. Needs
    place()."""
    if damped(elements):
        factored(tree, state, c)
        state.ledger[DAMPING] += walk_dampers(elements, tree, state.w, c, h, last_first)


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
        damper = tried_damper(elements[0], w)
        if damper is None:
            return lambda elements, tree, w, out, t: decay_rates(elements[1:], tree, w, out, t + 1)

        def walk(elements, tree, w, out, t):
            note_rates(damper, elements[0], tree, w, out[t])
            decay_rates(elements[1:], tree, w, out, t + 1)

        return walk

    @overload(walk_dampers, jit_options=INNER)
    def _walk_dampers(elements, tree, w, c, h, last_first):
        if len(elements) == 0:
            return lambda elements, tree, w, c, h, last_first: number(w, 0.0)
        damper = tried_damper(elements[0], w)
        if damper is None:
            return lambda elements, tree, w, c, h, last_first: walk_dampers(elements[1:], tree, w, c, h, last_first)

        def walk(elements, tree, w, c, h, last_first):
            energy = number(w, 0.0)
            if last_first:
                energy += walk_dampers(elements[1:], tree, w, c, h, last_first)
            energy += relieve_all(damper, elements[0], tree, w, c, h, last_first)
            if not last_first:
                energy += walk_dampers(elements[1:], tree, w, c, h, last_first)
            return energy

        return walk

    @overload(damp, jit_options=INNER)
    def _damp(elements, tree, state, c, h, last_first):
        if not any(verbs_of(table.instance_class)[2] for table in elements):
            return lambda elements, tree, state, c, h, last_first: None

        def act(elements, tree, state, c, h, last_first):
            factored(tree, state, c)
            state.ledger[DAMPING] += walk_dampers(elements, tree, state.w, c, h, last_first)

        return act
