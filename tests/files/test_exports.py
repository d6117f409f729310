"""Trajectories in other forms, and for other tools."""

import csv
import json
import sys

import h5py
import numpy as np
import pytest
from runs import NODES, RANGES, pair, same

import leastaction as la
from leastaction.files import integrator_from_dict, integrator_to_dict


def test_save_accuracy_and_plots(path, tmp_path):
    memory, stored = pair(tmp_path / "a.h5", dt=1e-3, record_every=5)
    memory.save(path)
    again = la.open(path)
    same(memory, again, NODES + RANGES)
    assert again.report() == memory.report()
    assert again.accuracy().max_error == stored.accuracy().max_error == memory.accuracy().max_error
    assert len(again.plot_energy().lines) == len(memory.plot_energy().lines)
    same(again, la.open(stored.save(tmp_path / "copy.h5")), NODES)
    with pytest.raises(la.FileError, match=r"run\.h5 exists: .*overwrite=True"):
        memory.save(path)


def test_other_tools_see_names_and_meanings(path):
    memory, _ = pair(path, record_every=7)
    with h5py.File(path) as file:
        assert file["committed"][()] == len(memory)
        np.testing.assert_array_equal(file["q"][:], memory.q)
        assert "rad" in file["q"].attrs["meaning"]
        assert json.loads(file["description"][()].tobytes())["model"]["name"] == "chain"


def test_a_file_copied_by_other_tools(path, tmp_path):
    """A copy with other offsets is as good; a compressed one is refused, since it may ask for any amount of memory."""
    memory, _ = pair(path, record_every=7)
    with h5py.File(path) as file, h5py.File(tmp_path / "copy.h5", "w") as copy:
        copy.attrs.update(file.attrs)
        for name in reversed(list(file)):
            file.copy(name, copy)
    same(memory, la.open(tmp_path / "copy.h5"), NODES)
    with h5py.File(tmp_path / "copy.h5", "r+") as copy:
        q = copy["q"][()]
        del copy["q"]
        copy.create_dataset("q", data=q, compression="gzip")
    with pytest.raises(la.FileError, match=r"'q' in .* was compressed .* h5repack -f NONE -l CONTI"):
        la.open(tmp_path / "copy.h5")


def test_csv(path, tmp_path):
    memory, _ = pair(path, la.library.ragdoll(), steps=20, dt=1e-3)
    memory.to_csv(tmp_path / "run.csv")
    with (tmp_path / "run.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    table = np.array(rows, dtype=float)
    expected = [memory.t[:, None], memory.q, memory.v, memory.p, memory.energy[:, None], memory.momentum]
    np.testing.assert_array_equal(table, np.hstack(expected))
    assert len(set(header)) == table.shape[1] and header[0] == "t"


def test_xarray(path):
    memory, stored = pair(path, record_every=7)
    data = stored.to_xarray()
    np.testing.assert_array_equal(data.q.sel(in_q="link3"), memory.q[:, 2])
    np.testing.assert_array_equal(data.momentum.sel(axis="linear z"), memory.momentum[:, 5])
    assert json.loads(data.attrs["description"])["dt"] == 2e-3


def test_pandas(path, tmp_path):
    """The table of `to_csv`, by time."""
    memory, stored = pair(path, la.library.ragdoll(), steps=20, dt=1e-3)
    table = stored.to_pandas()
    assert table.index.name == "t"
    np.testing.assert_array_equal(table.index, memory.t)
    with memory.to_csv(tmp_path / "run.csv").open(newline="") as file:
        assert next(csv.reader(file)) == ["t", *table.columns]
    expected = [memory.q, memory.v, memory.p, memory.energy[:, None], memory.momentum]
    np.testing.assert_array_equal(table, np.hstack(expected))
    foot = memory.model.bodies[-1]
    np.testing.assert_array_equal(table[f"v {foot.name}[{foot.joint.nv - 1}]"], memory.v[:, -1])
    np.testing.assert_array_equal(table["angular y"], memory.momentum[:, 1])


@pytest.fixture(scope="module")
def batch():
    """Three runs, of which the second fails."""
    model = la.library.chain(2)
    tau = np.zeros((3, 40, 2))
    tau[1, 20:] = 1e6
    many = la.simulate_many(model, mass=[[1, 1], [1, 1], [1, 2]], control=list(tau), dt=1e-3, steps=40, record_every=4,
                            integrator=la.Variational(rescue=None))
    assert many.failed.tolist() == [False, True, False]
    return many


def test_pandas_of_a_batch(batch):
    table = batch.to_pandas()
    assert table.index.names == ["member", "t"]
    for b, member in enumerate(batch):
        assert table.loc[b].equals(member.to_pandas())
    assert len(table) == 11 + len(batch[1]) + 11 < 33


def test_xarray_of_a_batch(batch):
    data = batch.to_xarray()
    assert data.q.dims == ("member", "t", "in_q") and data.energy.dims == ("member", "t")
    np.testing.assert_array_equal(data.v.sel(member=2, in_v="link2"), batch[2].v[:, 1])
    np.testing.assert_array_equal(data.momentum.sel(axis="linear z"), batch.momentum[:, :, 5])
    np.testing.assert_array_equal(data.steps, batch.steps)
    assert "rad" in data.q.attrs["meaning"] and json.loads(data.attrs["description"])["record_every"] == 4
    alone = batch[2].to_xarray()
    assert alone.equals(data.sel(member=2).drop_vars(["member", "steps"]))


@pytest.mark.parametrize("missing", ["h5py", "pandas", "xarray"])
def test_missing_libraries_are_named(path, monkeypatch, missing):
    memory, _ = pair(path, steps=2)
    monkeypatch.setitem(sys.modules, missing, None)
    use = {"h5py": lambda: la.open(path), "pandas": memory.to_pandas, "xarray": memory.to_xarray}[missing]
    with pytest.raises(ImportError, match=rf"pip install 'leastaction\[{missing.replace('h5py', 'files')}\]'"):
        use()


def test_integrators_are_written_down():
    for integrator in (
            la.Variational(order=6, root_finder=la.RIQN(tol=1 / 3e9), guess="euler"), la.Variational(rescue=None),
            la.Variational(la.peers.Broyden(tol=la.peers.Absolute(1e-9)), rescue=la.Rescue(max_substeps=2)),
            la.peers.SVI(la.peers.DenseNewton()), la.RungeKutta4(), la.SemiImplicitEuler(),
            la.DormandPrince8(1e-7)):
        assert integrator_from_dict(json.loads(json.dumps(integrator_to_dict(integrator)))) == integrator
    with pytest.raises(ValueError, match="no integrator or part of one 'Magic'"):
        integrator_from_dict({"kind": "Magic"})
    with pytest.raises(ValueError, match="RungeKutta4 takes no 'order'"):
        integrator_from_dict({"kind": "RungeKutta4", "order": 4})
