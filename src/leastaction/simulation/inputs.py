"""Joint forces, wrenches and commands, as a user gives them, turned into rows that the loop reads."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leastaction.arguments import real_array, shown
from leastaction.dynamics import link_wrenches
from leastaction.model import Model
from leastaction.model.unhonoured import tell_command
from leastaction.simulation.engine import Engine

Array = np.ndarray


def per_step(
    name: str, value: ArrayLike | Mapping[Any, Any] | None, shape: tuple[int, ...], steps: int | None, every: int = 1
) -> Array:
    """Forces as (R, *shape): R = 0 for none, 1 if held, or the number of steps; they may be given for every few."""
    if value is None:
        return np.zeros((0, *shape))
    if isinstance(value, Mapping):
        order = "model.actuators" if "command" in name else "model.bodies"
        raise ValueError(f"{name} must be an array of shape {shape}, in the order of {order}, not {shown(value)}")
    array = real_array(value, name)
    if array.ndim == 0 and shape == (1,):
        array = array.reshape(1)
    ticks = None if steps is None or every == 1 else -(-steps // every)
    if array.shape == shape:
        array = array[None]
    elif ticks is not None and array.shape == (ticks, *shape):
        array = np.repeat(array, every, axis=0)[:steps]
    elif steps is None or array.shape != (steps, *shape):
        options = " or ".join(str(one) for one in (
            shape, *((rows, *shape) for rows in (steps, ticks) if rows is not None)))
        hint = "; transpose it: there is a row for every step" if array.T.shape in (
            (rows, *shape) for rows in (steps, ticks)) else ""
        hint = "; tau are joint forces: commands of actuators are command=" if name == "tau" else hint
        raise ValueError(f"{name} must have shape {options}, not {array.shape}{hint}")
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0][0])
        raise ValueError(f"{name} has entries that are not finite, the first in row {row}")
    return array


def returned(name: str, value: object, shape: tuple[int, ...]) -> Array:
    """What the function that was given for this argument returned, as `per_step`; None is no force, but a fault."""
    name = f"what {name} returns"
    return per_step(name, value if isinstance(value, Mapping) else real_array(value, name), shape, None)


def commands(model: Model, command: ArrayLike | None, steps: int | None, every: int = 1, silent: bool = False) -> Array:
    """Commands (R, nu) as `per_step`; model.command0 if None, which is said unless ``silent``."""
    nu = model.nu
    if not nu:
        if command is not None:
            raise ValueError(f"model '{model.name}' has no actuators that could take a command: "
                             "model.add_actuator(name, la.PD(...)) adds one, and control=... gives joint forces")
        return np.zeros((0, 0))
    if command is None:
        if not silent:
            tell_command(model)
        command = model.command0
    return per_step("command", command, (nu,), steps, every)


def driven(model: Model, tau: Array, commands: Array) -> tuple[Array, Array]:
    """Joint forces (R, nv) with those of motors added, and what commands (R, nu) ask of servos (R, 2 ns)."""
    drives = model.drives
    if not len(commands):
        return tau, np.zeros((0, 2 * len(drives.servos.q)))
    servos, motors = drives.asked(commands)
    if not drives.has_motors:
        return tau, servos
    return (tau + motors if len(tau) else motors), servos


def wrenches(engine: Engine, wrench: ArrayLike | None, steps: int | None = None) -> Array:
    """Wrenches on links (R, n, 6); zeros once, where wrenches of an earlier call have to be taken away."""
    if wrench is None:
        rows = 1 if engine.pushed else 0
        engine.pushed = False
        return np.zeros((rows, engine.compiled.tree.n, 6))
    if not engine.integrator.takes_wrenches:
        raise ValueError(f"{engine.integrator!r} takes no external wrenches: take la.Variational(), or give joint "
                         "forces")
    engine.pushed = True
    given = per_step("wrench", wrench, (engine.model.nb, 6), steps)
    return np.ascontiguousarray(link_wrenches(engine.model, given))
