"""What happens at a node where joints touch their limits: impacts, then which joints stay there.

Impact law (Poisson): the impulses that bring all approaching joints to rest at once, and e times as much again on the
way out; repeated while some joint still approaches. With e = 1 the energy is kept exactly, with equal e it never rises.
"""

from ..machine.jit import kernel, part
from ..machine.memory import clear, link
from ..node import arrive
from ..record import LIMITS
from .pivots import exchange, put_locks, slack, solve_held
from .recovery import settle
from .solves import reach, rows_of, velocity
from .table import FREE, FRICTION, HELD, HIGH, LINK, LOW, RECOVERING, RESTITUTION, WIDTH, tolerance

MOST = 200  # impacts in a row at one node
SLOW = 8.0  # times the least speed that counts


@kernel
def gap(method, tree, state, r):
    """Distance of row r to the nearer of its limits; negative beyond it."""
    x = state.q[tree.iq[int(method.rows[WIDTH * r + LINK])]]
    return min(x - method.rows[WIDTH * r + LOW], method.rows[WIDTH * r + HIGH] - x)


@kernel
def nearer(method, tree, state, r):
    """−1 if the low limit of row r is the nearer one, else 1."""
    x = state.q[tree.iq[int(method.rows[WIDTH * r + LINK])]]
    return -1.0 if x - method.rows[WIDTH * r + LOW] < method.rows[WIDTH * r + HIGH] - x else 1.0


@kernel
def welded(method, r):
    """Whether the limits of row r leave it no way at all."""
    return method.rows[WIDTH * r + LOW] == method.rows[WIDTH * r + HIGH]


@kernel
def bound(method, r, side):
    """The limit of row r on this side."""
    return method.rows[WIDTH * r + (LOW if side < 0.0 else HIGH)]


@part
def touch(method, system, state, desk):
    """Mark the joints that are at a limit, and put them there exactly. Gives the energy of springs."""
    tree = system.tree
    for r in range(method.count):
        i = int(method.rows[WIDTH * r + LINK])
        at, side = tree.iq[i], nearer(method, tree, state, r)
        limit, far = bound(method, r, side), abs(gap(method, tree, state, r))
        desk.side[r] = side if far <= reach(rows_of(method.base), limit) else 0.0
        if abs(state.locks[tree.iv[i]]) == HELD:
            desk.side[r] = state.locks[tree.iv[i]]
        if far <= 4.0 * tolerance(limit):
            state.q[at], state.low[at] = limit, 0.0
    state.factored[0] = 0.0
    return arrive(system, state.w, state.q)


@kernel
def approaching(method, state, desk, r, v, h):
    """Whether a joint that touches its limit moves towards it."""
    toward = abs(v) if welded(method, r) else (desk.side[r] * v if h > 0.0 else -desk.side[r] * v)
    return desk.side[r] != 0.0 and toward > slack(method, state, r, h, False)


@part
def choose_bounces(method, system, state, held, desk, h):
    """Set the restitution of every row that touches: none where the joint would be back within a step, as it comes
    more slowly than half a step of its own free acceleration would make it."""
    tree, any_ = system.tree, False
    for r in range(method.count):
        desk.bounce[r] = method.rows[WIDTH * r + RESTITUTION]
        i = int(method.rows[WIDTH * r + LINK])
        desk.held[r] = 1.0 if abs(state.locks[tree.iv[i]]) == HELD else 0.0
        any_ = any_ or (desk.bounce[r] > 0.0 and desk.side[r] != 0.0)
    if not any_:
        return
    solve_held(method, system, state, held, desk, True, desk.a)
    for r in range(method.count):
        if desk.side[r] == 0.0:
            continue
        toward = desk.side[r] * desk.push[r] if desk.held[r] == 0.0 else -desk.side[r] * desk.push[r]
        if desk.held[r] != 0.0 or welded(method, r) or abs(desk.speed[r]) < 0.5 * abs(h) * toward:
            desk.bounce[r] = 0.0


@part
def collide(method, system, state, held, desk, h):
    """Let the joints that touch their limits bounce or stop, until none approaches. Dry friction does not resist it:
    sticking joints may be knocked loose. Gives whether there was an impact, and whether it was found."""
    tree, first = system.tree, True
    put_locks(method, system, state, False)
    velocity(rows_of(method.base), tree, state, state.v)
    hit = False
    for r in range(method.count):  # one that comes no faster than SLOW is held, if it is not let go
        k = tree.iv[int(method.rows[WIDTH * r + LINK])]
        hit = hit or (state.locks[k] == FREE and approaching(method, state, desk, r, state.v[k], h / SLOW))
    if not hit:
        return False, True
    for _ in range(MOST):
        for r in range(method.count):
            desk.held[r] = 0.0
            desk.candidate[r] = 1.0 if desk.side[r] != 0.0 and not welded(method, r) else 0.0
        solve_held(method, system, state, held, desk, False, state.v)
        going = False
        for r in range(method.count):
            desk.speed[r] = desk.push[r]
            going = going or approaching(method, state, desk, r, desk.push[r], h)
        if not going:
            return True, True
        if first:
            choose_bounces(method, system, state, held, desk, h)
            first = False
        for r in range(method.count):
            held_there = desk.side[r] != 0.0 and welded(method, r)
            desk.held[r] = 1.0 if held_there or approaching(method, state, desk, r, desk.speed[r], h) else 0.0
        if not exchange(method, system, state, held, desk, False, h, desk.a):
            return True, False
        give_impulses(method, system, state, desk)
    return True, False


@part
def give_impulses(method, system, state, desk):
    """Give every held joint the impulse that stops it, and its restitution as much again; and write down its work."""
    tree, w = system.tree, state.w
    for r in range(method.count):
        i = int(method.rows[WIDTH * r + LINK])
        desk.push[r] = (1.0 + desk.bounce[r]) * desk.push[r] if desk.held[r] != 0.0 else 0.0
        link(w, i).joint_momentum += desk.push[r]
        state.impulse[tree.iv[i]] += desk.push[r]
        link(w, i).free = 1.0
    state.factored[0] = 0.0
    velocity(rows_of(method.base), tree, state, state.v)
    for r in range(method.count):
        v = state.v[tree.iv[int(method.rows[WIDTH * r + LINK])]]
        state.ledger[LIMITS] -= 0.5 * (desk.speed[r] + v) * desk.push[r]


@part
def resolve(method, system, state, held, desk, h, released, pinned):
    """Bring a node where joints touch their limits to rest or let them bounce: which joints are held from here on. Row
    ``released`` is let go first, and row ``pinned`` is held if nothing has hit a limit, unless they are −1. Gives
    whether that was found, the energy of springs, and the row that is pinned."""
    tree = system.tree
    springs = touch(method, system, state, desk)
    hit, found = collide(method, system, state, held, desk, h)
    if hit:  # what could not leave its limit before may do so now
        pinned = -1
        clear(desk.pinned, method.count)
    for r in range(method.count):
        k = tree.iv[int(method.rows[WIDTH * r + LINK])]
        slow = abs(state.v[k]) <= SLOW * slack(method, state, r, h, False)
        fixed = r == pinned or (desk.side[r] != 0.0 and (desk.pinned[r] != 0.0 or welded(method, r)))
        desk.candidate[r] = 1.0 if desk.side[r] != 0.0 and slow and not fixed else 0.0
        desk.held[r] = 1.0 if (desk.candidate[r] != 0.0 and r != released) or fixed else 0.0
        if hit and method.rows[WIDTH * r + FRICTION] > 0.0:
            state.slip[k] = 0.0 if slow else (1.0 if state.v[k] > 0.0 else -1.0)
    found = exchange(method, system, state, held, desk, True, h, desk.a) and found
    for r in range(method.count):
        k = tree.iv[int(method.rows[WIDTH * r + LINK])]
        if abs(state.locks[k]) != RECOVERING:
            state.locks[k] = desk.side[r] if desk.held[r] != 0.0 else FREE
    put_locks(method, system, state, False)
    settle(method, system, state, desk)
    state.known[0] = 0.0
    return found, springs, pinned


@part
def stop_all(method, system, state, held, desk, h):
    """Bring all joints that touch their limits to rest, where they stay for the rest of the step, whatever pulls them.
    It takes energy only. Gives the energy of springs."""
    tree = system.tree
    springs = touch(method, system, state, desk)
    put_locks(method, system, state, False)
    velocity(rows_of(method.base), tree, state, state.v)
    for r in range(method.count):
        desk.speed[r] = state.v[tree.iv[int(method.rows[WIDTH * r + LINK])]]
        desk.held[r], desk.bounce[r] = abs(desk.side[r]), 0.0
        desk.pinned[r] = desk.held[r]
    solve_held(method, system, state, held, desk, False, desk.a)
    give_impulses(method, system, state, desk)
    for r in range(method.count):
        k = tree.iv[int(method.rows[WIDTH * r + LINK])]
        if abs(state.locks[k]) != RECOVERING or desk.side[r] != 0.0:
            state.locks[k] = desk.side[r]
        if method.rows[WIDTH * r + FRICTION] > 0.0:
            slow = abs(state.v[k]) <= SLOW * slack(method, state, r, h, False)
            state.slip[k] = 0.0 if slow else (1.0 if state.v[k] > 0.0 else -1.0)
    put_locks(method, system, state, False)
    settle(method, system, state, desk)
    state.known[0] = 0.0
    return springs
