"""Four simulations of one model at once, one in each lane of SIMD: the loop.

The memory of a group has a block of its own for every body, whose four lanes are that body in the four simulations; the
kernels take it as a view in fours. Nothing passes from lane to lane, so what a simulation gives does not depend on its
neighbours, to the last bit. A lane whose search fails falls: it is left to the single run, and the others make their
step.
"""

from collections import namedtuple

from .drnea import kick
from .guess import PAST, extrapolate, terms
from .joints import set_motion
from .lanes_root import find_roots
from .layout import LANES, System
from .machine.jit import entry, formula, kernel, part
from .machine.memory import copy, look, put_lane
from .machine.simd import below, choose, in_fours, in_lanes, integers, less, number, numbers
from .momentum import generalized_momentum, momentum_solve_up, velocity_of
from .record import EXTREMES, FAST, KNOWN, LOOK, follow
from .rnea import total_momentum
from .search import leave
from .settings import NOT_FINITE, UNRESOLVED
from .sweep import down, factor_mass
from .variational import (
    NOTICEABLE, V, come, force_scale, jumped, may_divide, potential_energy, prepare, save_node, set_wrenches,
)

# Flat arrays, four numbers for each of one simulation; kernels see them through views. w: memory of the links
# (layout.py); q, v, low, saved_q, saved_low, history, p, motion: as in layout.State; twice, energy: twice the kinetic
# and the total energy of the last node that was looked at; momentum: the total one there; extremes: see record.py;
# gravity; known: increments in the history; forced, alive: whether joint forces act, and whether the simulation goes
# on; weights: of the guesses of a step; aside: room for extremes; factors: room for Jacobians
Group = namedtuple("Group", "w q v low saved_q saved_low history twice energy p momentum extremes gravity known forced "
                            "alive motion weights aside factors")


GREATEST = 1.7976931348623157e308  # of all finite numbers
STARTED = -1  # in place of the number of a first step


@part
def see_lanes(group):
    """A group through views; those that are asked for single lanes are views of numbers, or of integers."""
    g = group
    return Group(
        in_fours(g.w), in_lanes(g.q), in_lanes(g.v), in_lanes(g.low), in_lanes(g.saved_q), in_lanes(g.saved_low),
        in_lanes(g.history), in_lanes(g.twice), in_lanes(g.energy), in_lanes(g.p), in_lanes(g.momentum),
        in_lanes(g.extremes), in_lanes(g.gravity), integers(g.known), in_lanes(g.forced), integers(g.alive),
        in_lanes(g.motion), numbers(g.weights), in_lanes(g.aside), in_fours(g.factors))


@part
def advance(system, group, tau, h, stage, scale, settings):
    """One step of every lane. Gives (evaluations, residual, status, least cos(θ/2) of a link, energy of the springs).

    A lane without a root goes astray, its status telling so.
    """
    tree, w, motion = system.tree, group.w, group.motion
    kick(system, w, tau, 0.5 * h)
    a, j = in_lanes(group.weights), stage * (PAST + 1)
    own = a[j], a[j + 1], a[j + 2], a[j + 3], a[j + 4], a[j + 5]
    extrapolate(own, group.v, group.history, tree.nv, motion)
    set_motion(tree, w, motion)
    spent, residual, outcome, least, k = find_roots(tree, w, h, scale, settings, group.factors)
    down(tree, w, w, k, True, None)
    leave(tree, group, h, k, None)
    return spent, residual, outcome, least, come(system, group, tau, h)


@kernel
def learn(group, h, stages, weights, guess, made):
    """Set the weights of the guesses of a step, by the increments that each lane has in its history, ``made`` of which
    are new. Gives whether there will be more."""
    learning = False
    for lane in range(LANES):
        group.known[lane] = min(group.known[lane] + made, PAST)
        learning = learning or group.known[lane] < PAST
        for s in range(len(stages)):
            own = terms(guess, weights, s, min(group.known[lane] + s, PAST), stages[s] * h)
            for j in range(PAST + 1):
                put_lane(group.weights, (PAST + 1) * s + j, lane, own[j])
    return learning


@formula
def settled(account, spent, left, outcome):
    """The account of a step, (evaluations, residual, status), after one more of its stages; one that fails ends it. A
    status is a whole number, negative if it failed (settings.py)."""
    iterations, residual, status = account
    failed, before = less(outcome, -0.5), less(status, -0.5)
    return (iterations + spent, choose(before, residual, choose(failed, left, max(residual, left))),
            choose(before, status, choose(failed, outcome, max(status, outcome))))


@kernel
def write_account(out, k, steps, account):
    """The account of step k, for every lane."""
    iterations, residual, status = account
    for lane in range(LANES):
        at = k + lane * steps
        integers(out.iterations)[at], integers(out.status)[at] = int(iterations[lane]), int(status[lane])
        numbers(out.residual)[at] = residual[lane]


@kernel
def write_lanes(target, kept, source, count):
    """Row ``kept`` of every lane."""
    for lane in range(LANES):
        for j in range(count):
            target[lane, kept, j] = source[j][lane]


@kernel
def follow_lanes(tree, group, least, status, k):
    """Widen the extremes of those lanes that made step k and look at it, as they would alone; set the momentum."""
    copy(group.extremes, group.aside, EXTREMES)
    angular, linear = total_momentum(tree, group.w)
    momentum = angular + linear
    follow(0.5 * group.twice[0], group.energy[0], momentum, group.extremes)
    for j in range(6):
        group.momentum[j] = momentum[j]
    looks = less(-0.5, status)
    if (k + 1) % LOOK != 0:
        looks = looks * less(least, FAST)
    for j in range(EXTREMES):
        group.extremes[j] = choose(looks, group.extremes[j], group.aside[j])


@entry
def run_lanes(system, group, tau, wrench, h, first, until, steps, every, method, out):
    """Make steps of four simulations, from number ``first`` until ``until`` of all ``steps`` are made, or a living lane
    fails.

    The other arguments are those of variational.run, for the whole run; ``tau`` (R, 4 nv); the arrays of ``out`` have a
    first axis of four, and their nodes begin with the start. Gives the number of steps made so far. A lane fails if its
    status for the last of them is negative: then saved_q, saved_low and node_momentum holds its node before. With
    first = STARTED, the node is set up by q and v instead, and it gives as aba.singular_joint.
    """
    tree, group = look(system.tree), see_lanes(group)
    w, gravity = group.w, (group.gravity[0], group.gravity[1], group.gravity[2])
    own = System(tree, system.rest, gravity, system.elements)
    stages, weights, _, settings = method
    if first == STARTED:
        singular = prepare(own, group, V, group.extremes)
        group.energy[0], group.twice[0] = group.extremes[0], 2.0 * group.extremes[2]
        for j in range(6):
            group.momentum[j] = group.extremes[3 + j]
        return singular
    from_rest = force_scale(tree, w, gravity, h)
    held = tau[0] if len(tau) > 0 else tau.reshape(-1)[:0]
    learning = learn(group, h, stages, weights, settings.guess, 0)
    for k in range(first, until):
        if len(wrench) > 1 or (len(wrench) == 1 and k == 0):
            set_wrenches(tree, w, wrench[k])
        if len(tau) > 1:
            held = tau[k]
        save_node(tree, group)
        before, last = group.twice[0], group.energy[0]
        no = number(w, 0.0)
        springs, least, account = no, number(w, 1.0), (no, no, no)
        for s in range(len(stages)):
            spent, left, outcome, least, springs = advance(
                own, group, held, stages[s] * h, s, from_rest, settings)
            account = settled(account, spent, left, outcome)
        iterations, residual, status = account
        keep = (k + 1) % every == 0
        known_before, group.extremes[KNOWN] = group.extremes[KNOWN], no
        if keep or (k + 1) % LOOK == 0 or not below(number(w, FAST), least):  # due in some lane
            factor_mass(tree, w, 0.0)
            twice = velocity_of(tree, w, group.v) if keep else momentum_solve_up(tree, w)
            energy = 0.5 * twice + potential_energy(own, w, springs)
            if may_divide(settings):
                suspect = max(1.0 - known_before, jumped(energy - last, before, twice, status))
                too_long = suspect * less(least, NOTICEABLE) * less(-0.5, status) * (1.0 - group.forced[0])
                status = choose(too_long, UNRESOLVED, status)
            status = choose(less(abs(energy), GREATEST), status, NOT_FINITE)
            group.twice[0], group.energy[0] = twice, energy
            follow_lanes(tree, group, least, status, k)
            if (k + 1) % LOOK == 0:
                write_lanes(out.looks, (k + 1) // LOOK - 1, group.energy, 1)
        write_account(out, k, steps, (iterations, residual, status))
        if learning:
            learning = learn(group, h, stages, weights, settings.guess, len(stages))
        if keep:
            generalized_momentum(tree, w, group.p)
            kept = (k + 1) // every
            write_lanes(out.q, kept, group.q, tree.nq)
            write_lanes(out.v, kept, group.v, tree.nv)
            write_lanes(out.p, kept, group.p, tree.nv)
            write_lanes(out.momentum, kept, group.momentum, 6)
            write_lanes(out.energy, kept, group.energy, 1)
        if not below(-0.5, status):  # some lane failed
            for lane in range(LANES):
                if group.alive[lane] and status[lane] < 0.0:
                    return k + 1
    return until
