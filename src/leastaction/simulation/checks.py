"""What a simulation is told before its first step: forces, damping and loops that its step does not suit."""

from collections.abc import Callable, Set

import numpy as np

from leastaction.integrators import Integrator
from leastaction.kernels.layout import P
from leastaction.model import Model
from leastaction.model.unhonoured import DAMPING, KNOWN, STIFFNESS, warn_once
from leastaction.simulation import limits
from leastaction.simulation.damping import unresolved
from leastaction.simulation.engine import Engine
from leastaction.simulation.oscillation import too_stiff

Array = np.ndarray
WIDE = 200  # numbers in a front of rows and links, above which the user is told


def check_start(engine: Engine, silenced: Set[str]) -> None:
    """Warn of what acts otherwise than expected from this start on, and refuse forces that are too stiff.

    Parameters
    ----------
    engine : at its start
    silenced : words of ``ignore``
    """
    model, c, q = engine.model, engine.compiled, engine.state.q.copy()
    if not silenced >= set(KNOWN):  # else it has started before
        limits.tell_beyond(model, c, q)
    if c.rows is not None and c.plan.width > WIDE:
        warn_once(model, ("width", model.revision), "its loops are eliminated in fronts of "
                  f"{c.plan.width} numbers, and a step takes time as the square of that: cut the loops at other "
                  "joints, so that fewer are open at a time")
    if c.damped and engine.longest == 0.0 and DAMPING not in silenced:
        doubt = unresolved_damping(model, q, engine.dt, engine.integrator)
        if doubt:
            warn_once(model, (DAMPING, model.revision, engine.dt), f"{doubt}; ignore=('{DAMPING}',) silences this")
    if model.forces and STIFFNESS not in silenced:
        _refuse_too_stiff(engine)


def unresolved_damping(model: Model, q: Array, dt: float, integrator: Integrator) -> str:
    """Name the joint whose damping an explicit step from q (nq,) cannot resolve, and a dt, s, that does; or empty."""
    engine = Engine(model.without(KNOWN), dt, integrator)
    if engine.longest or integrator.chooses_steps or not engine.compiled.damped:
        return ""
    engine.start(q, np.zeros(model.nv))
    return unresolved(model, dt, integrator.longest, _mass_solver(engine))


def _refuse_too_stiff(engine: Engine) -> None:
    """Raise a ValueError that names the force between bodies which the step of a simulation cannot follow."""
    longest = engine.integrator.longest
    if not longest:  # it chooses its steps
        return
    spare, q = Engine(engine.model, engine.dt, engine.integrator), engine.state.q.copy()
    spare.start(q, np.zeros(engine.model.nv))
    limit = engine.integrator.stable / longest
    fault = too_stiff(engine.model, engine.compiled, q, engine.dt, limit, _mass_solver(spare))
    if fault:
        raise ValueError(fault)


def _mass_solver(engine: Engine) -> Callable[[Array], Array]:
    """Return the product of M⁻¹ with a vector (nv,), at the configuration of an engine, which is used up by it.

    Each product is the start of a simulation at a momentum, which is compiled for every run anyway.
    """
    def solve(p: Array) -> Array:
        engine.state.p[:] = p
        engine.prepare(P)
        v: Array = engine.state.v.copy()
        return v

    return solve
