"""The momentum of a node on the manifold: M v − Aᵀ μ = p, A v = 0, then p ← p + Aᵀ μ.

It is the end of a RATTLE step and changes no position: whatever it adds is a part of the next step's λ. So only the
nodes that something looks at are projected, and afterwards put_back() gives them the momenta that they came with: the
bits of a run depend neither on which nodes are looked at nor on how the run is cut into calls.
"""

from ..kinematics import inertia_times
from ..layout import DOF
from ..machine.columns import pair, put_pair
from ..machine.jit import formula, kernel, part
from ..machine.memory import link, team, teams
from ..machine.simd import number, summed, wide
from ..maths.vec3 import dot
from ..momentum import drop_momenta
from ..sweep import begin_inertias
from .closed import aside_of, row, set_rhs, told_of
from .elimination import factor, solve_node
from .filling import add_impulses, begin_mass, rows_at_node

# What the last node that was projected was found to be, from places.told on: redundant rows; twice the kinetic energy;
# 1 if the elimination failed. Then 1 if the rows are known at the present node; the redundant rows of the last step; of
# how many steps multipliers were found, since somebody set that to zero
REDUNDANT, TWICE, FAILED, KNOWN, STEPPED, FOUND = 0, 1, 2, 3, 4, 5


@kernel
def factor_node(tree, w, c):
    """Factor the mass matrix with the rows of the node. Gives the number of redundant rows, and whether it failed.
    Needs place() and rows_at_node()."""
    begin_inertias(tree, w)
    begin_mass(c)
    _, redundant, lost = factor(tree, w, c, 0.0, None)
    return redundant, lost


@formula
def own_twice(L):
    """Vᵀ G V of a link, or of four."""
    turn, move = L.answer
    m, f = inertia_times(L, L.mass, turn, move)
    return dot(turn, m) + dot(move, f)


@kernel
def twice_kinetic(tree, w, v):
    """vᵀ M v, of the velocities that a solve left in the links and that are v in the joints; without the armature that
    is added where forces are seen ahead (elements/lookahead.py)."""
    twices = number(wide(w), 0.0)
    for k in teams(tree):  # every link by itself, or four at a time
        twices += own_twice(team(w, k))
    twice = summed(w, twices)
    for i in range(tree.n):
        if tree.passive[i]:
            for j in range(tree.iv[i], tree.iv[i] + DOF[tree.kind[i]]):
                twice += link(w, i).own_armature * v[j] * v[j]
    return twice


@kernel
def put_aside(tree, w, c):
    """Keep the momenta of the node as they are before the projection."""
    for i in range(tree.n):
        L = link(w, i)
        put_pair(aside_of(c), 2 * i, L.momentum)
        if tree.most > 1:
            put_pair(aside_of(c), 2 * i + 1, L.joint_momentum6)
        else:
            put_pair(aside_of(c), 2 * i + 1, ((L.joint_momentum, 0.0, 0.0), (0.0, 0.0, 0.0)))


@kernel
def put_back(tree, w, c):
    """Give the node the momenta that put_aside() kept."""
    for i in range(tree.n):
        L = link(w, i)
        L.momentum = pair(aside_of(c), 2 * i)
        if tree.most > 1:
            L.joint_momentum6 = pair(aside_of(c), 2 * i + 1)
        else:
            L.joint_momentum = pair(aside_of(c), 2 * i + 1)[0][0]


@kernel
def velocity(tree, w, c, out):
    """Velocity (nv,) that opens no loop, by the momenta of the node: M v − Aᵀ μ = p, A v = 0. Needs factor_node()."""
    set_rhs(c, 0.0)
    drop_momenta(tree, w)
    solve_node(tree, w, c, out)


@part
def project(tree, state, c):
    """Project the momenta of the node, and set v, μ and what is told of the node. Needs place()."""
    w, told = state.w, told_of(c)
    rows_at_node(tree, w, c)
    redundant, lost = factor_node(tree, w, c)
    told[KNOWN] = 1.0
    told[REDUNDANT], told[FAILED] = float(redundant), 1.0 if lost else 0.0
    velocity(tree, w, c, state.v)
    for r in range(c.places.rows):
        row(c, r).kick = row(c, r).answer
    add_impulses(tree, w, c)
    told[TWICE] = twice_kinetic(tree, w, state.v)
    state.factored[0] = 0.0
