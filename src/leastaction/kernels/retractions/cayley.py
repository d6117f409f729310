"""The Cayley map as the retraction: cay⁻¹ and its derivative, without any trigonometry."""

from ..machine.jit import kernel
from ..maths.so3 import vector
from ..maths.vec3 import add, add_scaled, cross, dot, scale


@kernel
def inverse(q, d):
    """Twist (w, v) whose Cayley transform is the motion (q, d): w = 2 tan(θ/2) n, v = (1 − ŵ/2) d."""
    w = scale(2.0 / q[0], vector(q))
    return w, add_scaled(d, -0.5, cross(w, d))


@kernel
def dinverse_transpose(w, v, m, f):
    """[dcay⁻¹_x]ᵀ (m, f), x = (w, v)."""
    pushed = add_scaled(f, 0.5, cross(w, f))
    turned = add_scaled(add_scaled(m, 0.5, cross(w, m)), 0.25 * dot(w, m), w)
    return add(turned, scale(0.5, cross(v, pushed))), pushed
