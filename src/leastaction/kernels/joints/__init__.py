"""All joints of a tree, one after the other: their motion from q0 to q1, the forces inside them, right-hand sides and
solutions. What each kind does is in screw.py, ball.py and free.py; dispatch.py chooses.
"""

from ..elements import servo, torsion
from ..layout import SERVO, TORSION
from ..machine.jit import kernel
from ..machine.memory import link, right
from ..machine.simd import number
from . import dispatch as joint, group


@kernel
def set_motion(tree, w, epsilon):
    """Move every joint by its increment, starting from q0."""
    for i in range(tree.n):
        joint.set_motion(tree.kind[i], link(w, i), epsilon, tree.iv[i])


@kernel
def get_joint_motion(tree, w, i, epsilon):
    """The increment of joint i: the inverse of set_motion."""
    joint.get_motion(tree.kind[i], link(w, i), epsilon, tree.iv[i])


@kernel
def get_motion(tree, w, epsilon):
    """The increment of every joint."""
    for i in range(tree.n):
        get_joint_motion(tree, w, i, epsilon)


@kernel
def motion_between(tree, w, q0, q1):
    """Set the motion of every joint that takes q0 to q1. Needs place() at q0."""
    for i in range(tree.n):
        joint.motion_between(tree.kind[i], link(w, i), q0, q1, tree.iq[i])


@kernel
def save_motion(tree, w):
    for i in range(tree.n):
        L = link(w, i)
        L.saved_delta, L.saved_rotation, L.saved_shift = L.delta, L.joint_rotation, L.joint_shift


@kernel
def restore_motion(tree, w):
    for i in range(tree.n):
        L = link(w, i)
        L.delta, L.joint_rotation, L.joint_shift = L.saved_delta, L.saved_rotation, L.saved_shift


@kernel
def improve_motion(tree, w, fraction):
    """Alg. 3, line 6: q^{k+1} ← q^{k+1} ⊕ X, or a fraction of X, with X in world axes at t_k."""
    for i in range(tree.n):
        joint.improve(tree.kind[i], link(w, i), fraction)


@kernel
def apply_joint_motion(tree, w, i, q, low):
    """Advance q by the motion of joint i over the step. ``low`` holds what round-off has kept from q, and is added back
    (Kahan)."""
    joint.apply(tree.kind[i], link(w, i), q, low, tree.iq[i])


@kernel
def deflections(tree, w, q, rest):
    """Set ``psi`` or ``psi6``, the deflection of every joint's spring at q. Gives the energy stored. Needs place()."""
    energy = number(w, 0.0)
    for i in range(tree.n):
        if tree.passive[i]:
            energy += joint.deflect(tree.kind[i], link(w, i), q, rest, tree.iq[i])
    return energy


@kernel
def joint_residual(tree, w, i, h):
    """Set the right-hand side (``tau``, ``tau3`` or ``tau6``) of joint i to minus its own residual."""
    joint.residual(tree.kind[i], link(w, i), h, tree.passive[i])


@kernel
def carry_joint(tree, w, i, h):
    """Set the momentum that joint i carries out of the step (``joint_momentum`` or ``joint_momentum6``), in body
    axes at t_{k+1}."""
    joint.carry(tree.kind[i], link(w, i), h, tree.passive[i])


@kernel
def passive_forces(tree, w, v, out):
    """Add the forces of damping, springs and servos at rates v. Needs deflections()."""
    for i in range(tree.n):
        if tree.passive[i]:
            joint.passive_force(tree.kind[i], link(w, i), v, out, tree.iv[i])
        if tree.passive[i] & TORSION:
            group.add3(out, tree.iv[i], torsion.force(link(w, i), link(w, i).psi6[0]))
        if tree.passive[i] & SERVO:
            out[tree.iv[i]] += servo.force(link(w, i), v[tree.iv[i]])


@kernel
def put_rhs(tree, w, tau):
    """Set the right-hand side of every joint, in world axes, from the layout of v."""
    for i in range(tree.n):
        joint.put_tau(tree.kind[i], link(w, i), tau, tree.iv[i])


@kernel
def get_solution(tree, w, r, x):
    """The solution in the memory r, in the layout of v."""
    for i in range(tree.n):
        joint.get_x(tree.kind[i], link(w, i), right(r, i), x, tree.iv[i])


@kernel
def move_by(tree, q, epsilon):
    """q ← q ⊕ ε, with ε in the layout of v (body axes)."""
    for i in range(tree.n):
        joint.move_by(tree.kind[i], q, tree.iq[i], epsilon, tree.iv[i])
