"""The methods that the paper compares itself with: their step.

They make the same step as step.py, from (q0, p0) to (q1, p1), and are compiled apart when they are first used. With SVI
only the joints have momentum (the field joint_momentum); that of the links is zero between steps.
"""

from collections import namedtuple

from ..drnea import carry, kick
from ..elements.damping import damp
from ..guess import guess, learn, remember
from ..joints import apply_joint_motion, carry_joint, get_motion, set_motion
from ..layout import Made
from ..machine.jit import kernel, part
from ..machine.memory import copy, link
from ..maths.vec3 import NONE, ZERO
from ..methods import method
from ..momentum import carried_momentum, generalized_momentum, velocity_of
from ..node import enter_node, factor_at_node, potential_energy
from ..rnea import momenta, velocities
from ..search import worst_joint
from ..settings import SVI
from ..step import after_stage, nothing_yet, undo
from ..step import begin as begin_steps
from ..sweep import factor_mass
from .dense_root import find_dense_root, restore_wrenches, scratch_as_views

# stages, weights, dynamics, settings: as of step.Variational; residual: DRNEA or SVI; scratch: room to work in
Dense = namedtuple("Dense", "stages weights dynamics settings residual scratch")


@kernel
def push_joints(tree, w, held, h):
    """Add the impulse of the joint forces over a time h."""
    if held.acts:
        for i in range(tree.n):
            link(w, i).joint_momentum += h * held.tau[tree.iv[i]]


@kernel
def keep_in_joints(tree, w, p):
    """Keep the momentum p of the node in the joints."""
    for i in range(tree.n):
        link(w, i).momentum, link(w, i).momentum_low = NONE, ZERO
        link(w, i).joint_momentum = p[tree.iv[i]]


@part
def dense_step(method, system, state, held, h, stage):
    """As step.step."""
    tree, w, settings, residual = system.tree, state.w, method.settings, method.residual
    scratch = scratch_as_views(method.scratch)
    if residual == SVI:
        push_joints(tree, w, held, 0.5 * h)
    else:
        kick(system, w, held, 0.5 * h)
        damp(system.elements, tree, state, None, 0.5 * h, False)
    guess(method.dynamics, system, state, held, h, stage)
    set_motion(tree, w, state.motion)
    if settings.implicit:
        factor_mass(tree, w, h)
    evaluations, left, status = find_dense_root(system, state, h, state.scale[0], settings, residual, scratch)
    if status < 0:
        copy(scratch.f, state.f, tree.nv)
        blamed = blame(tree, state, h, settings, status, residual)
        return Made(float(evaluations), left, float(status), blamed, 0.0, 0.0)
    get_motion(tree, w, state.motion)
    remember(state.history, state.motion, tree.nv)
    if residual == SVI:
        for i in range(tree.n):  # p1 = D₂L_d + f⁺
            carry_joint(tree, w, i, h)
            link(w, i).joint_momentum += scratch.x[tree.iv[i]] + 0.5 * h * scratch.y[tree.iv[i]]
    else:
        restore_wrenches(tree, w)
        carry(tree, w, h)
    for i in range(tree.n):
        apply_joint_motion(tree, w, i, state.q, state.low)
    springs = enter_node(system, w, state.q)
    factor_at_node(tree, state)
    if residual == SVI:
        push_joints(tree, w, held, 0.5 * h)
    else:
        damp(system.elements, tree, state, None, 0.5 * h, True)
        kick(system, w, held, 0.5 * h)
    return Made(float(evaluations), left, float(status), -1, 0.0, springs)


@part
def blame(tree, state, h, settings, status, residual):
    """The joint to blame for a step without a root; for SVI, the one with the largest residual."""
    if residual != SVI:
        return worst_joint(tree, state, h, settings.retraction, True, status)
    worst, f = 0, state.f
    for i in range(tree.n):
        if abs(f[tree.iv[i]]) > abs(f[tree.iv[worst]]):
            worst = i
    return worst


@part
def begin(method, system, state, h):
    """With SVI, the joints take the momentum of the node."""
    begin_steps(method, system, state, h)
    if method.residual == SVI:
        carried_momentum(system.tree, state.w, state.p)
        keep_in_joints(system.tree, state.w, state.p)


@part
def advance(method, system, state, held, k, h):
    """Make all stages of step k; the energy of its node is always evaluated."""
    made = nothing_yet(state.w)
    for s in range(len(method.stages)):
        made = after_stage(made, dense_step(method, system, state, held, method.stages[s] * h, s))
        if made.status < 0.0:
            return made
    learn(state, h, method.stages, method.weights, method.settings.guess, len(method.stages))
    return made


@part
def look(method, system, state, springs, whole):
    """Twice the kinetic energy, and the energy, of the node."""
    twice = velocity_of(system.tree, state.w, state.v)
    if method.residual == SVI:  # until after_look(), to have their sum
        velocities(system.tree, state.w, state.v)
        momenta(system.tree, state.w)
    return twice, 0.5 * twice + potential_energy(system, state.w, springs)


@part
def after_look(method, system, state, kept):
    """With SVI, the links have no momentum of their own."""
    if method.residual == SVI:
        for i in range(system.tree.n):
            link(state.w, i).momentum = NONE
    if kept:
        generalized_momentum(system.tree, state.w, state.v, state.p)


@kernel
def trouble(method, state, made, twice, energy, looked_before):
    """There is no rescue."""
    return 0.0


method(Dense, begin, advance, look, trouble, undo, after_look)
