"""A node: the configuration and the momenta that a step starts from, and what is known there.

The momentum is carried link by link, as `momentum` about each link's origin, and by the joints themselves, as
`joint_momentum`. Of one simulation, or of four in lanes.
"""

from .aba import singular_joint
from .elements import with_potentials
from .elements.servo import switch_off
from .joints import deflections, dispatch as joint
from .kinematics import place
from .layout import CARRIED, LEDGER, P, V
from .machine.jit import kernel, part
from .machine.memory import copy, link, team, teams
from .machine.simd import number
from .maths.spatial import read3
from .maths.vec3 import NONE, ZERO, dot
from .mobility import added_energy, is_damped, look_ahead, start_ahead
from .momentum import generalized_momentum, momentum_of, momentum_solve_up, velocity_of
from .record import begin_extremes
from .rnea import gravitational_energy, kinetic_energy, total_momentum, velocities
from .sweep import factor_mass


@part
def enter_node(system, w, q):
    """Set all that depends on the configuration of a node, but for the factored mass matrix. Gives the energy of the
    springs."""
    place(system.tree, w, q)
    return deflections(system.tree, w, q, system.rest)


@kernel
def potential_energy(system, w, springs):
    """Of gravity, of the elements, and of the joints' springs, which is given. Needs enter_node()."""
    return gravitational_energy(system.tree, w, system.gravity) + with_potentials(
        springs, system.elements, system.tree, w)


@part
def factor_at_node(tree, state):
    """Factor the mass matrix of the node."""
    factor_mass(tree, state.w, 0.0)
    state.factored[0] = 1.0


@part
def energies(system, state, springs, whole):
    """Twice the kinetic energy of a node, and its energy, given that of its springs; if ``whole``, its velocity is set
    too."""
    factor_at_node(system.tree, state)
    if is_damped(system.tree):
        twice = velocity_of(system.tree, state.w, state.v) - added_energy(system.tree, state.w, state.v)
    else:
        twice = velocity_of(system.tree, state.w, state.v) if whole else momentum_solve_up(system.tree, state.w)
    return twice, 0.5 * twice + potential_energy(system, state.w, springs)


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
    copy(state.ledger, state.saved_ledger, LEDGER)
    for k in teams(tree):  # every link by itself, or four at a time
        L = team(state.w, k)
        L.node_momentum, L.node_momentum_low = L.momentum, L.momentum_low
        if tree.most > 1:
            L.node_joint_momentum6 = L.joint_momentum6
        else:
            L.node_joint_momentum = L.joint_momentum


@part
def restore_node(system, state):
    """Come back to the node that was kept; no step before it is remembered then."""
    tree = system.tree
    copy(state.saved_q, state.q, tree.nq)
    copy(state.saved_low, state.low, tree.nq)
    copy(state.saved_ledger, state.ledger, LEDGER)
    for k in teams(tree):  # every link by itself, or four at a time
        L = team(state.w, k)
        L.momentum, L.momentum_low = L.node_momentum, L.node_momentum_low
        L.joint_momentum6 = L.node_joint_momentum6
    enter_node(system, state.w, state.q)
    factor_at_node(tree, state)
    velocity_of(tree, state.w, state.v)
    generalized_momentum(tree, state.w, state.v, state.p)
    state.known[0] = number(state.w, 0.0)


@part
def prepare(system, state, given, h):
    """Set up a node given by (q, v), then p is set; by (q, p), then v is set; or by q and the momenta that the links
    have, then v and p are set. The extremes begin there. Gives the first singular joint or −1.

    Steps of h are to come, if it is not zero: what they do not resolve of the damping is seen ahead
    (elements/lookahead.py). A velocity is one from which the damper has yet to stop the joint; with a momentum, it did
    in the steps before."""
    tree, w, v, p = system.tree, state.w, state.v, state.p
    springs = enter_node(system, w, state.q)
    if given != CARRIED:
        switch_off(tree, w)
    factor_at_node(tree, state)
    singular, damped = singular_joint(tree, w), h != 0.0 and is_damped(tree)
    if given == P:
        for i in range(tree.n):
            # All of it is given to the joints: only the sum along the tree counts
            link(w, i).momentum, link(w, i).momentum_low = NONE, ZERO
            joint.give_momentum(tree.kind[i], link(w, i), p, tree.iv[i])
    if given != V:
        velocity_of(tree, w, v)
    if given == P and damped:
        look_ahead(tree, w, h)
        state.factored[0] = number(w, 0.0)
    if given == CARRIED:
        velocities(tree, w, v)
    else:
        momentum_of(tree, w, v)
    if given != P:
        generalized_momentum(tree, w, v, p)
    kinetic = kinetic_energy(tree, w, v)
    energy = kinetic + potential_energy(system, w, springs)
    angular, linear = total_momentum(tree, w)
    begin_extremes(state, 2.0 * kinetic, energy, angular + linear)
    if given == V and damped:
        look_ahead(tree, w, h)
        start_ahead(tree, w)
        state.factored[0] = number(w, 0.0)
    return singular
