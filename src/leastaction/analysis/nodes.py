"""Energy and momentum of states that another program has made."""

import numpy as np

from leastaction.compiled import compile_model
from leastaction.kernels import queries
from leastaction.model import Model

Array = np.ndarray


def energies_and_momenta(model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """Return the energy and the momentum of every node, as `leastaction.energy` and `momentum` do of one.

    Parameters
    ----------
    q : (N, nq) configurations, rad, m, unit quaternions
    v : (N, nv) velocities, body axes for ball and free joints, rad/s, m/s

    Returns
    -------
    (N,) total energies, J; (N, 6) momenta about the world's origin, angular then linear, world axes, kg m²/s, kg m/s
    """
    c = compile_model(model)
    w, energies, momenta = c.workspace(), np.empty(len(q)), np.empty((len(q), 6))
    for k in range(len(q)):
        *parts, angular, linear = queries.energy_momentum(c.system, w, q[k], v[k])
        energies[k], momenta[k] = c.ground_energy + sum(parts), angular + linear
    return energies, momenta
