"""The plan of an ensemble: everything that decides a member's numbers, as data that JSON can hold."""

import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from leastaction.ensemble.draw import Drawn, Sources, draw
from leastaction.ensemble.folder import Folder
from leastaction.ensemble.functions import digest_of, name_of
from leastaction.ensemble.vary import Normal, Uniform, sources
from leastaction.errors import FileError
from leastaction.files.describe import integrator_from_dict, integrator_to_dict
from leastaction.integrators import Integrator
from leastaction.model import Model
from leastaction.model.unhonoured import KNOWN, SWITCHES, WORDS

Array = np.ndarray
KINDS = {"normal": Normal, "uniform": Uniform}
FORCES = ("control", "wrench", "command")
SHOWN = 3  # differences that are named


@dataclass(frozen=True, eq=False)
class Plan:
    """What an ensemble computes. A member is a function of the plan and its number alone.

    Parameters
    ----------
    model : that the members vary
    members : how many there are
    seed : of their draws
    vary : what differs by name: a distribution, a function of a NumPy Generator, or an array with a row a member
    dt, steps, record_every, integrator : as for `simulate`, s
    control, wrench, command, control_every : the same for all members, as for `simulate`
    keep : which of the recorded nodes are kept: "all", k for every k-th and the last, "last", or "statistics" for none
    quantities : names of the arrays that are kept and of which there are statistics
    """

    model: Model
    members: int
    seed: int
    vary: dict[str, Any]
    dt: float
    steps: int
    record_every: int
    integrator: Integrator
    control: Any
    wrench: Any
    command: Any
    control_every: int
    keep: int | str
    quantities: tuple[str, ...]

    @cached_property
    def sources(self) -> Sources:
        """What is varied, in the order of the names, and what its values are drawn from."""
        return sources(self.model, self.vary, self.members)

    @property
    def options(self) -> dict[str, Any]:
        """The options of `simulate` that all members share, without the warnings, which were given before.

        Limits and dry friction act as the model says, which knows what was ignored of them.
        """
        ignore = ({*WORDS, *KNOWN} - SWITCHES) | self.model.switched_off
        return {"dt": self.dt, "steps": self.steps, "record_every": self.record_every, "integrator": self.integrator,
                "wrench": self.wrench, "control_every": self.control_every, "ignore": tuple(sorted(ignore))}

    def draw(self, first: int, count: int) -> Drawn:
        """Draw the members from ``first`` on."""
        return draw(self.model, self.sources, self.seed, first, count)

    @property
    def given(self) -> dict[str, Any]:
        """All that was given as arrays or functions, by name."""
        named = {**{f"vary {name}": value for name, value in self.vary.items()},
                 **{name: getattr(self, name) for name in FORCES if getattr(self, name) is not None}}
        return {name: value for name, value in named.items() if not isinstance(value, Normal | Uniform)}

    @property
    def functions(self) -> dict[str, Any]:
        """The functions among them."""
        return {name: value for name, value in self.given.items() if callable(value)}

    @property
    def arrays(self) -> dict[str, Array]:
        """The arrays among them."""
        return {name: np.ascontiguousarray(value, dtype=float) for name, value in self.given.items()
                if not callable(value)}

    def to_dict(self) -> dict[str, Any]:
        """Write the plan down; arrays and functions by their check sums."""
        same = ("members", "seed", "dt", "steps", "record_every", "control_every", "keep")
        return {
            "model": self.model.to_dict(), **{name: getattr(self, name) for name in same},
            "quantities": list(self.quantities), "integrator": integrator_to_dict(self.integrator),
            "vary": [{"name": name, **_described(value)} for name, value in self.vary.items()],
            **{name: _described(getattr(self, name)) for name in FORCES},
        }

    @classmethod
    def of(cls, data: Mapping[str, Any], arrays: Mapping[str, Array], functions: Mapping[str, Any]) -> "Plan":
        """Make the plan that `to_dict` wrote down."""
        given = {**arrays, **functions}
        vary = {one["name"]: _read(one, f"vary {one['name']}", given) for one in data["vary"]}
        forces = {name: _read(data[name], name, given) for name in FORCES}
        same = ("members", "seed", "dt", "steps", "record_every", "control_every", "keep")
        return cls(model=Model.from_dict(data["model"]), vary=vary, quantities=tuple(data["quantities"]),
                   integrator=integrator_from_dict(data["integrator"]), **forces, **{name: data[name] for name in same})


def _described(value: Any) -> dict[str, Any]:
    if value is None:
        return {"kind": "none"}
    if isinstance(value, Normal | Uniform):
        numbers = {field.name: getattr(value, field.name) for field in fields(value)}
        return {"kind": type(value).__name__.lower(),
                **{name: list(x) if isinstance(x, tuple) else x for name, x in numbers.items() if x is not None}}
    if callable(value):
        return {"kind": "function", "function": name_of(value), "digest": digest_of(value)}
    array = np.ascontiguousarray(value, dtype=float)
    return {"kind": "array", "shape": list(array.shape), "check": zlib.crc32(array.data)}


def _read(data: Mapping[str, Any], name: str, given: Mapping[str, Any]) -> Any:
    kind = data["kind"]
    if kind == "none":
        return None
    if kind in KINDS:
        return KINDS[kind](**{key: value for key, value in data.items() if key not in ("kind", "name")})
    if name not in given:
        raise ValueError(f"the {kind} for '{name}' of the plan is not there")
    if kind == "array" and _described(given[name]) != {key: data[key] for key in ("kind", "shape", "check")}:
        raise ValueError(f"the array for '{name}' of the plan is damaged")
    return given[name]


def write_arrays(folder: Folder, plan: Plan) -> None:
    """Write the arrays of a plan to its folder, if it has any."""
    if plan.arrays:
        folder.make()
        with folder.aside(folder.arrays) as part, part.open("wb") as file:
            np.savez(file, **{str(k): array for k, array in enumerate(plan.arrays.values())},  # type: ignore[arg-type]
                     names=np.array(list(plan.arrays)))


def read_arrays(folder: Folder) -> dict[str, Array]:
    """Read the arrays of a plan; none if there are none."""
    if not folder.arrays.exists():
        return {}
    try:
        with np.load(folder.arrays, allow_pickle=False) as file:
            return {str(name): file[str(k)] for k, name in enumerate(file["names"])}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise FileError(f"{folder.arrays} is damaged ({error}): delete it and run the ensemble again") from error


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """Name the first differences between two plans as data; empty if there are none."""
    found = [*_differences("", there, here)]
    return "; ".join(found[:SHOWN]) + (f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else "")


def _differences(path: str, there: Any, here: Any) -> list[str]:
    there, here = (list(x) if isinstance(x, tuple) else x for x in (there, here))  # which JSON does not know
    if there == here:
        return []
    if isinstance(there, list) and isinstance(here, list):
        if all(isinstance(one, dict) and "name" in one for one in (*there, *here)):
            named = [{f"'{one['name']}'": one for one in many} for many in (there, here)]
            return _differences(path, *named) or [f"the order of {path}"]
        if len(there) == len(here) and len(here) > 8:
            return [line for k, (a, b) in enumerate(zip(there, here, strict=True))
                    for line in _differences(f"{path}[{k}]", a, b)]
    if isinstance(there, dict) and isinstance(here, dict):
        lines = []
        for name in {**there, **here}:
            inner = f"{path} {name}".strip()
            if name not in here:
                lines.append(f"{inner} is there and not here")
            elif name not in there:
                lines.append(f"{inner} is here and not there")
            else:
                lines += _differences(inner, there[name], here[name])
        return lines
    a, b = (repr(x) if len(repr(x)) <= 60 else f"{repr(x)[:57]}..." for x in (there, here))
    return [f"{path} is {a} there and {b} here"]
