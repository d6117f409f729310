"""DRNEA, the discrete recursive Newton–Euler algorithm (paper, Algorithm 2), in world-aligned frames.

Every link has axes parallel to the world at t_k and its origin at its joint. Then ΔT_i = (ΔR_i, d_i), rotations along
the tree multiply, and wrenches only shift. The log, the inertia and dlog are a link's own affair: the loop in the
middle has no recursion.
"""

from . import cayley, se3, so3
from .exponential import exp_momentum
from .jit import formula, kernel
from .joints import carry_joint, joint_residual
from .kinematics import inertia_times
from .layout import (
    ARM, BLOCK, COM_W, D, DELTA, DOF, DQ, F, FREE, J, JOINT_P, LANES, MASS, MOMENTUM, PUSH, PUSHED, Q, S, SCREW,
    SCREW_J, T, TAU, add33, get3, get33, get4, put3, put33, put4, slot, stretch, stretches,
)
from .rnea import gather
from .simd import WIDTH, below, number, summed, wide
from .split import split_momentum
from .stiffness import CAYLEY, SPLIT
from .vec3 import add, cross, dot, scale, sub


@formula
def screw_rotation(w, o):
    """Set the rotation of a SCREW joint, or of four, that moves by DELTA."""
    axis, delta = get3(w, o + S), w[o + DELTA]
    c, k = so3.half_angle_cos_sinc(delta * delta)
    x, y, z = scale(k * delta, axis)
    put4(w, o + SCREW_J, (1.0 + dot(axis, axis) * (c - 1.0), x, y, z))  # the axis is zero if the joint only slides


@kernel
def displacements(tree, w, first):
    """Alg. 2, lines 1–3, of a stretch of links: ΔT_i from the motion of the joints. Gives the least cos(θ/2) of their
    rotations."""
    links, blocks = stretch(tree, w, first)
    for block in blocks:
        for o in range(block, block + LANES, WIDTH):  # every link by itself, or four at a time
            screw_rotation(wide(w), o)
    least = number(w, 1.0)
    dR, d = get4(w, slot(w, tree.n) + DQ), get3(w, slot(w, tree.n) + D)
    for i in links:  # root → leaves
        o = slot(w, i)
        if tree.parent[i] != i - 1 or i == first:  # else it is at hand
            dR, d = get4(w, slot(w, tree.parent[i]) + DQ), get3(w, slot(w, tree.parent[i]) + D)
        screw, arm = tree.kind[i] == SCREW, get3(w, o + ARM)
        if tree.slides or not screw:
            t = scale(w[o + DELTA], get3(w, o + S + 3 * LANES)) if screw else get3(w, o + T)
            d, arm = add(d, t), add(arm, t)
        # ΔR_i = ΔR_λ j,  d_i = d_λ + (ΔR_λ − 1) p_i + ΔR_λ t
        d = add(d, so3.turn(dR, arm))
        dR = so3.multiply(dR, get4(w, o + SCREW_J) if screw else get4(w, o + J))
        least = min(least, dR[0])
        put4(w, o + DQ, dR)
        put3(w, o + D, d)
    return least


@formula
def link_momentum(w, o, h, retraction):
    """Alg. 2, lines 4 and 7, of a link, or of four: μ = [dτ⁻¹_x]ᵀ G x / h with x = τ⁻¹(ΔT) = h V; and xᵀ G x.

    ``retraction`` is one of stiffness.py; None is SPLIT, the default, and the others are not compiled.
    """
    if retraction is None:
        ratio, beta, _ = se3.terms_of(get4(w, o + DQ))
        return split_momentum(w, o, h, ratio, beta)
    if retraction == CAYLEY:
        turn, move = cayley.inverse(get4(w, o + DQ), get3(w, o + D))
        m, f = inertia_times(w, o, w[o + MASS], turn, move)
        energy = dot(turn, m) + dot(move, f)
        m, f = cayley.dinverse_transpose(turn, move, m, f)
        return scale(1.0 / h, m), scale(1.0 / h, f), energy
    ratio, beta, gamma = se3.terms_of(get4(w, o + DQ))
    if retraction == SPLIT:
        return split_momentum(w, o, h, ratio, beta)
    return exp_momentum(w, o, h, ratio, beta, gamma)


@formula
def put_residual(w, o, m, f):
    """F = μ − what was carried into the step."""
    m0, f0 = get33(w, o + MOMENTUM)
    put33(w, o + F, sub(m, m0), sub(f, f0))


@formula
def momentum_and_way(w, o):
    """μ of a link, or of four, and the displacement d of its origin. Needs drnea()."""
    (m, f), (m0, f0) = get33(w, o + F), get33(w, o + MOMENTUM)
    return add(m, m0), add(f, f0), get3(w, o + D)


@kernel
def residuals(tree, w, first, h, retraction, anew):
    """What drnea() does, of a stretch; the energy is times h² and may be of several lanes, to be summed."""
    links, blocks = stretch(tree, w, first)
    least, energies = displacements(tree, w, first), number(wide(w), 0.0)
    for block in blocks:
        for o in range(block, block + LANES, WIDTH):  # every link by itself, or four at a time
            m, f, energy = link_momentum(wide(w), o, h, retraction)
            put_residual(wide(w), o, m, f)
            energies += energy
    for i in links:
        if anew or tree.passive[i]:
            joint_residual(tree, w, i, h)
    return energies, least


@kernel
def drnea(tree, w, h, retraction, anew):
    """Residual wrench F of every link and residual −TAU of every joint, before they are summed along the tree. Unless
    ``anew``, of those joints only that have a spring, damping or an armature: for the others it is that of the step.

    Gives twice the discrete kinetic energy, and the least cos(θ/2) of a link's rotation over the step, which tells
    whether its log is unique. The sum from leaves to root, lines 8 and 9 of Algorithm 2, is left to the caller: the
    root finder merges it with its own sweep (aba.solve_up), or gather_residual() does just that.
    """
    least, energies = number(w, 1.0), number(wide(w), 0.0)
    for first in stretches(tree):
        more, lower = residuals(tree, w, first, h, retraction, anew)
        energies, least = energies + more, min(least, lower)
    return summed(w, energies) / (h * h), least


@kernel
def gather_residual(tree, w, f):
    """Alg. 2, lines 8 and 9: f_i = S_iᵀ F_i − Q_i, in the layout of v. Needs drnea()."""
    gather(tree, w, F, f)
    for i in range(tree.n):
        o, k = slot(w, i), tree.iv[i]
        if tree.kind[i] == SCREW:
            f[k] -= w[o + TAU]
            continue
        orientation = so3.inverse(get4(w, o + Q))
        m, force = get33(w, o + TAU)
        x, y, z = so3.rotate(orientation, m)
        f[k] -= x
        f[k + 1] -= y
        f[k + 2] -= z
        if tree.kind[i] == FREE:
            x, y, z = so3.rotate(orientation, force)
            f[k + 3] -= x
            f[k + 4] -= y
            f[k + 5] -= z


@formula
def impulse(w, o, gravity, h):
    """Add the impulse of gravity and of the external wrench on a link, or on four, over a time h."""
    weight = scale(h * w[o + MASS], gravity)
    add33(w, o + MOMENTUM, cross(get3(w, o + COM_W), weight), weight)
    if not below(w[o + PUSHED], 1.0):
        orientation = get4(w, o + Q)
        m, f = get33(w, o + PUSH)
        add33(w, o + MOMENTUM, scale(h, so3.rotate(orientation, m)), scale(h, so3.rotate(orientation, f)))


@kernel
def kick_links(tree, w, gravity, h):
    """Add the impulse of gravity and of external wrenches over a time h (half a step)."""
    for block in range(0, tree.end, BLOCK):
        for o in range(block, block + LANES, WIDTH):  # every link by itself, or four at a time
            impulse(wide(w), o, gravity, h)


@kernel
def kick_joints(tree, w, tau, h):
    """Add the impulse of joint forces tau over a time h."""
    for i in range(tree.n):
        a, k = slot(w, i) + JOINT_P, tree.iv[i]
        for j in range(DOF[tree.kind[i]]):
            w[a + LANES * j] += h * tau[k + j]


@kernel
def kick(tree, w, gravity, tau, h):
    """Both; there may be no joint forces."""
    kick_links(tree, w, gravity, h)
    if len(tau) > 0:
        kick_joints(tree, w, tau, h)


@formula
def carry_link(w, o, m, f, d, most):
    """Momentum (m, f) of a link that moved by d, or of four, into the next step: the same covector about the new
    origin, in the axes of the world. Of the joint, with ``most`` degrees of freedom at most, nothing."""
    put33(w, o + MOMENTUM, sub(m, cross(d, f)), f)
    w[o + JOINT_P] = number(w, 0.0)  # by itself, for LLVM would call memset for a loop that has one turn
    for j in range(1, most):
        w[o + JOINT_P + LANES * j] = number(w, 0.0)


@kernel
def carry(tree, w, h):
    """Momentum into the next step, of the links and of the joints."""
    for block in range(0, tree.end, BLOCK):
        for o in range(block, block + LANES, WIDTH):  # every link by itself, or four at a time
            m, f, d = momentum_and_way(wide(w), o)
            carry_link(wide(w), o, m, f, d, tree.most)
    for i in range(tree.n):
        if tree.passive[i]:
            carry_joint(tree, w, i, h)
