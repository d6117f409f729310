"""The spring of a joint, V = ½ k |ψ|² of its deflection ψ. It acts at the mean deflection of the step (the midpoint
rule), which no stiffness makes unstable: half of its impulse −h k ψ̄ at either end.

Of a SCREW joint ψ = q − rest. Of a BALL or FREE joint it is a rotation vector in body axes and a translation in world
axes.
"""

from ..machine.jit import formula, kernel
from ..maths import se3, so3
from ..maths.vec3 import add, add_scaled, cross, scale
from ..machine.simd import sign


@formula
def screw_impulse(L, h, delta):
    """Half the impulse of the spring of a SCREW joint, which it takes at t_k and at t_{k+1}."""
    return 0.5 * h * L.stiffness * (L.psi + 0.5 * delta)


@formula
def derivative(L, h):
    return 0.25 * h * L.stiffness


@kernel
def shorter(q):
    """The one of q and −q that turns by at most π."""
    k = sign(q[0])
    return k * q[0], k * q[1], k * q[2], k * q[3]


@kernel
def torque(twist, mean):
    """[dlog_{−ψ}]ᵀ ψ̄: gradient of ½|ψ|² for a deflection ψ, taken at the mean ψ̄ of the step."""
    _, beta, _ = se3.terms_of(so3.exp(twist))
    t = cross(twist, mean)
    return add_scaled(add_scaled(mean, -0.5, t), beta, cross(twist, t))


@kernel
def deflections(L):
    """Rotational deflection before and after the step and their mean (body axes); mean translation (world axes)."""
    before, moved = L.psi6
    j = so3.conjugate_by(so3.inverse(L.rotation), L.joint_rotation)
    after = so3.log(shorter(so3.multiply(so3.exp(before), j)))
    return before, after, scale(0.5, add(before, after)), add_scaled(moved, 0.5, L.joint_shift)


@kernel
def rotation_rate(phi, z):
    """dlog_{−φ} z on SO(3): the rate of φ when its rotation is followed by z."""
    _, beta, _ = se3.terms_of(so3.exp(phi))
    t = cross(phi, z)
    return add_scaled(add_scaled(z, 0.5, t), beta, cross(phi, t))


@kernel
def torque_rate(L, turn):
    """Change of the torque at t_k when the joint's motion is followed by a turn, but for derivative()."""
    j, orientation = L.joint_rotation, L.rotation
    before = L.psi6[0]
    after = so3.log(shorter(so3.multiply(so3.exp(before), so3.conjugate_by(so3.inverse(orientation), j))))
    rate = rotation_rate(after, so3.unrotate(orientation, turn))
    # [dlog_{−ψ0}]ᵀ: the same with the sign of the cross product turned
    return so3.rotate(orientation, rotation_rate(scale(-1.0, before), rate))
