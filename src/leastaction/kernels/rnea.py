"""Recursive Newton–Euler: inverse dynamics, and what comes with the same sweep (energy, momentum)."""

from .elements import take_forces
from .elements.gravity import work as gravity_work
from .joints import dispatch as joint
from .kinematics import inertia_times
from .layout import DOF
from .machine.jit import kernel
from .machine.memory import link, team, teams, zeros
from .machine.simd import number, summed, wide
from .maths.spatial import shift_twist, shift_wrench
from .maths.vec3 import ZERO, add, cross, dot, neg


@kernel
def velocities(tree, w, v):
    """Set the twist V of every link from the rates v. Needs place()."""
    for i in range(tree.n):  # root → leaves
        L = link(w, i)
        turn, move = link(w, tree.parent[i]).twist
        turn, move = shift_twist(turn, move, L.arm)
        own_turn, own_move = joint.twist(tree.kind[i], L, v, tree.iv[i])
        L.twist = add(turn, own_turn), add(move, own_move)


@kernel
def link_forces(tree, w, v, a, gravity):
    """Set F of every link to what its motion needs: G A + ad*-terms, gravity as an acceleration of the ground.
    Needs velocities()."""
    n = tree.n
    link(w, n).answer = (0.0, 0.0, 0.0), neg(gravity)
    for i in range(n):  # root → leaves
        L = link(w, i)
        alpha, acc = link(w, tree.parent[i]).answer
        alpha, acc = shift_twist(alpha, acc, L.arm)
        own_turn, own_move = joint.twist(tree.kind[i], L, v, tree.iv[i])
        own_alpha, own_acc = joint.twist(tree.kind[i], L, a, tree.iv[i])
        turn, move = L.twist
        # ad_V (S q̇): the axis moves with the link
        alpha = add(add(alpha, own_alpha), cross(turn, own_turn))
        acc = add(add(acc, own_acc), add(cross(turn, own_move), cross(move, own_turn)))
        L.answer = alpha, acc
        mass = L.mass
        m, f = inertia_times(L, mass, alpha, acc)
        m_v, f_v = inertia_times(L, mass, turn, move)
        L.wrench = add(m, add(cross(turn, m_v), cross(move, f_v))), add(f, cross(turn, f_v))


@kernel
def gather_wrenches(tree, w, out):
    """out = Sᵀ Σ over the subtree of the wrenches, in the layout of v. Overwrites the answers."""
    for i in range(tree.n + 1):
        link(w, i).answer = link(w, i).wrench
    gather(tree, w, out)


@kernel
def gather_momenta(tree, w, out):
    """The same of the momenta."""
    for i in range(tree.n + 1):
        link(w, i).answer = link(w, i).momentum
    gather(tree, w, out)


@kernel
def gather(tree, w, out):
    """The same of what is in the answers, which are summed along the tree."""
    for i in range(tree.n - 1, -1, -1):  # leaves → root
        L = link(w, i)
        m, f = L.answer
        joint.force(tree.kind[i], L, m, f, out, tree.iv[i])
        m, f = shift_wrench(m, f, L.arm)
        P = link(w, tree.parent[i])
        pm, pf = P.answer
        P.answer = add(pm, m), add(pf, f)


@kernel
def armature_forces(tree, w, v, a, out):
    """Add what the armatures need for the accelerations a at rates v."""
    for i in range(tree.n):
        joint.armature_force(tree.kind[i], link(w, i), v, a, out, tree.iv[i])


@kernel
def rnea(system, w, v, a, tau):
    """tau = M a + C v + gravity terms − forces of the elements; passive joint forces are not in it. Needs place()."""
    tree = system.tree
    velocities(tree, w, v)
    link_forces(tree, w, v, a, system.gravity)
    take_forces(system.elements, tree, w)
    gather_wrenches(tree, w, tau)
    armature_forces(tree, w, v, a, tau)


@kernel
def kinetic_energy(tree, w, v):
    """½ vᵀ M v. Needs velocities()."""
    twice = number(w, 0.0)
    for i in range(tree.n):
        L = link(w, i)
        turn, move = L.twist
        m, f = inertia_times(L, L.mass, turn, move)
        twice += dot(turn, m) + dot(move, f)
        k = tree.iv[i]
        for j in range(k, k + DOF[tree.kind[i]]):
            twice += L.own_armature * v[j] * v[j]
    return 0.5 * twice


@kernel
def gravitational_energy(tree, w, gravity):
    """−Σ m g·c. Needs place()."""
    energies = number(wide(w), 0.0)
    for k in teams(tree):  # every link by itself, or four at a time
        energies -= gravity_work(team(w, k), gravity)
    return summed(w, energies)


@kernel
def total_momentum(tree, w):
    """Spatial momentum about the world's origin (angular, linear), of the momenta of the links."""
    angular, linear = zeros(wide(w)), zeros(wide(w))
    for k in teams(tree):  # every link by itself, or four at a time
        L = team(w, k)
        m, f = L.momentum
        angular = add(angular, add(m, cross(L.origin, f)))
        linear = add(linear, f)
    return ((summed(w, angular[0]), summed(w, angular[1]), summed(w, angular[2])),
            (summed(w, linear[0]), summed(w, linear[1]), summed(w, linear[2])))


@kernel
def momenta(tree, w):
    """Set the momentum of every link, G V. Needs velocities()."""
    for i in range(tree.n):
        L = link(w, i)
        turn, move = L.twist
        L.momentum, L.momentum_low = inertia_times(L, L.mass, turn, move), ZERO
