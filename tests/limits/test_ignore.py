"""`ignore=` by the words of `la.load`: limits and dry friction are off wherever a model is simulated, else on."""

import numpy as np
import pytest
from stopped import arm

import leastaction as la

Q, V, DT, STEPS = np.array([0.2, 0.1, 0.3]), np.array([3.0, 1.0, -2.0]), 2e-3, 200
BOTH = ("limits", "friction")


@pytest.fixture(scope="module")
def ends():
    """Where the arm ends: without limits and friction, by a model that has none; and with them."""
    bare = la.Model(name="arm")
    for body in arm().bodies:
        joint = la.Revolute(body.joint.axis)
        bare.add_body(body.name, body.parent, joint, body.position, body.quaternion, body.inertia)
    limited = arm(restitution=0.3, friction=0.2)
    return tuple(la.simulate(model, Q, V, dt=DT, steps=STEPS).q[-1] for model in (bare, limited))


def by_simulator(model, ignore):
    sim = la.Simulator(model, Q, V, dt=DT, ignore=ignore)
    sim.step(STEPS)
    return sim.q


def by_many(model, ignore):
    return la.simulate_many(model, np.stack([Q, Q]), V, dt=DT, steps=STEPS, ignore=ignore, threads=1).q[1, -1]


def by_ensemble(model, ignore, folder):
    model.q0, model.v0 = Q, V
    study = la.Ensemble(model, 2, {"v": np.stack([V, V])}, dt=DT, steps=STEPS, ignore=ignore)
    return study.run(folder, progress=False).q[1, -1]


def by_maps(model, ignore):
    q, p = Q, la.mass_matrix(model, Q) @ V
    for _ in range(STEPS):
        q, p = la.variational_step(model, q, p, DT, ignore=ignore)
    return q


WAYS = {
    "simulate": lambda model, ignore, _: la.simulate(model, Q, V, dt=DT, steps=STEPS, ignore=ignore).q[-1],
    "Simulator": lambda model, ignore, _: by_simulator(model, ignore),
    "simulate_many": lambda model, ignore, _: by_many(model, ignore),
    "Ensemble": by_ensemble,
    "audit": lambda model, ignore, _: la.audit(
        model, Q, V, dt=DT, duration=DT * STEPS, estimate_accuracy=False, ignore=ignore).run.q[-1],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ignore", [BOTH, ()], ids=["ignored", "acting"])
def test_limits_and_friction_act_unless_they_are_ignored(ends, way, ignore, tmp_path):
    found = WAYS[way](arm(restitution=0.3, friction=0.2), ignore, tmp_path / "study")
    expected = ends[0] if ignore else ends[1]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert np.abs(ends[0] - ends[1]).max() > 0.1


def test_one_word_leaves_the_other():
    model = arm(friction=0.2)
    run = la.simulate(model, Q, V, dt=DT, steps=STEPS, ignore="limits")
    assert run.dissipated["dry_friction"][-1] > 0.0 == run.dissipated["limits"][-1] and np.abs(run.q).max() > 0.9


def test_the_bare_map_takes_it(ends):
    """A step of the map has no step before, so its guess and its last bits differ."""
    model = arm(restitution=0.3)
    np.testing.assert_allclose(by_maps(model, "limits"), ends[0], atol=1e-8)
    with pytest.raises(ValueError, match=r"RungeKutta4\(\) knows neither .* joint limits .* ignore=\('limits',\)"):
        la.variational_step(model, Q, V, DT, "rk4")
    la.variational_step(model, Q, V, DT, "rk4", ignore="limits")


def test_explicit_methods_and_comparisons():
    model = arm(friction=0.2)
    for integrator in ("euler", "rk4", "dop853", la.peers.SVI()):
        with pytest.raises(ValueError, match=r"joint limits and dry friction .*ignore=\('limits', 'friction'\)"):
            la.simulate(model, Q, V, steps=1, integrator=integrator)
    compared = la.compare(model, Q, V, dt=DT, duration=0.1)
    assert [entry.label for entry in compared.entries] == ["variational, order 2"]
    assert "ignore=('limits', 'friction')" in compared.left_out["Runge–Kutta 4"]
    assert "MuJoCo is left out: its joint limits and dry friction are soft" in str(compared)
    free = la.compare(model, Q, V, dt=DT, duration=0.1, ignore=BOTH)
    assert {"Runge–Kutta 4", "DOP853, tol 1e-09", "variational, order 6"} <= {entry.label for entry in free.entries}
    assert "Runge–Kutta 4" not in free.left_out


def test_a_comparison_says_which_methods_do_not_note_the_work():
    model = la.Model()
    model.add_body("arm", joint=la.Revolute((0, 1, 0), damping=0.1),
                   inertia=la.Inertia.rod(1.0, 0.5, com=(0, 0, -0.25)))
    compared = la.compare(model, [1.0], dt=DT, duration=0.4)
    rows = {row[0]: row for row in compared.table()}
    assert rows["Runge–Kutta 4"][1:4] == ("–", "–", "–") and float(rows["variational, order 2"][1]) < 1e-4
    assert "no energy error of semi-implicit Euler, Runge–Kutta 4, DOP853" in str(compared)
