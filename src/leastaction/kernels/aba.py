"""Articulated bodies: forward dynamics in O(n) (Featherstone's algorithm), and joints that nothing holds up."""

from .elements import take_forces
from .elements.wrench import force as wrench_force
from .joints import deflections, dispatch as joint, get_solution, passive_forces, put_rhs
from .kinematics import place
from .machine.jit import kernel
from .machine.memory import clear, link
from .rnea import armature_forces, link_forces, velocities
from .sweep import down, factor_mass, up


@kernel
def singular_joint(tree, w):
    """The last joint whose articulated inertia is not positive, or −1; joints before it may be so only because of it.
    For four simulations, the last such joint of any of them. Needs factor_mass(tree, w, 0)."""
    for i in range(tree.n - 1, -1, -1):
        if not joint.regular(tree.kind[i], tree, w, i):
            return i
    return -1


@kernel
def coast(system, w, v, out):
    """Set twists, accelerations and forces of the links that move at constant rates v. ``out`` is set to zero. Needs
    place()."""
    clear(out, system.tree.nv)
    velocities(system.tree, w, v)
    link_forces(system.tree, w, v, out, system.gravity)


@kernel
def load(system, w, v, held, out):
    """Set the right-hand side of forward dynamics at rates v: the joint forces that are held, passive joint forces,
    external wrenches and elements, those of the time that set_time() gave, less what the motion without accelerations
    needs. Needs enter_node() and coast(), whose ``out`` is given; overwrites the accelerations."""
    tree = system.tree
    for i in range(tree.n):
        wrench_force(link(w, i))
    take_forces(system.elements, tree, w)
    armature_forces(tree, w, v, out, out)
    for j in range(tree.nv):
        out[j] = held.tau[j] - out[j] if held.acts else -out[j]
    passive_forces(tree, w, v, out)
    put_rhs(tree, w, out)


@kernel
def acceleration(system, w, v, held, out):
    """Accelerations at rates v under the joint forces that are held, passive joint forces and external wrenches.

    Needs place(), deflections() and factor_mass(tree, w, 0).
    """
    tree = system.tree
    coast(system, w, v, out)
    load(system, w, v, held, out)
    up(tree, w, w, None)
    down(tree, w, w, None, None, None)
    get_solution(tree, w, w, out)


@kernel
def aba(system, w, q, v, held, out):
    """Accelerations at (q, v), from scratch."""
    place(system.tree, w, q)
    deflections(system.tree, w, q, system.rest)
    factor_mass(system.tree, w, 0.0)
    acceleration(system, w, v, held, out)
