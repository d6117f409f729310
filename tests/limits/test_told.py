"""What runs with limits and dry friction say of themselves: in files, bit for bit, in pictures, reports and audits;
and that the same mechanism, told differently, does the same."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from stopped import arm

import leastaction as la
from leastaction import plots
from leastaction.reference import lie
from reference.trees import random_quaternion

DT, STEPS = 2e-3, 800
SAME = ("q", "v", "p", "energy", "ledger", "limit_force", "dry_friction", "status")


@pytest.fixture(scope="module")
def run():
    """The arm hits its stops, rests at one, and rubs in every joint."""
    run = la.simulate(arm(0.0, 1.5), dt=DT, steps=STEPS)
    assert np.all(np.any(run.dry_friction != 0.0, axis=0)) and np.count_nonzero(run.limit_force) > 10
    return run


def same(a, b):
    for name in SAME:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    for name in a.dissipated:
        np.testing.assert_array_equal(a.dissipated[name], b.dissipated[name], err_msg=name)


@pytest.mark.parametrize("cut", [7, 114, 140, 400])
def test_runs_in_files_have_the_same_bits(run, cut, tmp_path):
    """Written, saved, read, and made longer at whatever step, while joints rest at limits, stick or slide."""
    path = tmp_path / "run.h5"
    la.simulate(arm(0.0, 1.5), dt=DT, steps=cut, out=path)
    same(la.resume(path, steps=STEPS), run)
    same(la.open(path), run)
    run.save(tmp_path / "saved.h5")
    same(la.open(tmp_path / "saved.h5"), run)


def test_checkpoints_have_the_same_bits(run, tmp_path):
    sim = la.Simulator(arm(0.0, 1.5), dt=DT)
    for k in range(0, STEPS, 25):
        for name in ("q", "v", "p", "energy"):
            np.testing.assert_array_equal(getattr(sim, name), getattr(run, name)[k], err_msg=name)
        np.testing.assert_array_equal(sim._engine.state.ledger, run.ledger[k])
        sim = la.Simulator.restore(sim.checkpoint(tmp_path / "run.ckpt"))
        sim.step(25)


def test_the_energy_is_drawn_as_a_stack(run):
    """What is left, and on top of it what limits and friction took; its top misses the energy at the start by the
    balance."""
    ax = plots.energy(run)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["in the mechanism", "dry friction", "limits"]
    start, = (line.get_ydata()[0] for line in ax.get_lines())
    assert start == run.energy[0] - run.energy.min()
    top = ax.collections[-1].get_paths()[0].vertices
    for k in (0, 100, STEPS):
        highest = top[np.isclose(top[:, 0], run.t[k]), 1].max()
        assert highest == pytest.approx(start + run.balance[k], abs=1e-12)
    plt.close("all")


def test_reports_say_where_the_energy_went(run):
    lost = run.dissipated
    said = {line.strip().rsplit("  ", 1)[0].strip(): line.split()[-2] for line in run.report().splitlines()
            if line.endswith(" J")}
    assert said == {"dry friction": f"{lost['dry_friction'][-1]:.4g}", "limits": f"{lost['limits'][-1]:.4g}"}
    assert f"energy balance   {run.max_balance_error:.3g} of the peak kinetic energy at most" in run.report()
    rows = dict(la.audit(run).rows())
    assert rows["where it went"] == (f"dry friction {lost['dry_friction'][-1]:.3g} J, "
                                     f"limits {lost['limits'][-1]:.3g} J")
    assert rows["energy balance"].startswith(f"{run.max_balance_error:.2e} of the peak kinetic energy at most")
    assert "energy change" in rows and run.max_balance_error < 1e-3 < run.max_energy_error


def told(model, world=None, order=None):
    """The model in a world that is turned and shifted, its bodies added in another order."""
    world = np.eye(4) if world is None else world
    other = la.Model(gravity=world[:3, :3] @ model.gravity)
    for k in range(model.nb) if order is None else order:
        b, position, quaternion = model.bodies[k], model.bodies[k].position, model.bodies[k].quaternion
        if b.parent is None:
            position = world[:3, :3] @ position + world[:3, 3]
            quaternion = lie.quat_mul(lie.quat_of(world[:3, :3]), quaternion)
        other.add_body(b.name, b.parent, b.joint, position, quaternion, b.inertia)
    return other


def test_another_order_of_the_bodies(run):
    model, order = arm(0.0, 1.5), [2, 0, 1]
    other = la.simulate(told(model, order=order), model.q0[order], model.v0[order], dt=DT, steps=STEPS)
    for name in ("q", "v", "limit_force", "dry_friction"):
        found, expected = getattr(other, name), getattr(run, name)[:, order]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * (1.0 + np.abs(expected).max()), err_msg=name)
    np.testing.assert_allclose(other.ledger, run.ledger, rtol=0, atol=1e-9)


def test_a_turned_world(run):
    rng, model = np.random.default_rng(3), arm(0.0, 1.5)
    world = lie.pose(lie.rotation(random_quaternion(rng, 3.0)), rng.normal(size=3))
    other = la.simulate(told(model, world), model.q0, model.v0, dt=DT, steps=STEPS)
    for name in ("q", "v", "limit_force", "dry_friction"):
        found, expected = getattr(other, name), getattr(run, name)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * (1.0 + np.abs(expected).max()), err_msg=name)
    np.testing.assert_allclose(other.ledger, run.ledger, rtol=0, atol=1e-9)
