"""What happens at a node where joints touch their limits: impacts, then which joints stay there.

Impact law (Poisson): the impulses λ that bring all approaching joints to rest at once, and e times as much again on the
way out; repeated while some joint still approaches. With W the inverse mass matrix at these joints, and E that of their
e, the kinetic energy changes by ½ (|Eλ|² − |λ|²), |x|² being xᵀWx. With e = 1 it is kept, with equal e it never rises.
With unequal e it might; then the way out is shortened to what the way in has stored.
"""

from math import sqrt

from ..machine.jit import kernel, part
from ..machine.memory import clear, link
from ..node import enter_node
from ..record import LIMITS
from .coordinates import coordinate, push, put_at, rate
from .pivots import exchange, put_locks, slack, solve_held
from .recovery import settle
from .solves import reach, rows_of, velocity
from .table import HELD, RECOVERING, UNLOCKED, tolerance

MOST = 200  # impacts in a row at one node
SLOW = 8.0  # times the least speed that counts


@kernel
def gap(method, tree, state, r):
    """Distance of row r to the nearer of its limits; negative beyond it."""
    x = coordinate(tree, state.q, method.rows.link[r])
    return min(x - method.rows.low[r], method.rows.high[r] - x)


@kernel
def nearer(method, tree, state, r):
    """−1 if the low limit of row r is the nearer one, else 1."""
    x = coordinate(tree, state.q, method.rows.link[r])
    return -1.0 if x - method.rows.low[r] < method.rows.high[r] - x else 1.0


@kernel
def welded(method, r):
    """Whether the limits of row r leave it no way at all."""
    return method.rows.low[r] == method.rows.high[r]


@kernel
def bound(method, r, side):
    """The limit of row r on this side."""
    return method.rows.low[r] if side < 0.0 else method.rows.high[r]


@part
def touch(method, system, state, scratch):
    """Mark the joints that are at a limit, and put them there exactly. Gives the energy of springs."""
    tree = system.tree
    for r in range(method.count):
        i = method.rows.link[r]
        side = nearer(method, tree, state, r)
        limit, far = bound(method, r, side), abs(gap(method, tree, state, r))
        scratch.side[r] = side if far <= reach(rows_of(method.base), limit) else 0.0
        if abs(state.locks[tree.iv[i]]) == HELD:
            scratch.side[r] = state.locks[tree.iv[i]]
        if far <= 4.0 * tolerance(limit):
            put_at(tree, state, i, limit)
    state.factored[0] = 0.0
    return enter_node(system, state.w, state.q)


@kernel
def approaching(method, state, scratch, r, v, h):
    """Whether a joint that touches its limit moves towards it."""
    toward = abs(v) if welded(method, r) else (scratch.side[r] * v if h > 0.0 else -scratch.side[r] * v)
    return scratch.side[r] != 0.0 and toward > slack(method, state, r, h, False)


@part
def choose_bounces(method, system, state, held, scratch, h):
    """Set the restitution of every row that touches: none where the joint would be back within a step, as it comes
    more slowly than half a step of its own free acceleration would make it."""
    tree, any_ = system.tree, False
    for r in range(method.count):
        scratch.bounce[r] = method.rows.restitution[r]
        i = method.rows.link[r]
        scratch.held[r] = 1.0 if abs(state.locks[tree.iv[i]]) == HELD else 0.0
        any_ = any_ or (scratch.bounce[r] > 0.0 and scratch.side[r] != 0.0)
    if not any_:
        return
    solve_held(method, system, state, held, scratch, True, scratch.a)
    for r in range(method.count):
        if scratch.side[r] == 0.0:
            continue
        toward = scratch.side[r] * scratch.push[r] if scratch.held[r] == 0.0 else -scratch.side[r] * scratch.push[r]
        if scratch.held[r] != 0.0 or welded(method, r) or abs(scratch.speed[r]) < 0.5 * abs(h) * toward:
            scratch.bounce[r] = 0.0


@part
def collide(method, system, state, held, scratch, h):
    """Let the joints that touch their limits bounce or stop, until none approaches. Dry friction does not resist it:
    sticking joints may be knocked loose. Gives whether there was an impact, and whether it was found.

    repeat: find the velocities of all joints by their momenta. None that touches approaches: done. The first time,
        choose who bounces. Find which joints have to be stopped so that none approaches; give these their impulses

    The impulses are those of solve_held() for the joints that are locked; give_impulses() adds the way out, after which
    others may approach that did not before. Who comes too slowly to leave is stopped without a bounce.
    """
    tree, first = system.tree, True
    put_locks(method, system, state, False)
    velocity(rows_of(method.base), tree, state, state.v)
    hit = False
    for r in range(method.count):  # one that comes no faster than SLOW is held, if it is not let go
        i = method.rows.link[r]
        if state.locks[tree.iv[i]] == UNLOCKED:
            hit = hit or approaching(method, state, scratch, r, rate(tree, state, i, state.v), h / SLOW)
    if not hit:
        return False, True
    for _ in range(MOST):
        for r in range(method.count):
            scratch.held[r] = 0.0
            scratch.candidate[r] = 1.0 if scratch.side[r] != 0.0 and not welded(method, r) else 0.0
        solve_held(method, system, state, held, scratch, False, state.v)
        going = False
        for r in range(method.count):
            scratch.speed[r] = scratch.push[r]
            going = going or approaching(method, state, scratch, r, scratch.push[r], h)
        if not going:
            return True, True
        if first:
            choose_bounces(method, system, state, held, scratch, h)
            first = False
        for r in range(method.count):
            held_there = scratch.side[r] != 0.0 and welded(method, r)
            scratch.held[r] = 1.0 if held_there or approaching(method, state, scratch, r, scratch.speed[r], h) else 0.0
        if not exchange(method, system, state, held, scratch, False, h, scratch.a):
            return True, False
        give_impulses(method, system, state, scratch)
    return True, False


@kernel
def way_out(method, tree, state, scratch):
    """How much of their restitution the joints may get, 0 to 1, given their rates in state.v after all of it: what the
    way in has stored, −λ·v before, is no less than what the way out gives, Eλ·v after."""
    stored, given, least, most = 0.0, 0.0, 1.0, 0.0
    for r in range(method.count):
        if scratch.held[r] != 0.0:
            e = scratch.bounce[r]
            impulse, least, most = scratch.push[r] / (1.0 + e), min(least, e), max(most, e)
            stored -= impulse * scratch.speed[r]
            given += e * impulse * rate(tree, state, method.rows.link[r], state.v)
    return sqrt(max(stored, 0.0) / given) if least < most and given > stored else 1.0


@part
def give_impulses(method, system, state, scratch):
    """Give every held joint the impulse that stops it, and its restitution as much again; and write down its work."""
    tree, w = system.tree, state.w
    for r in range(method.count):
        i = method.rows.link[r]
        scratch.push[r] = (1.0 + scratch.bounce[r]) * scratch.push[r] if scratch.held[r] != 0.0 else 0.0
        push(tree, state, i, scratch.push[r], 0)
        link(w, i).free = 1.0
    state.factored[0] = 0.0
    velocity(rows_of(method.base), tree, state, state.v)
    part_ = way_out(method, tree, state, scratch)
    if part_ < 1.0:
        for r in range(method.count):
            less = (part_ - 1.0) * scratch.bounce[r] * scratch.push[r] / (1.0 + scratch.bounce[r])
            scratch.push[r] += less
            push(tree, state, method.rows.link[r], less, 0)
        velocity(rows_of(method.base), tree, state, state.v)
    for r in range(method.count):
        v = rate(tree, state, method.rows.link[r], state.v)
        state.ledger[LIMITS] -= 0.5 * (scratch.speed[r] + v) * scratch.push[r]


@part
def resolve(method, system, state, held, scratch, h, released, pinned):
    """Bring a node where joints touch their limits to rest or let them bounce: which joints are held from here on. Row
    ``released`` is let go first, and row ``pinned`` is held if nothing has hit a limit, unless they are −1. Gives
    whether that was found, the energy of springs, and the row that is pinned."""
    tree = system.tree
    springs = touch(method, system, state, scratch)
    hit, found = collide(method, system, state, held, scratch, h)
    if hit:  # what could not leave its limit before may do so now
        pinned = -1
        clear(scratch.pinned, method.count)
    for r in range(method.count):
        k, v = tree.iv[method.rows.link[r]], rate(tree, state, method.rows.link[r], state.v)
        slow = abs(v) <= SLOW * slack(method, state, r, h, False)
        fixed = r == pinned or (scratch.side[r] != 0.0 and (scratch.pinned[r] != 0.0 or welded(method, r)))
        scratch.candidate[r] = 1.0 if scratch.side[r] != 0.0 and slow and not fixed else 0.0
        scratch.held[r] = 1.0 if (scratch.candidate[r] != 0.0 and r != released) or fixed else 0.0
        if hit and method.rows.friction[r] > 0.0:
            state.slip[k] = 0.0 if slow else (1.0 if v > 0.0 else -1.0)
    found = exchange(method, system, state, held, scratch, True, h, scratch.a) and found
    for r in range(method.count):
        k = tree.iv[method.rows.link[r]]
        if abs(state.locks[k]) != RECOVERING:
            state.locks[k] = scratch.side[r] if scratch.held[r] != 0.0 else UNLOCKED
    put_locks(method, system, state, False)
    settle(method, system, state, scratch)
    state.known[0] = 0.0
    return found, springs, pinned


@part
def stop_all(method, system, state, held, scratch, h):
    """Bring all joints that touch their limits to rest, where they stay for the rest of the step, whatever pulls them.
    It takes energy only. Gives the energy of springs."""
    tree = system.tree
    springs = touch(method, system, state, scratch)
    put_locks(method, system, state, False)
    velocity(rows_of(method.base), tree, state, state.v)
    for r in range(method.count):
        scratch.speed[r] = rate(tree, state, method.rows.link[r], state.v)
        scratch.held[r], scratch.bounce[r] = abs(scratch.side[r]), 0.0
        scratch.pinned[r] = scratch.held[r]
    solve_held(method, system, state, held, scratch, False, scratch.a)
    give_impulses(method, system, state, scratch)
    for r in range(method.count):
        k = tree.iv[method.rows.link[r]]
        if abs(state.locks[k]) != RECOVERING or scratch.side[r] != 0.0:
            state.locks[k] = scratch.side[r]
        if method.rows.friction[r] > 0.0:
            slow = abs(state.v[k]) <= SLOW * slack(method, state, r, h, False)
            state.slip[k] = 0.0 if slow else (1.0 if state.v[k] > 0.0 else -1.0)
    put_locks(method, system, state, False)
    settle(method, system, state, scratch)
    state.known[0] = 0.0
    return springs
