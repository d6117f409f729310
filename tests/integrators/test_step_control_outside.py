"""Step-size control is one file outside the package: bogacki_shampine.py in this folder, beside DormandPrince8."""

import numpy as np
import pytest
from bogacki_shampine import BogackiShampine

import leastaction as la


@pytest.mark.soak  # a loop of its own to compile: a quarter of a minute
@pytest.mark.parametrize("make", [lambda: la.library.paper_chain(4), la.library.ragdoll], ids=["chain", "ragdoll"])
def test_error_and_cost_follow_the_tolerance(make):
    """Of third order: a thousandth of the tolerance is a tenth of the step. Steps are chosen, and differ."""
    model = make()
    true = la.poses(model, la.simulate(model, dt=0.1, steps=5, integrator=la.DormandPrince8(1e-12)).q[-1])
    runs = [la.simulate(model, dt=0.1, steps=5, integrator=BogackiShampine(tol)) for tol in (1e-5, 1e-8)]
    loose, tight = (np.abs(la.poses(model, run.q[-1]) - true).max() for run in runs)
    assert tight < 1e-7 and loose / tight == pytest.approx(1000, rel=0.5)
    assert runs[1].iterations.sum() / runs[0].iterations.sum() == pytest.approx(10, rel=0.2)
    for run, tol in zip(runs, (1e-5, 1e-8), strict=True):
        assert len(set(run.iterations)) > 1 and 0.3 * tol < run.residual.max() <= tol


@pytest.mark.soak
def test_a_step_that_no_length_makes_good_is_a_status():
    with pytest.raises(la.StepError, match="internal steps that are lost in round-off"):
        la.simulate(la.library.paper_chain(4), dt=1e-2, steps=2, integrator=BogackiShampine(1e-40))


@pytest.mark.soak
def test_files_batches_and_audit(tmp_path):
    """The length of the next step is in the method's memory: a run that is resumed from a file has the same bits."""
    model, path = la.library.paper_chain(4), tmp_path / "run.h5"
    whole = la.simulate(model, dt=1e-2, steps=40, integrator=BogackiShampine())
    many = la.simulate_many(model, v=np.stack([model.v0, model.v0 + 0.1]), dt=1e-2, steps=40,
                            integrator=BogackiShampine())
    assert np.array_equal(many.q[0], whole.q)
    la.simulate(model, dt=1e-2, steps=25, integrator=BogackiShampine(), out=path)
    assert np.array_equal(la.resume(path, steps=40).q, whole.q)
    assert "with BogackiShampine" in str(la.audit(model, dt=1e-2, duration=0.1, integrator=BogackiShampine()))
