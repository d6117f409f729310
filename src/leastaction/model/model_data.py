"""A whole model as plain data, and back; and what makes two models equal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from leastaction.model.arrays import as_array, same
from leastaction.model.body import Body
from leastaction.model.description import (
    actuator_record,
    body_record,
    force_record,
    loop_record,
    mapping,
    numbers,
    plain,
    read_actuator,
    read_body,
    read_force,
    read_loop,
    read_state,
    refuse_unknown,
)
from leastaction.model.unhonoured import SWITCHES, accepted

if TYPE_CHECKING:
    from leastaction.model.model import Model


def written(model: Model) -> dict[str, Any]:
    """Write a model down as plain data that JSON can hold: all that it is made of, exactly."""
    loops = {"loops": [loop_record(loop) for loop in model._loops]} if model._loops else {}
    off = {"switched_off": sorted(model._off)} if model._off else {}
    driven: dict[str, Any] = {} if not model._actuators else {
        "actuators": [{"name": name, **actuator_record(one, name)} for name, one in model._actuators.items()],
        "command0": plain(model._command0, "command0"),
        "commands": {name: plain(command, f"the command of '{name}'") for name, command in model.commands.items()},
    }
    data = {
        "name": model.name, "gravity": plain(model.gravity, "gravity"), "q0": plain(model._q0, "q0"),
        "v0": plain(model._v0, "v0"), "bodies": [body_record(body) for body in model._bodies], **loops,
        "ignored": {word: list(names) for word, names in model.ignored.items()}, **off,
        "keyframes": {name: plain(state, f"keyframe '{name}'") for name, state in model.keyframes.items()},
        **driven,
    }
    if model._forces:
        data["forces"] = [force_record(name, force) for name, force in model._forces.items()]
    return data


def read(model: Model, data: Mapping[str, Any]) -> None:
    """Fill a new model with what `written` wrote down; keys that mean nothing are errors."""
    known = ("name", "gravity", "q0", "v0", "bodies", "loops", "forces", "ignored", "switched_off", "keyframes",
             "actuators", "command0", "commands")
    refuse_unknown(mapping(data, "a model"), known, "the model")
    model.gravity, model.name = numbers(data.get("gravity", (0.0, 0.0, -9.81))), str(data.get("name", "model"))
    for body in data.get("bodies", ()):
        model._append(Body(**read_body(body)))
    model._loops = tuple(read_loop(loop) for loop in data.get("loops", ()))
    for force in data.get("forces", ()):
        model.add_force(*read_force(force))
    for data_of_one in data.get("actuators", ()):
        model.add_actuator(*read_actuator(data_of_one))
    if data.get("command0") is not None:
        model.command0 = numbers(data["command0"])
    for name, command in mapping(data.get("commands", {}), "commands").items():
        model.commands[name] = np.array(as_array(numbers(command), (model.nu,), f"the command of '{name}'"))
    model._q0, model._v0 = read_state(data, model.nq, model.nv)  # the setters would normalise once more
    model.check_state(None, None)
    model.ignored = mapping(data.get("ignored", {}), "ignored")
    model._off = frozenset(accepted(data.get("switched_off", ()), SWITCHES))
    for name, (q, v) in mapping(data.get("keyframes", {}), "keyframes").items():
        model.keyframes[name] = model.check_state(numbers(q), numbers(v))


def equal(model: Model, other: Model) -> bool:
    """Tell whether two models are made of the same, number for number."""
    return (
        model.name == other.name and same(model.gravity, other.gravity) and model._bodies == other._bodies
        and model._loops == other._loops
        and list(model._forces.items()) == list(other._forces.items()) and same(model.q0, other.q0)
        and same(model.v0, other.v0) and model.ignored == other.ignored and model._off == other._off
        and model.keyframes.keys() == other.keyframes.keys()
        and all(all(map(same, state, other.keyframes[name])) for name, state in model.keyframes.items())
        and list(model._actuators.items()) == list(other._actuators.items())
        and same(model.command0, other.command0) and model.commands.keys() == other.commands.keys()
        and all(same(command, other.commands[name]) for name, command in model.commands.items())
    )
