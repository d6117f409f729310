"""The variational step in position–momentum form, and the loop that repeats it.

Given (q0, p0): solve p0 + f⁻ = −D₁L_d(q0, q1) for q1, then p1 = D₂L_d(q0, q1) + f⁺. The momentum is carried link by
link, as the wrench MOMENTUM about each link's origin, and by the joints themselves, JOINT_P. Gravity, external wrenches
and joint forces act as half an impulse at either end of the step (kick); together the two halves are the paper's full
impulse at t_k.
"""

from math import isfinite

from . import so3
from .aba import factor, solve_down, solve_up
from .drnea import carry, drnea, gather_residual, kick
from .guess import guess, remember
from .jit import entry, kernel
from .joints import apply_motion, deflections, get_motion, get_solution, set_motion
from .kinematics import place
from .layout import (
    ARMATURE, DINV, DOF, DQ, F, JOINT_P, LANES, MASS, MOMENTUM, PUSH, Q, SCREW, TAU, get4, get33, put33, slot,
)
from .record import follow, record
from .riqn import BAD_CONTROL, ROTATION, riqn
from .rnea import gather, gravitational_energy, kinetic_energy, momenta, total_momentum, velocities
from .vec3 import dot, neg


@kernel
def arrive(tree, w, q, rest):
    """Set all that depends on the configuration of a node, the factored mass matrix included.

    Gives the energy of the springs and the first joint with a singular articulated inertia, or −1.
    """
    place(tree, w, q)
    springs = deflections(tree, w, q, rest)
    return springs, factor(tree, w, 0.0)


@kernel
def momentum_of(tree, w, v):
    """Set the momenta of links and joints to those of the velocity v: p0 = M v0. Needs arrive()."""
    velocities(tree, w, v)
    momenta(tree, w, MOMENTUM)
    for i in range(len(tree.parent)):
        o, k = slot(i), tree.iv[i]
        for j in range(DOF[tree.kind[i]]):
            w[o + JOINT_P + LANES * j] = w[o + ARMATURE] * v[k + j]


@kernel
def momentum_solve_up(tree, w):
    """pᵀ M⁻¹ p, twice the kinetic energy of a node; solve_down() then gives the velocity. Needs arrive()."""
    for i in range(len(tree.parent)):
        o = slot(i)
        m, f = get33(w, o + MOMENTUM)
        put33(w, o + F, neg(m), neg(f))
        if tree.kind[i] == SCREW:
            w[o + TAU] = w[o + JOINT_P]
        else:
            orientation = get4(w, o + Q)
            m, f = get33(w, o + JOINT_P)
            put33(w, o + TAU, so3.rotate(orientation, m), so3.rotate(orientation, f))
    return solve_up(tree, w)


@kernel
def velocity_of(tree, w, v):
    """v = M⁻¹ p at a node; gives twice the kinetic energy. Needs arrive()."""
    twice = momentum_solve_up(tree, w)
    solve_down(tree, w)
    get_solution(tree, w, v)
    return twice


@kernel
def generalized_momentum(tree, w, p):
    """p = Sᵀ Σ momenta of the links + those of the joints, in the layout of v. Needs arrive()."""
    gather(tree, w, MOMENTUM, p)
    for i in range(len(tree.parent)):
        o, k = slot(i), tree.iv[i]
        for j in range(DOF[tree.kind[i]]):
            p[k + j] += w[o + JOINT_P + LANES * j]


@kernel
def set_wrenches(tree, w, wrench):
    """External wrenches of the links (n, 6), each in the link's own frame."""
    for i in range(len(tree.parent)):
        for j in range(6):
            w[slot(i) + PUSH + LANES * j] = wrench[i, j]


@kernel
def force_scale(tree, w, gravity, h):
    """h² Σ m |g|²: the square of the momentum that gravity can give in a step, so that a release from rest has a
    scale."""
    mass = 0.0
    for i in range(len(tree.parent)):
        mass += w[slot(i) + MASS]
    return h * h * mass * dot(gravity, gravity)


@kernel
def step(tree, state, rest, gravity, tau, h, known, scale, settings):
    """One step from a node to the next. Gives (evaluations, residual, status, spring energy).

    A step without a root leaves the configuration where it was and takes the first kick back.
    """
    w, q, v, history, scratch = state
    start, rule, tol, max_iterations, implicit = settings
    kick(tree, w, gravity, tau, 0.5 * h)
    guess(start, tree, w, history, known, v, tau, gravity, h, scratch[0], scratch[1])
    set_motion(tree, w, scratch[1])
    if implicit:
        factor(tree, w, h)
    evaluations, residual, status = riqn(tree, w, h, scale, rule, tol, max_iterations, scratch[0])
    if status < 0:
        kick(tree, w, gravity, tau, -0.5 * h)
        return evaluations, residual, status, 0.0
    get_motion(tree, w, scratch[1])
    remember(history, scratch[1])
    carry(tree, w, h)
    apply_motion(tree, w, q)
    springs, _ = arrive(tree, w, q, rest)
    kick(tree, w, gravity, tau, 0.5 * h)
    return evaluations, residual, status, springs


@kernel
def worst_joint(tree, w, gravity, tau, h, status, f):
    """The joint to blame for a step without a root: the one whose link turned furthest, or with the largest f²/M."""
    kick(tree, w, gravity, tau, 0.5 * h)
    drnea(tree, w, h)
    kick(tree, w, gravity, tau, -0.5 * h)
    gather_residual(tree, w, f)
    worst, most = 0, -1.0
    for i in range(len(tree.parent)):
        o, k = slot(i), tree.iv[i]
        size = 1.0 - w[o + DQ]
        if status != ROTATION:
            size = 0.0
            for j in range(k, k + DOF[tree.kind[i]]):
                size = max(size, w[o + DINV] * f[j] * f[j])
        if not isfinite(size):
            return i
        if size > most:
            worst, most = i, size
    return worst


@entry
def start(tree, state, rest, gravity, from_momentum, p):
    """Prepare a node at (q, v), then p is set; or at (q, p), then v is set.

    Gives the first singular joint or −1, the kinetic and the total energy, angular and linear momentum.
    """
    w, q, v, _, _ = state
    springs, singular = arrive(tree, w, q, rest)
    if from_momentum:
        for i in range(len(tree.parent)):
            o, k = slot(i), tree.iv[i]
            put33(w, o + MOMENTUM, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
            for j in range(DOF[tree.kind[i]]):
                w[o + JOINT_P + LANES * j] = p[k + j]
        velocity_of(tree, w, v)
    momentum_of(tree, w, v)
    if not from_momentum:
        generalized_momentum(tree, w, p)
    kinetic = kinetic_energy(tree, w, v)
    angular, linear = total_momentum(tree, w, MOMENTUM)
    return singular, kinetic, kinetic + gravitational_energy(tree, w, gravity) + springs, angular, linear


@entry
def run(tree, state, rest, gravity, control, feedback, tau, wrench, h, first, steps, every, known, settings, out):
    """Make ``steps`` steps, the first of which is step number ``first`` of the run, keeping every ``every``-th node.

    Joint forces are control(t, q, v) with ``feedback``; else ``tau`` (R, nv) has R = 0 (none), 1 (held) or ``steps``
    rows, as has ``wrench`` (R, n, 6). Gives the number of steps made; if that is less than asked for, also the joint to
    blame, and scratch[0] holds the momentum of the last good node.
    """
    w, q, v, _, scratch = state
    nothing = tau.reshape(-1)[:0]
    kept = 0
    twice = velocity_of(tree, w, v)
    for k in range(steps):
        if len(wrench) > 1 or (len(wrench) == 1 and k == 0):
            set_wrenches(tree, w, wrench[k])
        if feedback:
            held = control((first + k) * h, q, v)
        else:
            held = tau[k if len(tau) > 1 else 0] if len(tau) > 0 else nothing
        scale = twice + force_scale(tree, w, gravity, h)
        if len(held) != len(v) and len(held) != 0:
            out.status[k] = BAD_CONTROL
            generalized_momentum(tree, w, scratch[0])
            return k, 0
        evaluations, residual, status, springs = step(
            tree, state, rest, gravity, held, h, min(known + k, 4), scale, settings)
        out.iterations[k], out.residual[k], out.status[k] = evaluations, residual, status
        if status < 0:  # leave v and p of the last good node
            blamed = worst_joint(tree, w, gravity, held, h, status, scratch[0])
            arrive(tree, w, q, rest)
            velocity_of(tree, w, v)
            generalized_momentum(tree, w, scratch[0])
            return k, blamed
        keep = (first + k + 1) % every == 0
        twice = velocity_of(tree, w, v) if keep or feedback else momentum_solve_up(tree, w)
        energy = 0.5 * twice + gravitational_energy(tree, w, gravity) + springs
        angular, linear = follow(tree, w, 0.5 * twice, energy, out.extremes)
        if keep:
            generalized_momentum(tree, w, scratch[0])
            record(out, kept, q, v, scratch[0], energy, angular + linear)
            kept += 1
    return steps, -1
