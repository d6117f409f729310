"""What holds a locked joint: at the velocity level an impulse, at the acceleration level a force.

The pivot of a locked joint does not give way, so D x = u − Sᵀ Â X ζ of the parent is not solved there: what is left of
it is what the joint is held by.
"""

from ..drnea import kick
from ..elements.seam import each_drag
from ..joints import cone, passive_forces, put_rhs
from ..layout import DOF
from ..machine.jit import kernel, part
from ..machine.memory import clear, link
from ..machine.scratch import MOMENTA
from ..maths.spatial import put6, read3, read6
from ..maths.vec3 import NONE, ZERO, dot, sub
from ..rnea import armature_forces, link_forces, velocities
from .solves import factor, rows_of, solve_accelerations

STILL = (0.0, 0.0, 0.0)


@kernel
def holding(tree, w, i):
    """What the last solve needs to hold the locked joint i: an impulse, N m s, or a force, N m."""
    L = link(w, i)
    (m, f), (turn, move) = L.column, link(w, tree.parent[i]).answer
    return dot(m, turn) + dot(f, move) - L.hold


@kernel
def keep_momenta(tree, w, kept):
    """Write down the momenta of all links and joints, MOMENTA numbers each (machine/scratch.py)."""
    for i in range(tree.n):
        L, k = link(w, i), MOMENTA * i
        put6(kept, k, L.momentum)
        put6(kept, k + 6, L.joint_momentum6)
        kept[k + 12], kept[k + 13], kept[k + 14] = L.momentum_low


@kernel
def put_momenta(tree, w, kept):
    """The inverse of keep_momenta()."""
    for i in range(tree.n):
        L, k = link(w, i), MOMENTA * i
        L.momentum, L.joint_momentum6, L.momentum_low = read6(kept, k), read6(kept, k + 6), read3(kept, k + 12)


@part
def accelerations(method, system, state, held, scratch, out):
    """Accelerations (nv) of the node under all forces, locked joints being held; holding() then gives the forces that
    hold them. Needs the velocity."""
    tree, w, c = system.tree, state.w, rows_of(method.base)
    factor(c, tree, state)
    keep_momenta(tree, w, scratch.aside)
    for i in range(tree.n):
        L = link(w, i)
        L.momentum, L.joint_momentum6, L.momentum_low = NONE, NONE, ZERO
    kick(system, w, held, 1.0)  # now the momenta are the forces
    clear(out, tree.nv)
    velocities(tree, w, state.v)
    each_drag(system.elements, tree, w)
    link_forces(tree, w, state.v, out, STILL)
    armature_forces(tree, w, state.v, out, out)
    for i in range(tree.n):
        L, k = link(w, i), tree.iv[i]
        (m, f), (pm, pf) = L.wrench, L.momentum
        L.wrench = sub(m, pm), sub(f, pf)
        m, f = L.joint_momentum6
        own = m + f
        for j in range(DOF[tree.kind[i]]):
            out[k + j] = own[j] - out[k + j]
    passive_forces(tree, w, state.v, out)
    for r in range(method.count):  # dry friction of joints that slide
        k = tree.iv[method.rows.link[r]]
        out[k] -= state.slip[k] * method.rows.friction[r]
    put_rhs(tree, w, out)
    put_momenta(tree, w, scratch.aside)
    cone.keep_rates(tree, w, state.v)
    solve_accelerations(c, tree, state, out)
    cone.have_rates(tree, w)
