"""The articulated-body recursion: factor a matrix of the tree once, then solve with it in two cheap sweeps, all O(n).

Every link answers a small motion ζ with the momentum K ζ, and a joint moves its link by ζ_i = X_i ζ_λ + S⁺_i δq_i.
Eliminating the joints from leaves to root leaves a parent with what its children pass on:
    Â_i = K_i + Σ_c X_cᵀ (Â_c − Â_c S⁺_c D_c⁻¹ S_cᵀ Â_c) X_c,    D_c = S_cᵀ Â_c S⁺_c + e_c,
e being what the joint itself adds. Two matrices are factored so:
- the mass matrix, which is RIQN's (paper, Algorithm 3, line 5): K is the inertia of the link and S⁺ = S. It is
  symmetric, and this is Featherstone's articulated-body algorithm (Rigid Body Dynamics Algorithms, 2008, eq. 7.23 to
  7.28);
- Newton's Jacobian ∂f/∂q (docs/derivation.md): K is the stiffness of the link and S⁺ = Ad_ΔT S, as the momentum of the
  step belongs to t_k and the increment to t_{k+1}. For BALL and FREE joints the unknown is their part of ζ itself.
The argument ``newton`` is None for the former, True for the latter: Numba compiles the branches of one of them only.
The right-hand side is tau − Sᵀ Σ wrench, which is −f: so the joints move by plus the solution.

Columns and rows are kept as seen from the parent's origin: then a sweep waits for one product after the other, and not
for the shifts between them.
"""

from .joints import dispatch as joint
from .joints.screw import move_axis
from .kinematics import about_origin
from .layout import FORK, LAST
from .machine.jit import formula, kernel
from .machine.matrix6 import begin
from .machine.memory import link, right, team, teams, zeros
from .machine.simd import number
from .maths.mat3 import hat, mat_of_sym, scalar, transpose
from .maths.vec3 import add
from .stiffness import put_stiffness


@formula
def rigid_inertia(L):
    """Inertia of a link, or of four, as four blocks of nine numbers."""
    mass, moment, inertia = about_origin(L)
    c = hat(moment)
    return mat_of_sym(inertia), c, transpose(c), scalar(mass)


@kernel
def begin_inertias(tree, w):
    """Begin the articulated inertia of every link with its own, of the ground with none. Needs place()."""
    for k in teams(tree):
        begin(w, tree, k, rigid_inertia(team(w, k)))


@kernel
def begin_stiffnesses(tree, w, h, retraction, exact):
    """Set K of every link, begin its articulated stiffness with it, and set S⁺. Needs displacements()."""
    for k in teams(tree):
        L = team(w, k)
        put_stiffness(L, h, retraction, exact)
        begin(w, tree, k, L.K)
        move_axis(L, tree.slides)


@kernel
def factor_mass(tree, w, h):
    """Factor the mass matrix, armature included. If h is not 0, joints add h c/2 + h² k/4 of their damping c and their
    spring k: that is RIQN's matrix for such models. Needs place()."""
    begin_inertias(tree, w)
    factor(tree, w, h, None)


@kernel
def factor_jacobian(tree, w, h, retraction, exact):
    """Factor Newton's Jacobian at the present motion; unless ``exact``, to second order in it. Needs displacements().

    Gives the sign of det(h J); h may be negative. As h → 0 it is positive, with h J → M, and along the root that
    continues from there it cannot change without J becoming singular. A root where it is negative is another one, not
    the motion.
    """
    begin_stiffnesses(tree, w, h, retraction, exact)
    return factor(tree, w, h, True)


@kernel
def factor(tree, w, h, newton):
    """Factor the matrix that has been begun. Gives a product over the joints: of Newton's matrix the sign of det(h J),
    of the mass matrix a number that nothing reads."""
    det = number(w, 1.0)
    for i in range(tree.n - 1, -1, -1):  # leaves → root
        det = det * joint.eliminate(tree.kind[i], tree, w, i, h, newton)
    return det


@formula
def wrench_on(tree, R, i, above):
    """Wrench on link i, of itself and of its children; ``above`` is that of the next link if it is a child."""
    (m, f), (am, af) = R.wrench, above
    m, f = add(m, am), add(f, af)
    if tree.family[i] & FORK:
        cm, cf = R.children
        m, f = add(m, cm), add(f, cf)
    return m, f


@formula
def hand_to_parent(tree, r, i, wrench):
    """Leave the wrench of a child to its parent, which is not the link before."""
    P = right(r, tree.parent[i])
    if tree.family[i] & LAST:  # on the way up the last child comes first: it begins the sum
        P.children = wrench
    else:
        (m, f), (cm, cf) = wrench, P.children
        P.children = add(m, cm), add(f, cf)


@kernel
def up(tree, w, r, transposed):
    """Eliminate from leaves to root, for the right-hand side tau − Sᵀ Σ wrench in the memory r. Gives Σ uᵀD⁻¹u: of the
    mass matrix bᵀ M⁻¹ b, b being the right-hand side in the layout of v, of the Jacobian h fᵀ M⁻¹ f to first order.
    Needs factor()."""
    norm = number(r, 0.0)
    above = zeros(r), zeros(r)
    for i in range(tree.n - 1, -1, -1):  # leaves → root
        L, R = link(w, i), right(r, i)
        wrench = wrench_on(tree, R, i, above)
        own, wrench = joint.up(tree.kind[i], tree, w, r, i, L, R, wrench, transposed)
        norm += own
        above = zeros(r), zeros(r)
        if tree.parent[i] == i - 1:  # the next link: kept at hand, which is faster than through memory
            above = wrench
        else:
            hand_to_parent(tree, r, i, wrench)
    return norm


@kernel
def down(tree, w, r, fraction, newton, transposed):
    """Substitute from root to leaves: the solution of every joint in x, of every link in answer. Needs up(). The
    joints move by a fraction of their solution, unless that is None."""
    twist = zeros(r), zeros(r)
    right(r, tree.n).answer = twist
    for i in range(tree.n):  # root → leaves
        L, R = link(w, i), right(r, i)
        if tree.parent[i] != i - 1:  # else it is at hand
            twist = right(r, tree.parent[i]).answer
        twist = joint.down(tree.kind[i], tree, w, r, i, L, R, twist, fraction, newton, transposed)
        R.answer = twist
