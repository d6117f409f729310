"""The search for the root of a step with rows: chord Newton for the motion and the multipliers together.

    p0 + f⁻ + A(q0)ᵀ λ = −D₁L_d(q0, q1),   g(q1) = 0
An iteration evaluates DRNEA and g, and solves for the correction of the motion and for the multipliers at once
(elimination.py). These enter linearly: every iteration gives all of them, and none has to be guessed.
Convergence is judged as without rows (root.judge), by the size √(δqᵀ M δq)/h of the correction, which without rows is
that of the residual, √(fᵀM⁻¹f): so the part of the residual that the multipliers take, and a gap g, count as what they
change of the motion.
"""

from math import inf, isfinite, nan, sqrt

from ..drnea import drnea
from ..layout import SCREW
from ..machine.jit import formula, kernel, part
from ..machine.matrix6 import begin, times
from ..machine.memory import link, team, teams
from ..machine.simd import number, summed, wide
from ..maths.vec3 import dot
from ..root import LEAST_COSINE, SEARCHING, Track, forecast, judge, rough
from ..search import carry_over, worst_joint
from ..settings import EXHAUSTED, NOT_FINITE, ROTATION, SINGULAR, WRONG_ROOT
from ..joints import screw
from ..joints.screw import move_axis
from ..maths.mat3 import mat_scale
from ..sweep import begin_stiffnesses, rigid_inertia
from .closed import row, told_of
from .elimination import down, factor, up
from .filling import rows_after
from .held import any_locked
from .projection import STEPPED


@formula
def own_size(L):
    """ζᵀ K ζ of a link, or of four."""
    turn, move = L.answer
    m, f = times(L.K, (turn, move))
    return dot(turn, m) + dot(move, f)


@kernel
def correction(tree, w, h):
    """δqᵀ J δq / h of the last correction. Needs down()."""
    sizes = number(wide(w), 0.0)
    for k in teams(tree):  # every link by itself, or four at a time
        sizes += own_size(team(w, k))
    total = summed(w, sizes)
    for i in range(tree.n):  # what a SCREW joint itself adds counts, too: an armature may be all of its inertia
        L = link(w, i)
        if tree.passive[i] and tree.kind[i] == SCREW:
            total += screw.adds(L, h, True) * L.x * L.x
    return total / h


@kernel
def begin_motionless(tree, w, h):
    """As sweep.begin_stiffnesses, but K is that of no motion, the inertia over h.

    Rows have a sign of their own: if a step leaps over a singular configuration, det(A₁ M⁻¹ A₀ᵀ) changes it, and the
    determinant of Newton's matrix is negative at the right root, too. What tells a wrong root is that these two differ.
    """
    for k in teams(tree):
        L = team(w, k)
        A, B, C, D = rigid_inertia(L)
        begin(w, tree, k, (mat_scale(1.0 / h, A), mat_scale(1.0 / h, B), mat_scale(1.0 / h, C), mat_scale(1.0 / h, D)))
        move_axis(L, tree.slides)


@kernel
def factor_step(tree, w, c, h, retraction, exact, forgiving):
    """Factor Newton's matrix with rows at the present motion. Gives a status: 0, WRONG_ROOT or SINGULAR. Needs
    rows_after()."""
    begin_stiffnesses(tree, w, h, retraction, exact)
    det, redundant, lost = factor(tree, w, c, h, True)
    if det < 0.0 and not lost:
        begin_motionless(tree, w, h)
        rows_after(tree, w, c, True, forgiving)
        plain, _, _ = factor(tree, w, c, h, True)
        begin_stiffnesses(tree, w, h, retraction, exact)
        rows_after(tree, w, c, True, forgiving)
        _, redundant, lost = factor(tree, w, c, h, True)
        det *= plain
    if not any_locked(tree, w):  # rows that follow from locked joints tell nothing of the configuration
        told_of(c)[STEPPED] = float(redundant)
    return SINGULAR if lost else WRONG_ROOT if det < 0.0 else 0


@part
def find_root(tree, state, h, reference, settings, c):
    """As root.find_root, but the last correction has been made. Needs rows_at_node()."""
    w, track, least, origin = state.w, Track(inf, inf, inf, 0.0, 0.0), 1.0, 0.0
    factored = False
    for iteration in range(1, settings.max_iterations + 1):
        twice_energy, least = drnea(tree, w, h, settings.retraction, True)
        if not least > LEAST_COSINE:
            return iteration, track.residual, ROTATION if isfinite(least) else NOT_FINITE, least
        forgiving = track.troubled > 0.0  # in trouble, a gap of round-off is none
        rows_after(tree, w, c, not factored, forgiving)
        if not factored:
            trouble = factor_step(tree, w, c, h, settings.retraction, not rough(settings, iteration), forgiving)
            if trouble < 0:
                return iteration, track.residual, trouble, least
            factored, origin = settings.chord, -1.0
        up(tree, w, c)
        down(tree, w, c, 1.0, True)
        size, square = reference + 2.0 * twice_energy, correction(tree, w, h)
        relative = sqrt(square / size if size > 0.0 else square) if square >= 0.0 else nan
        origin = relative if origin < 0.0 else origin
        left = forecast(relative, track.last, origin)
        outcome, anew, track = judge(settings, iteration, least, relative, left, relative, track)
        if outcome == EXHAUSTED and not forgiving:
            outcome = SEARCHING  # it diverges, perhaps by closing a gap of round-off near a singular configuration
        if outcome != SEARCHING:
            return iteration, track.residual, int(outcome), least
        factored = factored and anew == 0.0
    return settings.max_iterations, track.residual, EXHAUSTED, least


@kernel
def keep_multipliers(c):
    """The multipliers of the last solve are those of the step."""
    for r in range(c.places.rows):
        row(c, r).total = row(c, r).answer


@part
def find_and_carry_over(tree, state, h, reference, settings, c):
    """As search.find_and_carry_over."""
    evaluations, residual, status, least = find_root(tree, state, h, reference, settings, c)
    if status < 0:
        return evaluations, residual, status, worst_joint(tree, state, h, settings.retraction, False, status), least
    keep_multipliers(c)
    carry_over(tree, state, h, 1.0, None)
    return evaluations, residual, status, -1, least
