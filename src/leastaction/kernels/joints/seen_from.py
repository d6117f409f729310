"""Mobilities (mobility.py), 6×6 matrices from wrenches to twists in four blocks of nine numbers, from elsewhere."""

from ..machine.jit import kernel
from ..maths.mat3 import add_hat_mat, mat_sub, outer, sub_mat_hat
from ..maths.vec3 import neg


@kernel
def shift_mobility(Y, arm):
    """X Y Xᵀ: of the parent, seen at the child's origin."""
    (Y11, Y12, Y21, Y22), back = Y, neg(arm)
    Z12 = sub_mat_hat(Y12, Y11, back)
    return Y11, Z12, add_hat_mat(Y21, back, Y11), add_hat_mat(sub_mat_hat(Y22, Y21, back), back, Z12)


@kernel
def less_outers(M, a, b, c, d):
    """M − a bᵀ − c dᵀ."""
    return mat_sub(mat_sub(M, outer(a, b)), outer(c, d))
