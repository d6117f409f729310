"""What explicit methods have in common: v̇ = ABA(q, v), and configurations that move by q ⊕ ε (Munthe-Kaas).

So no joint needs a chart, and no quaternion leaves its sphere: a method integrates (ε, v) from (0, v₀) with

    ε̇ = dlog₋ε v,   v̇ = a(q₀ ⊕ ε, v)

and q₁ = q₀ ⊕ ε₁. Its file has the step alone; explicit_method() adds the verbs below.
"""

from collections import namedtuple

from ..aba import aba
from ..constraints.dynamics import acceleration
from ..constraints.filling import rows_at_node
from ..constraints.projection import factor_node
from ..elements import set_time
from ..joints import dispatch as joint
from ..joints import move_by
from ..kinematics import place
from ..layout import Made
from ..machine.columns import matrix_row
from ..machine.jit import kernel, part
from ..machine.memory import clear, copy
from ..methods import method
from ..momentum import generalized_momentum, momentum_of
from ..node import enter_node, potential_energy
from ..rnea import kinetic_energy

# Where rates are asked: at the time t, at q = q0 ⊕ epsilon, which is set, and v; and where they go: rate, ε̇, and a, v̇
Stage = namedtuple("Stage", "t q0 epsilon v q rate a")


@kernel
def increment_rate(tree, epsilon, v, out):
    """Rate of ε when q ⊕ ε moves with velocity v: dlog_{−ε} v, joint by joint."""
    for i in range(tree.n):
        joint.increment_rate(tree.kind[i], epsilon, v, out, tree.iv[i])


@kernel
def rates(system, state, held, at, c):
    """Set ε̇ and v̇ of a stage; of a model with rows (c is not None), so that A v stays zero. Gives whether their
    elimination failed."""
    tree = system.tree
    copy(at.q0, at.q, tree.nq)
    move_by(tree, at.q, at.epsilon)
    increment_rate(tree, at.epsilon, at.v, at.rate)
    return accelerate(system, state.w, held, at, c)


@kernel
def accelerate(system, w, held, at, c):
    """Set v̇ of a stage whose q is known, as rates()."""
    tree = system.tree
    set_time(system.elements, tree, w, at.t)
    if c is None:
        aba(system, w, at.q, at.v, held, at.a)
        return False
    enter_node(system, w, at.q)
    rows_at_node(tree, w, c)
    _, lost = factor_node(tree, w, c)
    acceleration(system, w, at.v, held, c, at.a)
    return lost


@kernel
def combine(row, stages, k, width, factor, out):
    """out = factor Σ_s row[s] k_s over the first stages."""
    clear(out, width)
    for s in range(stages):
        weight = factor * row[s]
        if weight != 0.0:
            rate = matrix_row(k, s, width)
            for j in range(width):
                out[j] += weight * rate[j]


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
    springs = enter_node(system, state.w, state.q)
    momentum_of(system.tree, state.w, state.v)
    kinetic = kinetic_energy(system.tree, state.w, state.v)
    return 2.0 * kinetic, kinetic + potential_energy(system, state.w, springs)


@kernel
def trouble(method, state, made, twice, energy, looked_before):
    """The step is as long as the method says."""
    return 0.0


@kernel
def keep_velocity(tree, state):
    """Keep the velocity of the node, so that a failed step can come back to it; the loop has kept q."""
    copy(state.v, state.straight, tree.nv)


@part
def undo(method, system, state):
    """Come back to the node before the step."""
    tree = system.tree
    copy(state.saved_q, state.q, tree.nq)
    copy(state.straight, state.v, tree.nv)
    place(tree, state.w, state.q)
    momentum_of(tree, state.w, state.v)
    generalized_momentum(tree, state.w, state.v, state.p)


@kernel
def after_look(method, system, state, kept):
    """The generalized momentum, of a node that is kept."""
    if kept:
        generalized_momentum(system.tree, state.w, state.v, state.p)


def explicit_method(kind, advance, undo=undo):
    """Teach the loop an explicit method by its step, ``advance``. That calls keep_velocity() first, sets q and v of the
    node, and gives made() of the number of evaluations of the dynamics."""
    method(kind, begin, advance, look, trouble, undo, after_look)
