"""Ensembles on a Dask cluster on loopback, with workers that are killed."""

import pytest
from killing import PAUSE, Killer, assert_same, dask_workers, study

dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    """Dask is told to give up a task at once when a worker that has it dies, as it does after a few in a long run."""
    config = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with config, distributed.LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
                                  env={PAUSE: "0.02"}) as cluster, distributed.Client(
            cluster, set_as_default=False) as client:  # which tests of other files would take between two of these
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


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:Port 8787")
def test_workers_that_come_later_are_fed(tmp_path, monkeypatch):
    """A batch system starts workers one by one: those that come while it runs get chunks, too."""
    monkeypatch.setattr("leastaction.ensemble.engines.LOOK", 0.0)
    with distributed.LocalCluster(n_workers=0, threads_per_worker=1, processes=False, host="127.0.0.1", protocol="tcp",
                                  dashboard_address=None) as cluster, distributed.Client(
            cluster, set_as_default=False) as client:
        futures, waiting, submit = [], [], client.submit

        def count(*given, **options):
            futures.append(submit(*given, **options))
            waiting.append(sum(not future.done() for future in futures))
            if len(futures) == 4:
                cluster.scale(3)
            return futures[-1]

        monkeypatch.setattr(client, "submit", count)
        results = study(40, chunk=1).run(tmp_path / "e", client, progress=False)
    assert not results.missing
    assert waiting[:4] == [1, 2, 3, 4] and 8 < max(waiting) <= 12  # four for each thread


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_a_chunk_raises_is_raised(tmp_path, client):
    ensemble = study()
    ensemble.plan.vary["mass:link2"] = _broken
    with pytest.raises(ZeroDivisionError) as caught:
        ensemble.run(tmp_path / "e", client, progress=False)
    assert "the same call makes the rest" in caught.value.__notes__[-1]


def _broken(_rng):
    return 1 / 0
