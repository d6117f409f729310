"""What a step makes of damped modes, by the formula of docs/derivation.md; what they are, by dense matrices."""

import numpy as np

import leastaction as la


def decay_rates(model):
    """Eigenvalues of M⁻¹D at q0 (nv,), 1/s."""
    D = np.zeros(model.nv)
    for k, body in enumerate(model.bodies):
        at = model.layout.v_slice(k)
        D[at] = np.broadcast_to(np.ravel(getattr(body.joint, "damping", 0.0)), at.stop - at.start)
    if not D.any():
        return D
    root = np.sqrt(D)
    return np.linalg.eigvalsh(root[:, None] * np.linalg.solve(la.mass_matrix(model), np.diag(root)))


def decay(y, resolved):
    """What a step leaves of the rate of a damper alone, and what the first one leaves of it, which starts with p = M v.

    y : h c / I
    resolved : y up to which the step is the midpoint rule
    """
    s = np.minimum(1.0, resolved / np.maximum(y, resolved))
    end = 0.5 * s * s * (3 - 2 * s)  # the share of the force that is left to the end of the step
    return (1 - end * y) / (1 + (1 - end) * y), (1 - end * y) / ((1 + (1 - end) * y) * (1 + (0.5 - end) * y))


def lag(y, resolved, steps):
    """By how much a rate differs after so many steps from that of a damper in continuous time, of what it was."""
    later, first = decay(y, resolved)
    return np.abs(first * later ** (steps - 1) - np.exp(-steps * y))
