"""Between momentum and velocity at a node: p = M v and v = M⁻¹ p, both in O(n)."""

from .joints import dispatch as joint, get_solution
from .layout import DAMPED
from .machine.jit import formula, kernel
from .machine.memory import link, team, teams
from .maths.vec3 import neg
from .rnea import gather_momenta, momenta, velocities
from .sweep import down, up


@kernel
def momentum_of(tree, w, v):
    """Set the momenta of links and joints to those of the velocity v: p0 = M v0. Needs place()."""
    velocities(tree, w, v)
    momenta(tree, w)
    for i in range(tree.n):
        joint.own_momentum(tree.kind[i], link(w, i), v, tree.iv[i])


@formula
def drop_momentum(L):
    """F = −momentum of a link, or of four."""
    m, f = L.momentum
    L.wrench = neg(m), neg(f)


@kernel
def drop_momenta(tree, w):
    """Set the right-hand side p: of the links −F, of the joints tau. Needs place()."""
    for k in teams(tree):  # every link by itself, or four at a time
        drop_momentum(team(w, k))
    for i in range(tree.n):
        joint.momentum_as_tau(tree.kind[i], link(w, i))


@kernel
def momentum_solve_up(tree, w):
    """pᵀ M⁻¹ p, twice the kinetic energy of a node; down() then gives the velocity. Needs factor_mass(tree, w, 0)."""
    drop_momenta(tree, w)
    return up(tree, w, w, None)


@kernel
def velocity_of(tree, w, v):
    """v = M⁻¹ p at a node; gives twice the kinetic energy. Needs factor_mass(tree, w, 0)."""
    twice = momentum_solve_up(tree, w)
    down(tree, w, w, None, None, None)
    get_solution(tree, w, w, v)
    return twice


@kernel
def generalized_momentum(tree, w, v, p):
    """p = M v: what the node carries, without what the step adds to see forces ahead (mobility.py). Needs place()."""
    carried_momentum(tree, w, p)
    for i in range(tree.n):
        if tree.passive[i] & DAMPED:
            joint.take_added(tree.kind[i], link(w, i), v, p, tree.iv[i])


@kernel
def carried_momentum(tree, w, p):
    """p = Sᵀ Σ momenta of the links + those of the joints, in the layout of v. Needs place()."""
    gather_momenta(tree, w, p)
    for i in range(tree.n):
        joint.add_momentum(tree.kind[i], link(w, i), p, tree.iv[i])
