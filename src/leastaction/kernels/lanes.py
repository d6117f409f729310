"""Four simulations of one model at once, one in each lane of SIMD: the search for the roots of a step. The lanes are
evaluated together, and each decides by itself.

The memory of four simulations has a block for every link, whose four lanes are that link in the four simulations; the
kernels take it as a view in fours.
"""

from math import inf, sqrt

from .layout import Made
from .machine.jit import part
from .machine.memory import keep_factors, put_back_factors
from .machine.simd import below, choose, less, number
from .root import LEAST_COSINE, SEARCHING, Track, evaluate, forecast, judge, rough
from .search import carry_over
from .settings import EXHAUSTED, FLOOR, NOT_FINITE, ROTATION, WRONG_ROOT
from .sweep import down, factor_jacobian, up


@part
def find_roots(tree, w, h, reference, settings, factors):
    """Find the motions of the step, as root.find_root does by Newton's method. Returns (evaluations, residual, status,
    least cos(θ/2) of a link), and 1 for each lane that still takes the update of the last sweep, else 0. ``factors`` is
    room for the Jacobians.

    A lane that is done stays where it is while others go on: evaluated again there, with its own Jacobian, it gives the
    same numbers. So all lanes take their last updates together at the end.
    """
    no, yes, far = number(w, 0.0), number(w, 1.0), number(w, inf)
    track, going, wanted, least, origin = Track(far, far, far, no, no), yes, yes, yes, no
    outcome, spent = number(w, EXHAUSTED), number(w, settings.max_iterations)
    for iteration in range(1, settings.max_iterations + 1):
        twice_energy, least = evaluate(tree, w, h, settings.retraction, None, going, iteration > 1)
        det = yes
        if not below(wanted, 0.5):  # by some lane
            if iteration > 1:
                keep_factors(tree, w, factors)
            det = factor_jacobian(tree, w, h, settings.retraction, not rough(settings, iteration))
            if iteration > 1:
                put_back_factors(tree, w, factors, wanted)
        square, size = up(tree, w, w, None) / h, reference + 2.0 * twice_energy
        square = choose(size, square / size, square)
        relative = sqrt(square)
        origin = choose(wanted, relative, origin)
        left = forecast(relative, track.last, origin)
        verdict, anew, after = judge(settings, iteration, least, relative, left, relative, track)
        verdict = choose(wanted * less(det, 0.0), WRONG_ROOT, verdict)
        verdict = choose(less(LEAST_COSINE, least), verdict, choose(less(least, inf), ROTATION, NOT_FINITE))
        residual = choose(going, after.residual, track.residual)
        track = Track(residual, after.best, after.last, after.stalled, after.troubled)
        spent = choose(going, iteration, spent)
        over = going * less(verdict, SEARCHING)
        outcome, going = choose(over, verdict, outcome), going - over
        wanted = going * anew if settings.chord else going
        if below(going, 0.5):
            break
    return spent, track.residual, outcome, least, choose(outcome - FLOOR, less(-0.5, outcome), 0.0)


@part
def find_in_lanes(tree, state, h, settings):
    """As search.find_and_carry_over. A lane without a root goes astray, its status telling so."""
    spent, residual, outcome, least, k = find_roots(tree, state.w, h, state.scale[0], settings, state.factors)
    down(tree, state.w, state.w, k, True, None)
    carry_over(tree, state, h, k, None)
    return Made(spent, residual, outcome, -1, least, number(state.w, 0.0))
