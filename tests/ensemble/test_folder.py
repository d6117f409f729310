"""The folder of an ensemble: its plan, and files that are put in their places whole."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from folders import FINGERPRINT, chunk_data, make, plan

import leastaction as la
from leastaction.ensemble.chunk_file import write_chunk
from leastaction.ensemble.folder import FORGOTTEN, Folder, _host, digest
from leastaction.ensemble.layout import Layout, kept_nodes


def test_a_plan_comes_back(tmp_path):
    folder = Folder(tmp_path / "deep" / "er")
    written = folder.write_plan(plan(), 8, FINGERPRINT)
    assert folder.read_plan() == (plan(), written, FINGERPRINT, 8)
    assert written == digest(dict(reversed(plan().items()))) != digest(plan(dt=0.02))
    assert [path.name for path in folder.path.iterdir() if path.is_file()] == ["plan.json"]


@pytest.mark.parametrize("change", [lambda text: text.replace("0.01", "0.02"), lambda text: text[:-40], lambda _: "",
                                    lambda _: "[]", lambda text: text.replace('"digest"', '"other"'),
                                    lambda text: text.replace('"format": 1', '"format": 7')])
def test_a_plan_that_was_changed_is_refused(tmp_path, change):
    folder = Folder(tmp_path)
    folder.write_plan(plan(), 8, FINGERPRINT)
    folder.plan.write_text(change(folder.plan.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(la.FileError, match=r"plan\.json"):
        folder.read_plan()


@pytest.mark.parametrize("name, value", [
    ("members", 0), ("members", 2.5), ("steps", -1), ("record_every", 0), ("dt", 0), ("dt", "x"), ("keep", "some"),
    ("keep", 0), ("quantities", ["heat"]), ("quantities", []), ("model", 3)])
def test_a_plan_with_impossible_sizes_is_named(tmp_path, name, value):
    Folder(tmp_path).write_plan(plan(**{name: value}), 8, FINGERPRINT)
    with pytest.raises(la.FileError, match=r"plan\.json"):
        la.open_ensemble(tmp_path)


def test_other_folders_are_refused_with_a_way_out(tmp_path):
    with pytest.raises(la.FileError, match=r"is not there.*Ensemble"):
        la.open_ensemble(tmp_path / "nothing")
    with pytest.raises(la.FileError, match=r"has no plan\.json"):
        la.open_ensemble(tmp_path)
    file = tmp_path / "run.h5"
    file.write_bytes(b"")
    with pytest.raises(la.FileError, match=r"is a file.*la\.open"):
        la.open_ensemble(file)
    with pytest.raises(la.FileError, match=r"is a folder.*la\.open_ensemble"):
        la.open(tmp_path)


def test_which_nodes_are_kept():
    assert kept_nodes(5, "all").tolist() == [0, 1, 2, 3, 4]
    assert kept_nodes(5, 2).tolist() == [0, 2, 4] and kept_nodes(6, 2).tolist() == [0, 2, 4, 5]
    assert kept_nodes(5, 100).tolist() == [0, 4] and kept_nodes(1, 3).tolist() == [0]
    assert kept_nodes(5, "last").tolist() == [4] and kept_nodes(5, "statistics").tolist() == []
    layout = Layout.of(plan(keep=3), 5)
    assert layout.t.tolist() == layout.recorded[[0, 3, 6, 9, 10]].tolist()
    assert layout.chunks == 5 and [layout.range(k) for k in (0, 4)] == [(0, 5), (20, 3)]


def test_only_names_of_chunks_are_chunks(tmp_path):
    folder, _ = make(tmp_path, chunks=[0, 3])
    for name in ("notes.h5", "7.h5", "00000001.h5.other.1.1.tmp", "0000000x.h5", "²0000001.h5"):
        (folder.chunks / name).write_bytes(b"")
    assert folder.numbers() == [0, 3]
    assert Folder(tmp_path / "none").numbers() == []


def test_what_a_dead_writer_left_is_removed_and_nothing_else(tmp_path):
    folder, _ = make(tmp_path, chunks=[0])
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    names = {kind: folder.chunks / f"00000001.h5.{host}.{pid}.1.tmp" for kind, host, pid in (
        ("dead", _host(), int(gone.stdout)), ("alive", _host(), os.getppid()), ("far", "elsewhere", 1))}
    names["mine"] = folder.chunks / "my.notes.of.2026.tmp"
    names["old"] = folder.path / "plan.json.elsewhere.1.1.tmp"
    for path in names.values():
        path.write_bytes(b"half")
    past = time.time() - FORGOTTEN - 60
    for kind in ("old", "mine"):
        os.utime(names[kind], (past, past))
    assert {path.name for path in folder.tidy()} == {names["dead"].name, names["old"].name}
    assert [kind for kind, path in names.items() if path.exists()] == ["alive", "far", "mine"]


def test_a_writer_that_fails_leaves_what_was_there(tmp_path):
    folder, _ = make(tmp_path, chunks=[0])
    before = folder.chunk(0).read_bytes()

    def fail():
        with folder.aside(folder.chunk(0)) as part:
            part.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert folder.chunk(0).read_bytes() == before and len(list(folder.chunks.iterdir())) == 1


@pytest.mark.skipif(os.name != "posix", reason="limits of files")
def test_a_full_disk_names_the_folder_and_the_way_out(tmp_path):
    """A limit on the size of files stands for the full disk."""
    folder, layout = make(tmp_path, chunks=[], chunk=23)
    code = f"""
import resource, signal, sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
import leastaction as la
from folders import FINGERPRINT, chunk_data
from leastaction.ensemble.chunk_file import write_chunk
from leastaction.ensemble.folder import Folder
from leastaction.ensemble.layout import Layout
folder = Folder({str(tmp_path)!r})
stored = folder.read_plan()
data = chunk_data(Layout.of(stored.plan, stored.chunk), 0)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
try:
    write_chunk(folder, 0, data, FINGERPRINT, stored.digest)
except la.FileError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert str(folder.chunk(0)) in done.stdout and "on a disk with room" in done.stdout
    assert list(folder.chunks.iterdir()) == []
    write_chunk(folder, 0, chunk_data(layout, 0), FINGERPRINT, folder.read_plan().digest)
    assert np.asarray(la.open_ensemble(tmp_path).q).shape == (23, 11, 6)


def test_plan_json_is_plain_text(tmp_path):
    folder, _ = make(tmp_path, chunks=[])
    assert json.loads(folder.plan.read_text(encoding="utf-8"))["plan"]["members"] == 23
