"""Ensembles as users meet them: what they hold, what is refused, and what goes wrong without ending the rest."""

import json
import os
from types import SimpleNamespace

import numpy as np
import pytest

import leastaction as la

RUN = {"dt": 5e-3, "steps": 40, "record_every": 8}


def make(path, members=12, vary=None, model="chain:3", **options):
    vary = {"mass:*": la.Normal(relative=0.05)} if vary is None else vary
    return la.Ensemble(model, members, vary, **{**RUN, "chunk": 5, **options}).run(path, progress=False)


def test_members_are_runs_of_simulate_many(tmp_path):
    results = make(tmp_path / "e", vary={"mass:*": la.Normal(relative=0.05), "v": la.Normal(std=1.0)})
    mass = np.stack([results.parameters[f"mass:link{k}"] for k in (1, 2, 3)], axis=1)
    many = la.simulate_many(la.library.chain(3), None, results.parameters["v"], mass=mass, **RUN)
    np.testing.assert_array_equal(results.q, many.q)
    np.testing.assert_array_equal(results.energy, many.energy)
    np.testing.assert_array_equal(results.t, many.t)
    assert results.statistics.count.tolist() == [12] * 6
    np.testing.assert_allclose(results.statistics.mean["q"], many.q.mean(axis=0), rtol=0, atol=1e-14)
    assert os.path.exists(tmp_path / "e" / "ensemble.h5")


@pytest.mark.parametrize(("keep", "nodes"), [("all", [0, 1, 2, 3, 4, 5]), (2, [0, 2, 4, 5]), ("last", [5])])
def test_keep(tmp_path, keep, nodes):
    whole, some = make(tmp_path / "whole"), make(tmp_path / "some", keep=keep, quantities=("energy", "p"))
    np.testing.assert_array_equal(some.t, whole.t[nodes])
    np.testing.assert_array_equal(some.energy, np.asarray(whole.energy)[:, nodes])
    assert some.quantities == ("p", "energy")
    np.testing.assert_array_equal(some.statistics.variance["energy"], whole.statistics.variance["energy"])


@pytest.mark.parametrize(("keep", "needed"), [("all", 464), ("last", 184), ("statistics", 128)])
def test_a_disk_that_is_too_small(tmp_path, monkeypatch, keep, needed):
    """Seven numbers a node, fifteen that are drawn, and the steps; a billion of them."""
    monkeypatch.setattr("shutil.disk_usage", lambda _path: SimpleNamespace(free=1.5e9))
    vary = {"mass:*": la.Normal(relative=0.05), "q": la.Normal(std=0.1), "gravity": la.Normal(std=0.1),
            "com:link1": la.Normal(std=0.1), "v": la.Normal(std=0.1)}
    with pytest.raises(la.FileError, match=f"e would take {needed} GB, and its disk has 1.5 GB left: keep"):
        make(tmp_path / "e", 10**9, vary, keep=keep)
    assert not (tmp_path / "e").exists()


def test_statistics_alone(tmp_path):
    whole, some = make(tmp_path / "whole"), make(tmp_path / "some", keep="statistics")
    for name in ("q", "v", "energy"):
        np.testing.assert_array_equal(some.statistics.mean[name], whole.statistics.mean[name])
    assert len(some.t) == 0


def test_forces(tmp_path):
    """An array, which is stored in the folder, and a function, which travels."""
    tau = np.outer(np.sin(np.arange(40)), [1.0, 0.5, 0.2])
    results = make(tmp_path / "array", control=tau)
    mass = np.stack([results.parameters[f"mass:link{k}"] for k in (1, 2, 3)], axis=1)
    np.testing.assert_array_equal(results.q, la.simulate_many(la.library.chain(3), mass=mass, control=tau, **RUN).q)
    results = make(tmp_path / "law", control=lambda t, q, v: -0.1 * v)
    many = la.simulate_many(la.library.chain(3), mass=mass, control=lambda t, q, v: -0.1 * v, **RUN)
    np.testing.assert_array_equal(results.q, many.q)


def test_failures_are_data(tmp_path):
    """Draws that give no model, a start that cannot be, and a step that cannot be made fail their members alone."""
    model = la.library.chain(3)
    mass, q = np.ones(12), np.zeros((12, 3))
    v = np.zeros((12, 3))
    mass[2], mass[3], q[4, 1], v[6] = -1.0, 0.0, np.nan, 1e6
    vary = {"mass:link3": mass, "q": q, "v": v}
    results = make(tmp_path / "e", model=model, vary=vary, integrator=la.Variational(rescue=None))
    failures = {one.member: one for one in results.failures}
    assert [*failures] == [2, 3, 4, 6]
    assert failures[2].reason == "body 'link3': mass is negative: -1 kg"
    assert failures[3].reason.startswith("the joint of body 'link3' has nothing to move")
    assert failures[4].reason == "q is not finite at body 'link2'"
    assert failures[6].t == 0.0 and results.steps[6] == 0 and np.allclose(failures[6].v, 1e6)
    assert results.steps.tolist() == [40, 40, 0, 0, 0, 40, 0, *[40] * 5]
    assert results.statistics.count.tolist() == [9, 8, 8, 8, 8, 8]  # member 6 made its start
    assert np.isnan(results.q[3]).all() and np.isnan(results.q[6, 1:]).all() and not np.isnan(results.q[6, 0]).any()
    rest = [b for b in range(12) if b not in failures]
    others = la.simulate_many(model, q[rest], v[rest], **RUN, integrator=la.Variational(rescue=None))
    np.testing.assert_array_equal(np.asarray(results.q)[rest], others.q)


def test_too_many_failures(tmp_path):
    vary = {"mass:link3": np.linspace(1.0, -3.0, 40)}
    with pytest.raises(RuntimeError, match=r"\d+ of \d+ members failed, and most_failures is 0.5: "
                       r"\d+ × body 'link3': mass is negative: … kg"):
        make(tmp_path / "e", 40, vary)
    assert make_again(tmp_path / "e", 40, vary, most_failures=1.0).missing == []
    with pytest.raises(RuntimeError, match=r"30 of 40 members failed, and most_failures is 3"):
        make_again(tmp_path / "e", 40, vary, most_failures=3)
    with pytest.raises(ValueError, match=r"most_failures must be a fraction from 0\.0 to 1\.0"):
        make_again(tmp_path / "e", 40, vary, most_failures=1.5)


def make_again(path, members, vary, **options):
    return la.Ensemble("chain:3", members, vary, **RUN, chunk=5).run(path, progress=False, **options)


@pytest.mark.parametrize(("options", "said"), [
    ({"dt": 4e-3}, "dt is 0.005 there and 0.004 here"),
    ({"members": 13}, "members is 12 there and 13 here"),
    ({"seed": 1}, "seed is 0 there and 1 here"),
    ({"integrator": la.Variational(order=4)}, "integrator order is 2 there and 4 here"),
    ({"model": "chain:2"}, "model bodies 'link3' is there and not here"),
    ({"vary": {"mass:*": la.Normal(relative=0.1)}}, r"vary 'mass:\*' relative is 0.05 there and 0.1 here"),
    ({"vary": {"mass:*": lambda rng: 1.0}}, r"vary 'mass:\*' kind is 'normal' there and 'function' here"),
    ({"control": np.zeros(3)}, "control kind is 'none' there and 'array' here"),
    ({"chunk": 6}, "has chunks of 5 members, not 6: leave chunk out"),
])
def test_another_plan(tmp_path, options, said):
    make(tmp_path / "e")
    with pytest.raises(la.FileError, match=said):
        make(tmp_path / "e", **options)
    assert len(make(tmp_path / "e", chunk=None).q) == 12


def test_another_version(tmp_path):
    make(tmp_path / "e")
    path = tmp_path / "e" / "plan.json"
    stored = json.loads(path.read_text())
    mark = json.loads(stored["fingerprint"])
    stored["fingerprint"] = json.dumps({**mark, "LLVM": "1.2.3"})
    path.write_text(json.dumps(stored))
    said = f"not mixed: LLVM was 1.2.3 and is {mark['LLVM']} here. Use what it was begun with"
    with pytest.raises(la.FileError, match=said):
        make(tmp_path / "e")


def test_damaged_arrays_of_the_plan(tmp_path):
    vary = {"mass:link1": np.linspace(1, 2, 12)}
    make(tmp_path / "e", vary=vary)
    (tmp_path / "e" / "chunks" / "00000001.h5").unlink()
    stored = tmp_path / "e" / "arrays.npz"
    whole = stored.read_bytes()
    stored.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(la.FileError, match=r"arrays\.npz is damaged"):
        make(tmp_path / "e", vary=vary)
    stored.unlink()
    assert not make(tmp_path / "e", vary=vary).missing


@pytest.mark.parametrize(("options", "said"), [
    ({"members": 0}, "members must be a whole number of at least 1"),
    ({"members": 1.5}, "members must be a whole number of at least 1, not 1.5"),
    ({"seed": -1}, "seed must be"),
    ({"seed": None}, "seed must be"),
    ({"keep": "every"}, "keep must be 'all', 'last', 'statistics' or a whole number"),
    ({"keep": 0}, "keep must be a whole number of at least 1"),
    ({"quantities": ("q", "torque")}, "quantities must be some of"),
    ({"record_every": 7}, "record_every=7 leaves out the end of 40 steps: give a divisor, such as 8"),
    ({"chunk": 0}, "chunk must be"),
    ({"model": "chian:3"}, "there is no built-in model 'chian'"),
    ({"control": np.zeros(2)}, "control must have shape"),
])
def test_arguments_that_cannot_be(tmp_path, options, said):
    with pytest.raises(ValueError, match=said):
        make(tmp_path / "e", **options)
    assert not (tmp_path / "e").exists()


def test_a_file_over_very_many_chunks_is_written_when_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr("leastaction.ensemble.ensemble.MOST_LINKED", 2)
    results = make(tmp_path / "e")
    file = tmp_path / "e" / "ensemble.h5"
    assert not file.exists()
    assert results.hdf5_file() == file and file.exists()
    before, gone = file.stat().st_mtime_ns, tmp_path / "e" / "chunks" / "00000001.h5"
    gone.unlink()
    make(tmp_path / "e")
    assert gone.exists() and file.stat().st_mtime_ns > before  # once there, it is kept true


def test_members_may_be_written_as_1e3():
    assert la.Ensemble("chain:3", 1e3, {"v": la.Normal(std=1)}, **RUN).members == 1000


def test_an_option_of_the_integrator():
    with pytest.raises(TypeError, match="order is an option of the integrator"):
        la.Ensemble("chain:3", 2, {}, order=4, **RUN)


def test_energies_that_wander_are_told(tmp_path):
    fast = {"v": la.Uniform(15.0, 20.0)}
    with pytest.warns(la.AccuracyWarning, match=r"\d+ of 4 members do not keep their energy"):
        results = make(tmp_path / "e", 4, fast, dt=0.02, steps=400, record_every=400, model="chain:5")
    assert len(results.warned)
