"""DRNEA, the discrete recursive Newton–Euler algorithm (paper, Algorithm 2), in world-aligned frames.

Every link has axes parallel to the world at t_k and its origin at its joint. Then ΔT_i = (ΔR_i, d_i), rotations along
the tree multiply, and wrenches only shift. The log, the inertia and dlog are a link's own affair: the loop in the
middle has no recursion.
"""

from .elements import impulses
from .elements.gravity import impulse as gravity_impulse
from .elements.wrench import impulse as wrench_impulse
from .joints import carry_joint, cone, dispatch as joint, joint_residual
from .joints.screw import set_rotation
from .machine.jit import formula, kernel
from .machine.memory import link, team, teams
from .machine.simd import number, summed, wide
from .maths import se3
from .maths.vec3 import NONE, add, cross, sub
from .retractions.exponential import exp_momentum
from .retractions.split import split_momentum
from .rnea import gather_wrenches
from .stiffness import SPLIT


@kernel
def displacements(tree, w):
    """Alg. 2, lines 1–3: ΔT_i from the motion of the joints. Gives the least cos(θ/2) of the links' rotations."""
    for k in teams(tree):  # every link by itself, or four at a time
        set_rotation(team(w, k))
    least = number(w, 1.0)
    dR, d = link(w, tree.n).dR, link(w, tree.n).d
    for i in range(tree.n):  # root → leaves
        L = link(w, i)
        if tree.parent[i] != i - 1:  # else it is at hand
            dR, d = link(w, tree.parent[i]).dR, link(w, tree.parent[i]).d
        dR, d = joint.displace(tree.kind[i], L, tree.slides, dR, d)
        least = min(least, dR[0])
        L.dR = dR
        L.d = d
    return least


@formula
def link_momentum(L, h, retraction):
    """Alg. 2, lines 4 and 7, of a link, or of four: μ = [dτ⁻¹_x]ᵀ G x / h with x = τ⁻¹(ΔT) = h V; and xᵀ G x.

    ``retraction`` is one of stiffness.py; None is SPLIT, the default, and the other is not compiled.
    """
    if retraction is None:
        ratio, beta, _ = se3.terms_of(L.dR)
        return split_momentum(L, h, ratio, beta)
    ratio, beta, gamma = se3.terms_of(L.dR)
    if retraction == SPLIT:
        return split_momentum(L, h, ratio, beta)
    return exp_momentum(L, h, ratio, beta, gamma)


@formula
def put_residual(L, m, f):
    """F = μ − what was carried into the step."""
    m0, f0 = L.momentum
    L.wrench = sub(m, m0), sub(f, f0)


@formula
def momentum_and_way(L):
    """μ of a link, or of four, and the displacement d of its origin. Needs drnea()."""
    (m, f), (m0, f0) = L.wrench, L.momentum
    return add(m, m0), add(f, f0), L.d


@kernel
def drnea(tree, w, h, retraction, first):
    """Set the residual wrench F of every link (``wrench``: world axes, N m s and N s) and minus the own residual of
    every joint (``tau``), before they are summed along the tree. Of a joint without spring, damper, armature and servo
    this does not depend on the motion: it is set at the first evaluation of a step only (``first``).

    Gives twice the discrete kinetic energy, and the least cos(θ/2) of a link's rotation over the step, which tells
    whether its log is unique. The sum from leaves to root, lines 8 and 9 of Algorithm 2, is left to the caller: the
    root finder merges it with its own sweep (sweep.up), or gather_residual() does just that.
    """
    least, energies = displacements(tree, w), number(wide(w), 0.0)
    for k in teams(tree):  # every link by itself, or four at a time
        L = team(w, k)
        m, f, energy = link_momentum(L, h, retraction)
        put_residual(L, m, f)
        energies += energy
    for i in range(tree.n):
        if first or tree.passive[i]:
            joint_residual(tree, w, i, h)
    if tree.locks:  # BALL joints may be held at the limit of their angle
        cone.misses(tree, w, h)
    return summed(w, energies) / (h * h), least


@kernel
def gather_residual(tree, w, f):
    """Alg. 2, lines 8 and 9: f_i = S_iᵀ F_i − Q_i, in the layout of v. Needs drnea()."""
    gather_wrenches(tree, w, f)
    for i in range(tree.n):
        joint.take_tau(tree.kind[i], link(w, i), f, tree.iv[i])


@kernel
def kick_links(tree, w, gravity, h):
    """Add the impulse of gravity and of external wrenches over a time h (half a step)."""
    for k in teams(tree):  # every link by itself, or four at a time
        L = team(w, k)
        gravity_impulse(L, gravity, h)
        wrench_impulse(L, h)


@kernel
def kick_joints(tree, w, tau, h):
    """Add the impulse of joint forces tau over a time h."""
    for i in range(tree.n):
        joint.kick(tree.kind[i], link(w, i), tau, tree.iv[i], h)


@kernel
def kick(system, w, held, h):
    """Add the impulse of all forces over a time h: gravity, external wrenches and elements on the links, and those that
    are held on the joints. Of one simulation, or of four."""
    kick_links(system.tree, w, system.gravity, h)
    if held.acts:
        kick_joints(system.tree, w, held.tau, h)
    impulses(system.elements, system.tree, w, h)


@formula
def carry_link(L, m, f, d, most):
    """Momentum (m, f) of a link that moved by d, or of four, into the next step: the same covector about the new
    origin, in the axes of the world. The momentum of the joint begins anew at zero; carry_joint() sets it
    where there is an armature, damping or a spring. ``most``: degrees of freedom that a joint has at most."""
    L.momentum = sub(m, cross(d, f)), f
    if most > 1:
        L.joint_momentum6 = NONE
    else:
        L.joint_momentum = 0.0


@kernel
def carry(tree, w, h):
    """Momentum into the next step, of the links and of the joints."""
    for k in teams(tree):  # every link by itself, or four at a time
        L = team(w, k)
        m, f, d = momentum_and_way(L)
        carry_link(L, m, f, d, tree.most)
    for i in range(tree.n):
        if tree.passive[i]:
            carry_joint(tree, w, i, h)
