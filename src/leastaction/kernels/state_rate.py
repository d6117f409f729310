"""The equations of motion as ẏ = f(y) of plain numbers y = (q, v), for methods that know nothing of the manifold."""

import numpy as np

from .aba import aba
from .joints import dispatch as joint
from .layout import Held
from .machine.jit import entry, kernel
from .machine.memory import copy, look_at
from .machine.simd import numbers


@kernel
def configuration_rate(tree, q, v, out):
    """q̇ of screws v, of quaternions ½ q ⊗ ω, of positions R v; and the quaternions of q are normalised."""
    for i in range(tree.n):
        joint.configuration_rate(tree.kind[i], q, v, out, tree.iq[i], tree.iv[i])


@entry
def state_rate(system, w, y, q, v, a):
    """Give ẏ of y (nq + nv,), without controls; q, v and a are room to work in."""
    system, w = look_at(system), numbers(w)
    tree = system.tree
    out = np.empty_like(y)
    copy(y, q, tree.nq)
    copy(y[tree.nq :], v, tree.nv)
    configuration_rate(tree, q, v, out)
    aba(system, w, q, v, Held(False, numbers(a)), a)
    copy(a, out[tree.nq :], tree.nv)
    return out
