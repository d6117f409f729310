"""Ensembles on a Dask cluster on loopback, with workers that are killed."""

import pytest
from killing import PAUSE, Killer, assert_same, dask_workers, study

dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    """Dask is told to give up a task at once when a worker that has it dies, as it does after a few in a long run."""
    config = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with config, distributed.LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
                                  env={PAUSE: "0.02"}) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_dask_with_a_worker_killed(tmp_path, client):
    expected = study(chunk=64).run(tmp_path / "expected", progress=False)
    killer = Killer(tmp_path / "e", lambda: dask_workers(client), times=1)
    killer.start()
    results = study().run(tmp_path / "e", client, progress=False)
    killer.join(0)
    assert len(killer.killed) == 1
    assert_same(results, expected)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_a_chunk_raises_is_raised(tmp_path, client):
    ensemble = study()
    ensemble.plan.vary["mass:link2"] = _broken
    with pytest.raises(ZeroDivisionError) as caught:
        ensemble.run(tmp_path / "e", client, progress=False)
    assert "the same call makes the rest" in caught.value.__notes__[-1]


def _broken(_rng):
    return 1 / 0
