"""Files of chunks: what was written comes back, and what was damaged is named."""

import json
import random
import zlib
from collections import Counter
from dataclasses import replace

import h5py
import numpy as np
import pytest
from folders import FINGERPRINT, chunk_data, everything, make, read_chunk

import leastaction as la
from leastaction.ensemble import index as index_file
from leastaction.ensemble.chunk_file import check_chunk, survey, write_chunk
from leastaction.ensemble.folder import Folder
from leastaction.ensemble.index import TITLE, Summary


def assert_same(a, b):
    """Compare two ChunkData; ends of members that did not fail are not stored."""
    for name, value, other in zip(a._fields, a, b, strict=True):
        if name in ("failed_t", "last_q", "last_v"):
            failed = np.array([bool(reason) for reason in a.reasons])
            assert value[failed].tobytes() == other[failed].tobytes() and np.isnan(other[~failed]).all()
        elif name == "statistics":
            for one, two in zip(value, other, strict=True):
                assert (one.level, one.index, one.count.tolist()) == (two.level, two.index, two.count.tolist())
                for quantity in one.moments:
                    for x, y in zip(one.moments[quantity], two.moments[quantity], strict=True):
                        assert x.tobytes() == y.tobytes()
        elif isinstance(value, dict):
            assert {key: (x.shape, x.tobytes()) for key, x in value.items()} == {
                key: (x.shape, x.tobytes()) for key, x in other.items()}
        else:
            np.testing.assert_array_equal(value, other)


@pytest.mark.parametrize("keep", ["all", 3, "last", "statistics"])
def test_a_chunk_comes_back_bit_for_bit(tmp_path, keep):
    folder, layout = make(tmp_path, keep=keep)
    stored = folder.read_plan()
    for number in range(layout.chunks):
        assert_same(chunk_data(layout, number), read_chunk(folder, number, stored))
    assert check_chunk(folder, 0, stored, deep=True) == Summary(
        0, 0, 5, 1, 0, 0.0, FINGERPRINT, Counter({"no root was found ∂": 1}))


def test_the_same_data_give_the_same_bytes_and_hdf5_reads_them(tmp_path):
    folder, layout = make(tmp_path, chunks=[0])
    before, digest = folder.chunk(0).read_bytes(), folder.read_plan().digest
    write_chunk(folder, 0, chunk_data(layout, 0), FINGERPRINT, digest)
    assert folder.chunk(0).read_bytes() == before
    with h5py.File(folder.chunk(0)) as file:
        assert file["q"][...].tobytes() == everything(layout)["q"][:5].tobytes()
        assert file["failures_reason"].asstr()[...].tolist() == ["no root was found ∂"]


def test_many_names_long_reasons_and_a_summary_of_the_commonest(tmp_path):
    """An index that is longer than one page, and reasons that are cut within a character."""
    folder, layout = make(tmp_path, chunks=[])
    data, stored = chunk_data(layout, 0), folder.read_plan()
    data = data._replace(reasons=["∂" * 100] + [f"body 'link{b % 2}' weighs {b - 1.5} kg" for b in range(4)],
                         parameters={f"mass:link{k}": np.arange(5.0) + k for k in range(500)})
    summary = write_chunk(folder, 0, data, FINGERPRINT, stored.digest)
    found = read_chunk(folder, 0, stored)
    assert found.reasons == ["∂" * 66, *data.reasons[1:]]
    assert summary == check_chunk(folder, 0, stored, deep=True)
    assert summary.reasons.most_common(2) == [  # without the numbers that differ
        ("body 'link0' weighs … kg", 2), ("body 'link1' weighs … kg", 2)] and summary.failed == 5
    assert list(found.parameters) == list(data.parameters) and found.parameters["mass:link7"].tolist() == [
        7.0, 8.0, 9.0, 10.0, 11.0]
    with h5py.File(folder.chunk(0)) as file:
        assert file.userblock_size > 4096 and file["parameters"].shape == (5, 500)


def test_chunks_that_belong_elsewhere_are_named(tmp_path):
    folder, layout = make(tmp_path / "one")
    stored = folder.read_plan()
    data = chunk_data(layout, 1)
    for change, match in ((replace_digest, "another ensemble"), (other_fingerprint, "another version"),
                          (renamed, "renamed file of chunk 1"), (other_division, "divides members otherwise")):
        path = folder.chunk(0)
        before = path.read_bytes()
        change(folder, stored, data)
        with pytest.raises(la.FileError, match=match) as caught:
            check_chunk(folder, 0, stored)
        assert str(path) in str(caught.value)
        path.write_bytes(before)
    assert survey(folder, stored)[1] == {}


def replace_digest(folder, stored, data):
    write_chunk(folder, 0, data, stored.fingerprint, "0" * 64)


def other_fingerprint(folder, stored, data):
    write_chunk(folder, 0, data, "leastaction 2", stored.digest)


def renamed(folder, _stored, _data):
    folder.chunk(0).write_bytes(folder.chunk(1).read_bytes())


def other_division(folder, stored, data):
    write_chunk(folder, 0, data, stored.fingerprint, stored.digest)


def test_survey_tells_whole_from_cut_off(tmp_path):
    folder, _ = make(tmp_path, chunks=[0, 1, 2, 4])
    stored = folder.read_plan()
    whole = folder.chunk(1).read_bytes()
    for content in (whole[:-1], whole[:100], b"", b"\0" * len(whole), whole + b"x"):
        folder.chunk(1).write_bytes(content)
        found, faults = survey(folder, stored)
        assert list(found) == [0, 2, 4] and list(faults) == [1] and "00000001.h5" in faults[1]
        assert "run the ensemble again" in faults[1]
    (folder.chunks / "00000009.h5").write_bytes(whole)
    assert list(survey(folder, stored)[1]) == [1, 9]
    folder.chunk(1).unlink()
    folder.chunk(1).mkdir()
    assert "cannot be read" in survey(folder, stored)[1][1]


def read_everything(folder):
    results = la.open_ensemble(folder.path)
    statistics, failures = results.statistics, results.failures
    return [*(np.asarray(getattr(results, name)).tobytes() for name in results.quantities),
            *(values.tobytes() for values in results.parameters.values()), results.steps.tobytes(),
            results.warned.tobytes(), [(f.member, f.reason, f.t, f.q.tobytes(), f.v.tobytes()) for f in failures],
            statistics.count.tobytes(), *(statistics.mean[name].tobytes() for name in results.quantities),
            *(statistics.variance[name].tobytes() for name in results.quantities),
            *(statistics.minimum[name].tobytes() for name in results.quantities),
            *(statistics.maximum[name].tobytes() for name in results.quantities)]


def test_any_damage_is_named_or_harmless(tmp_path):
    """300 damaged files: what is read is what was written, or a FileError names the chunk."""
    folder, _ = make(tmp_path, chunk=12)
    true, chance, told = read_everything(folder), random.Random(5), 0
    path = folder.chunk(0)
    whole = path.read_bytes()
    for _ in range(300):
        content = bytearray(whole)
        at = chance.randrange(len(content)) if chance.random() < 0.7 else chance.randrange(2000)
        kind = chance.randrange(4)
        if kind == 0:
            content[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            content[at : at + 64] = bytes(64)
        elif kind == 2:
            del content[at:]
        else:
            content[at : at + 16] = bytes(chance.randrange(256) for _ in range(16))
        path.write_bytes(content)
        try:
            assert read_everything(folder) == true
        except la.FileError as error:
            assert path.name in str(error)
            told += 1
    assert told > 150


def craft(folder, **changes):
    """Rewrite the index of chunk 0 with a right check sum."""
    content = bytearray(folder.chunk(0).read_bytes())
    length = int(content[len(index_file.MAGIC) : TITLE].split()[0], 16)
    told = json.loads(content[TITLE : TITLE + length])
    for name, change in changes.items():
        told[name] = change(told[name]) if callable(change) else change
    text = json.dumps(told, separators=(",", ":")).encode()
    content[:4096] = (index_file.MAGIC + b"%08x %08x\n" % (len(text), zlib.crc32(text)) + text).ljust(4096, b"\0")
    folder.chunk(0).write_bytes(content)


@pytest.mark.parametrize("changes", [
    {"arrays": {}}, {"arrays": []}, {"failed": "many"}, {"failed": -1}, {"warned": None}, {"reasons": 3},
    {"reasons": [["a", "b"]]}, {"parameters": [["a", -3]]}, {"parameters": 1}, {"more": 1}, {"count": 10**12},
    {"arrays": lambda a: {**a, "q": ["<f8", [5, 11, 6], 2**60, 0]}},
    {"arrays": lambda a: {**a, "q": ["<f8", [2**40, 2**40], 4096, 0]}},
    {"arrays": lambda a: {**a, "q": ["|O8", [5, 11, 6], 4096, 0]}},
    {"arrays": lambda a: {**a, "q": ["<f8", [5, 11, -6], 4096, 0]}},
    {"arrays": lambda a: {**a, "q": ["<f8", [5, 66], 4096, 0]}},
    {"arrays": lambda a: {**a, "q": ["<f8", "abc", 4096, 0]}},
    {"arrays": lambda a: {**a, "q": a["v"]}},
    {"arrays": lambda a: {**a, "statistics_level": ["<i8", [], 4096, 0]}},
    {"arrays": lambda a: {**a, "failures_reason": a["failures_t"]}},
    {"arrays": lambda a: {**a, "failures_member": [*a["steps"][:1], [1], *a["steps"][2:]]}},
])
def test_a_crafted_index_is_refused(tmp_path, changes):
    """Whoever makes the check sum right can write other numbers, but nothing outside the file is read, nor crashes."""
    folder, _ = make(tmp_path)
    craft(folder, **changes)
    with pytest.raises(la.FileError, match=r"00000000\.h5"):
        read_everything(folder)
    for missing in ("error", "nan"):
        repr(la.open_ensemble(tmp_path, missing))


def test_crafted_statistics_are_refused(tmp_path):
    """Two subtrees at one place, or one outside the members of the chunk, would be counted wrongly."""
    folder, layout = make(tmp_path)
    data, digest = chunk_data(layout, 0), folder.read_plan().digest
    for wrong in (data.statistics[:1] * 2, [replace(data.statistics[0], level=60)], [],
                  [replace(data.statistics[0], index=-1)]):
        write_chunk(folder, 0, data._replace(statistics=wrong), FINGERPRINT, digest)
        with pytest.raises(la.FileError, match=r"00000000\.h5"):
            _ = la.open_ensemble(tmp_path).statistics


def test_without_h5py_the_way_out_is_told(tmp_path, monkeypatch):
    folder, layout = make(tmp_path, chunks=[0])
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(ImportError, match=r"leastaction\[files\]"):
        write_chunk(Folder(tmp_path), 1, chunk_data(layout, 1), FINGERPRINT, folder.read_plan().digest)
    assert np.asarray(la.open_ensemble(tmp_path, "nan").q).shape == (23, 11, 6)  # reading takes NumPy alone
