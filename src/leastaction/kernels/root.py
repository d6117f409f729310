"""Finding the root of the discrete Euler–Lagrange equation: RIQN (paper, Algorithm 3) and Newton's method, both O(n).

RIQN factors the mass matrix at t_k once a step, Newton the Jacobian, at the guess (its chord form) or at every iterate.
The residual wrenches of DRNEA go straight into the first sweep, which also gives the norm √(fᵀM⁻¹f) by which
convergence is judged.
"""

from collections import namedtuple
from math import inf, isfinite, nan, sqrt

from .drnea import drnea, gather_residual, momentum_and_way
from .kinematics import inertia_times
from .machine.jit import formula, kernel, part
from .machine.matrix6 import times
from .machine.simd import choose, less
from .maths.vec3 import add, add_scaled, cross, scale
from .settings import (
    ABSOLUTE, CONVERGED, EXHAUSTED, FLOOR, NEWTON, NOT_FINITE, ROTATION, STRUGGLED, UNRESOLVED,
    WRONG_ROOT,
)
from .stiffness import EXP
from .sweep import down, factor_jacobian, up

LEAST_COSINE = 0.05  # cos(θ/2) of a link's rotation in one step, below which its log counts as ambiguous (174°)
FLOOR_LIMIT = 1e-10  # a residual that no longer shrinks is taken for round-off only below this, relative to the motion
ROUND_OFF = 2.0**-52
POOR = 0.1  # contraction above which the chord form of Newton's method factors anew
SLOW = 0.3  # contraction above which RIQN counts as being in trouble
CHORD = 0.1  # what a chord step leaves of the residual, at most, times the residual where its Jacobian was factored:
# 0.087 was the most where a step of 500 random trees missed the tolerance (see tests/simulation/test_residual.py)
SEARCHING = 7  # outcome of an iteration after which the search goes on: none of the statuses
# What one iteration leaves to the next: residual: that of the stopping rule; best, last: the least and the last
# relative one; stalled: how many iterations on end took no tenth off the best; troubled: 1 once one contracted poorly
Track = namedtuple("Track", "residual best last stalled troubled")
COARSE = 0.9689  # cos(θ/2) of 0.5 rad: where a link turns further, K to second order may not tell the right root
RESOLVED = 0.8776  # cos(θ/2) of 1 rad: a step that turns a link further, and whose search was in trouble, is too long


@kernel
def absolute_residual(tree, w, f):
    """‖f‖ as in the paper. Needs drnea(), and no sweep done yet."""
    gather_residual(tree, w, f)
    square = 0.0
    for j in range(tree.nv):
        square += f[j] * f[j]
    return sqrt(square)


@formula
def momentum_change(L, h, riqn, turn, move):
    """δμ of a link, or of four, that moves by this twist: by K, or for RIQN by its inertia."""
    if riqn is not None and riqn:
        m, f = inertia_times(L, L.mass, turn, move)
        return scale(1.0 / h, m), scale(1.0 / h, f)
    return times(L.K, (turn, move))


@formula
def polished(L, h, fraction, riqn):
    """Momentum and displacement of a link, or of four, that moves by a fraction of its answer more: δμ = K ζ to
    first order, with the matrix that the search itself used: K, or the inertia for RIQN. If that is None it does not.

    One more update of the converged motion costs a fraction of an evaluation so, and takes one more contraction off
    what the step leaves of the residual.
    """
    m, f, d = momentum_and_way(L)
    if fraction is None:
        return m, f, d
    turn, move = L.answer
    dm, df = momentum_change(L, h, riqn, turn, move)
    return add_scaled(m, fraction, dm), add_scaled(f, fraction, df), add_scaled(d, fraction, add(move, cross(turn, d)))


@formula
def rough(settings, iteration):
    """Whether the Jacobian of this iteration is to second order in the motion, which does for all but coarse steps."""
    return iteration == 1 and settings.chord and settings.retraction == EXP


@formula
def forecast(relative, before, origin):
    """What one more update would leave of a residual, at most: it contracts as the last one did, from ``before``, or by
    what the Jacobian is off since it was factored at a residual of ``origin`` (0 for RIQN: there
    only what was measured counts). Of one search, or of four."""
    return relative * max(relative / before, CHORD * origin)


@formula
def judge(settings, iteration, least, relative, left, residual, track):
    """Whether the search for a step is over at this iteration; of one search, or of four. A condition is 1 or 0.

    ``least`` is the least cos(θ/2) of a link, ``relative`` the relative residual, ``left`` the forecast of it after one
    more update, and ``residual`` the one that the stopping rule is about. Gives the outcome, SEARCHING or a status;
    whether a new Jacobian is wanted; and the new track.
    """
    stalled = choose(less(0.9 * track.best, relative), track.stalled + 1.0, 0.0)
    if iteration > 1 and settings.rule != ABSOLUTE:
        residual = choose(less(left, settings.sure * settings.tol), min(residual, max(left, ROUND_OFF)), residual)
    finite = less(relative, inf)
    too_long = less(least, RESOLVED if settings.max_substeps > 1 else -1.0)
    diverging = less(2.0 * track.last, relative) * less(FLOOR_LIMIT if settings.rescue else inf, relative)
    # Each line overrules those before it
    outcome = choose(less(1.0, stalled) * less(relative, FLOOR_LIMIT), FLOOR, SEARCHING)
    found = choose(track.troubled, choose(too_long, UNRESOLVED, STRUGGLED), CONVERGED)
    outcome = choose(less(settings.tol, residual), outcome, found)  # Alg. 3, line 4
    outcome = choose(diverging, EXHAUSTED, outcome)  # as if all iterations were spent: the rescue begins sooner
    outcome = choose(finite, outcome, NOT_FINITE)
    anew = poor = less((POOR if settings.method == NEWTON else SLOW) * track.last, relative)
    if rough(settings, iteration):
        anew = max(poor, less(least, COARSE))
    kept = Track(choose(finite, residual, track.residual), min(track.best, relative), relative, stalled,
                 max(track.troubled, poor))
    return outcome, anew, kept


@kernel
def sweep_up(tree, w, h, riqn):
    """The first sweep, leaves → root. Gives the square of the norm of the residual."""
    if riqn is not None and riqn:
        return up(tree, w, w, None)
    return up(tree, w, w, None) / h


@formula
def step_factor(h, riqn):
    """From the solution of the two sweeps to an increment."""
    return h if riqn is not None and riqn else 1.0


@kernel
def sweep_down(tree, w, fraction, riqn):
    """The second sweep, root → leaves. The joints move by a fraction of its solution (Alg. 3, line 6)."""
    if riqn is not None and riqn:
        down(tree, w, w, fraction, None, None)
    else:
        down(tree, w, w, fraction, True, None)


@kernel
def evaluate(tree, w, h, retraction, riqn, fraction, again):
    """As drnea(). If it is ``again``, the second sweep and what it improves come first."""
    if again:
        sweep_down(tree, w, fraction, riqn)
    return drnea(tree, w, h, retraction, not again)


@part
def find_root(tree, state, h, reference, settings, riqn, retraction):
    """Find the motion of the step, starting from the one set. Gives (evaluations, residual, status,
    least cos(θ/2) of a link's rotation). The second sweep of the last iteration is left to the caller.

    ``riqn``: True for RIQN, False for Newton's method; ``retraction``: one of stiffness.py. Both are None for Newton's
    method with SPLIT and the scaled stopping rule: nothing else is compiled then.

    ``reference``: what gravity and other forces add to the scale of the residual (node.force_scale). The relative
    residual is √(fᵀM⁻¹f) over the root of reference + 4 × the kinetic energy of the motion. RIQN needs factor_mass().
    """
    w, track, least, origin = state.w, Track(inf, inf, inf, 0.0, 0.0), 1.0, 0.0
    factored = settings.method != NEWTON  # RIQN's matrix is
    for iteration in range(1, settings.max_iterations + 1):
        twice_energy, least = evaluate(  # Alg. 3, line 3, and before it line 6
            tree, w, h, retraction, riqn, step_factor(h, riqn), iteration > 1)
        if not least > LEAST_COSINE:
            return iteration, track.residual, ROTATION if isfinite(least) else NOT_FINITE, least
        ruling = 0.0
        if riqn is not None and settings.rule == ABSOLUTE:
            ruling = absolute_residual(tree, w, state.f)
        if not factored:
            if factor_jacobian(tree, w, h, retraction, not rough(settings, iteration)) < 0.0:
                return iteration, track.residual, WRONG_ROOT, least
            factored, origin = settings.chord, -1.0  # its origin is the residual below
        square = sweep_up(tree, w, h, riqn)  # Alg. 3, line 5
        size = reference + 2.0 * twice_energy
        relative = sqrt(square / size if size > 0.0 else square) if square >= 0.0 else nan
        origin = relative if origin < 0.0 else origin
        left = forecast(relative, track.last, origin)
        if settings.rule != ABSOLUTE:
            ruling = relative
        outcome, anew, track = judge(settings, iteration, least, relative, left, ruling, track)
        if outcome != SEARCHING:
            return iteration, track.residual, int(outcome), least
        factored = settings.method != NEWTON or (factored and anew == 0.0)
    return settings.max_iterations, track.residual, EXHAUSTED, least
