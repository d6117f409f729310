"""Which joints are held: every one that is must be pushed by its limit, and no other one may approach its own.

That is a linear complementarity problem with a positive definite matrix (the inverse mass matrix at the joints in
question), which is never formed: to try a set of held joints means to lock them and to solve once, O(n). All joints
that are wrong change sides at once; if that does not help soon, one at a time, the first by number, which is sure to
end (K. G. Murty 1974; J. J. Júdice and F. M. Pires 1994).
"""

from ..joints import dispatch as joint
from ..machine.jit import kernel, part
from ..machine.memory import link
from .coordinates import acceleration, rate
from .reactions import accelerations, holding
from .solves import rows_of, velocity
from .table import HELD, RECOVERING, UNLOCKED, tolerance

PATIENCE = 3  # trials in which all change sides though that does not help
MOST = 200  # trials, and ten more for every joint


@kernel
def sticks(method, state, r, k):
    """Whether joint k, of row r, is held by dry friction, and not by a limit."""
    return method.rows.friction[r] > 0.0 and state.slip[k] == 0.0 and state.locks[k] == UNLOCKED


@kernel
def put_locks(method, system, state, moving):
    """Lock the joints that are held at a limit or stick; and while they are ``moving``, those that come back to one
    at a given rate."""
    tree = system.tree
    for r in range(method.count):
        i = method.rows.link[r]
        k = tree.iv[i]
        held = abs(state.locks[k]) == HELD or (moving and state.locks[k] != 0.0) or sticks(method, state, r, k)
        free = 0.0 if held else 1.0
        if link(state.w, i).free != free:
            link(state.w, i).free = free
            state.factored[0] = 0.0
        if abs(state.locks[k]) != RECOVERING:
            joint.set_free(tree.kind[i], link(state.w, i))


@part
def solve_held(method, system, state, held, scratch, forces, out):
    """Lock the joints that are marked as held, and those that stick if it is about ``forces``. Gives their velocities
    or accelerations in out, and in push what holds each joint that is held, or how fast the others move."""
    tree, w = system.tree, state.w
    for r in range(method.count):
        i = method.rows.link[r]
        stuck = forces and sticks(method, state, r, tree.iv[i])
        link(w, i).free = 0.0 if scratch.held[r] != 0.0 or stuck else 1.0
    state.factored[0] = 0.0
    if forces:
        accelerations(method, system, state, held, scratch, out)
    else:
        velocity(rows_of(method.base), tree, state, out)
    for r in range(method.count):
        i = method.rows.link[r]
        if scratch.held[r] != 0.0:
            scratch.push[r] = holding(tree, w, i)
        else:
            scratch.push[r] = acceleration(tree, state, i, out) if forces else rate(tree, state, i, out)


@kernel
def slack(method, state, r, h, forces):
    """How little a joint of row r may be pulled, or approach, without being wrong: it would move by less than the
    tolerance in a step. Gives an acceleration or a velocity."""
    small = tolerance(min(abs(method.rows.low[r]), abs(method.rows.high[r])))
    return min(2.0 * small / (h * h), 1e-8) if forces else small / abs(h)


@part
def exchange(method, system, state, held, scratch, forces, h, out):
    """Find which candidates are held, starting from those that are marked as held. Gives whether that was found."""
    w, least, patience = state.w, method.count + 1, PATIENCE
    way = 1.0 if forces or h > 0.0 else -1.0  # back in time, what approaches is what leaves
    for _ in range(MOST + 10 * method.count):
        solve_held(method, system, state, held, scratch, forces, out)
        wrong, first = 0, -1
        for r in range(method.count):
            if scratch.candidate[r] == 0.0:
                continue
            allowed = slack(method, state, r, h, forces)
            if scratch.held[r] != 0.0:
                allowed *= link(w, method.rows.link[r]).pivot
            if -way * scratch.side[r] * scratch.push[r] < -allowed:
                wrong += 1
                first = r if first < 0 else first
        if wrong == 0:
            return True
        patience = PATIENCE if wrong < least else patience - 1
        least = min(least, wrong)
        for r in range(method.count):
            if scratch.candidate[r] == 0.0 or (patience < 0 and r != first):
                continue
            allowed = slack(method, state, r, h, forces)
            if scratch.held[r] != 0.0:
                allowed *= link(w, method.rows.link[r]).pivot
            if -way * scratch.side[r] * scratch.push[r] < -allowed:
                scratch.held[r] = 1.0 - scratch.held[r]
    return False
