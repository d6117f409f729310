"""The search for the root as a function that the step calls by its address.

It is half of what has to be compiled for a run, and apart from the loop it can be compiled at the same time, by another
process.
"""

from functools import cache
from math import isfinite

from numba.core import cgutils, types
from numba.extending import intrinsic

from .drnea import carry_link, gather_residual
from .joints import apply_joint_motion, carry_joint, dispatch as joint, get_joint_motion
from .layout import DOF, WHOLE, State, Tree
from .machine.jit import apart, part
from .machine.memory import link, team, teams
from .machine.simd import COMPILED, of_integers, of_numbers
from .root import evaluate, find_root, polished, step_factor, sweep_down
from .settings import FLOOR, NEWTON, RIQN, ROTATION, SCALED, Settings
from .stiffness import SPLIT

_NUMBER, _WHOLE, _FLAG = types.float64, types.int64, types.boolean
_TREE = Tree(*([_WHOLE] * WHOLE + [of_integers] * (len(Tree._fields) - WHOLE)))
_SETTINGS = Settings(
    guess=_WHOLE, method=_WHOLE, chord=_FLAG, rule=_WHOLE, tol=_NUMBER, sure=_NUMBER, max_iterations=_WHOLE,
    retraction=_WHOLE, implicit=_FLAG, damped=_FLAG, rescue=_FLAG, max_substeps=_WHOLE,
)
SIGNATURE = types.Tuple([_WHOLE, _NUMBER, _WHOLE, _WHOLE, _NUMBER])(
    types.NamedTuple(_TREE, Tree), types.NamedUniTuple(of_numbers, len(State._fields), State), _NUMBER, _NUMBER,
    types.NamedTuple(_SETTINGS, Settings))


@part
def carry_over(tree, state, h, fraction, riqn):
    """Advance q by the motion that was found, of which the increments are left in state.motion, and carry the momenta
    over, polished by a fraction of the last sweep unless that is None. Of one simulation, or of four."""
    w = state.w
    for j in teams(tree):  # every link by itself, or four at a time
        L = team(w, j)
        m, f, d = polished(L, h, fraction, riqn)
        carry_link(L, m, f, d, tree.most)
    for i in range(tree.n):
        get_joint_motion(tree, w, i, state.motion)
        if tree.passive[i]:
            carry_joint(tree, w, i, h)
        apply_joint_motion(tree, w, i, state.q, state.low)


@part
def worst_joint(tree, state, h, retraction, riqn, status):
    """The joint to blame for a step without a root: the one whose link turned furthest, or with the largest f²/M."""
    w, f = state.w, state.f
    # No sweep comes first: a failed status is negative. A literal False would have evaluate() compiled once more
    evaluate(tree, w, h, retraction, riqn, step_factor(h, riqn), status >= 0)
    gather_residual(tree, w, f)
    worst, most = 0, -1.0
    for i in range(tree.n):
        L, k = link(w, i), tree.iv[i]
        size = 1.0 - L.dR[0]
        if status != ROTATION:
            weight = joint.weight(tree.kind[i], L, h, step_factor(h, riqn))
            size = 0.0
            for j in range(k, k + DOF[tree.kind[i]]):
                size = max(size, weight * f[j] * f[j])
        if not isfinite(size):
            return i
        if size > most:
            worst, most = i, size
    return worst


@part
def find_and_carry_over(tree, state, h, reference, settings, riqn, retraction):
    """As root.find_root, then leave the node by what was found. Gives (evaluations, residual,
    status, joint to blame without a root, least cos(θ/2) of a link's rotation)."""
    evaluations, residual, status, least = find_root(tree, state, h, reference, settings, riqn, retraction)
    if status < 0:
        return evaluations, residual, status, worst_joint(tree, state, h, retraction, riqn, status), least
    k = 0.0 if status == FLOOR else step_factor(h, riqn)
    sweep_down(tree, state.w, k, riqn)
    carry_over(tree, state, h, k, riqn)
    return evaluations, residual, status, -1, least


@apart
def search(tree, state, h, reference, settings):
    """By any method of root.py and any retraction."""
    return find_and_carry_over(tree, state, h, reference, settings, settings.method == RIQN, settings.retraction)


@apart
def usual_search(tree, state, h, reference, settings):
    """The same for the default settings alone, which is sooner compiled."""
    return find_and_carry_over(tree, state, h, reference, settings, None, None)


def chosen(settings):
    """The search that serves these settings."""
    usual = settings.method == NEWTON and settings.retraction == SPLIT and settings.rule == SCALED
    return usual_search if usual else search


@cache
def address(function) -> int:
    """Where a compiled search is in memory."""
    if not COMPILED:
        return 0
    function.compile(SIGNATURE)
    made = function.overloads[SIGNATURE.args]
    return made.library.get_pointer_to_function(made.fndesc.llvm_func_name)


@intrinsic
def _call(typing_context, where, tree, state, h, reference, settings):
    def lower(context, builder, sig, args):
        convention, kinds, result = context.call_conv, SIGNATURE.args, SIGNATURE.return_type
        function = builder.inttoptr(args[0], convention.get_function_type(result, kinds).as_pointer())
        status, found = convention.call_function(builder, function, result, kinds, args[1:])
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return found

    return SIGNATURE.return_type(types.intp, *SIGNATURE.args), lower


def _search(where, *args):
    return search(*args)


call = _call if COMPILED else _search  # the search that is at an address
