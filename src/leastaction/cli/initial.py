"""The initial state as the command takes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import leastaction as la

Array = np.ndarray
Initial = Annotated[str | None, typer.Option(help=(
    "Initial state of a model: a JSON file with q and v, a run to start from the end of, or text as in 'q=1,0.5;v=0,0' "
    "or 'link1=1'; the model's own unless given."))]
Assemble = Annotated[bool, typer.Option("--assemble", help=(
    "Close the loops first: start from the closed state near the initial one; joints that --initial names stay."))]


def state_of(subject: la.Model | la.Trajectory, text: str | None, assemble: bool
             ) -> tuple[Array | None, Array | None]:
    """Read the initial state (q, v) of a model, as `initial_state` does; a run has its own."""
    if isinstance(subject, la.Model):
        return initial_state(subject, text, assemble)
    if text is not None or assemble:
        raise ValueError("--initial and --assemble are for a model; a run from disk has its own initial state")
    return None, None


def initial_state(model: la.Model, text: str | None, assemble: bool = False) -> tuple[Array, Array]:
    """Read an initial state (q, v).

    Parameters
    ----------
    model : Model
    text : None for the model's own; a JSON file with q and v or one of them; a run's file, whose last node it is; or
        assignments such as "q=1,0.5;v=0,0" or "link1=1;link2=0.5", which set q, v or the q of a body's joint
    assemble : whether to close the loops; joints that the text names stay where they are
    """
    q, v, named = _given(model, text)
    return la.assemble(model, q, v, named) if assemble else (q, v)


def _given(model: la.Model, text: str | None) -> tuple[Array, Array, list[str]]:
    """Read the state as it is written, and the names of joints that it sets."""
    q, v = model.q0, model.v0
    if text is None:
        return q, v, []
    path = Path(text)
    if path.suffix in (".h5", ".hdf5"):
        last = la.open(path)
        if (last.model.nq, last.model.nv) != (model.nq, model.nv):
            raise ValueError(f"{path} holds a run of '{last.model.name}', whose state does not fit '{model.name}'")
        return last.q[-1].copy(), last.v[-1].copy(), []
    if path.suffix == ".json":
        given = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(given, dict):
            raise ValueError(f"{path} must hold an object with q and v, or names of bodies")
    else:
        given = dict(_assignment(entry) for entry in text.split(";") if entry.strip())
    for name, value in given.items():
        numbers = np.atleast_1d(np.asarray(value, dtype=float))
        target = q if name == "q" else v if name == "v" else q[model.q_slice(name)]
        if numbers.shape != target.shape:
            raise ValueError(f"'{name}' in the initial state has {numbers.size} numbers, but needs {target.size}")
        target[:] = numbers
    return q, v, [name for name in given if name not in ("q", "v")]


def _assignment(entry: str) -> tuple[str, list[float]]:
    name, equals, values = entry.partition("=")
    try:
        if not equals:
            raise ValueError
        return name.strip(), [float(value) for value in values.split(",")]
    except ValueError:
        raise ValueError(f"cannot read '{entry}' in the initial state; write it as 'q=1,0.5' or 'link1=1'") from None
