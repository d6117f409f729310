"""Results of an ensemble in other forms: a pandas DataFrame of its members, an xarray Dataset."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from leastaction.files import columns as files_columns
from leastaction.files.export import MOMENTA, joint_labels

if TYPE_CHECKING:
    import pandas
    import xarray

    from leastaction.ensemble.results import EnsembleResults

ENTRIES = {"q": ("in_q",), "v": ("in_v",), "p": ("in_v",), "energy": (), "momentum": ("axis",)}  # axes after the nodes
KINDS = ("mean", "std", "minimum", "maximum")


def parameter_labels(drawn: Iterable[tuple[str, int | None]]) -> list[str]:
    """Name every number that was drawn: "mass:hand" by itself; of several, "q[0]", "q[1]" and so on."""
    return [label for name, size in drawn for label in
            ([name] if size is None else [f"{name}[{k}]" for k in range(size)])]


def axes(results: EnsembleResults) -> dict[str, Any]:
    """Name the entries along each axis, except that of members."""
    in_q, in_v = joint_labels(results.model)
    return {"t": results.t, "in_q": in_q, "in_v": in_v, "axis": list(MOMENTA)}


def meanings(results: EnsembleResults) -> dict[str, str]:
    """Say what each quantity is, with its unit."""
    return {name: column.meaning for name, column in files_columns.columns(results.model, 0, 1, False).items()}


def to_pandas(results: EnsembleResults) -> pandas.DataFrame:
    """Return a table by member: what was drawn, the steps that it made, and why it failed."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas needs pandas: pip install 'leastaction[pandas]'") from None
    reasons = np.full(results.members, "", dtype=object)
    for failure in results.failures:
        reasons[failure.member] = failure.reason
    columns = [column for values in results.parameters.values() for column in np.atleast_2d(values.T)]
    table = dict(zip(parameter_labels(results.drawn), columns, strict=True))
    table |= {"steps": results.steps, "failure": reasons}
    return pandas.DataFrame(table, pandas.RangeIndex(results.members, name="member"))


def to_xarray(results: EnsembleResults) -> xarray.Dataset:
    """Return nodes by member and t, what was drawn and the steps by member, and the statistics by t.

    Nodes are read when they are asked for if dask is installed, else at once. Where not all recorded nodes were kept,
    the times of the statistics are ``t_recorded``.
    """
    try:
        import xarray
    except ImportError:
        raise ImportError("to_xarray needs xarray: pip install 'leastaction[xarray]'") from None
    along, statistics, meaning = axes(results), results.statistics, meanings(results)
    recorded = "t" if np.array_equal(results.t, statistics.t) else "t_recorded"
    coords = {"member": np.arange(results.members), "in_q": along["in_q"], "in_v": along["in_v"], "axis": along["axis"],
              recorded: (recorded, statistics.t, {"units": "s"})}
    data: dict[str, Any] = {}
    if results.keeps_nodes:
        coords["t"] = "t", results.t, {"units": "s"}
        for name in results.quantities:
            data[name] = ("member", "t", *ENTRIES[name]), _nodes(results, name), {"meaning": meaning[name]}
    for name, values in results.parameters.items():
        label = name if name not in data and name not in coords else f"drawn {name}"
        data[label] = ("member", f"in {name}")[: values.ndim], values, {"meaning": f"{name}, as it was drawn"}
    data["steps"] = "member", results.steps, {"meaning": "steps that each member made"}
    data["count"] = recorded, statistics.count, {"meaning": "members that made the node"}
    for name in results.quantities:
        for kind in KINDS:
            data[f"{name}_{kind}"] = ((recorded, *ENTRIES[name]), getattr(statistics, kind)[name],
                                      {"meaning": f"{kind} over members: {meaning[name]}"})
    return xarray.Dataset(data, coords, {"description": json.dumps(results.plan)})


def _nodes(results: EnsembleResults, name: str) -> Any:
    lazy = getattr(results, name)
    if find_spec("dask") is None or find_spec("dask.array") is None:
        return np.asarray(lazy)
    array: Any = import_module("dask.array")
    return array.from_array(lazy, (results.chunk, *lazy.shape[1:]), name=False)
