"""The variational step in position–momentum form, and the loop that repeats it.

Given (q0, p0): solve p0 + f⁻ = −D₁L_d(q0, q1) for q1, then p1 = D₂L_d(q0, q1) + f⁺. The momentum is carried link by
link, as `momentum` about each link's origin, and by the joints themselves, as `joint_momentum`. Gravity, external
wrenches and joint forces act as half an impulse at either end of the step (kick); together the two halves are the
paper's full impulse at t_k.
"""

from math import isfinite

from .aba import singular_joint
from .drnea import kick
from .elements import with_potentials
from .guess import PAST, guess, remember
from .joints import deflections, set_motion
from .kinematics import place, read3
from .layout import FREE, SCREW
from .machine.jit import entry, formula, kernel, part
from .machine.memory import copy, link, look_at, see, team, teams, zeros
from .machine.simd import choose, less, number
from .maths.vec3 import NONE, dot
from .momentum import generalized_momentum, momentum_of, momentum_solve_up, velocity_of
from .record import KNOWN, due, follow, note_energy, record
from .rnea import gravitational_energy, kinetic_energy, total_momentum, velocities
from .search import call
from .settings import BAD_CONTROL, NOT_FINITE, RIQN, STRUGGLED, UNRESOLVED
from .sweep import factor_mass

# Change of the energy in a single step, relative to twice the kinetic energy, that shows the step to be too long:
TROUBLED_JUMP = 0.025  # when the search was in trouble
SMOOTH_JUMP = 0.05  # when it was not
NOTICEABLE = 0.995  # cos(θ/2) of 0.2 rad: only a step that turns a link further can be too long
V, P, CARRIED = 0, 1, 2  # what a node is given by, besides q


@part
def arrive(system, w, q):
    """Set all that depends on the configuration of a node, but for the factored mass matrix. Gives the energy of the
    springs."""
    place(system.tree, w, q)
    return deflections(system.tree, w, q, system.rest)


@kernel
def potential_energy(system, w, springs):
    """Of gravity, of the elements, and of the joints' springs, which is given. Needs arrive()."""
    return gravitational_energy(system.tree, w, system.gravity) + with_potentials(
        springs, system.elements, system.tree, w)


@kernel
def set_wrenches(tree, w, wrench):
    """External wrenches of the links (n, 6), each in the link's own frame."""
    for i in range(tree.n):
        L = link(w, i)
        L.push = read3(wrench[i], 0), read3(wrench[i], 3)
        L.pushed = 1.0


@part
def force_scale(tree, w, gravity, h):
    """h² Σ m |g|², to which the momentum that gravity gives in a step compares: so a release from rest has a scale."""
    mass = number(w, 0.0)
    for i in range(tree.n):
        mass += link(w, i).mass
    return h * h * mass * dot(gravity, gravity)


@part
def save_node(tree, state):
    """Keep the node, so that a failed step can come back to it."""
    copy(state.q, state.saved_q, tree.nq)
    copy(state.low, state.saved_low, tree.nq)
    for k in teams(tree):  # every link by itself, or four at a time
        L = team(state.w, k)
        L.node_momentum = L.momentum
        if tree.most > 1:
            L.node_joint_momentum6 = L.joint_momentum6
        else:
            L.node_joint_momentum = L.joint_momentum


@part
def restore_node(system, state):
    """Come back to the node that was kept."""
    tree = system.tree
    copy(state.saved_q, state.q, tree.nq)
    copy(state.saved_low, state.low, tree.nq)
    for k in teams(tree):  # every link by itself, or four at a time
        L = team(state.w, k)
        L.momentum = L.node_momentum
        L.joint_momentum6 = L.node_joint_momentum6
    arrive(system, state.w, state.q)
    factor_mass(tree, state.w, 0.0)
    velocity_of(tree, state.w, state.v)


@part
def come(system, state, tau, h):
    """Come to the next node after search.leave(). Gives the energy of its springs."""
    remember(state.history, state.motion, system.tree.nv)
    springs = arrive(system, state.w, state.q)
    kick(system, state.w, tau, 0.5 * h)
    return springs


@part
def step(system, state, tau, h, method, stage, known, factored, scale, search):
    """One step from a node to the next. Gives (evaluations, residual, status, joint to blame, least cos(θ/2) of a
    link's rotation, spring energy).

    ``factored`` tells whether factor_mass(tree, w, 0) has been called. A step without a root leaves q where it was; the
    momenta have had the first kick.
    """
    tree, w, (_, _, dynamics, settings) = system.tree, state.w, method
    if not factored and (settings.method == RIQN or dynamics is not None):
        factor_mass(tree, w, 0.0)
    kick(system, w, tau, 0.5 * h)
    guess(system, state, tau, h, method, stage, known)
    set_motion(tree, w, state.motion)
    if settings.implicit and settings.method == RIQN:
        factor_mass(tree, w, h)
    evaluations, residual, status, blamed, least = call(
        search, tree, state, h, scale, settings)
    if status < 0:
        return evaluations, residual, status, blamed, least, 0.0
    return evaluations, residual, status, blamed, least, come(system, state, tau, h)


@kernel
def may_divide(settings):
    """Whether a step that is too long may be divided, if it is known to be by its energy."""
    return not settings.damped and settings.max_substeps > 1


@formula
def jumped(change, before, after, status):
    """1 if the energy changed so much in a step that it was too long, given twice the kinetic energies; else 0. Of one
    simulation, or of four."""
    return less(choose(status - STRUGGLED, SMOOTH_JUMP, TROUBLED_JUMP) * max(before, after), abs(change))


@part
def prepare(system, state, given, extremes):
    """Prepare a node at (q, v), then p is set; or at (q, p), then v is set; or at q with the momenta that the links
    have, then v and p are set. The extremes begin there. Gives the first singular joint or −1."""
    tree, w, v, p = system.tree, state.w, state.v, state.p
    springs = arrive(system, w, state.q)
    factor_mass(tree, w, 0.0)
    singular = singular_joint(tree, w)
    if given == P:
        for i in range(tree.n):
            L, k = link(w, i), tree.iv[i]
            L.momentum = NONE  # all of it is given to the joints: only the sum along the tree counts
            if tree.kind[i] == SCREW:
                L.joint_momentum = p[k]
            else:
                m, f = read3(p, k), zeros(w)
                if tree.kind[i] == FREE:
                    f = read3(p, k + 3)
                L.joint_momentum6 = m, f
    if given != V:
        velocity_of(tree, w, v)
    if given == CARRIED:
        velocities(tree, w, v)
    else:
        momentum_of(tree, w, v)
    if given != P:
        generalized_momentum(tree, w, p)
    kinetic = kinetic_energy(tree, w, v)
    energy = kinetic + potential_energy(system, w, springs)
    angular, linear = total_momentum(tree, w)
    momentum = angular + linear
    extremes[0] = extremes[1] = energy
    for j in range(6):
        extremes[3 + j] = extremes[9 + j] = momentum[j]
    extremes[2], extremes[KNOWN] = kinetic, 1.0
    return singular


@entry
def start(system, state, given, extremes):
    """As prepare()."""
    return prepare(look_at(system), see(state), given, extremes)


@entry
def run(system, state, control, tau, wrench, h, first, steps, every, known, method, out, search):
    """Make ``steps`` steps, the first of which is step number ``first`` of the run, keeping every ``every``-th node.

    The invariants are looked at as record.due says.

    Joint forces are control(t, q, v) if that is not None; else ``tau`` (R, nv) has R = 0 (none), 1 (held) or ``steps``
    rows, as has ``wrench`` (R, n, 6). ``known`` past increments are in the history. ``search`` is the address of one of
    search.py. Gives the number of steps made and of increments known; if steps are missing, also the joint to blame,
    and state.p holds the last good momentum.

    With steps = −1 − given it is start() instead, so that a first run has one entry less to compile.
    """
    system, seen_q, seen_v, state = look_at(system), state.q, state.v, see(state)
    tree, w, v, p = system.tree, state.w, state.v, state.p
    if steps < 0:
        return 0, 0, prepare(system, state, -1 - steps, out.extremes)
    stages, _, _, settings = method
    held = tau[0] if len(tau) > 0 else tau.reshape(-1)[:0]
    kept = 0
    from_rest = force_scale(tree, w, system.gravity, h)
    factor_mass(tree, w, 0.0)
    twice = momentum_solve_up(tree, w)
    energy = 0.5 * twice + potential_energy(system, w, deflections(tree, w, state.q, system.rest))
    factored = True
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
        least, springs = 1.0, 0.0
        for s in range(len(stages)):  # just one for order two
            spent, left, result, blamed, least, springs = step(
                system, state, held, stages[s] * h, method, s, min(known + s, PAST), factored and s == 0, from_rest,
                search)
            out.iterations[k] += spent
            out.residual[k] = left if result < 0 else max(out.residual[k], left)
            out.status[k] = result if result < 0 else max(out.status[k], result)
            if result < 0:
                restore_node(system, state)
                generalized_momentum(tree, w, p)
                return k, 0, blamed
        known = min(known + len(stages), PAST)
        keep = (first + k + 1) % every == 0
        energy_was_known, out.extremes[KNOWN] = out.extremes[KNOWN], 0.0
        look_at_it = due(first + k + 1, least)
        factored = look_at_it or keep or control is not None
        if not factored:
            continue
        factor_mass(tree, w, 0.0)
        before, last = twice, energy
        twice = velocity_of(tree, w, v) if keep or control is not None else momentum_solve_up(tree, w)
        energy = 0.5 * twice + potential_energy(system, w, springs)
        # A step that turns a link far may be too long, which its energy tells. Where the energy before it was not
        # looked at, the rescue makes the step again and compares; also if this call happens to know it, so that a run
        # in parts is the same as in one.
        if not isfinite(energy) or (
                least < NOTICEABLE and len(held) == 0 and may_divide(settings)
                and (energy_was_known == 0.0 or jumped(energy - last, before, twice, out.status[k]) != 0.0)):
            out.status[k] = UNRESOLVED if isfinite(energy) else NOT_FINITE
            restore_node(system, state)
            generalized_momentum(tree, w, p)
            return k, 0, 0
        angular, linear = total_momentum(tree, w)
        if look_at_it:
            follow(0.5 * twice, energy, angular + linear, out.extremes)
            note_energy(out.looks, first, k, energy)
        if keep:
            generalized_momentum(tree, w, p)
            record(tree, out, kept, state, energy, angular + linear)
            kept += 1
    return steps, known, -1
