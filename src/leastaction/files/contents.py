"""What the description of a file says, compared with the model, and with the arrays that are there."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from leastaction.errors import FileError
from leastaction.files.columns import CHECKPOINTS, FORCES, ROWS, Column, columns
from leastaction.files.describe import integrator_from_dict
from leastaction.files.reading import Place, describe, mismatch, places, plain_faults
from leastaction.files.statistics import Statistics
from leastaction.kernels.record import EXTREMES
from leastaction.model import Model
from leastaction.simulation.judgement import EnergyWatch

NO_FAILURE = {"failed_status": 0, "failed_body": -1, "failed_residual": 0.0}
MEANING = "state of the simulation: two that take turns as the latest, then one every checkpoint_every steps"
RECORD, PER_BODY = 1_000_000, 64_000  # bytes that a checkpoint may take: ten times what any does
MOST = 2**53  # steps, so that every count is exact in double precision


class Contents(NamedTuple):
    """What is in a file, checked.

    path : of the file
    description : as written
    model, integrator : made from it
    places : where the arrays are
    record : type of a checkpoint
    """

    path: Path
    description: dict[str, Any]
    model: Model
    integrator: Any
    places: dict[str, Place]
    record: np.dtype

    @property
    def is_run(self) -> bool:
        """Whether the file holds a run, and not only a checkpoint."""
        return "steps" in self.description

    @property
    def ledger(self) -> int:
        """How many columns the ledger of a run has."""
        return _ledger(self.description, self.model, self.integrator)


def contents(path: Path) -> Contents:
    """Read the description of a file and check all of it, before anything else is read."""
    description, found = describe(path), places(path)
    with plain_faults(path):
        model, integrator = Model.from_dict(description["model"]), integrator_from_dict(description["integrator"])
        dt = description["dt"]
        if not (isinstance(dt, float | int) and np.isfinite(dt) and dt > 0):
            raise ValueError(f"its dt is {dt!r}")
        if not (isinstance(description["layout"], str) and isinstance(description["made_by"], dict)):
            raise ValueError("its description does not say what wrote it")
        record = _record_type(description["record"], model)
        expected = {CHECKPOINTS: Column((1,), record, "")}
        if "steps" in description:
            expected = _run(description, model, integrator, record, found)
    for name, column in expected.items():
        if name not in found:
            raise FileError(f"{path} is damaged or not a file that leastaction wrote: it has no '{name}'")
        if found[name].dtype != column.dtype or found[name].shape != column.shape:
            raise mismatch(path, name, found[name], column)
    return Contents(path, description, model, integrator, found, record)


def _run(description: Mapping[str, Any], model: Model, integrator: Any, record: np.dtype,
         found: Mapping[str, Place]) -> dict[str, Column]:
    """Return what the arrays of a run must be like."""
    for name, least in (("steps", 0), ("record_every", 1), ("checkpoint_every", 1), ("control_every", 1)):
        if not (type(description[name]) is int and least <= description[name] <= MOST):
            raise ValueError(f"its {name} is {description[name]!r}")
    steps = description["steps"]
    expected = columns(model, steps, description["record_every"], _ledger(description, model, integrator))
    expected[CHECKPOINTS] = Column((2 + steps // description["checkpoint_every"],), record, "")
    for name, held in zip(FORCES, ((model.nv,), (model.nb, 6), (model.nu,)), strict=True):
        if description[name] not in ("none", "function", "array"):
            raise ValueError(f"its {name} is {description[name]!r}")
        if description[name] == "array":
            given = name in found and found[name].shape != held
            expected[name] = Column((steps, *held) if given else held, float, "")
            if type(description["sums"][name]) is not int:
                raise ValueError(f"the check sum of its {name} is {description['sums'][name]!r}")
    for name, kind in common_fields(model).items():
        if name not in (record.names or ()) or record[name] != kind:
            raise ValueError(f"its checkpoints have no '{name}' of {kind}")
    return expected


def _ledger(description: Mapping[str, Any], model: Model, integrator: Any) -> int:
    columns: int = integrator.ledger(model, description["control"] != "none")
    return columns


def type_to_list(record: np.dtype) -> list[Any]:
    """Write the type of a checkpoint down as data that JSON can hold."""
    return [[name, record[name].base.str, list(record[name].shape)] for name in record.names or ()]


def _record_type(fields: list[Any], model: Model) -> np.dtype:
    """Return the type of a checkpoint; a ValueError if leastaction writes no such type."""
    most = RECORD + PER_BODY * model.nb
    size = sum(int(np.prod(shape, dtype=object)) * 8 for _, _, shape in fields)
    if not (fields[-1] == ["check", "<u4", []] and {kind for _, kind, _ in fields} <= {"<f8", "<i8", "<u4"}
            and 0 < size <= most):
        raise ValueError("its checkpoints are not of the kind that leastaction writes")
    return np.dtype([(name, kind, tuple(shape)) for name, kind, shape in fields])


def record_type(content: Mapping[str, Any]) -> np.dtype:
    """Return the type of a checkpoint with this content."""
    return np.dtype([(name, np.asarray(value).dtype, np.shape(value)) for name, value in content.items()]
                    + [("check", np.uint32)])


def common_fields(model: Model) -> dict[str, np.dtype]:
    """Name what is in the checkpoints of every run, whichever version wrote it, with the type of each."""
    kind = record_type({"steps": 0, "commit": 0, "extremes": np.zeros(EXTREMES), "q": np.zeros(model.nq),
                        "v": np.zeros(model.nv), "p": np.zeros(model.nv), **Statistics(1).fields(),
                        **EnergyWatch(0.0).fields(), **NO_FAILURE, "rows": np.zeros(len(ROWS), np.uint32)})
    return {name: kind[name] for name in kind.names or ()}
