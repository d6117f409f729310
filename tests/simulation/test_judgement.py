"""A run is judged by whether its energy wanders: the same however it is recorded, and silent where nothing is wrong."""

import warnings

import numpy as np
import pytest

import leastaction as la
from leastaction.kernels.record import LOOK
from leastaction.simulation.judgement import SAMPLES, EnergyWatch, keeps_energy, part, silent


def perturbed(model, count=8):
    """Starts that differ by 1e-3 rad."""
    rng = np.random.default_rng(0)
    return np.stack([la.increment(model, model.q0, 1e-3 * rng.standard_normal(model.nv)) for _ in range(count)])


def warned(model, dt, duration, **options):
    """For each of eight starts, whether its run is judged to lose its energy; and what was warned of all of them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        runs = la.simulate_many(model, perturbed(model), dt=dt, duration=duration, **options)
    assert [keeps_energy(run) for run in runs] == [run.judgement.kept for run in runs]
    return [not run.judgement.kept for run in runs], [w for w in caught if w.category is la.AccuracyWarning]


@pytest.mark.parametrize("every", [100, 1000])
def test_the_hard_chain_warns_at_1_ms(every):
    bad, told = warned(la.library.chain(10), 1e-3, 100.0, record_every=every)
    assert all(bad)
    assert len(told) == 1 and "8 of 8 members" in str(told[0].message)
    assert "Take a smaller step, such as dt = 0.0005, or la.Variational(order=4)" in str(told[0].message)


def test_a_chain_of_twenty_warns():
    bad, told = warned(la.library.chain(20), 1e-3, 20.0)
    assert all(bad) and len(told) == 1


@pytest.mark.parametrize(("links", "dt"), [(10, 5e-4), (5, 1e-3)])
def test_resolved_chains_are_silent(links, dt):
    bad, told = warned(la.library.chain(links), dt, 20.0, record_every=100)
    assert not any(bad) and not told


@pytest.mark.parametrize("name", ["paper_chain:10", "pendulum", "double_pendulum", "tree:3", "spinning_top", "ragdoll"])
def test_other_models_of_the_library_are_silent(name):
    bad, told = warned(la.find_model(name), 1e-3, 10.0, record_every=100)
    assert not any(bad) and not told


@pytest.mark.parametrize("integrator", [la.RungeKutta4(), la.SemiImplicitEuler()], ids=lambda i: type(i).__name__)
def test_methods_that_lose_energy_are_told(integrator):
    with pytest.warns(la.AccuracyWarning, match="The energy drifts"):
        run = la.simulate(la.library.chain(10), dt=1e-3, duration=20.0, record_every=50, integrator=integrator)
    assert "The energy drifts" in run.report() and "la.Variational()" in run.report()


def test_the_judgement_does_not_depend_on_how_the_run_was_kept(tmp_path):
    model, options = la.library.chain(10), {"dt": 1e-3, "duration": 30.0}
    with silent():
        whole = la.simulate(model, **options)
        sparse = la.simulate(model, record_every=1000, **options)
        la.simulate(model, dt=1e-3, duration=12.345, record_every=7, out=tmp_path / "run.h5")
        resumed = la.resume(tmp_path / "run.h5", duration=30.0)
    saved = la.open(whole.save(tmp_path / "saved.h5"))
    assert len(whole.looks.energy) > SAMPLES // 2
    for other in (sparse, resumed, saved):
        np.testing.assert_array_equal(other.looks.energy, whole.looks.energy)
        assert other.judgement == whole.judgement and other.looks.every == whole.looks.every
    np.testing.assert_array_equal(whole.looks.energy, whole.energy[:: whole.looks.every])


def test_a_python_control_and_a_rescued_step_are_looked_at_too():
    model = la.library.chain(5)
    run = la.simulate(model, dt=1e-3, steps=100, control=lambda t, q, v: np.zeros(5))
    np.testing.assert_array_equal(run.looks.energy, run.energy[::LOOK])
    with silent():
        hard = la.simulate(la.library.chain(10), dt=1.5e-2, steps=400)
        many = la.simulate_many(la.library.chain(10), perturbed(la.library.chain(10), 3), dt=1.5e-2, steps=400)
    assert (hard.status > la.Status.STRUGGLED).any()
    for each in (hard, *many):
        np.testing.assert_allclose(each.looks.energy, each.energy[::LOOK], rtol=0, atol=1e-12)


@pytest.mark.parametrize("pieces", [[5000], [1, 4999], [511, 1, 4488], [17] * 294 + [2]])
def test_a_watch_thins_out_by_the_number_of_steps_alone(pieces):
    series, watch, at = np.arange(5001.0), EnergyWatch(0.0), 1
    for size in pieces:
        watch.take(series[at : at + size])
        at += size
    looks = watch.looks()
    assert at == 5001 and len(looks.energy) <= SAMPLES and looks.every == 16 * LOOK
    np.testing.assert_array_equal(looks.energy, series[::16])


def damped_chain(damping, links=5):
    """Rods of half a metre that fall from the side."""
    model, parent = la.Model(name="damped chain"), None
    for k in range(links):
        model.add_body(f"link{k}", parent, la.Revolute((0, 1, 0), damping=damping), (0, 0, -0.5 if parent else 0),
                       inertia=la.Inertia.rod(1.0, 0.5, com=(0, 0, -0.25)))
        parent = f"link{k}"
    model.q0 = np.full(links, 1.2)
    return model


def pulled(dt):
    """Two links drawn round by a constant moment."""
    return la.simulate(la.library.chain(2, length=0.5), dt=dt, duration=6.0, control=[5.0, 0.0])


def served(dt, kp=60.0, kd=1.0):
    """Three links that servos bring to other angles."""
    model = damped_chain(0.0, 3)
    for name in model.names:
        model.add_actuator(name, la.PD(name, kp=kp, kd=kd))
    return la.simulate(model, dt=dt, duration=5.0, command=[-0.3, 0.5, 0.2])


@pytest.mark.parametrize(("make", "reason"), [
    (lambda dt: la.simulate(damped_chain(0.5), dt=dt, duration=5.0), "the joints of 'link0' and 4 more have damping"),
    (lambda dt: la.simulate(damped_chain(0.02), dt=dt / 2, duration=5.0), "have damping"),
    (pulled, "a control may do work"),
    (served, "actuators may do work"),
], ids=["damped", "hardly damped", "controlled", "served"])
def test_where_work_is_done_the_energies_must_add_up(make, reason):
    """Fine steps pass, and coarse ones, whose motion is off by 0.04 rad and more, are told."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", la.AccuracyWarning)
        good = make(2e-3)
    assert good.judgement.kept and reason in good.judgement.reason and "energy change" in good.report()
    assert "With what has left by the ledger it stays within" in good.report()
    with pytest.warns(la.AccuracyWarning, match="But with what has left by the ledger it wanders.*Take a smaller step"):
        coarse = make(2e-2)
    assert not coarse.judgement.kept and not keeps_energy(coarse)
    assert ("order=4" in coarse.judgement.remedy) == (make is pulled)  # which damping of the joints may refuse
    assert good.judgement.wander < 0.1 * coarse.judgement.wander
    assert not la.audit(coarse, estimate_accuracy=False).kept and la.audit(good, estimate_accuracy=False).kept


def test_a_servo_that_the_step_does_not_resolve_is_told_of_its_first_moment():
    """All of it happens in the first tenth of the run, and stays."""
    with pytest.warns(la.AccuracyWarning, match="it is off: its level moves"):
        served(1e-2, kp=2e4, kd=200.0)


def test_work_that_is_in_no_ledger_is_not_judged():
    model = damped_chain(0.02)
    explicit = la.simulate(model, dt=2e-2, duration=1.0, integrator=la.RungeKutta4())
    assert explicit.judgement.kept and "have damping" in explicit.judgement.reason and explicit.ledger.shape[1] == 0
    assert np.isnan(explicit.dissipated["damping"]).all() and "nan" not in explicit.report()
    push = np.zeros((5, 6))
    push[4] = 1.0
    pushed = la.simulate(model, dt=2e-2, duration=1.0, wrench=push)
    assert pushed.judgement.kept and pushed.judgement.reason == "external wrenches may do work"
    assert pushed.judgement.wander is None


def test_comparisons_and_audits_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error", la.AccuracyWarning)
        assert not la.audit(la.library.chain(20), duration=5.0, estimate_accuracy=False).kept
        la.compare(la.library.chain(10), duration=1.0)


def test_parts_read_easily():
    parts = (1e-6, 2e-4, 0.0123, 0.1234, 1.0, 5.4321, 1e6)
    assert [part(x) for x in parts] == ["1.0e-06", "0.02 %", "1.2 %", "12 %", "100 %", "543 %", "1e+08 %"]
