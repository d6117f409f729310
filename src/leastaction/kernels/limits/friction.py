"""Dry friction: a step whose joints stick or slide, second order in the step size.

Friction acts at either end of the step, by at most F h/2. A joint that sticks is locked, as long as the impulse that
holds it is within that bound; one that slides gets the whole of it, against its motion: at the start of the step
against its increment, at the end against its velocity. Which joints do what is found as in pivots.py, from what they
did last.
"""

from ..machine.jit import kernel, part
from ..machine.memory import copy, link
from ..record import DRY_FRICTION
from ..step import after_stage, nothing_yet
from .pivots import PATIENCE, put_locks
from .reactions import holding
from .recovery import node_velocity, settle
from .restart import advance, back, begin_part, crowded, keep_node
from .solves import rows_of
from .table import UNLOCKED

MOST = 100  # trials, and ten more for every joint
ROUND_OFF = 1e-13  # of the bound by which a joint that sticks may be held with more
SMALL = 1e-15  # rad or m: a motion that is none


@kernel
def rubs(method, tree, state, r):
    """Whether dry friction decides what the joint of row r does: no limit holds it."""
    k = tree.iv[method.rows.link[r]]
    return method.rows.friction[r] > 0.0 and state.locks[k] == UNLOCKED


@kernel
def rub(method, tree, state, h):
    """Give the joints that slide their impulse of half a step."""
    for r in range(method.count):
        if rubs(method, tree, state, r):
            i = method.rows.link[r]
            link(state.w, i).joint_momentum -= 0.5 * h * state.slip[tree.iv[i]] * method.rows.friction[r]


@kernel
def note_work(method, tree, state, scratch, h):
    """Write down the impulses of joints that slide, and the work of all that friction does at this node, where it took
    the velocities from those in ``before`` to those in ``a``."""
    for r in range(method.count):
        if not rubs(method, tree, state, r):
            continue
        i = method.rows.link[r]
        k = tree.iv[i]
        impulse = -0.5 * h * state.slip[k] * method.rows.friction[r]
        if state.slip[k] == 0.0:
            impulse = holding(tree, state.w, i) if scratch.before[k] != 0.0 else 0.0
        else:
            state.impulse[2 * tree.nv + k] += impulse
        state.ledger[DRY_FRICTION] -= 0.5 * (scratch.before[k] + scratch.a[k]) * impulse


@kernel
def change(method, tree, state, scratch, patience):
    """Let joints slide that are held by too much, and those stick that would slide against their impulse, as marked by
    check(); all of them, or only the first if there is no patience left."""
    for r in range(method.count):
        k = tree.iv[method.rows.link[r]]
        if scratch.held[r] == 0.0:
            continue
        state.slip[k] = 0.0 if state.slip[k] != 0.0 else -scratch.held[r]
        if patience < 0:
            return


@kernel
def still(c, small):
    """How far a joint may move against its friction: not at all, unless rows hold it, up to round-off, where another
    joint sticks."""
    return 0.0 if c is None else 10.0 * small


@kernel
def check(method, tree, state, scratch, h, small):
    """Mark the joints that are wrong, given in push what holds those that stick, and how those that slide move. Gives
    their number. A joint may be held by more than friction can if that would move it, its pivot being the inertia, by
    less than ``small``."""
    wrong, least = 0, -still(rows_of(method.base), small)
    for r in range(method.count):
        scratch.held[r] = 0.0
        if not rubs(method, tree, state, r):
            continue
        i = method.rows.link[r]
        slip = state.slip[tree.iv[i]]
        most = 0.5 * abs(h) * method.rows.friction[r] * (1.0 + ROUND_OFF) + small * link(state.w, i).pivot
        if (slip == 0.0 and abs(scratch.push[r]) > most) or (slip != 0.0 and slip * scratch.push[r] < least):
            scratch.held[r] = 1.0 if scratch.push[r] > 0.0 else -1.0
            wrong += 1
    return wrong


@part
def begin_rubbing(method, system, state, scratch, h):
    """The first half of friction, at the node: its impulses, its work, and the locks of joints that stick."""
    tree = system.tree
    rub(method, tree, state, h)
    put_locks(method, system, state, True)
    node_velocity(method, system, state, scratch, scratch.a)
    copy(state.v, scratch.before, tree.nv)
    note_work(method, tree, state, scratch, h)
    copy(scratch.a, state.v, tree.nv)


@part
def end_rubbing(method, system, state, scratch, h):
    """The second half of friction, at the end of the step. Gives whether it was found."""
    tree, w = system.tree, state.w
    least, patience = method.count + 1, PATIENCE
    node_velocity(method, system, state, scratch, scratch.before)
    for r in range(method.count):
        scratch.own[r] = link(w, method.rows.link[r]).joint_momentum
    most = MOST + 10 * method.count
    for trial in range(most):
        for r in range(method.count):
            link(w, method.rows.link[r]).joint_momentum = scratch.own[r]
        rub(method, tree, state, h)
        put_locks(method, system, state, True)
        node_velocity(method, system, state, scratch, scratch.a)
        for r in range(method.count):
            i = method.rows.link[r]
            scratch.push[r] = holding(tree, w, i) if state.slip[tree.iv[i]] == 0.0 else scratch.a[tree.iv[i]]
        wrong = check(method, tree, state, scratch, h, SMALL / abs(h))
        if wrong == 0 or trial == most - 1:
            note_work(method, tree, state, scratch, h)
            settle(method, system, state, scratch)
            return wrong == 0
        patience = PATIENCE if wrong < least else patience - 1
        least = min(least, wrong)
        change(method, tree, state, scratch, patience)
    return False


@part
def rubbing_step(method, system, state, held, scratch, k, h):
    """A step of the base method with dry friction at both ends."""
    tree, made = system.tree, nothing_yet(state.w)
    least, patience = method.count + 1, PATIENCE
    keep_node(tree, state, scratch.start)
    most = MOST + 10 * method.count
    for trial in range(most):
        begin_rubbing(method, system, state, scratch, h)
        made = after_stage(made, advance(method, system, state, held, scratch, k, h))
        if made.status < 0.0:
            return made
        for r in range(method.count):
            i = method.rows.link[r]
            at, v = tree.iq[i], tree.iv[i]
            moved = (state.q[at] - scratch.start.q[at]) + (state.low[at] - scratch.start.low[at])
            scratch.push[r] = moved if state.slip[v] != 0.0 else state.impulse[2 * tree.nv + v]
        wrong = check(method, tree, state, scratch, h, SMALL)  # the pivot is of Newton's matrix, M/h
        if wrong == 0 or trial == most - 1:
            found = end_rubbing(method, system, state, scratch, h) and wrong == 0
            return made if found else crowded(made)
        patience = PATIENCE if wrong < least else patience - 1
        least = min(least, wrong)
        change(method, tree, state, scratch, patience)
        back(system, state, scratch.start)
        begin_part(method, system, state, h)
    return crowded(made)
