"""Between momentum and velocity at a node: p = M v and v = M⁻¹ p, both in O(n)."""

from .elements import servo
from .elements.lookahead import TINY
from .joints import dispatch as joint, get_solution
from .layout import DAMPED, SERVO
from .machine.jit import formula, kernel, part
from .machine.memory import link, team, teams
from .machine.simd import below, number
from .maths.vec3 import neg
from .rnea import gather_momenta, momenta, velocities
from .sweep import down, factor_mass, up

TRIES = 8  # to find which servos are at their bounds; each but the last is another set of them


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
        if tree.passive[i] & SERVO:
            link(w, i).tau += servo.at_rest(link(w, i))


@kernel
def momentum_solve_up(tree, w):
    """pᵀ M⁻¹ p, twice the kinetic energy of a node; down() then gives the velocity. Needs factor_mass(tree, w, 0)."""
    drop_momenta(tree, w)
    return up(tree, w, w, None)


@kernel
def velocity_of(tree, w, v):
    """v = M⁻¹ p at a node; gives twice the kinetic energy. Needs factor_mass(tree, w, 0); leaves it factored."""
    twice = momentum_solve_up(tree, w)
    down(tree, w, w, None, None, None)
    get_solution(tree, w, w, v)
    if bounds_changed(tree, w, v):
        return velocity_within_bounds(tree, w, v)
    return twice


@part
def velocity_within_bounds(tree, w, v):
    """As velocity_of(), with other servos at their bounds, until these are the ones."""
    twice = number(w, 0.0)
    for _ in range(TRIES):
        factor_mass(tree, w, 0.0)
        twice = momentum_solve_up(tree, w)
        down(tree, w, w, None, None, None)
        get_solution(tree, w, w, v)
        if not bounds_changed(tree, w, v):
            break
    return twice


@kernel
def bounds_changed(tree, w, v):
    """Whether the velocity v lets other servos be at their bounds than it was computed with."""
    changed = number(w, 0.0)
    for i in range(tree.n):
        if tree.passive[i] & SERVO:
            changed += servo.look_at_bound(link(w, i), v[tree.iv[i]])
    return not below(changed, TINY)


@kernel
def generalized_momentum(tree, w, v, p):
    """p = M v: what the node carries, without what the step adds to see forces ahead (mobility.py). Needs place()."""
    carried_momentum(tree, w, p)
    for i in range(tree.n):
        if tree.passive[i] & DAMPED:
            joint.take_added(tree.kind[i], link(w, i), v, p, tree.iv[i])
        if tree.passive[i] & SERVO:
            p[tree.iv[i]] += servo.ahead(link(w, i), v[tree.iv[i]])


@kernel
def carried_momentum(tree, w, p):
    """p = Sᵀ Σ momenta of the links + those of the joints, in the layout of v. Needs place()."""
    gather_momenta(tree, w, p)
    for i in range(tree.n):
        joint.add_momentum(tree.kind[i], link(w, i), p, tree.iv[i])
