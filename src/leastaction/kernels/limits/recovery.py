"""Joints that start beyond a limit come back to it at a slow, constant rate, unless they move back faster themselves.

Such a joint moves as prescribed: in the step it is locked, its increment being that of its rate. So it pushes only what
it is hung on: the momentum of a floating mechanism does not change. The work of that push is the entry RECOVERY of the
ledger.
"""

from ..joints import dispatch as joint
from ..kinematics import inertia_times
from ..layout import BALL
from ..machine.jit import kernel, part
from ..machine.memory import clear, link
from ..maths.vec3 import sub
from ..record import RECOVERY
from ..constraints.held import gives_way
from ..rnea import velocities
from .coordinates import along, coordinate, hand_over, push, rate
from .pivots import put_locks, solve_held
from .reactions import holding, keep_momenta, put_momenta
from .solves import put_reactions, reach, rows_of, velocity, velocity_beside
from .table import HELD, RECOVERING, UNLOCKED

RATE = 0.2  # rad/s or m/s at which a joint comes back


@kernel
def recovering(method, tree, state):
    """Whether some joint is on its way back to a limit."""
    for r in range(method.count):
        if abs(state.locks[tree.iv[method.rows.link[r]]]) == RECOVERING:
            return True
    return False


@kernel
def beyond(method, tree, state, r):
    """How far row r is beyond a limit, and on which side; zero if it is not."""
    x, c = coordinate(tree, state.q, method.rows.link[r]), rows_of(method.base)
    low, high = method.rows.low[r], method.rows.high[r]
    if x < low - reach(c, low):
        return low - x, -1.0
    return (x - high, 1.0) if x > high + reach(c, high) else (0.0, 0.0)


@part
def node_velocity(method, system, state, scratch, out):
    """Velocity of the node by its momenta: joints that are held do not move, and those on their way back have their
    rates, which are in state.v. holding() then gives what that takes. Leaves the latter locked."""
    tree, w, c, rates = system.tree, state.w, rows_of(method.base), state.straight
    if not recovering(method, tree, state):
        velocity(c, tree, state, out)
        return
    clear(rates, tree.nv)  # M v = p + impulse, v being given at some joints: take their motion from p, and lock them
    for r in range(method.count):
        i = method.rows.link[r]
        k = tree.iv[i]
        if abs(state.locks[k]) == RECOVERING:
            rates[k] = joint.prescribed(tree.kind[i], state.v, k)
    keep_momenta(tree, w, scratch.aside)
    velocities(tree, w, rates)
    for i in range(tree.n):
        L = link(w, i)
        (m, f), (turn, move) = L.momentum, L.twist
        own_m, own_f = inertia_times(L, L.mass, turn, move)
        L.momentum = sub(m, own_m), sub(f, own_f)
        if rates[tree.iv[i]] != 0.0:  # a SCREW joint
            L.joint_momentum -= L.armature * rates[tree.iv[i]]
    put_locks(method, system, state, True)
    velocity_beside(c, tree, state, rates, out)
    put_momenta(tree, w, scratch.aside)
    for k in range(tree.nv):
        out[k] += rates[k]


@part
def settle(method, system, state, scratch):
    """Know the velocity of the node, joints on their way back having their rates, which are in state.v; and give the
    joints that are held or driven the momentum that belongs to it. Leaves the locks of a node."""
    tree, w, c = system.tree, state.w, rows_of(method.base)
    node_velocity(method, system, state, scratch, state.v)
    put_reactions(c, tree, w)
    again = False
    for i in range(tree.n):
        if link(w, i).free == 0.0:
            push(tree, state, i, holding(tree, w, i), 2 * tree.nv)
            again = again or tree.kind[i] == BALL
    if again:  # to round-off a BALL joint feels what it was given: be as a look at this node will find it
        node_velocity(method, system, state, scratch, state.v)
    if recovering(method, tree, state):
        put_locks(method, system, state, False)


@part
def drive(method, system, state, scratch):
    """Give the joints that are marked as held the rates in push, at once; their work goes to the ledger."""
    tree = system.tree
    for r in range(method.count):
        i = method.rows.link[r]
        k = tree.iv[i]
        scratch.speed[r] = rate(tree, state, i, state.v)
        if scratch.held[r] != 0.0:
            state.locks[k] = RECOVERING * scratch.side[r]
            joint.prescribe(tree.kind[i], link(state.w, i), state.v, k, scratch.push[r])
            state.slip[k] = -scratch.side[r] if scratch.push[r] != 0.0 else 0.0  # its friction resists that
    settle(method, system, state, scratch)
    for r in range(method.count):
        i = method.rows.link[r]
        impulse = along(tree, state.q, i, state.impulse, 2 * tree.nv + tree.iv[i])
        hand_over(tree, state, i, 0)
        if scratch.held[r] != 0.0:
            state.ledger[RECOVERY] -= 0.5 * (scratch.speed[r] + scratch.push[r]) * impulse


@kernel
def part_with(c, method, system, state, scratch):
    """Drive no joint that rows take along with others which are driven, and hold none of those at its limit."""
    if c is not None:
        tree = system.tree
        for r in range(method.count):
            link(state.w, method.rows.link[r]).free = 1.0
        for driven in (True, False):
            for r in range(method.count):
                i = method.rows.link[r]
                k = tree.iv[i]
                if (scratch.held[r] != 0.0) if driven else abs(state.locks[k]) == HELD:
                    if gives_way(tree, state, c, i):
                        link(state.w, i).free = 0.0
                    else:
                        scratch.held[r], state.locks[k] = 0.0, UNLOCKED


@part
def recover(method, system, state, held, scratch, h):
    """At the beginning of a step: choose which joints are driven back to their limits, and how fast. One that would be
    held back by it goes free. Gives whether there are joints beyond their limits, or just back."""
    tree, any_ = system.tree, False
    for r in range(method.count):
        far, _ = beyond(method, tree, state, r)
        any_ = any_ or far > 0.0 or abs(state.locks[tree.iv[method.rows.link[r]]]) == RECOVERING
    if not any_:
        return False
    any_ = False
    node_velocity(method, system, state, scratch, state.v)  # else it is that of the last node that was looked at
    put_locks(method, system, state, False)
    for r in range(method.count):
        k, v = tree.iv[method.rows.link[r]], rate(tree, state, method.rows.link[r], state.v)
        far, side = beyond(method, tree, state, r)
        was = abs(state.locks[k]) == RECOVERING
        back = min(RATE, far / h)
        scratch.held[r] = 1.0 if (was or (far > 0.0 and -side * v < back)) and h > 0.0 else 0.0
        scratch.side[r] = side if far > 0.0 else (0.5 * state.locks[k] if was else 0.0)
        scratch.begin[r] = -scratch.side[r] * back
        any_ = any_ or scratch.held[r] != 0.0
    if not any_:
        return False
    part_with(rows_of(method.base), method, system, state, scratch)
    for r in range(method.count):  # one that is held at its limit stays so
        k = tree.iv[method.rows.link[r]]
        scratch.candidate[r] = scratch.held[r]
        scratch.held[r] = 1.0 if state.locks[k] != UNLOCKED else scratch.held[r]
    solve_held(method, system, state, held, scratch, True, scratch.a)
    for r in range(method.count):
        k, v = tree.iv[method.rows.link[r]], rate(tree, state, method.rows.link[r], state.v)
        scratch.held[r] = scratch.candidate[r]
        side = scratch.side[r]
        pulled = -side * scratch.push[r] < 0.0 and -side * v >= 0.999 * abs(scratch.begin[r])
        if scratch.held[r] != 0.0 and pulled and scratch.begin[r] != 0.0:
            scratch.held[r] = 0.0
            state.locks[k] = UNLOCKED
        scratch.push[r] = scratch.begin[r]
    put_locks(method, system, state, False)
    drive(method, system, state, scratch)
    for r in range(method.count):  # one that is back comes to rest there; whether it stays, resolve() finds
        k = tree.iv[method.rows.link[r]]
        if scratch.held[r] != 0.0 and scratch.push[r] == 0.0:
            state.locks[k] = UNLOCKED
    return True
