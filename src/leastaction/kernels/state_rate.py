"""The equations of motion as ẏ = f(y) of plain numbers y = (q, v), for methods that know nothing of the manifold."""

import numpy as np

from .aba import aba
from .kinematics import read3, read4
from .layout import FREE, SCREW, Held
from .machine.jit import entry, kernel
from .machine.memory import copy, look_at
from .machine.simd import numbers
from .maths import so3


@kernel
def configuration_rate(tree, q, v, out):
    """q̇ of screws v, of quaternions ½ q ⊗ ω, of positions R v; and the quaternions of q are normalised."""
    for i in range(tree.n):
        k, e = tree.iq[i], tree.iv[i]
        if tree.kind[i] == SCREW:
            out[k] = v[e]
            continue
        at = k + 3 if tree.kind[i] == FREE else k
        x, y, z = read3(v, e)
        turn = read4(q, at)
        out[at], out[at + 1], out[at + 2], out[at + 3] = so3.multiply(turn, (0.0, 0.5 * x, 0.5 * y, 0.5 * z))
        q[at], q[at + 1], q[at + 2], q[at + 3] = so3.normalize(turn)
        if tree.kind[i] == FREE:
            out[k], out[k + 1], out[k + 2] = so3.rotate(read4(q, at), read3(v, e + 3))


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
