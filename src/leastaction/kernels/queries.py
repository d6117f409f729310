"""What Python asks of a configuration or a state, each in one call; all take a fresh workspace w."""

from .maths import so3
from .aba import acceleration, singular_joint
from .crba import crba
from .drnea import carry, drnea, gather_residual, kick
from .drnea_jacobian import drnea_jacobian
from .elements import impulses, with_potentials
from .machine.jit import entry
from .joints import deflections, motion_between, move_by, passive_forces
from .kinematics import joint_force, place, shift_wrench
from .machine.memory import link, look
from .rnea import gravitational_energy, kinetic_energy, momenta, rnea, total_momentum, velocities
from .machine.simd import numbers
from .solve import solve_rows
from .sweep import factor_jacobian, factor_mass
from .variational import set_wrenches
from .maths.vec3 import add, unit


@entry
def link_poses(tree, w, q, position, quaternion):
    """World poses of all links, and of the ground in the last row."""
    tree, w = look(tree), numbers(w)
    place(tree, w, q)
    for i in range(tree.n + 1):
        for j, value in enumerate(link(w, i).origin):
            position[i, j] = value
        for j, value in enumerate(link(w, i).rotation):
            quaternion[i, j] = value


@entry
def mass_matrix(tree, w, q, unit, M):
    tree, w = look(tree), numbers(w)
    place(tree, w, q)
    crba(tree, w, unit, M)


@entry
def link_jacobian(tree, w, q, number, position, columns):
    """Columns (nv, 6) of the world-axis twist, at a point fixed to the link, per unit of every rate."""
    tree, w = look(tree), numbers(w)
    place(tree, w, q)
    point = so3.rotate(link(w, number).rotation, position)
    while number < tree.n:
        L, k = link(w, number), tree.iv[number]
        # Sᵀ of six unit wrenches at the point
        for j in range(6):
            m, f = shift_wrench(unit(j), unit(j - 3), point)
            joint_force(tree.kind[number], L, m, f, columns[:, j], k)
        point = add(point, L.arm)
        number = tree.parent[number]


@entry
def inverse_dynamics(tree, w, q, v, a, rest, gravity, tau):
    """tau = M a + C v + gravity terms − passive joint forces."""
    tree, w = look(tree), numbers(w)
    place(tree, w, q)
    deflections(tree, w, q, rest)
    rnea(tree, w, v, a, gravity, tau)
    for j in range(len(tau)):
        tau[j] = -tau[j]
    passive_forces(tree, w, v, tau)
    for j in range(len(tau)):
        tau[j] = -tau[j]


@entry
def forward_dynamics(tree, w, q, v, tau, wrench, rest, gravity, a):
    tree, w = look(tree), numbers(w)
    set_wrenches(tree, w, wrench)
    place(tree, w, q)
    deflections(tree, w, q, rest)
    factor_mass(tree, w, 0.0)
    singular = singular_joint(tree, w)
    acceleration(tree, w, v, tau, gravity, a)
    return singular


@entry
def energy_momentum(tree, w, q, v, rest, gravity, elements):
    """(kinetic, gravitational energy, that of springs and elements, angular momentum, linear momentum)."""
    tree, w = look(tree), numbers(w)
    place(tree, w, q)
    springs = with_potentials(deflections(tree, w, q, rest), elements, tree, w)
    velocities(tree, w, v)
    momenta(tree, w)
    angular, linear = total_momentum(tree, w)
    return kinetic_energy(tree, w, v), gravitational_energy(tree, w, gravity), springs, angular, linear


@entry
def moved(tree, q, epsilon):
    move_by(look(tree), q, epsilon)


@entry
def discrete_residual(tree, w, q_prev, q, q_next, h, retraction, tau, rest, gravity, elements, f):
    """The paper's f(q^{k+1}) = −(D₂L_d + D₁L_d) − forcing; tau acts over both intervals."""
    tree, w = look(tree), numbers(w)
    place(tree, w, q_prev)
    deflections(tree, w, q_prev, rest)
    motion_between(tree, w, q_prev, q)
    drnea(tree, w, h, retraction, True)
    carry(tree, w, h)
    place(tree, w, q)
    deflections(tree, w, q, rest)
    kick(tree, w, gravity, tau, h)
    impulses(elements, tree, w, h)
    motion_between(tree, w, q, q_next)
    drnea(tree, w, h, retraction, True)
    gather_residual(tree, w, f)


@entry
def discrete_jacobian(tree, w, q, q_next, h, retraction, rest, unit, jacobian):
    """∂f/∂q^{k+1} in body-axis increments."""
    tree, w = look(tree), numbers(w)
    place(tree, w, q)
    deflections(tree, w, q, rest)
    motion_between(tree, w, q, q_next)
    drnea(tree, w, h, retraction, True)
    drnea_jacobian(tree, w, h, retraction, unit, jacobian)


@entry
def solve_mass(tree, w, q, rows, room):
    """rows ← rows M⁻¹, each row (nv,) being a right-hand side."""
    tree, w = look(tree), numbers(w)
    place(tree, w, q)
    factor_mass(tree, w, 0.0)
    solve_rows(tree, w, rows, room, None, None)


@entry
def solve_discrete_jacobian(tree, w, q, q_next, h, retraction, rest, rows, room, transposed):
    """rows ← J⁻¹ rows, each row (nv,) being a right-hand side, with J as discrete_jacobian(); or J⁻ᵀ rows."""
    tree, w = look(tree), numbers(w)
    place(tree, w, q)
    deflections(tree, w, q, rest)
    motion_between(tree, w, q, q_next)
    drnea(tree, w, h, retraction, True)
    factor_jacobian(tree, w, h, retraction, True)
    solve_rows(tree, w, rows, room, True, transposed)
