"""What open_ensemble gives: lazy arrays, parameters, failures, statistics; what is missing is told."""

import builtins
import io
import pickle
import re

import h5py
import numpy as np
import pytest
from folders import chunk_data, everything, make, member

import leastaction as la
from leastaction.ensemble import export
from leastaction.ensemble.chunk_file import write_chunk


@pytest.fixture
def whole(tmp_path):
    folder, layout = make(tmp_path)
    return la.open_ensemble(folder.path), layout


@pytest.fixture
def gappy(tmp_path):
    """Members 5 to 14 and 20 to 22 are missing."""
    return make(tmp_path, chunks=[0, 3])


KEYS = [
    np.s_[:], np.s_[3], np.s_[-1], np.s_[2:17], np.s_[::3], np.s_[20:2:-4], np.s_[7:7], np.s_[..., 0], np.s_[4, 5],
    np.s_[:, -1], np.s_[1:9, 2:8:3], np.s_[[22, 0, 7, 7, -2]], np.s_[[22, 0, 7], 3], np.s_[np.arange(23) % 4 == 1],
    np.s_[:, [0, 5, 3]], np.s_[11, ...], np.s_[np.int64(6), np.int32(2)], np.s_[[]], np.s_[[], 2:4],
]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("name", ["q", "v", "energy"])
def test_lazy_arrays_are_indexed_as_numpy_does(whole, name, key):
    results, layout = whole
    array, true = getattr(results, name), everything(layout)[name]
    for _ in range(2):  # the second time, only the rows that are asked for are read
        found = array[key]
        expected = true[np.array(key, dtype=int) if isinstance(key, list) else key]
        assert np.shape(found) == expected.shape and np.asarray(found).tobytes() == expected.tobytes()


def test_lazy_arrays_are_arrays(whole):
    results, layout = whole
    true = everything(layout)["q"]
    assert (results.q.shape, results.q.ndim, results.q.dtype, len(results.q)) == ((23, 11, 6), 3, float, 23)
    assert results.q.nbytes == true.nbytes and "(23, 11, 6)" in repr(results.q)
    np.testing.assert_array_equal(results.q, true)
    np.testing.assert_array_equal(np.nanmean(results.q, axis=0), np.nanmean(true, axis=0))
    np.testing.assert_array_equal(np.array([one for one in results.q]), true)
    assert np.asarray(results.q, dtype=np.float32).dtype == np.float32
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(results)).q[3:5], true[3:5])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(results.q))[3:5], true[3:5])
    np.testing.assert_array_equal(results.q - true[0], true - true[0])
    with pytest.raises(AttributeError, match=r"q is on the disk .* read it first, as in array\[\.\.\.\]\.mean"):
        results.q.mean(axis=0)


@pytest.mark.parametrize("key, match", [
    (np.s_[23], "no member 23 of 23"), (np.s_[-24], "no member -24"), (np.s_[[0, 40]], "no member 40"),
    (np.s_[0, 11], "out of bounds"), (np.s_[0, 0, 0, 0], "3 axes"), (np.s_[None], "new axes"),
    (np.s_[..., ...], "axes"), (np.s_[[0, 1], [0, 1]], "only one axis"), (np.s_[[0.5]], "whole numbers"),
    (np.s_[[True, False]], "mask of members"),
])
def test_wrong_indices_are_refused_in_words(whole, key, match):
    with pytest.raises(IndexError, match=match):
        whole[0].q[key]


def test_parameters_steps_failures_and_warnings(whole):
    results, layout = whole
    assert results.members == len(results) == 23 and results.t.tolist() == layout.t.tolist()
    assert list(results.parameters) == ["mass:hand/left", "q"]
    assert results.parameters["mass:hand/left"].tolist() == [member(b, layout)[0]["mass:hand/left"] for b in range(23)]
    np.testing.assert_array_equal(results.parameters["q"], [member(b, layout)[0]["q"] for b in range(23)])
    assert results.warned.tolist() == [8, 17]
    assert np.flatnonzero(results.steps != 40).tolist() == [4, 15] and results.steps[4] == 16
    failures = results.failures
    assert [(f.member, f.reason, f.t) for f in failures] == [(b, "no root was found ∂", 0.16) for b in (4, 15)]
    for failure in failures:
        np.testing.assert_array_equal(failure.q, results.q[failure.member, 4])
        np.testing.assert_array_equal(failure.v, results.v[failure.member, 4])
    assert repr(results) == "<EnsembleResults of 'arm': 23 members, 11 kept nodes, 2 failed>"
    assert results.model == la.Model.from_dict(results.plan["model"]) and results.missing == []
    results.verify()


def test_statistics_have_the_same_bits_whatever_the_chunks_and_what_is_kept(tmp_path):
    found = []
    for k, (chunk, keep) in enumerate([(1, "all"), (7, "statistics"), (64, "last"), (16, 4)]):
        make(tmp_path / str(k), chunk=chunk, keep=keep)
        found.append(la.open_ensemble(tmp_path / str(k)).statistics)
    for kind in ("mean", "variance", "minimum", "maximum"):
        for name in ("q", "v", "energy"):
            assert len({getattr(one, kind)[name].tobytes() for one in found}) == 1
    nodes = np.asarray(la.open_ensemble(tmp_path / "0").q)
    assert found[0].count.tolist() == [23] * 5 + [21] * 6 and len(found[1].t) == 11
    np.testing.assert_allclose(found[1].mean["q"], np.nanmean(nodes, axis=0), rtol=1e-13)
    np.testing.assert_allclose(found[1].std["q"], np.nanstd(nodes, axis=0, ddof=1), rtol=1e-12)


def test_what_was_not_kept_is_told(tmp_path):
    make(tmp_path / "a", keep="statistics")
    results = la.open_ensemble(tmp_path / "a")
    assert repr(results).endswith("statistics only, 2 failed>") and results.t.tolist() == []
    with pytest.raises(AttributeError, match=r"keep='statistics'.*see \.statistics"):
        _ = results.q
    with pytest.raises(AttributeError, match=r"p was not kept.* has q, v, energy"):
        _ = results.p
    make(tmp_path / "b", keep="last", quantities=["momentum", "p", "q", "v"])
    results = la.open_ensemble(tmp_path / "b")
    assert results.momentum.shape == (23, 1, 6) and results.p.shape == (23, 1, 5) and results.t.tolist() == [0.4]
    with pytest.raises(ValueError, match="'error' or 'nan', not 'zero'"):
        la.open_ensemble(tmp_path / "b", missing="zero")


def test_missing_members_are_named_not_nan(gappy):
    folder, layout = gappy
    results = la.open_ensemble(folder.path)
    assert results.missing == [range(5, 15), range(20, 23)]
    assert repr(results) == "<EnsembleResults of 'arm': 23 members, 11 kept nodes, 2 failed, 13 MISSING>"
    told = "members 5 to 14, 20 to 22 are missing.* 2 of 5 chunks.*run the ensemble again.*missing='nan'"
    for read in (lambda: results.q[:], lambda: results.energy[7], lambda: results.parameters, lambda: results.steps,
                 lambda: results.statistics, results.verify, results.to_xarray):
        with pytest.raises(la.FileError, match=told):
            read()
    assert [f.member for f in results.failures] == [4, 15]
    np.testing.assert_array_equal(results.q[15:20], everything(layout)["q"][15:20])


def test_missing_members_are_nan_if_asked_for(gappy):
    folder, layout = gappy
    results = la.open_ensemble(folder.path, missing="nan")
    true, there = everything(layout)["q"], np.r_[0:5, 15:20]
    found = np.asarray(results.q)
    np.testing.assert_array_equal(found[there], true[there])
    assert np.isnan(np.delete(found, there, axis=0)).all()
    assert results.statistics.count.tolist() == [10] * 5 + [8] * 6
    assert results.steps[[4, 5]].tolist() == [16, -1] and np.isnan(results.parameters["q"][5:15]).all()
    with pytest.raises(la.FileError, match="missing"):
        results.verify()


def test_an_ensemble_without_any_chunk(tmp_path):
    make(tmp_path, chunks=[])
    results = la.open_ensemble(tmp_path)
    assert results.missing == [range(23)] and results.failures == [] and "23 MISSING" in repr(results)
    results = la.open_ensemble(tmp_path, missing="nan")
    assert np.isnan(results.q[:]).all() and results.parameters == {} and not results.statistics.count.any()
    assert h5py.File(results.hdf5_file())["missing"][...].tolist() == [[0, 23]]


def test_a_chunk_that_is_made_later_is_read(gappy, tmp_path):
    folder, layout = gappy
    results = la.open_ensemble(folder.path)
    with pytest.raises(la.FileError):
        results.q[7]
    make(tmp_path, chunks=[1])
    np.testing.assert_array_equal(results.q[7], everything(layout)["q"][7])
    assert la.open_ensemble(folder.path).missing == [range(10, 15), range(20, 23)]


def test_a_damaged_chunk_is_told_and_the_rest_can_be_read(whole):
    results, layout = whole
    path = results.path / "chunks" / "00000001.h5"
    content = bytearray(path.read_bytes())
    at = content.find(everything(layout)["energy"][5:10].tobytes())
    content[at + 3] ^= 1
    path.write_bytes(content)
    for missing in ("error", "nan"):  # NaN would hide that numbers are damaged
        results = la.open_ensemble(results.path, missing)
        with pytest.raises(la.FileError, match=r"'energy' of the members 5 to 9 in .*00000001\.h5 is damaged: delete"):
            results.energy[6]
        assert np.isfinite(results.energy[10:12]).all() and np.isfinite(results.q[6]).all()
        with pytest.raises(la.FileError, match="damaged"):
            results.verify()
    path.write_bytes(content[:-100])
    results = la.open_ensemble(results.path)
    assert results.missing == [range(5, 10)] and "5 MISSING, 1 damaged files" in repr(results)
    with pytest.raises(la.FileError, match="was cut off"):
        results.q[6]
    assert np.isnan(la.open_ensemble(results.path, "nan").q[6]).all()


def test_opening_reads_the_plan_alone_and_a_member_one_file(tmp_path, monkeypatch):
    folder, layout = make(tmp_path, chunk=1)
    seen = []

    def watched(file, *args, **options):
        seen.append(str(file))
        return opened(file, *args, **options)

    opened = builtins.open
    monkeypatch.setattr(io, "open", watched)
    results = la.open_ensemble(tmp_path)
    assert seen == [str(folder.plan)]
    seen.clear()
    results.q[7, -1]
    assert seen == [str(folder.chunk(7))]
    seen.clear()
    repr(results)
    assert len(seen) == layout.chunks == 23  # once each


@pytest.mark.parametrize("keep", ["all", 3, "statistics"])
def test_one_hdf5_file_over_all_chunks(tmp_path, keep, monkeypatch):
    folder, layout = make(tmp_path / "made", keep=keep)
    path = la.open_ensemble(folder.path).hdf5_file()
    assert path == folder.virtual
    folder.path.rename(tmp_path / "moved")  # names in it are relative
    results = la.open_ensemble(tmp_path / "moved")
    monkeypatch.chdir("/")
    with h5py.File(tmp_path / "moved" / "ensemble.h5") as file:
        for name, values in everything(layout).items():
            assert file[name][...].tobytes() == values.tobytes()
            assert file[name].is_virtual and "rad" in file["q"].attrs["meaning"]
        assert file.attrs["members_missing"] == 0 and file["missing"].shape == (0, 2)
        assert file["parameter"].asstr()[...].tolist() == ["mass:hand/left", "q[0]", "q[1]"]
        np.testing.assert_array_equal(file["parameters"][:, 1:], results.parameters["q"])
        np.testing.assert_array_equal(file["steps"], results.steps)
        assert np.flatnonzero(file["warned"][...]).tolist() == [8, 17]
        assert file["failures_member"][...].tolist() == [4, 15]
        assert file["failures_reason"].asstr()[...].tolist() == ["no root was found ∂"] * 2
        np.testing.assert_array_equal(file["failures_q"], [failure.q for failure in results.failures])
        assert file["q_mean"][...].tobytes() == results.statistics.mean["q"].tobytes()
        assert [dim[0].name for dim in file["q_mean"].dims] == ["/t_recorded", "/in_q"]
        if keep != "statistics":
            assert [dim[0].name for dim in file["q"].dims] == ["/member", "/t", "/in_q"]
            assert file["t"][...].tolist() == layout.t.tolist() and file["t"].attrs["units"] == "s"
        outside = [source.file_name for name in file for source in
                   (file[name].virtual_sources() if file[name].is_virtual else ())]
        assert outside and all(re.fullmatch(r"chunks/\d{8}\.h5", name) for name in outside)


def test_the_hdf5_file_lists_what_is_missing(gappy):
    folder, layout = gappy
    with h5py.File(la.open_ensemble(folder.path).hdf5_file()) as file:
        assert file.attrs["members_missing"] == 13 and file["missing"][...].tolist() == [[5, 15], [20, 23]]
        found, there = file["q"][...], np.r_[0:5, 15:20]
        np.testing.assert_array_equal(found[there], everything(layout)["q"][there])
        assert np.isnan(np.delete(found, there, axis=0)).all() and file["steps"][5] == -1
        assert file["count"][...].tolist() == [10] * 5 + [8] * 6
    write_chunk(folder, 1, chunk_data(layout, 1), folder.read_plan().fingerprint,
                folder.read_plan().digest)
    with h5py.File(la.open_ensemble(folder.path).hdf5_file()) as file:
        assert file["missing"][...].tolist() == [[10, 15], [20, 23]] and np.isfinite(file["q"][5:10]).all()


@pytest.mark.parametrize("lazy", [True, False])
def test_an_xarray_dataset(tmp_path, monkeypatch, lazy):
    xarray = pytest.importorskip("xarray")
    if lazy:
        pytest.importorskip("dask.array")
    else:
        monkeypatch.setattr(export, "find_spec", lambda name: None)
    _, layout = make(tmp_path, keep=3)
    results = la.open_ensemble(tmp_path)
    data = results.to_xarray()
    assert isinstance(data, xarray.Dataset) and (data.q.chunks is not None) == lazy
    assert data.q.dims == ("member", "t", "in_q") and data.q.shape == (23, 5, 6)
    np.testing.assert_array_equal(data.q.sel(in_q="wrist[2]", member=[3, 21]), everything(layout)["q"][[3, 21], :, 3])
    assert data.q_mean.dims == ("t_recorded", "in_q") and data.sizes["t_recorded"] == 11
    np.testing.assert_array_equal(data["mass:hand/left"], results.parameters["mass:hand/left"])
    np.testing.assert_array_equal(data["drawn q"], results.parameters["q"])
    assert data["count"].values.tolist() == [23] * 5 + [21] * 6 and data.t.attrs["units"] == "s"


def test_a_table_of_members(whole):
    pytest.importorskip("pandas")
    results, _ = whole
    table = results.to_pandas()
    assert list(table.columns) == ["mass:hand/left", "q[0]", "q[1]", "steps", "failure"]
    assert table.index.name == "member" and len(table) == 23
    np.testing.assert_array_equal(table["q[1]"], results.parameters["q"][:, 1])
    assert table.failure[table.failure != ""].index.tolist() == [4, 15]
