"""Semi-implicit Euler: v₁ = v₀ + h a(q₀, v₀), q₁ = q₀ ⊕ h v₁. First order, one evaluation a step."""

from collections import namedtuple

from ..aba import aba
from ..joints import move_by
from ..machine.jit import part
from ..machine.simd import numbers
from .common import explicit_method, keep_velocity, made

SemiImplicitEuler = namedtuple("SemiImplicitEuler", "scratch")  # scratch, see room()


def room(nq, nv):
    """So many numbers in scratch."""
    return nv


@part
def semi_implicit_euler(method, system, state, held, k, h):
    """From the node to the next."""
    tree, q, v, a = system.tree, state.q, state.v, numbers(method.scratch)
    keep_velocity(tree, state)
    aba(system, state.w, q, v, held, a)
    for j in range(tree.nv):
        v[j] += h * a[j]
        a[j] = h * v[j]
    move_by(tree, q, a)
    return made(1.0)


explicit_method(SemiImplicitEuler, semi_implicit_euler)
