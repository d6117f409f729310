"""What given forces, or loops near a singular configuration, have to do with a step that failed."""

import numpy as np

from leastaction.closures import COUNTED, RANK, jacobian
from leastaction.compiled import Compiled
from leastaction.kernels import queries
from leastaction.model import Model

Array = np.ndarray
FORCED = "Forces were given for this step: a control whose gain is too large may be the cause."
SINGULAR = 1e-3  # singular value, relative to the greatest, below which loops are close to a singular configuration


def singular(c: Compiled, q: Array) -> str:
    """Say that loops are close to a singular configuration at q (nq,): one of their rows nearly follows from others.

    A row that follows exactly tells nothing: in an overconstrained linkage one always does.
    """
    if c.rows is None or len(c.rows.kind) * c.nv > COUNTED:
        return ""
    sizes = np.linalg.svd(jacobian(c, q), compute_uv=False)
    least = sizes[sizes > RANK * sizes[0]].min(initial=sizes[0])
    if least > SINGULAR * sizes[0] or sizes[0] == 0.0:
        return ""
    return ("The loops are close to a singular configuration there: what lies stretched cannot carry a load across "
            "itself. Start further away from it, or let a member give, as la.Spring in place of la.Rod.")


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
