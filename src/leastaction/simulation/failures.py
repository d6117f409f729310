"""What is raised when a step or a control fails, and what is known of the last good node then."""

from contextlib import suppress
from typing import Any

import numpy as np

from leastaction.arguments import all_finite, is_row
from leastaction.dynamics import energy, momentum
from leastaction.errors import StepError
from leastaction.integrators import Status
from leastaction.kernels.layout import Forces
from leastaction.kernels.record import Record
from leastaction.simulation import hints
from leastaction.simulation.advance import held_forces, row
from leastaction.simulation.engine import Engine
from leastaction.simulation.inputs import returned

Array = np.ndarray


def step_failure(engine: Engine, blamed: int, forces: Forces, out: Record, at: int) -> StepError:
    """Return the StepError of a step, whose row in the record is ``at``, for which a link is to blame."""
    state, status = engine.state, Status(engine.status)
    held = held_forces(engine, forces, engine.steps, at).reshape(-1)
    forced = hints.forced(engine.model, engine.compiled, state.q.copy(), engine.dt, held,
                          row(forces.wrench, at).reshape(-1, 6))
    singular = hints.singular(engine.compiled, state.q)
    hint = " ".join(filter(None, (forced, singular, engine.integrator.advice(status))))
    if engine.settings is None and not engine.integrator.chooses_steps:  # neither a search nor a tolerance
        return _error(engine, 0.0, "", hint)
    joint = engine.model.names[engine.compiled.body_of_link[blamed]]
    return _error(engine, float(out.residual[at]), joint, hint)


def control_failure(engine: Engine, hint: str = "") -> StepError:
    """Return the StepError of a control that failed at this node."""
    engine.status = int(Status.BAD_CONTROL)
    return _error(engine, np.nan, "", hint)


def _error(engine: Engine, residual: float, joint: str, hint: str) -> StepError:
    state = engine.state
    return StepError(Status(engine.status).meaning, engine.steps, engine.t, residual, joint, state.q.copy(),
                     state.v.copy(), state.p.copy(), hint)


def blamed_on_control(engine: Engine, error: Exception) -> Exception:
    """Add to what a control raised when that was; the StepError that it is raised from has the last good state."""
    error.add_note(f"raised by the control at step {engine.steps}, t = {engine.t:.6g} s; the last good state is in q, "
                   "v and p of the __cause__ of this exception")
    return error


def ask(engine: Engine, law: Any, name: str = "control") -> Array:
    """Joint forces (nv,) by a control law at this node, or commands (nu,); it gets copies of the state."""
    state = engine.state
    given: Any = law(engine.t, state.q.copy(), state.v.copy())
    size = engine.compiled.nv if name == "control" else engine.model.nu
    if is_row(given, size) and all_finite(given):
        asked: Array = given
        return asked
    first: Array = returned(name, given, (size,))[0]
    return first


def ask_again(engine: Engine, law: Any) -> None:
    """Call a law that failed inside the compiled loop from Python, to raise what it raises."""
    try:
        ask(engine, law)
    except Exception as error:
        raise blamed_on_control(engine, error) from control_failure(engine)
    raise control_failure(engine, "It does not fail when it is called again at the same t, q and v: does it depend "
                          "on anything else?")


def settle(engine: Engine) -> None:
    """Know the energy and the momentum of the last good node after a step that failed."""
    model, state = engine.model, engine.state
    with suppress(ValueError):  # beyond the range of numbers, which was noticed a few steps later
        state.total[:] = momentum(model, state.q, state.v)
        state.energy[0] = energy(model, state.q, state.v) - engine.compiled.ground_energy
