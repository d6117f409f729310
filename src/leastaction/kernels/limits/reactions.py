"""What holds a locked joint: at the velocity level an impulse, at the acceleration level a force.

The pivot of a locked joint does not give way, so D x = u − Sᵀ Â X ζ of the parent is not solved there: what is left of
it is what the joint is held by.
"""

from ..drnea import kick
from ..joints import cone, passive_forces, put_rhs
from ..layout import DOF
from ..machine.jit import kernel, part
from ..machine.memory import clear, link
from ..maths.vec3 import NONE, dot, sub
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
    """Write down the momenta of all links and joints."""
    for i in range(tree.n):
        L = link(w, i)
        (a, b), (c, d) = L.momentum, L.joint_momentum6
        for j in range(3):
            kept[12 * i + j], kept[12 * i + 3 + j] = a[j], b[j]
            kept[12 * i + 6 + j], kept[12 * i + 9 + j] = c[j], d[j]


@kernel
def put_momenta(tree, w, kept):
    """The inverse of keep_momenta()."""
    for i in range(tree.n):
        L, k = link(w, i), 12 * i
        L.momentum = (kept[k], kept[k + 1], kept[k + 2]), (kept[k + 3], kept[k + 4], kept[k + 5])
        L.joint_momentum6 = (kept[k + 6], kept[k + 7], kept[k + 8]), (kept[k + 9], kept[k + 10], kept[k + 11])


@part
def accelerations(method, system, state, held, scratch, out):
    """Accelerations (nv) of the node under all forces, locked joints being held; holding() then gives the forces that
    hold them. Needs the velocity."""
    tree, w, c = system.tree, state.w, rows_of(method.base)
    factor(c, tree, state)
    keep_momenta(tree, w, scratch.aside)
    for i in range(tree.n):
        L = link(w, i)
        L.momentum, L.joint_momentum6 = NONE, NONE
    kick(system, w, held, 1.0)  # now the momenta are the forces
    clear(out, tree.nv)
    velocities(tree, w, state.v)
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
