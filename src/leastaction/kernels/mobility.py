"""How easily every joint moves when all others may: the diagonal of M⁻¹, by one sweep from root to leaves, O(n).

A wrench on link i moves it by Y_i, a 6×6 matrix from wrenches to twists (the inverse of its operational-space inertia).
With k = X_iᵀ Â_i S_i D_i⁻¹, the share of a joint's force that its parent feels, and the parent's Y seen from link i as
Y' = X_i Y_λ X_iᵀ,
    N_i = D_i⁻¹ + k_iᵀ Y_λ k_i,    Y_i = Y' − S_i (X_i Y_λ k_i)ᵀ − (X_i Y_λ k_i) S_iᵀ + S_i N_i S_iᵀ,
N_i being the block of joint i in M⁻¹.
"""

from .elements import servo
from .joints import dispatch as joint
from .layout import DAMPED, SERVO
from .machine.jit import kernel, part
from .machine.matrix6 import ZERO
from .machine.memory import link
from .machine.simd import number
from .sweep import factor_mass


@kernel
def is_damped(tree):
    """Whether a joint has damping, or a servo."""
    for i in range(tree.n):
        if tree.passive[i] & (DAMPED | SERVO):
            return True
    return False


@part
def look_ahead(tree, w, h):
    """Let every damped joint see its own force as far ahead as a step of h needs, or as it did (elements/lookahead.py).
    Needs place(). Overwrites K, and leaves a mass matrix factored that is not the new one."""
    factor_mass(tree, w, 0.0)
    link(w, tree.n).K = ZERO
    for i in range(tree.n):  # root → leaves
        link(w, i).K = joint.mobilise(tree.kind[i], tree, w, i, abs(h), link(w, tree.parent[i]).K)


@kernel
def start_ahead(tree, w):
    """Let the momenta, which are M v, be those of steps that see forces ahead. Needs look_ahead()."""
    for i in range(tree.n):
        if tree.passive[i] & DAMPED:
            joint.start_ahead(tree.kind[i], link(w, i))


@kernel
def added_energy(tree, w, v):
    """Twice the kinetic energy that is none of the model's: of the armature that look_ahead() and servos add, at rates
    v."""
    twice = number(w, 0.0)
    for i in range(tree.n):
        if tree.passive[i] & DAMPED:
            twice += joint.added_energy(tree.kind[i], link(w, i), v, tree.iv[i])
        if tree.passive[i] & SERVO:
            twice += servo.brakes(link(w, i)) * v[tree.iv[i]] * v[tree.iv[i]]
    return twice
