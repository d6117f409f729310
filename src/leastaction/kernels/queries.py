"""What Python asks of a configuration or a state, each in one call; all take a fresh workspace w."""

from .aba import acceleration, singular_joint
from .crba import crba
from .drnea import carry, drnea, gather_residual, kick
from .drnea_jacobian import drnea_jacobian
from .elements import impulses, set_time, with_potentials
from .elements.damping import decay_rates
from .joints import dispatch as joint, motion_between, move_by, passive_forces
from .kinematics import place
from .layout import Held
from .machine.jit import entry, kernel
from .machine.memory import link, tree_as_views, system_as_views
from .machine.simd import numbers
from .maths import so3
from .maths.spatial import read3, read4, shift_wrench
from .maths.vec3 import NONE, ZERO, add, unit
from .mobility import is_damped, look_ahead
from .node import enter_node, set_wrenches
from .rnea import (
    gather_momenta, gravitational_energy, kinetic_energy, momenta, rnea, total_momentum, velocities,
)
from .solve import solve_rows
from .sweep import factor_jacobian, factor_mass


@entry
def body_poses(tree, w, q, links, position, quaternion, out):
    """World poses (nb, 4, 4) of all bodies, whose position (nb, 3) and quaternion (nb, 4) on their links are given;
    ``out`` is zero."""
    tree, w = tree_as_views(tree), numbers(w)
    place(tree, w, q)
    for b in range(len(links)):
        L = link(w, links[b])
        R = so3.matrix(so3.multiply(L.rotation, read4(quaternion[b], 0)))
        place_ = add(L.origin, so3.rotate(L.rotation, read3(position[b], 0)))
        for i in range(3):
            for j in range(3):
                out[b, i, j] = R[3 * i + j]
            out[b, i, 3] = place_[i]
        out[b, 3, 3] = 1.0


@entry
def mass_matrix(tree, w, q, unit, M):
    tree, w = tree_as_views(tree), numbers(w)
    place(tree, w, q)
    crba(tree, w, unit, M)


@entry
def link_jacobian(tree, w, q, number, position, columns):
    """Columns (nv, 6) of the world-axis twist, at a point fixed to the link, per unit of every rate."""
    tree, w = tree_as_views(tree), numbers(w)
    place(tree, w, q)
    point = so3.rotate(link(w, number).rotation, position)
    while number < tree.n:
        L, k = link(w, number), tree.iv[number]
        # Sᵀ of six unit wrenches at the point
        for j in range(6):
            m, f = shift_wrench(unit(j), unit(j - 3), point)
            joint.force(tree.kind[number], L, m, f, columns[:, j], k)
        point = add(point, L.arm)
        number = tree.parent[number]


@entry
def inverse_dynamics(system, w, q, v, a, t, tau):
    """tau = M a + C v + gravity terms − passive joint forces − those of the elements at time t."""
    system, w = system_as_views(system), numbers(w)
    tree = system.tree
    enter_node(system, w, q)
    set_time(system.elements, tree, w, t)
    rnea(system, w, v, a, tau)
    for j in range(len(tau)):
        tau[j] = -tau[j]
    passive_forces(tree, w, v, tau)
    for j in range(len(tau)):
        tau[j] = -tau[j]


@entry
def forward_dynamics(system, w, q, v, tau, wrench, t, a):
    """Accelerations under the forces tau (nv,) on joints, wrench (n, 6) on links, and the elements at time t."""
    system, w = system_as_views(system), numbers(w)
    tree = system.tree
    set_wrenches(tree, w, wrench)
    enter_node(system, w, q)
    factor_mass(tree, w, 0.0)
    singular = singular_joint(tree, w)
    set_time(system.elements, tree, w, t)
    acceleration(system, w, v, Held(True, tau), a)
    return singular


@entry
def element_forces(system, w, q, epsilon, out):
    """Generalized forces (nv,) of the elements at q ⊕ ε, but for dampers, over 1 s from t = 0 on; q is moved there."""
    system, w = system_as_views(system), numbers(w)
    tree = system.tree
    move_by(tree, q, epsilon)
    place(tree, w, q)
    for i in range(tree.n + 1):
        link(w, i).momentum = NONE
    set_time(system.elements, tree, w, 0.0)
    impulses(system.elements, tree, w, 1.0)
    gather_momenta(tree, w, out)


@entry
def damper_rates(system, w, q, out):
    """Rates, 1/s, at which each damper between bodies by itself brings its ends to rest: out (tables, rows)."""
    system, w = system_as_views(system), numbers(w)
    place(system.tree, w, q)
    factor_mass(system.tree, w, 0.0)
    decay_rates(system.elements, system.tree, w, out, 0)


@entry
def energy_momentum(system, w, q, v):
    """(kinetic, gravitational energy, that of springs and elements, angular momentum, linear momentum)."""
    system, w = system_as_views(system), numbers(w)
    tree = system.tree
    springs = with_potentials(enter_node(system, w, q), system.elements, tree, w)
    velocities(tree, w, v)
    momenta(tree, w)
    angular, linear = total_momentum(tree, w)
    return kinetic_energy(tree, w, v), gravitational_energy(tree, w, system.gravity), springs, angular, linear


@entry
def moved(tree, q, epsilon):
    move_by(tree_as_views(tree), q, epsilon)


@kernel
def set_lookahead(system, w, q, h):
    """What a step of h from q does not resolve of the damping (elements/lookahead.py)."""
    if is_damped(system.tree):
        place(system.tree, w, q)
        look_ahead(system.tree, w, h)


@entry
def discrete_residual(system, w, q_prev, way, tau, f):
    """The paper's f(q^{k+1}) = −(D₂L_d + D₁L_d) − forcing; tau acts over both intervals."""
    system, w = system_as_views(system), numbers(w)
    tree, (q, q_next, h, retraction) = system.tree, way
    set_lookahead(system, w, q, h)
    enter_node(system, w, q_prev)
    motion_between(tree, w, q_prev, q)
    drnea(tree, w, h, retraction, True)
    carry(tree, w, h)
    enter_node(system, w, q)
    set_time(system.elements, tree, w, -0.5 * h)
    for i in range(tree.n):
        link(w, i).momentum_low = ZERO
    kick(system, w, Held(len(tau) > 0, tau), h)
    motion_between(tree, w, q, q_next)
    drnea(tree, w, h, retraction, True)
    gather_residual(tree, w, f)


@entry
def discrete_jacobian(system, w, way, unit, jacobian):
    """∂f/∂q^{k+1} in body-axis increments."""
    system, w = system_as_views(system), numbers(w)
    tree, (q, q_next, h, retraction) = system.tree, way
    set_lookahead(system, w, q, h)
    enter_node(system, w, q)
    motion_between(tree, w, q, q_next)
    drnea(tree, w, h, retraction, True)
    drnea_jacobian(tree, w, h, retraction, unit, jacobian)


@entry
def solve_mass(tree, w, q, rows, room):
    """rows ← rows M⁻¹, each row (nv,) being a right-hand side."""
    tree, w = tree_as_views(tree), numbers(w)
    place(tree, w, q)
    factor_mass(tree, w, 0.0)
    solve_rows(tree, w, rows, room, None, None)


@entry
def solve_discrete_jacobian(system, w, way, rows, room, transposed):
    """rows ← J⁻¹ rows, each row (nv,) being a right-hand side, with J as discrete_jacobian(); or J⁻ᵀ rows."""
    system, w = system_as_views(system), numbers(w)
    tree, (q, q_next, h, retraction) = system.tree, way
    set_lookahead(system, w, q, h)
    enter_node(system, w, q)
    motion_between(tree, w, q, q_next)
    drnea(tree, w, h, retraction, True)
    factor_jacobian(tree, w, h, retraction, True)
    solve_rows(tree, w, rows, room, True, transposed)
