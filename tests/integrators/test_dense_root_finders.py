"""The methods that the paper compares itself with: the same roots as ours, the right action, and clear errors."""

import numpy as np
import pytest

import leastaction as la
from reference import midpoint
from reference.trees import random_model, random_state

ONE_DOF = (la.Revolute, la.Prismatic, la.Helical, la.Universal, la.Planar, la.Fixed)
FINDERS = (la.RIQN, la.peers.DenseNewton, la.peers.Broyden)
RESIDUALS = ("drnea", "svi")


def plain(residual, root_finder, **options):
    """The method with this residual, without rescue."""
    if residual == "svi":
        return la.peers.SVI(root_finder, **options)
    return la.Variational(root_finder, **options, rescue=None)


def gentle(n=4):
    """A chain of rods with springs, damping and armature in places, swinging in three dimensions."""
    model = la.Model(gravity=(0, 0, -9.81))
    rod = la.Inertia.capsule(1.0, 0.03, 0.5, com=(0, 0, -0.25))
    for i in range(n):
        passive = {"damping": 0.02 * (i == 1), "stiffness": 0.5 * (i == 2), "armature": 0.01 * (i == 3)}
        joint = la.Revolute((0, 1, 0.3 * i), **passive)
        model.add_body(f"rod{i}", f"rod{i - 1}" if i else None, joint, (0, 0, -0.5 if i else 0), inertia=rod)
    model.q0, model.v0 = np.linspace(0.3, 0.6, n), np.linspace(-0.5, 0.5, n)
    return model


def run(model, residual, finder, dt=1e-3, steps=1000, **options):
    return la.simulate(model, dt=dt, steps=steps, integrator=plain(residual, finder), progress=False, **options)


@pytest.mark.parametrize("residual", RESIDUALS)
def test_all_root_finders_give_the_same_trajectory(residual):
    """At round-off tolerance, over 1000 steps of a gentle motion."""
    first, *others = [run(gentle(), residual, finder(tol=1e-15)) for finder in FINDERS]
    for other in others:
        np.testing.assert_allclose(other.q, first.q, rtol=0, atol=1e-9)
        np.testing.assert_allclose(other.p, first.p, rtol=0, atol=1e-9)
    if residual == "drnea":
        np.testing.assert_allclose(run(gentle(), "drnea", la.Newton(tol=1e-15)).q, first.q, rtol=0, atol=1e-9)
    assert np.abs(first.q - first.q[0]).max() > 0.3


def test_svi_and_drnea_converge_to_each_other_at_order_two():
    apart = []
    for steps in (50, 100, 200, 400):
        ends = [run(gentle(), residual, la.RIQN(), 0.5 / steps, steps).q[-1] for residual in RESIDUALS]
        apart.append(np.abs(ends[0] - ends[1]).max())
    assert apart[0] > 1e-6
    np.testing.assert_allclose(np.log2(np.array(apart[:-1]) / apart[1:]), 2.0, atol=0.1)


@pytest.mark.parametrize("h", [0.02, -0.01])
@pytest.mark.parametrize("seed", range(4))
def test_svi_makes_the_midpoint_action_stationary(seed, h):
    """p0 = −D₁L_d − f⁻ and p1 = D₂L_d + f⁺ of the action as a plain function, on random trees."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, 6, kinds=ONE_DOF)
    q0, v0 = random_state(rng, model)
    p0 = la.mass_matrix(model, q0) @ v0
    method = la.peers.SVI(la.peers.DenseNewton(tol=1e-14))
    q1, p1 = la.variational_step(model, q0, p0, h, method)
    before, after = midpoint.momenta(model, q0, q1, h, np.zeros(model.nv))
    np.testing.assert_allclose(before, p0, rtol=0, atol=1e-11 * np.abs(p0).max())
    np.testing.assert_allclose(after, p1, rtol=0, atol=1e-11 * np.abs(p0).max())
    back_q, back_p = la.variational_step(model, q1, p1, -h, method)
    np.testing.assert_allclose(back_q, q0, rtol=0, atol=1e-11)
    np.testing.assert_allclose(back_p, p0, rtol=0, atol=1e-10 * np.abs(p0).max())


def test_joint_forces_act_as_half_impulses_on_svi():
    model, tau, h = gentle(), np.array([1.0, -2.0, 0.5, 3.0]), 0.01
    traj = run(model, "svi", la.RIQN(tol=1e-14), h, 1, control=tau)
    before, after = midpoint.momenta(model, traj.q[0], traj.q[1], h, tau)
    np.testing.assert_allclose([before, after], traj.p, rtol=0, atol=1e-12)


def residuals(residual, finder, count):
    """Scaled residuals of the iterates of one long step from the poorest guess."""
    found = []
    for most in range(1, count + 1):
        method = plain(residual, finder(tol=1e-300, max_iterations=most), guess="current")
        traj = la.simulate(gentle(), dt=0.05, steps=1, integrator=method, on_failure="truncate")
        found.append(traj.failure.residual if traj.failure else traj.residual[0])
    return np.array(found)


@pytest.mark.parametrize("residual", RESIDUALS)
def test_dense_newton_converges_quadratically_and_broyden_faster_than_riqn(residual):
    riqn, newton, broyden = (residuals(residual, finder, 8) for finder in FINDERS)
    assert newton[0] > 0.1
    assert (newton[1:4] < newton[:3] ** 2).all()
    assert newton[3] < broyden[3] and newton[3] < riqn[3]
    assert broyden[-1] < 0.1 * riqn[-1]


def test_dense_newton_and_broyden_on_ball_and_free_joints():
    model = la.library.ragdoll()
    first, *others = [run(model, "drnea", finder(tol=1e-15), steps=200) for finder in FINDERS]
    for other in others:
        np.testing.assert_allclose(other.q, first.q, rtol=0, atol=1e-9)


def test_svi_keeps_energy_and_composes_to_order_four():
    model = la.library.double_pendulum()
    second, fourth = (la.simulate(model, dt=5e-3, duration=20.0, integrator=la.peers.SVI(
        la.peers.DenseNewton(), order=order)) for order in (2, 4))
    assert second.max_energy_error < 5e-3
    assert fourth.max_energy_error < 0.02 * second.max_energy_error


def test_stopping_and_going_on_changes_nothing():
    method = la.peers.SVI()
    whole, parts = (la.Simulator(gentle(), dt=1e-3, integrator=method) for _ in range(2))
    whole.step(100)
    for _ in range(4):
        parts.step(25)
    np.testing.assert_array_equal(parts.q, whole.q)
    np.testing.assert_array_equal(parts.p, whole.p)
    assert parts.energy == whole.energy


def test_what_cannot_be_combined():
    with pytest.raises(ValueError, match=r"take la\.RIQN\(\), la\.peers\.DenseNewton\(\)"):
        la.peers.SVI(la.Newton())
    with pytest.raises(TypeError, match="retraction"):
        la.peers.SVI(retraction="exp")
    for kind in (la.Variational, la.peers.SVI):
        with pytest.raises(ValueError, match=r"la\.peers\.Broyden\(\), not 'broyden'"):
            kind(root_finder="broyden")


@pytest.mark.parametrize(("call", "instead"), [
    (lambda: la.Variational(residual="svi"), r"Variational takes no residual: .*la\.peers\.SVI"),
    (lambda: la.Variational(max_substeps=1), r"Variational takes no max_substeps: .*la\.Rescue\(max_substeps"),
    (lambda: la.RIQN(criterion="absolute"), r"RIQN takes no criterion: .*tol=la\.peers\.Absolute"),
    (lambda: la.Newton(criterion="scaled"), "Newton takes no criterion: leave it out"),
])
def test_an_old_argument_names_what_to_write_instead(call, instead):
    with pytest.raises(TypeError, match=instead):
        call()


@pytest.mark.parametrize("name", ["SVI", "Absolute", "Broyden", "DenseNewton"])
def test_a_peer_that_is_looked_for_at_the_top_is_pointed_to(name):
    assert name in la.peers.__all__
    with pytest.raises(AttributeError, match=rf"'{name}': it is leastaction\.peers\.{name}"):
        getattr(la, name)


def test_svi_names_the_joint_it_does_not_know_and_refuses_wrenches():
    method = la.peers.SVI()
    with pytest.raises(ValueError, match="'top'"):
        la.simulate(la.library.spinning_top(), steps=1, integrator=method)
    with pytest.raises(ValueError, match="wrenches"):
        la.simulate(gentle(), steps=1, integrator=method, wrench=np.ones((4, 6)))


def test_a_failed_search_is_rescued():
    """The rescue is for the residual of DRNEA, whoever searched for its root."""
    method = la.Variational(root_finder=la.peers.Broyden(max_iterations=6))
    traj = la.simulate(la.library.chain(6), dt=4e-3, duration=1.0, integrator=method)
    assert (traj.status > la.Status.STRUGGLED).any()
    assert traj.max_energy_error < 0.1


@pytest.mark.parametrize("residual", RESIDUALS)
def test_a_step_without_a_root_keeps_the_last_good_state(residual):
    model = la.library.chain(5)
    model.v0 = np.full(5, 300.0)
    method = plain(residual, la.peers.Broyden(max_iterations=10))
    traj = la.simulate(model, dt=1e-2, steps=50, integrator=method, on_failure="truncate")
    assert traj.failure is not None
    assert np.isfinite(traj.failure.q).all() and np.isfinite(traj.failure.p).all()
    np.testing.assert_allclose(la.mass_matrix(model, traj.failure.q) @ traj.failure.v, traj.failure.p, rtol=1e-6)
