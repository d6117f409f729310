"""Folders of ensembles that no simulation made: members of a formula, some of which fail."""

import numpy as np

import leastaction as la
from leastaction.ensemble.chunk_file import ChunkData, divided, partials_of, write_chunk
from leastaction.ensemble.folder import Folder
from leastaction.ensemble.index import opened, read_array, read_index
from leastaction.ensemble.layout import QUANTITIES, Layout
from leastaction.ensemble.statistics import partials

FINGERPRINT = "leastaction 1, a processor"
SIZES = {"members": 23, "dt": 0.01, "steps": 40, "record_every": 4, "keep": "all", "quantities": ["q", "v", "energy"]}


def arm():
    """Three joints, one of which has several numbers."""
    model = la.Model(name="arm")
    inertia = la.Inertia(mass=1.0, com=(0, 0, -0.5), matrix=np.eye(3) * 0.1)
    model.add_body("base", parent=None, joint=la.Revolute(axis=(0, 0, 1)), inertia=inertia)
    model.add_body("wrist", parent="base", joint=la.Ball(name="socket"), position=(0, 0, -1), inertia=inertia)
    model.add_body("hand/left", parent="wrist", joint=la.Prismatic(axis=(1, 0, 0)), inertia=inertia)
    return model


def plan(**changes):
    return {"model": arm().to_dict(), **SIZES, **changes}


def member(number, layout, failing=True):
    """Parameters, recorded nodes and the number of them that it made; every 11th member from 4 on fails."""
    rng = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(number,)))
    mass, offset = rng.normal(1.0, 0.1), rng.normal(0.0, 0.2, 2)
    t, nodes = layout.recorded, {}
    for name in layout.quantities:
        size = int(np.prod(layout.entries(name)))
        wave = np.sin((1.0 + 0.3 * np.arange(size)) * t[:, None] * mass * 9.0 + offset[0]) + offset[1]
        nodes[name] = wave.reshape(len(t), *layout.entries(name))
    made = 5 if failing and number % 11 == 4 else len(t)
    return {"mass:hand/left": mass, "q": offset}, nodes, made


def chunk_data(layout, number, failing=True):
    first, count = layout.range(number)
    members = [member(first + b, layout, failing) for b in range(count)]
    made = np.array([one[2] for one in members])
    whole = {name: np.array([one[1][name] for one in members]) for name in layout.quantities}
    for values in whole.values():
        for b in range(count):
            values[b, made[b]:] = np.nan
    failed = made < len(layout.recorded)
    kept = {} if layout.keep == "statistics" else {name: values[:, layout.kept] for name, values in whole.items()}
    return ChunkData(
        first=first, parameters={name: np.array([one[0][name] for one in members]) for name in members[0][0]},
        nodes=kept, steps=(made - 1) * layout.record_every, warned=np.arange(first, first + count) % 9 == 8,
        reasons=["no root was found ∂" if bad else "" for bad in failed], failed_t=layout.recorded[made - 1],
        last_q=np.array([one[1]["q"][n - 1] for one, n in zip(members, made, strict=True)]),
        last_v=np.array([one[1]["v"][n - 1] for one, n in zip(members, made, strict=True)]),
        statistics=partials(first, whole, made))


def make(path, chunk=5, chunks=None, failing=True, **changes):
    """Write a folder, with all its chunks or those named."""
    folder, given = Folder(path), plan(**changes)
    digest = folder.write_plan(given, chunk, FINGERPRINT)
    layout = Layout.of(given, chunk)
    for number in range(layout.chunks) if chunks is None else chunks:
        write_chunk(folder, number, chunk_data(layout, number, failing), FINGERPRINT, digest)
    return folder, layout


def everything(layout, failing=True):
    """The kept nodes of all members, as they must be read."""
    data = [chunk_data(layout, number, failing) for number in range(layout.chunks)]
    return {name: np.concatenate([one.nodes[name] for one in data]) for name in data[0].nodes}


def read_chunk(folder, number, stored):
    """ChunkData of a file; its check sums are compared."""
    path = folder.chunk(number)
    with opened(path) as file:
        index = read_index(file, path, number, stored)
        found = {name: read_array(file, path, index, name) for name in index.arrays}
        failed = found["failures_member"] - index.first
        reasons = [""] * index.count
        for at, reason in zip(failed.tolist(), found["failures_reason"].tolist(), strict=True):
            reasons[at] = reason.decode(errors="replace")
        ends = {name: np.full((index.count, *found[name].shape[1:]), np.nan)
                for name in ("failures_t", "failures_q", "failures_v")}
        for name, end in ends.items():
            end[failed] = found[name]
        return ChunkData(index.first, divided(index.parameters, found["parameters"]),
                         {name: found[name] for name in QUANTITIES if name in found}, found["steps"],
                         found["warned"].astype(bool), reasons, ends["failures_t"], ends["failures_q"],
                         ends["failures_v"], partials_of(found))
