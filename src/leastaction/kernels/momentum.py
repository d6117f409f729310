"""Between momentum and velocity at a node: p = M v and v = M⁻¹ p, both in O(n)."""

from . import so3
from .aba import solve_down, solve_up
from .jit import formula, kernel
from .joints import get_solution
from .layout import (
    ARMATURE, BLOCK, DOF, F, JOINT_P, LANES, MOMENTUM, Q, SCREW, TAU, get4, get33, put33, slot, stretches,
)
from .rnea import gather, momenta, velocities
from .simd import WIDTH, wide
from .vec3 import neg


@kernel
def momentum_of(tree, w, v):
    """Set the momenta of links and joints to those of the velocity v: p0 = M v0. Needs place()."""
    velocities(tree, w, v)
    momenta(tree, w, MOMENTUM)
    for i in range(tree.n):
        o, k = slot(w, i), tree.iv[i]
        for j in range(DOF[tree.kind[i]]):
            w[o + JOINT_P + LANES * j] = w[o + ARMATURE] * v[k + j]


@formula
def drop_momentum(w, o):
    """F = −momentum of a link, or of four."""
    m, f = get33(w, o + MOMENTUM)
    put33(w, o + F, neg(m), neg(f))


@kernel
def momentum_solve_up(tree, w):
    """pᵀ M⁻¹ p, twice the kinetic energy of a node; solve_down() then gives the velocity. Needs factor(tree, w, 0)."""
    for block in range(0, tree.end, BLOCK):
        for o in range(block, block + LANES, WIDTH):  # every link by itself, or four at a time
            drop_momentum(wide(w), o)
    for i in range(tree.n):
        o = slot(w, i)
        if tree.kind[i] == SCREW:
            w[o + TAU] = w[o + JOINT_P]
        else:
            orientation = get4(w, o + Q)
            m, f = get33(w, o + JOINT_P)
            put33(w, o + TAU, so3.rotate(orientation, m), so3.rotate(orientation, f))
    return solve_up(tree, w)


@kernel
def velocity_of(tree, w, v):
    """v = M⁻¹ p at a node; gives twice the kinetic energy. Needs factor(tree, w, 0)."""
    twice = momentum_solve_up(tree, w)
    for first in stretches(tree):
        solve_down(tree, w, first, None)
    get_solution(tree, w, v)
    return twice


@kernel
def generalized_momentum(tree, w, p):
    """p = Sᵀ Σ momenta of the links + those of the joints, in the layout of v. Needs place()."""
    gather(tree, w, MOMENTUM, p)
    for i in range(tree.n):
        o, k = slot(w, i), tree.iv[i]
        for j in range(DOF[tree.kind[i]]):
            p[k + j] += w[o + JOINT_P + LANES * j]
