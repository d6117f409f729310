"""What given forces have to do with a step that failed."""

import numpy as np

from leastaction.compiled import Compiled
from leastaction.kernels import queries
from leastaction.model import Model

Array = np.ndarray
FORCED = "Forces were given for this step: a control whose gain is too large may be the cause."


def forced(model: Model, compiled: Compiled, q: Array, dt: float, tau: Array, wrench: Array) -> str:
    """Say what given forces do within a step, and below which gain feedback is stable; nothing if they are zero.

    Parameters
    ----------
    q : (nq,) configuration at the start of the step, rad, m, unit quaternions
    dt : time step, s
    tau : (nv,) joint forces held over the step, N m and N; or empty
    wrench : (n, 6) wrenches on the links, held likewise; or empty
    """
    if not (tau.any() or wrench.any()):
        return ""
    c, nv = compiled, compiled.nv

    def accelerations(tau: Array, wrench: Array) -> Array:
        a = np.zeros(nv)
        tau, wrench = tau if tau.size else np.zeros(nv), wrench if wrench.size else np.zeros((c.tree.n, 6))
        queries.forward_dynamics(c.system, c.workspace(), q, np.zeros(nv), tau, wrench, 0.0, a)
        return a

    nothing = np.zeros(0)
    free = accelerations(nothing, nothing)
    change = abs(dt) * np.abs(accelerations(tau, wrench) - free)
    worst = int(np.argmax(change))
    mobility = float((accelerations(np.eye(1, nv, worst)[0], nothing) - free)[worst])  # of M⁻¹, on its diagonal
    if not (np.isfinite(change).all() and 0 < mobility < np.inf):
        return FORCED
    name = model.names[int(np.searchsorted(model.layout.v_start, worst, side="right")) - 1]
    return (
        f"The forces given for this step change the rate of the joint of '{name}' by {change[worst]:.2g} rad/s or m/s. "
        "A control whose gain is too large may be the cause: sampled once a step, it is stable only for gains on the "
        f"rate below about 2 / (dt M⁻¹), which is {2 / (abs(dt) * mobility):.2g} N m s or N s/m at this joint."
    )
