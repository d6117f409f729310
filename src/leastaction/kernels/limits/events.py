"""When within a step a joint lands on a limit, or leaves one: located in time on the whole map of the step.

The map from the last node to a time in the step is the base method itself, with all its stages, so limits work at every
order. What is followed of a joint is how far it is from an event: of a free one the gap to its limit, of one that is
held the force by which it is.
"""

from ..machine.jit import kernel, part
from ..machine.memory import link
from .coordinates import along
from .friction import rubbing_step
from .impacts import bound, gap, nearer, welded
from .pivots import put_locks, slack
from .reactions import accelerations, holding
from .recovery import recovering, settle
from .restart import advance, back, begin_part
from .solves import reach, rows_of
from .table import HELD, UNLOCKED, tolerance

TRIALS = 100  # to locate an event


@kernel
def any_held(method, tree, state):
    """Whether some joint is held at a limit, or on its way back to one."""
    for r in range(method.count):
        if state.locks[tree.iv[method.rows.link[r]]] != UNLOCKED:
            return True
    return False


@part
def distances(method, system, state, held, scratch, h, first, out):
    """How far every row is from an event, negative after it. Needs settle() where joints are held. With dry friction,
    under which forces jump, joints are let go at the beginning of a step only: that is, if it is the ``first`` look."""
    tree, w = system.tree, state.w
    follow = method.rubbing == 0 or first
    if follow and any_held(method, tree, state):
        if recovering(method, tree, state):
            put_locks(method, system, state, True)
        accelerations(method, system, state, held, scratch, scratch.a)
    for r in range(method.count):
        i = method.rows.link[r]
        lock = state.locks[tree.iv[i]]
        if lock == UNLOCKED:
            out[r] = gap(method, tree, state, r)
        elif abs(lock) == HELD and follow and not welded(method, r):
            out[r] = slack(method, state, r, h, True) * link(w, i).pivot - lock * holding(tree, w, i)
        else:
            out[r] = 1.0
    if follow and recovering(method, tree, state):
        put_locks(method, system, state, False)


@kernel
def allowed(c, start):
    """How far beyond its limit a joint may stay that is held there by rows, as it was at the beginning."""
    return 0.0 if c is None else min(start, 0.0)


@kernel
def passed(method, state, scratch, r, least):
    """Whether row r is beyond an event by more than ``least`` tolerances, and it was not at the beginning."""
    if scratch.pinned[r] != 0.0:
        return False
    c, start = rows_of(method.base), scratch.begin[r]
    if start < -0.25 * reach(c, 0.0):  # it started beyond its limit
        return False
    small = tolerance(min(abs(method.rows.low[r]), abs(method.rows.high[r])))
    return scratch.end[r] < allowed(c, start) - least * small


@kernel
def most_urgent(method, state, scratch, least):
    """The row that passes an event first, by linear interpolation; −1 if none does."""
    chosen, soonest = -1, 2.0
    for r in range(method.count):
        if passed(method, state, scratch, r, least):
            start = max(scratch.begin[r], 0.0)
            at = start / (start - scratch.end[r])
            if at < soonest:
                chosen, soonest = r, at
    return chosen


@part
def move(method, system, state, held, scratch, k, h):
    """A step from the node, which need not end at one of the run: of the base method, with dry friction."""
    tree = system.tree
    if recovering(method, tree, state):
        put_locks(method, system, state, True)
    if method.rubbing > 0:
        return rubbing_step(method, system, state, held, scratch, k, h)
    made = advance(method, system, state, held, scratch, k, h)
    if made.status >= 0.0 and any_held(method, tree, state):
        settle(method, system, state, scratch)
    return made


@part
def attempt(method, system, state, held, scratch, k, h):
    """From the kept node to a time h later, and how far every row is from an event there."""
    back(system, state, scratch.node)
    begin_part(method, system, state, h)
    made = move(method, system, state, held, scratch, k, h)
    if made.status >= 0.0:
        distances(method, system, state, held, scratch, h, False, scratch.end)
    return made


@kernel
def first_trial(hi, start, rise, end):
    """Where the parabola that begins at ``start`` with the slope ``rise``, and is at ``end`` at hi, is zero."""
    b, c = rise * hi, end - start - rise * hi
    root = b * b - 4.0 * c * start
    if root < 0.0:
        return 0.5 * hi
    bottom = b + (root**0.5 if b >= 0.0 else -(root**0.5))
    one = -2.0 * start / bottom if bottom != 0.0 else 0.5
    other = -bottom / (2.0 * c) if c != 0.0 else 0.5
    if 0.0 < one < 1.0:
        return one * hi
    return other * hi if 0.0 < other < 1.0 else 0.5 * hi


@part
def locate(method, system, state, held, scratch, k, h, target, made):
    """Go from the kept node to the first event within a time h, at the end of which row ``target`` was found to be
    beyond one; ``made`` is what became of that step. Gives what became of the last trial, the fraction of h, and the
    row. The fraction is zero if the joint cannot leave its limit at all.

    repeat: guess a fraction: by a parabola through gap and rate at the node the first time, by the secant of the
        bracket (lo, hi) later (regula falsi, halving an end that stays: Illinois). Move there from the kept node.
        Another row is beyond an event by then: it came first, so go on with that one, from lo = 0. At the event to
        round-off: done. Else the trial is a new end of the bracket

    A joint that has just left its limit has a gap of zero at lo, too, and the root that counts is the one after it: the
    first trial is half way to where the parabola comes back, which is inside. Without a rate there is no such root.
    """
    tree, w = system.tree, state.w
    lo, hi, start, end, turned = 0.0, 1.0, scratch.begin[target], scratch.end[target], 0.0
    for trial in range(TRIALS):
        i = method.rows.link[target]
        free, side = state.locks[tree.iv[i]] == UNLOCKED, nearer(method, tree, state, target)
        small = tolerance(bound(method, target, side))
        # Of the gap over the whole time, at the rate of the kept node
        rise = -side * along(tree, scratch.node.q, i, scratch.node.v, tree.iv[i]) * h
        if lo == 0.0 and start <= 4.0 * small:
            if not free or rise * hi <= 4.0 * small:
                back(system, state, scratch.node)
                return made, 0.0, target
            at = 0.5 * hi * rise * hi / (rise * hi - end)
        elif trial == 0 and free:
            at = first_trial(hi, start, rise, end)
        else:
            at = (lo * end - hi * start) / (end - start)
        if not lo < at < hi:
            at = 0.5 * (lo + hi)
        made = attempt(method, system, state, held, scratch, k, at * h)
        if made.status < 0.0:
            return made, at, target
        urgent = most_urgent(method, state, scratch, 1.0)
        if urgent >= 0 and urgent != target and (scratch.end[target] > -small or lo > 0.0):
            target, lo, hi, start, end, turned = urgent, 0.0, at, scratch.begin[urgent], scratch.end[urgent], 0.0
            continue
        now = scratch.end[target]
        near = small if free else 0.1 * slack(method, state, target, h, True) * link(w, i).pivot
        if abs(now) <= near or hi - lo <= (1e-15 if free else 1e-12):
            return made, at, target
        if now < 0.0:
            hi, end = at, now
            start = 0.5 * start if turned < 0.0 else start
            turned = -1.0
        else:
            lo, start = at, now
            end = 0.5 * end if turned > 0.0 else end
            turned = 1.0
    return made, 0.5 * (lo + hi), target
