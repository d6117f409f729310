"""Files made to mislead: nothing outside is read, memory stays small, and every fault is a FileError."""

import json
import os
import resource
import subprocess
import sys
import textwrap
import zlib

import h5py
import numpy as np
import pytest
from runs import NODES, broken_off, pair, same, step_law

import leastaction as la
from leastaction.files import checkpoint, contents, environment, reading
from leastaction.files.columns import CHECKPOINTS
from leastaction.files.container import FORMAT

SECRET = np.arange(1e5)


@pytest.fixture
def run(path):
    la.simulate(la.library.chain(4), dt=1e-3, steps=2000, record_every=5, out=path)
    return path


def describe(path, text):
    """Put another description in place, with its check sum right."""
    text = text if isinstance(text, bytes) else json.dumps(text).encode()
    with h5py.File(path, "r+") as file:
        del file["description"]
        file.create_dataset("description", data=np.frombuffer(text, np.uint8)).attrs["check"] = np.int64(
            zlib.crc32(text))


def change(path, **changes):
    describe(path, {**reading.describe(path), **changes})


def replace(path, name, make):
    with h5py.File(path, "r+") as file:
        del file[name]
        make(file)


def refused(path, match):
    """All ways into a file refuse it, in words."""
    for use in (lambda: la.open(path).verify(), lambda: la.resume(path, steps=3000),
                lambda: la.Simulator.restore(path)):
        with pytest.raises(la.FileError, match=match):
            use()


def external_link(file):
    file["q"] = h5py.ExternalLink("secret.h5", "/secret")


def soft_link(file):
    file["q"] = h5py.SoftLink("/v")


def external_storage(file):
    file.create_dataset("q", (401, 4), float, external=[("secret.bin", 0, 401 * 4 * 8)])


def virtual(file):
    layout = h5py.VirtualLayout((401, 4), float)
    layout[:] = h5py.VirtualSource("secret.h5", "secret", (401, 4))
    file.create_virtual_dataset("q", layout)


@pytest.mark.parametrize("name", ["q", "checkpoints", "description"])
@pytest.mark.parametrize("make", [external_link, soft_link, external_storage, virtual])
def test_nothing_outside_the_file_is_read(run, make, name):
    SECRET.tofile(run.with_name("secret.bin"))
    with h5py.File(run.with_name("secret.h5"), "w") as file:
        file["secret"] = SECRET[:1604].reshape(401, 4)

    def under_its_name(file):
        q = file.pop("q") if "q" in file and name != "q" else None
        make(file)
        if name != "q":
            file.move("q", name)
            file["q"] = q

    replace(run, name, under_its_name)
    refused(run, rf"'{name}' in .*run\.h5 is (a link to another place|stored in other files)")


@pytest.mark.parametrize(("changes", "match"), [
    ({"record_every": 1}, r"'t' in .* has shape \(401,\) .* must be \(2001,\)"),
    ({"record_every": 0}, "its record_every is 0"),
    ({"steps": 10**12}, r"must be \(200000000001,\)"),
    ({"steps": 10**30}, "its steps is 1000"),
    ({"steps": 2000.0}, r"its steps is 2000\.0"),
    ({"steps": True}, "its steps is True"),
    ({"dt": "fast"}, "its dt is 'fast'"),
    ({"dt": -1.0}, r"its dt is -1\.0"),
    ({"checkpoint_every": 0}, "its checkpoint_every is 0"),
    ({"model": {}}, "damaged or not a file"),
    ({"model": None}, "damaged or not a file"),
    ({"model": la.library.chain(5).to_dict()}, "damaged or not a file|by the description it must be"),
    ({"model": {**la.library.chain(4).to_dict(), "q0": [float("nan")] * 4}}, "damaged or not a file"),
    ({"integrator": {"kind": "Magic"}}, "no integrator or part of one 'Magic'"),
    ({"integrator": {"kind": "Newton"}}, "Newton is no integrator"),
    ({"integrator": {"kind": "Variational", "rescue": {"kind": "Newton"}}}, "rescue must be"),
    ({"integrator": {"kind": "Variational", "order": "x"}}, "damaged or not a file"),
    ({"integrator": 3}, "damaged or not a file"),
    ({"control": "array"}, "damaged or not a file"),
    ({"control": 7}, "its control is 7"),
    ({"record": []}, "damaged or not a file"),
    ({"record": [["q", "<f8", [10**9]], ["check", "<u4", []]]}, "its checkpoints are not of the kind"),
    ({"record": [["q", "|O", []], ["check", "<u4", []]]}, "its checkpoints are not of the kind"),
    ({"record": [["q", "<f8", [4]], ["check", "<u4", []]]}, "its checkpoints have no 'steps'"),
    ({"layout": None}, "does not say what wrote it"),
], ids=str)
def test_descriptions_that_do_not_fit(run, changes, match):
    change(run, **changes)
    refused(run, match)


@pytest.mark.parametrize("missing", ["dt", "model", "integrator", "record_every", "layout", "made_by", "control",
                                     "record"])
def test_descriptions_with_gaps(run, missing):
    describe(run, {name: value for name, value in reading.describe(run).items() if name != missing})
    refused(run, rf"run\.h5 is damaged or not a file that leastaction wrote: it has no '{missing}'")


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"3", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"dt": 1e999}',
                                  b'{"dt": ' + b"9" * 5000 + b"}"], ids=lambda text: repr(text[:12]))
def test_descriptions_that_are_none(run, text):
    describe(run, text)
    refused(run, "damaged or not|not the one that leastaction writes")


def test_an_edited_description_is_noticed(run):
    """Other gravity, without the check sum: a run must not go on with it."""
    description = reading.describe(run)
    description["model"]["gravity"] = [0.0, 0.0, -1.62]
    with h5py.File(run, "r+") as file:
        check = file["description"].attrs["check"]
    describe(run, description)
    with h5py.File(run, "r+") as file:
        file["description"].attrs["check"] = check
    refused(run, "the description in .* is damaged")


@pytest.mark.parametrize("name", ["t", "q", "status", "sums", "commits", CHECKPOINTS])
def test_arrays_that_are_missing_or_of_another_kind(run, name):
    def group(file):
        file.create_group(name)

    replace(run, name, lambda _file: None)
    refused(run, f"it has no '{name}'")
    for make in (lambda file: file.create_dataset(name, (3, 3), float),
                 lambda file: file.create_dataset(name, data="x"),
                 lambda file: file.create_dataset(name, shape=None, dtype=float)):
        with h5py.File(run, "r+") as file:
            file.pop(name, None)
            make(file)
        refused(run, rf"'{name}' in .* (by the description|goes beyond)|damaged or not")
    replace(run, name, group)
    refused(run, "damaged or not a file that leastaction wrote")


def rewrite_checkpoints(path, **changes):
    """Change the latest state, with its check sum right."""
    source = contents.contents(path)
    last = checkpoint.latest(source)
    record = {name: last[name] for name in last.dtype.names[:-1]} | changes
    with path.open("rb+") as file:
        file.seek(source.places[CHECKPOINTS].offset)
        file.write(2 * checkpoint.pack({name: np.asarray(value, last.dtype[name].base)
                                        for name, value in record.items()}))


@pytest.mark.parametrize(("changes", "match"), [
    ({"steps": 20_000}, "after 20000 steps, and the run has 2000"),
    ({"steps": -1}, "after -1 steps"),
    ({"looked": 10**9}, "steps, and the run has"),
    ({"failed_status": 99}, "a failure that cannot be"),
    ({"failed_status": 7, "failed_body": 99}, "a failure that cannot be"),
])
def test_checkpoints_that_cannot_be(run, changes, match):
    rewrite_checkpoints(run, **changes)
    refused(run, match)


@pytest.mark.parametrize("changes", [{"q": [np.nan] * 4}, {"known": 99}, {"status": 99}], ids=str)
def test_states_that_cannot_be_gone_on_from(run, changes):
    rewrite_checkpoints(run, **changes)
    for use in (lambda: la.resume(run, steps=3000), lambda: la.Simulator.restore(run)):
        with pytest.raises(la.FileError, match="damaged or not a file"):
            use()


def test_no_file_can_ask_for_memory(run):
    """20 GB of zeros as description, in a file of a few kB."""
    def zeros(file):
        made = file.create_dataset("description", (20_000_000_000,), np.uint8, chunks=(100_000_000,),
                                   compression="gzip")
        made.attrs["check"] = np.int64(0)

    replace(run, "description", zeros)
    code = textwrap.dedent(f"""
        import resource
        import leastaction as la
        la.Simulator(la.library.pendulum())
        resource.setrlimit(resource.RLIMIT_AS, (6_000_000_000,) * 2)
        try:
            la.open({str(run)!r})
        except la.FileError as error:
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, error)
    """)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    memory, _, text = done.stdout.partition(" ")
    assert "claims 20000000000 bytes" in text
    assert int(memory) < resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + 1_000_000   # kB


def test_a_huge_attribute_is_not_read(run):
    with h5py.File(run, "r+") as file:
        del file.attrs["format"]
        file.attrs.create("format", np.full(8000, FORMAT))
    refused(run, "has the format unknown")


def test_files_that_were_cut_off(run):
    data = run.read_bytes()
    for length in (len(data) - 1, len(data) // 2):
        run.write_bytes(data[:length])
        refused(run, "cut off|truncated|damaged or not a file")


def test_overwrite_does_not_take_a_file_that_is_being_written(path):
    """Neither another run, nor a saved one, nor a checkpoint, nor a table takes its place."""
    broken_off(path)
    memory = la.simulate(la.library.chain(2), dt=1e-3, steps=3)

    tried = []

    def law(t, q, v):
        if t < 0.8 or tried:   # in the midst of the run, once
            return step_law(t, q, v)
        tried.append(t)
        for use in (lambda: la.simulate(la.library.chain(2), dt=1e-3, steps=3, out=path, overwrite=True),
                    lambda: memory.save(path, overwrite=True), lambda: memory.to_csv(path),
                    lambda: la.Simulator(la.library.chain(2)).checkpoint(path)):
            with pytest.raises(la.FileError, match="is being written by another process"):
                use()
        return step_law(t, q, v)

    la.resume(path, control=law)
    assert tried and la.open(path).finished
    memory.save(path, overwrite=True)
    assert len(la.open(path)) == 4 and len(list(path.parent.iterdir())) == 1


def test_what_the_bits_depend_on(path, monkeypatch):
    """Elsewhere a run is read as ever, but goes on only if other bits are allowed."""
    broken_off(path)
    monkeypatch.setattr(environment.numba, "__version__", "0.63.1")
    monkeypatch.setattr(environment, "SIMD", False)
    assert la.open(path).steps == 301
    with pytest.raises(la.FileError, match=r"Numba was .* and is 0\.63\.1, .*SIMD was on and is off "
                                           r"\(LEASTACTION_SIMD=0\).* allow_other_bits=True\)") as caught:
        la.resume(path, control=step_law)
    assert "Python was" not in str(caught.value)
    with pytest.warns(UserWarning, match="within round-off, not bit for bit"):
        la.Simulator.restore(path)
    assert la.resume(path, control=step_law, allow_other_bits=True).finished


def test_simd_off_is_another_environment(path):
    """As it is seen from a process of its own."""
    pair(path, steps=20)
    code = f"import leastaction as la; la.resume({str(path)!r}, steps=30)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, "LEASTACTION_SIMD": "0"})
    assert "FileError" in done.stderr and "SIMD was on and is off" in done.stderr and "allow_other_bits" in done.stderr
    same(la.open(path), la.simulate(la.library.chain(5), dt=2e-3, steps=20), NODES)
