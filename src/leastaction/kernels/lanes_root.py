"""Four simulations at once: finding the roots of a step, each lane by itself though they are evaluated together."""

from collections import namedtuple
from math import inf, isfinite, sqrt

from .jit import kernel, part
from .layout import BLOCK, K, LANES
from .newton import newton_factor, newton_up
from .root import LEAST_COSINE, SEARCHING, evaluate, judge, rough
from .settings import CONVERGED, EXHAUSTED, FLOOR, NOT_FINITE, ROTATION, WRONG_ROOT
from .simd import choose, in_fours, in_lanes, integers, number, numbers

# Of each lane (4,): the track of root.judge; outcome: SEARCHING, or the status of the step; spent: evaluations; going,
# wanted: 1.0 if it moves on, and if it wants a new Jacobian, else 0.0. factors: room for the Jacobians
Search = namedtuple("Search", "residual best before stalled status outcome spent going wanted factors")


@part
def see_search(search):
    """A search through views."""
    s = search
    return Search(numbers(s.residual), numbers(s.best), numbers(s.before), integers(s.stalled), integers(s.status),
                  integers(s.outcome), integers(s.spent), numbers(s.going), numbers(s.wanted), in_fours(s.factors))


@kernel
def keep_factors(tree, w, factors):
    """Put the factored Jacobians aside: the last rows of every block."""
    kept = 0
    for block in range(0, tree.end, BLOCK):
        for a in range(block + K, block + BLOCK, LANES):
            factors[kept] = w[a]
            kept += LANES


@kernel
def put_back_factors(tree, w, factors, wanted):
    """Take the new Jacobian only where it is wanted."""
    kept = 0
    for block in range(0, tree.end, BLOCK):
        for a in range(block + K, block + BLOCK, LANES):
            w[a] = choose(wanted, w[a], factors[kept])
            kept += LANES


@kernel
def begin(search, spent):
    for lane in range(LANES):
        search.residual[lane] = search.best[lane] = search.before[lane] = inf
        search.stalled[lane], search.status[lane] = 0, CONVERGED
        search.outcome[lane], search.spent[lane] = SEARCHING, spent
        search.going[lane] = search.wanted[lane] = 1.0


@kernel
def judge_lane(settings, iteration, lane, least, relative, left, det, search):
    """Decide for one lane whether it is done, goes on, or wants a new Jacobian."""
    outcome, anew, track = judge(settings, iteration, least, relative, left, 0.0, (
        search.residual[lane], search.best[lane], search.before[lane], search.stalled[lane], search.status[lane]))
    if not least > LEAST_COSINE:
        outcome = ROTATION if isfinite(least) else NOT_FINITE
    elif search.wanted[lane] != 0.0 and det < 0.0:
        outcome = WRONG_ROOT
    search.residual[lane], search.best[lane], search.before[lane], search.stalled[lane], search.status[lane] = track
    search.outcome[lane], search.spent[lane] = outcome, iteration
    search.going[lane] = 1.0 if outcome == SEARCHING else 0.0
    search.wanted[lane] = search.going[lane] if anew or not settings.chord else 0.0


@part
def find_roots(tree, w, h, reference, settings, search):
    """Find the motions of the step, as root.find_root does by Newton's method. Gives the least cos(θ/2) of a link, and
    by how much of what the last sweep gives each lane is to be polished: 1 or 0.

    A lane that is done stays where it is while others go on: evaluated there again, with the Jacobian that it had, it
    gives the same numbers. So all are polished together at the end.
    """
    begin(search, settings.max_iterations)
    going, wanted, factors = in_lanes(search.going), in_lanes(search.wanted), search.factors
    refactor, least = True, number(w, 1.0)
    for iteration in range(1, settings.max_iterations + 1):
        twice_energy, least = evaluate(tree, w, h, settings.retraction, None, going[0], iteration > 1)
        det = number(w, 1.0)
        if refactor:
            if iteration > 1:
                keep_factors(tree, w, factors)
            det = newton_factor(tree, w, h, settings.retraction, not rough(settings, iteration))
            if iteration > 1:
                put_back_factors(tree, w, factors, wanted[0])
        square, size = newton_up(tree, w) / h, reference + 2.0 * twice_energy
        relative = sqrt(choose(size, square / size, square))
        left = relative * relative / in_lanes(search.before)[0]
        on, refactor = False, False
        for lane in range(LANES):
            if search.outcome[lane] == SEARCHING:
                judge_lane(settings, iteration, lane, least[lane], relative[lane], left[lane], det[lane], search)
                on = on or search.going[lane] != 0.0
                refactor = refactor or search.wanted[lane] != 0.0
        if not on:
            break
    for lane in range(LANES):
        if search.outcome[lane] == SEARCHING:
            search.outcome[lane] = EXHAUSTED
        search.going[lane] = 1.0 if search.outcome[lane] >= 0 and search.outcome[lane] != FLOOR else 0.0
    return least, going[0]
