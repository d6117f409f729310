"""A step with joint limits: the base method from one event to the next.

Whole steps as long as nothing happens, the same numbers as without limits. Where a joint would pass its limit, or one
that is held would be pulled, the step goes to that moment, the event is resolved (impacts.py), and the rest follows.
"""

from .. import methods
from ..layout import LEDGER, Made
from ..machine.jit import kernel, part
from ..machine.memory import copy, link
from ..machine.scratch import scratch_of
from ..record import RECOVERY
from ..step import after_stage, nothing_yet
from .coordinates import along, hand_over, is_inside, rate
from .events import any_held, distances, locate, most_urgent, move
from .impacts import bound, gap, nearer, resolve, stop_all
from .pivots import put_locks
from .recovery import recover, settle
from .restart import begin_part, crowded, keep_node
from .solves import reach, rows_of
from .table import RECOVERING, UNLOCKED, Limited, limits_as_views

MOST = 200  # events in a step
PATIENCE = 30  # events after which joints that touch their limits stay there for the rest of the step
NEAR = 1e-12  # rad or m: nearer to a limit a joint is looked at closely


@part
def begin(method, system, state, h):
    """Before the first of several steps."""
    method = limits_as_views(method)
    scratch = scratch_of(method.scratch, system.tree, method.count)
    scratch.seen[0], scratch.inside[0] = 0.0, 0.0
    methods.begin(method.base, system, state, h)


@kernel
def remember(tree, state, scratch):
    """Keep what a failed step must give back."""
    copy(state.locks, scratch.locks, tree.nv)
    copy(state.slip, scratch.slip, tree.nv)
    copy(state.impulse, scratch.impulse, 2 * tree.nv)


@kernel
def accept(method, tree, state):
    """Add the impulses of a motion that stays to those of limits, or of dry friction where no limit holds the joint."""
    for r in range(method.count):
        i = method.rows.link[r]
        k = tree.iv[i]
        if abs(state.locks[k]) == RECOVERING:
            impulse = along(tree, state.q, i, state.impulse, 2 * tree.nv + k)
            state.ledger[RECOVERY] -= rate(tree, state, i, state.v) * impulse
        hand_over(tree, state, i, 0 if state.locks[k] != UNLOCKED else tree.nv)


@kernel
def begin_to_slip(method, system, state):
    """Let the joints with dry friction that move slide, and the others stick."""
    for r in range(method.count):
        k = system.tree.iv[method.rows.link[r]]
        if method.rows.friction[r] > 0.0:
            state.slip[k] = 0.0 if state.v[k] == 0.0 else (1.0 if state.v[k] > 0.0 else -1.0)
    put_locks(method, system, state, False)


@part
def enter(method, system, state, held, scratch, h):
    """See to what changes at the beginning of a step: at the first one, joints that are at their limits; later, those
    that the new forces no longer push there. Gives whether something changed, and whether that could be found."""
    tree, found = system.tree, True
    for r in range(method.count):
        scratch.pinned[r] = 0.0
    if state.made[0] == 0.0:
        begin_to_slip(method, system, state)
    changed = recover(method, system, state, held, scratch, h)
    if state.made[0] == 0.0:
        for r in range(method.count):
            near = reach(rows_of(method.base), bound(method, r, nearer(method, tree, state, r)))
            changed = changed or abs(gap(method, tree, state, r)) <= near
    if changed or held.acts or scratch.seen[0] == 0.0 or link(state.w, 0).pushed != 0.0:
        distances(method, system, state, held, scratch, h, True, scratch.begin)
    else:  # nothing is different from what the last step found at its end
        copy(scratch.end, scratch.begin, method.count)
    for r in range(method.count):
        k = tree.iv[method.rows.link[r]]
        changed = changed or (state.locks[k] != UNLOCKED and scratch.begin[r] < 0.0)
    if changed:
        found, _, _ = resolve(method, system, state, held, scratch, h, -1, -1)
        if not found:
            stop_all(method, system, state, held, scratch, h)
        distances(method, system, state, held, scratch, h, True, scratch.begin)
        keep_node(tree, state, scratch.node)
    return changed, found


@kernel
def all_unlocked(method, tree, state):
    """Whether all joints are free, and without dry friction."""
    return method.rubbing == 0 and not any_held(method, tree, state)


@kernel
def all_inside(method, tree, state):
    """Whether all joints are inside their limits."""
    for r in range(method.count):
        if not is_inside(method, tree, state.q, r, NEAR):
            return False
    return True


@part
def advance(method, system, state, held, k, h):
    """Step k: one of the base method, if all joints are inside their limits before and after it."""
    tree, method = system.tree, limits_as_views(method)
    scratch = scratch_of(method.scratch, tree, method.count)
    inside = scratch.inside[0] != 0.0 or (all_unlocked(method, tree, state) and all_inside(method, tree, state))
    scratch.plain[0], scratch.inside[0] = 0.0, 0.0
    if inside:
        scratch.plain[0] = 1.0
        made = methods.advance(method.base, system, state, held, k, h)
        if made.status < 0.0 or all_inside(method, tree, state):
            scratch.seen[0], scratch.inside[0] = 0.0, 1.0
            return made
        scratch.plain[0] = 0.0
        methods.undo(method.base, system, state)
        begin_part(method, system, state, h)
    return from_event_to_event(method, system, state, held, scratch, k, h)


@part
def from_event_to_event(method, system, state, held, scratch, k, h):
    """Step k, in parts that end where a joint lands on its limit or leaves it.

    enter: let joints go, or hold them, as the new forces say
    repeat: move to the end of the step, and see which joint has passed its limit, or is pulled by it. None: accept the
        motion, done. Else come back, and locate the first event; accept the motion up to there; resolve the impact and
        choose who is held; keep that node, and go on with what is left of the step

    A joint that cannot leave its limit at all (fraction zero) is pinned there until something hits another limit. After
    PATIENCE events all joints that touch are stopped, after MOST the rest is taken as it comes: the step is CROWDED.
    """
    tree, w = system.tree, state.w
    remember(tree, state, scratch)
    made = nothing_yet(w)
    kept, found = enter(method, system, state, held, scratch, h)
    if kept:
        begin_part(method, system, state, h)
    scratch.seen[0] = 0.0
    left, events, lost_track = 1.0, 0, not found
    while True:
        part_ = move(method, system, state, held, scratch, k, left * h)
        if part_.status < 0.0:
            return after_stage(made, part_)
        distances(method, system, state, held, scratch, h, False, scratch.end)
        target = most_urgent(method, state, scratch, 1.0)
        if target < 0 or events > MOST:
            accept(method, tree, state)
            made = after_stage(made, part_)
            scratch.seen[0] = 1.0 if method.rubbing == 0 else 0.0
            break
        if not kept:
            methods.undo(method.base, system, state)
            keep_node(tree, state, scratch.node)
            kept = True
        part_, at, target = locate(method, system, state, held, scratch, k, left * h, target, part_)
        if part_.status < 0.0:
            return after_stage(made, part_)
        free = state.locks[tree.iv[method.rows.link[target]]] == UNLOCKED
        if at > 0.0:
            accept(method, tree, state)
            made = after_stage(made, part_)
            left -= at * left
        pinned = target if at == 0.0 and free else -1
        events += 1
        if events <= PATIENCE:
            found, springs, pinned = resolve(method, system, state, held, scratch, h, -1 if free else target, pinned)
            if pinned >= 0:
                scratch.pinned[pinned] = 1.0
        if events > PATIENCE or not found:
            springs = stop_all(method, system, state, held, scratch, h)
        made = Made(made.evaluations, made.residual, made.status, made.blamed, made.least, springs)
        lost_track = lost_track or not found or events > MOST
        if left <= 1e-14:
            break
        distances(method, system, state, held, scratch, h, True, scratch.begin)
        keep_node(tree, state, scratch.node)
        begin_part(method, system, state, left * h)
    if kept:
        settle(method, system, state, scratch)
        begin_part(method, system, state, h)
    return crowded(made) if lost_track else made


@kernel
def look(method, system, state, springs, whole):
    """As the base method."""
    return methods.look(method.base, system, state, springs, whole)


@kernel
def lost(state):
    """Energy that has left the mechanism in this step."""
    total = 0.0
    for j in range(LEDGER):
        total += state.ledger[j] - state.saved_ledger[j]
    return total


@kernel
def trouble(method, state, made, twice, energy, known):
    """As the base method, but for the energy that limits and dry friction took."""
    return methods.trouble(method.base, state, made, twice, energy + lost(state), known)


@part
def undo(method, system, state):
    """Come back to the node before the step that failed."""
    tree, method = system.tree, limits_as_views(method)
    scratch = scratch_of(method.scratch, tree, method.count)
    if scratch.plain[0] == 0.0:
        copy(scratch.locks, state.locks, tree.nv)
        copy(scratch.slip, state.slip, tree.nv)
        copy(scratch.impulse, state.impulse, 2 * tree.nv)
    scratch.seen[0], scratch.inside[0] = 0.0, 0.0
    for j in range(2 * tree.nv, 3 * tree.nv):
        state.impulse[j] = 0.0
    put_locks(method, system, state, False)
    methods.undo(method.base, system, state)


@kernel
def after_look(method, system, state, kept):
    """As the base method."""
    methods.after_look(method.base, system, state, kept)


methods.method(Limited, begin, advance, look, trouble, undo, after_look)
