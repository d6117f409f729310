"""Methods side by side: the same model and measure for all, MuJoCo's included."""

import json

import numpy as np
import pytest

import leastaction as la
from leastaction.analysis import comparison
from leastaction.analysis.mujoco_peer import MujocoRun
from reference.trees import random_model, random_state


@pytest.fixture(scope="module")
def compared():
    return la.compare(la.library.paper_chain(3), dt=2e-3, duration=2.0)


def test_every_method_is_there_and_higher_orders_are_better(compared):
    by_label = {entry.label: entry for entry in compared.entries}
    assert list(by_label) == ["variational, order 2", "variational, order 4", "variational, order 6",
                              "semi-implicit Euler", "Runge–Kutta 4", "DOP853, tol 1e-09", "MuJoCo"]
    second, fourth, sixth = (by_label[f"variational, order {order}"] for order in (2, 4, 6))
    assert second.max_energy_error > 50 * fourth.max_energy_error > 50 * sixth.max_energy_error
    assert second.error.max() > 50 * fourth.error.max() > 50 * sixth.error.max()
    assert by_label["semi-implicit Euler"].symplecticity.defect > 1e-7 > second.symplecticity.defect


def test_the_numbers_are_those_of_the_runs(compared):
    run = la.simulate(la.library.paper_chain(3), dt=2e-3, duration=2.0, integrator=la.SemiImplicitEuler())
    entry = compared.entries[3]
    change = run.energy - run.energy[0]
    assert np.corrcoef(entry.energy_error, change)[0, 1] == pytest.approx(1.0)
    assert entry.max_energy_error == pytest.approx(run.max_energy_error, rel=0.2)   # another scale


def test_text_and_json(compared):
    text = str(compared)
    for entry, row in zip(compared.entries, compared.table(), strict=True):
        assert all(cell in text for cell in row)
        assert row[0] == entry.label
    found = json.loads(json.dumps(compared.to_dict()))
    assert [method["method"] for method in found["methods"]] == [entry.label for entry in compared.entries]


@pytest.mark.parametrize("seed", range(5))
def test_mujoco_runs_the_same_system(seed):
    """Over a few tiny steps MuJoCo goes where we go, whatever the joints."""
    rng = np.random.default_rng(seed)
    kinds = (la.Revolute, la.Prismatic, la.Ball, la.Universal, la.Planar)
    model = random_model(rng, 6, kinds, passive=False)
    model.add_body("flying", None, la.Free(damping=0.3), (0.1, 0.2, 0.3), (0.6, 0, 0.8, 0),
                   inertia=la.Inertia(1.3, (0.1, 0.2, -0.3), np.diag([0.2, 0.3, 0.4])))
    model.add_body("sprung", "flying", la.Revolute((1, 2, 3), stiffness=3.0, rest=[0.4], damping=0.1, armature=0.2),
                   (0, 0.1, 0.2), inertia=la.Inertia(0.7, (0.1, 0, 0.2), np.diag([0.2, 0.3, 0.4])))
    model.q0, model.v0 = random_state(rng, model)
    run = MujocoRun(model, None, None, 1e-5, 200, 100)
    ours = la.simulate(model, dt=1e-5, steps=200, record_every=100, integrator=la.RungeKutta4())
    assert np.abs(ours.v[-1] - ours.v[0]).max() > 1e-3
    np.testing.assert_allclose(run.v, ours.v, atol=1e-5)
    np.testing.assert_allclose(np.abs(run.q), np.abs(ours.q), atol=1e-6)   # ±quaternions


def test_what_mujoco_cannot_have_is_named():
    model = la.Model()
    model.add_body("nut", joint=la.Helical((0, 0, 1), 0.1), inertia=la.Inertia.sphere(1.0, 0.1))
    compared = la.compare(model, v=[1.0], duration=0.05)
    assert compared.left_out == {"MuJoCo": "MuJoCo has no helical joint, as 'nut' has"}
    assert "MuJoCo is left out" in str(compared)


def test_without_peers(monkeypatch):
    monkeypatch.setattr(comparison, "find_spec", lambda _: None)
    compared = la.compare(la.library.pendulum(), duration=0.05)
    assert compared.left_out == {"MuJoCo": "it is not installed: pip install mujoco"}
    assert len(compared.entries) == 6


def test_a_stiff_model_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(comparison, "PATIENCE", 1e-9)
    compared = la.compare(la.library.pendulum(), duration=0.05)
    assert list(compared.left_out) == ["DOP853, tol 1e-09"]
    assert len(compared.entries) == 6


def test_rods_are_compared_with_mujoco():
    model = la.Model()
    model.add_body("arm", joint=la.Universal((1, 0, 0), (0, 1, 0)), inertia=la.Inertia.rod(1.0, 0.5, com=(0, 0, -0.2)))
    compared = la.compare(model, [0.4, 0.9], duration=0.2)
    assert compared.left_out == {}
    mujoco = next(entry for entry in compared.entries if entry.label == "MuJoCo")
    assert mujoco.error.max() < 1e-2 and mujoco.max_energy_error < 1e-2


def test_all_methods_start_from_the_given_state():
    model, q, v = la.library.double_pendulum(), [2.0, 1.0], [0.3, -0.2]
    compared = la.compare(model, q, v, dt=2e-3, duration=0.2)
    expected = la.simulate(model, q, v, dt=2e-3, duration=0.2)
    np.testing.assert_array_equal(compared.entries[0].t, expected.t)
    assert compared.q.tolist() == q and compared.v.tolist() == v
    # From anywhere else a method would be away from the reference at once.
    assert all(entry.error[:3].max() < 1e-4 for entry in compared.entries)
    again = la.compare(expected, dt=2e-3, duration=0.2)
    assert again.q.tolist() == q and again.v.tolist() == v
    with pytest.raises(ValueError, match="a trajectory was given, which has its own"):
        la.compare(expected, q)


def test_a_model_at_rest_is_not_compared():
    hanging = la.library.double_pendulum()
    for scale in (1.0, 1e-6, 1e6):   # whatever the units
        hanging.gravity = (0, 0, -9.81 * scale)
        with pytest.raises(ValueError, match=r"is at rest: nothing to compare; give q or v \(--initial\)"):
            la.compare(hanging, [0.0, 0.0], [0.0, 0.0], duration=0.5)
    sprung = la.Model(gravity=(0, 0, 0))
    sprung.add_body("a", joint=la.Ball(stiffness=100.0, rest=[0.6, 0, 0.8, 0]), inertia=la.Inertia.sphere(1.0, 0.1))
    with pytest.raises(ValueError, match="is at rest"):
        la.compare(sprung, [0.6, 0, 0.8, 0], duration=0.5)
    hanging.gravity = (0, 0, -9.81)
    assert la.compare(hanging, [1e-8, 0.0], [0.0, 0.0], duration=0.5).entries


def test_no_method_is_charged_for_compiling(monkeypatch):
    """However long a kernel takes to compile in the middle of a run, the time of a step is without it."""
    numba = pytest.importorskip("numba")

    def simulate(*args, **options):
        numba.njit(lambda x: np.sin(x) + np.cos(x))(0.5)
        return la.simulate(*args, **options)

    monkeypatch.setattr(comparison, "simulate", simulate)
    compared = la.compare(la.library.pendulum(), duration=0.05)
    assert all(entry.cpu_seconds < 0.03 for entry in compared.entries)   # compiling takes more than 0.05 s

def test_a_method_that_breaks_down_is_shown_until_then():
    top = la.library.spinning_top()
    top.v0 = [0, 0, 400]
    compared = la.compare(top, dt=5e-3, duration=1.0)
    euler = compared.entries[3]
    assert euler.right_until() < 0.1
    assert all(np.isfinite(entry.energy_error).all() for entry in compared.entries)
    assert str(compared)
