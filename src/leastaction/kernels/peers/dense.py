"""The methods that the paper compares itself with: the step and its loop.

They make the same step as variational.py, from (q0, p0) to (q1, p1), and are compiled by themselves when first asked
for. With SVI the momentum is kept by the joints alone (JOINT_P), and that of the links is zero between steps.
"""

from math import isfinite

from ..drnea import carry, kick
from ..guess import PAST, guess, remember
from ..joints import apply_joint_motion, carry_joint, get_motion, set_motion
from ..machine.jit import entry, kernel, part
from ..machine.memory import link, copy, look_at, see
from ..maths.vec3 import NONE
from ..momentum import generalized_momentum, velocity_of
from ..record import follow, note_energy, record
from ..rnea import momenta, total_momentum, velocities
from ..search import worst_joint
from ..settings import BAD_CONTROL, NOT_FINITE, SVI
from ..sweep import factor_mass
from ..variational import arrive, force_scale, potential_energy, restore_node, save_node, set_wrenches
from .dense_root import find_dense_root, restore_wrenches, see_desk


@kernel
def push_joints(tree, w, tau, h):
    """Add the impulse of joint forces tau over a time h."""
    if len(tau) > 0:
        for i in range(tree.n):
            link(w, i).joint_momentum += h * tau[tree.iv[i]]


@kernel
def keep_in_joints(tree, w, p):
    """Keep the momentum p of the node in the joints."""
    for i in range(tree.n):
        link(w, i).momentum = NONE
        link(w, i).joint_momentum = p[tree.iv[i]]


@part
def dense_step(system, state, tau, h, method, stage, known, scale, residual, desk):
    """As variational.step."""
    tree, w, settings = system.tree, state.w, method[3]
    if residual == SVI:
        push_joints(tree, w, tau, 0.5 * h)
    else:
        kick(system, w, tau, 0.5 * h)
    guess(system, state, tau, h, method, stage, known)
    set_motion(tree, w, state.motion)
    if settings.implicit:
        factor_mass(tree, w, h)
    evaluations, left, status = find_dense_root(system, state, h, scale, settings, residual, desk)
    if status < 0:
        return evaluations, left, status, 0.0
    get_motion(tree, w, state.motion)
    remember(state.history, state.motion, tree.nv)
    if residual == SVI:
        for i in range(tree.n):  # p1 = D₂L_d + f⁺
            carry_joint(tree, w, i, h)
            link(w, i).joint_momentum += desk.x[tree.iv[i]] + 0.5 * h * desk.y[tree.iv[i]]
    else:
        restore_wrenches(tree, w)
        carry(tree, w, h)
    for i in range(tree.n):
        apply_joint_motion(tree, w, i, state.q, state.low)
    springs = arrive(system, w, state.q)
    factor_mass(tree, w, 0.0)
    if residual == SVI:
        push_joints(tree, w, tau, 0.5 * h)
    else:
        kick(system, w, tau, 0.5 * h)
    return evaluations, left, status, springs


@part
def blame(tree, state, h, settings, status, residual):
    """The joint to blame for a step without a root; of SVI the one with the largest residual."""
    if residual != SVI:
        return worst_joint(tree, state, h, settings.retraction, True, status)
    worst, f = 0, state.f
    for i in range(tree.n):
        if abs(f[tree.iv[i]]) > abs(f[tree.iv[worst]]):
            worst = i
    return worst


@entry
def run_dense(
    system, state, control, tau, wrench, h, first, steps, every, known, method, residual, desk, out,
):
    """As variational.run, with one of the methods of this file."""
    system, seen_q, seen_v, state, desk = look_at(system), state.q, state.v, see(state), see_desk(desk)
    tree, w, v, p = system.tree, state.w, state.v, state.p
    stages, _, _, settings = method
    held = tau[0] if len(tau) > 0 else tau.reshape(-1)[:0]
    kept = 0
    if residual == SVI:
        generalized_momentum(tree, w, p)
        keep_in_joints(tree, w, p)
    for k in range(steps):
        if len(wrench) > 1 or (len(wrench) == 1 and k == 0):
            set_wrenches(tree, w, wrench[k])
        if control is not None:
            held = control((first + k) * h, seen_q, seen_v)
        elif len(tau) > 1:
            held = tau[k]
        if control is not None and len(held) != tree.nv:
            out.status[k] = BAD_CONTROL
            generalized_momentum(tree, w, p)
            return k, known, 0
        save_node(tree, state)
        scale = force_scale(tree, w, system.gravity, h)
        springs = 0.0
        for s in range(len(stages)):  # just one for order two
            spent, left, result, springs = dense_step(
                system, state, held, stages[s] * h, method, s, min(known + s, PAST), scale, residual, desk)
            out.iterations[k] += spent
            out.residual[k] = left if result < 0 else max(out.residual[k], left)
            out.status[k] = result if result < 0 else max(out.status[k], result)
            if result < 0:
                copy(desk.f, state.f, tree.nv)
                blamed = blame(tree, state, stages[s] * h, settings, result, residual)
                restore_node(system, state)
                generalized_momentum(tree, w, p)
                return k, 0, blamed
        known = min(known + len(stages), PAST)
        twice = velocity_of(tree, w, v)
        if residual == SVI:  # for a moment, to have their sum
            velocities(tree, w, v)
            momenta(tree, w)
        energy = 0.5 * twice + potential_energy(system, w, springs)
        if not isfinite(energy):
            out.status[k] = NOT_FINITE
            restore_node(system, state)
            generalized_momentum(tree, w, p)
            return k, 0, 0
        angular, linear = total_momentum(tree, w)
        follow(0.5 * twice, energy, angular + linear, out.extremes)
        note_energy(out.looks, first, k, energy)
        if residual == SVI:
            for i in range(tree.n):
                link(w, i).momentum = NONE
        if (first + k + 1) % every == 0:
            generalized_momentum(tree, w, p)
            record(tree, out, kept, state, energy, angular + linear)
            kept += 1
    return steps, known, -1
