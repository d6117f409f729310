"""SciPy's DOP853 on our forward dynamics: the strongest explicit rival, which chooses its own steps.

The state is y = (q, v), quaternions as four plain numbers with q̇ = ½ q ⊗ ω. The method does not know that their norm
is one: it is restored where the dynamics are asked for and in what is returned.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from leastaction.analysis.nodes import energies_and_momenta
from leastaction.compiled import compile_model
from leastaction.dynamics import forward_dynamics
from leastaction.kernels.state_rate import state_rate
from leastaction.model import Model

Array = np.ndarray
Derivative = Callable[[float, Array], Array]


class Dop853Run(NamedTuple):
    """A run by DOP853; fewer nodes than asked for if it broke down or ran out of patience.

    q : (N, nq) configurations, rad, m, unit quaternions
    v : (N, nv) velocities, body axes for ball and free joints, rad/s, m/s
    energy : (N,) total energy, J
    cpu_seconds : CPU time of the steps, s, without what it takes to interpolate and to look at the nodes
    """

    q: Array
    v: Array
    energy: Array
    cpu_seconds: float


def dop853(
    model: Model, q: ArrayLike | None, v: ArrayLike | None, t_nodes: ArrayLike, rtol: float, atol: float,
    patience: float = np.inf,
) -> Dop853Run:
    """Follow a model by SciPy's DOP853, Dormand and Prince's explicit method of order 8 with steps by tolerance.

    SciPy drives it from Python. An evaluation of ten links takes some 8 µs, of which less than 2 are the dynamics, 2 or
    3 the call of compiled code, and the rest SciPy's arithmetic. With the loop compiled as well it would be about four
    times as fast for ten links, and hardly faster for a thousand, where an evaluation takes 100 µs.

    Parameters
    ----------
    model : the system
    q : (nq,) initial configuration, rad, m, unit quaternions; model.q0 if None
    v : (nv,) initial velocity, body axes for ball and free joints, rad/s, m/s; model.v0 if None
    t_nodes : (N,) times at which the state is wanted, ascending, the first one that of the start, s
    rtol, atol : relative and absolute tolerance of the error of a step, of each number in q and v
    patience : CPU time after which to stop, s: stiff models take very many steps
    """
    from scipy.integrate import DOP853

    model._refuse_elements("the peer DOP853")
    forward_dynamics(model, q, v)  # names a joint that moves nothing, and compiles
    q, v = model.check_state(q, v)
    t = np.asarray(t_nodes, dtype=float)
    derivative = right_hand_side(model)
    solver = DOP853(derivative, t[0], np.concatenate([q, v]), t[-1], rtol=rtol, atol=atol)
    states = np.empty((len(t), model.nq + model.nv))
    states[0], known, spent = solver.y, 1, 0.0
    while solver.status == "running" and spent < patience:
        start = time.thread_time()
        solver.step()
        spent += time.thread_time() - start
        if solver.status == "failed" or not np.isfinite(solver.y).all():
            break
        here = known + int(np.searchsorted(t[known:], solver.t, side="right"))
        if here > known:
            states[known:here] = solver.dense_output()(t[known:here]).T
            known = here
    found = states[:known]
    for at in model.layout.quaternions:
        found[:, at : at + 4] /= np.linalg.norm(found[:, at : at + 4], axis=1)[:, None]
    qs, vs = found[:, : model.nq].copy(), found[:, model.nq :].copy()
    return Dop853Run(qs, vs, energies_and_momenta(model, qs, vs)[0], spent)


def right_hand_side(model: Model) -> Derivative:
    """Return the function (t, y) → ẏ of y = (q, v), (nq + nv,); what it needs is looked up and allocated once."""
    c = compile_model(model)
    w, room = c.workspace(), (np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv))

    def derivative(_t: float, y: Array) -> Array:
        rate: Array = state_rate(c.system, w, y, *room)
        return rate

    return derivative
