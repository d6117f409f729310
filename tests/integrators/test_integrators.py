"""What an integrator promises: its order, momentum, reversibility, symplecticity, and energy without a trend."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

import leastaction as la
from leastaction.integrators import Guess
from leastaction.reference import difference
from reference.trees import random_model, random_state

# Double pendulum from absolute angles (1, 1.5) at rest, by Taylor series at 21 digits: angles and rates at t = 2
ANGLES_AT_2 = (-0.1001434413838809143, -0.6196882375826686179)
RATES_AT_2 = (0.7568693539279359824, 4.9743320900702170956)


def orders(errors):
    """Observed orders of errors at steps h, h/2, h/4, …"""
    return np.log2(np.array(errors[:-1]) / errors[1:])


def pendulum_error(integrator, dt):
    traj = la.simulate(la.library.double_pendulum(), dt=dt, duration=2.0, integrator=integrator)
    error = [np.cumsum(traj.q[-1]) - ANGLES_AT_2, np.cumsum(traj.v[-1]) - RATES_AT_2]
    return np.abs(error).max()


@pytest.mark.parametrize(
    ("integrator", "dt", "order", "within"),
    [(la.Variational(), 1e-3, 2, 0.05), (la.SemiImplicitEuler(), 2.5e-4, 1, 0.05), (la.RungeKutta4(), 1e-2, 4, 0.1)],
    ids=["variational", "semi-implicit Euler", "Runge-Kutta 4"],
)
def test_order_on_the_double_pendulum(integrator, dt, order, within):
    errors = [pendulum_error(integrator, dt / 2**k) for k in range(3)]
    np.testing.assert_allclose(orders(errors), order, atol=within)


def test_double_pendulum_at_ten_seconds():
    traj = la.simulate(la.library.double_pendulum(), dt=1e-3, duration=10.0, integrator=la.RungeKutta4())
    np.testing.assert_allclose(np.cumsum(traj.q[-1]), (-1.1815353147407161535, -0.9767003929128072994), atol=1e-8)
    np.testing.assert_allclose(np.cumsum(traj.v[-1]), (1.767292963343013482, -1.5503968131445068733), atol=1e-8)


def final_poses(model, integrator, dt, duration=0.8):
    traj = la.simulate(model, dt=dt, duration=duration, integrator=integrator, record_every=round(duration / dt))
    return la.poses(model, traj.q[-1])


def test_order_on_a_tree_of_ball_joints():
    """Against Runge–Kutta 4 with a tiny step, which is trusted because its own order is 4."""
    model = la.library.tree(depth=3, branching=2, joint="ball")
    exact = final_poses(model, la.RungeKutta4(), 5e-4)

    def errors(integrator, dt):
        return [np.abs(final_poses(model, integrator, dt / 2**k) - exact).max() for k in range(3)]

    np.testing.assert_allclose(orders(errors(la.RungeKutta4(), 0.008)), 4, atol=0.1)
    np.testing.assert_allclose(orders(errors(la.Variational(), 0.005)), 2, atol=0.05)
    np.testing.assert_allclose(orders(errors(la.SemiImplicitEuler(), 0.0005)), 1, atol=0.05)


def test_floating_ragdoll_keeps_its_momentum():
    model = la.library.ragdoll()
    model.gravity = (0, 0, 0)
    traj = la.simulate(model, dt=1e-3, steps=100_000, record_every=100_000)
    spread = traj.momentum_range[1] - traj.momentum_range[0]
    angular, linear = np.linalg.norm(traj.momentum[0].reshape(2, 3), axis=1)
    assert spread[:3].max() < 1e-9 * angular
    assert spread[3:].max() < 1e-9 * linear
    assert traj.status.min() >= 0


def conservative(rng, n, **options):
    """A random tree with springs and armatures but no damping."""
    model = random_model(rng, n, passive=False, **options)
    tree = la.Model(gravity=model.gravity)
    for b in model.bodies:
        joint = b.joint if isinstance(b.joint, la.Fixed) else replace(b.joint, stiffness=3.0, armature=0.1)
        tree.add_body(b.name, b.parent, joint, b.position, b.quaternion, b.inertia)
    return tree


@pytest.mark.parametrize("seed", range(6))
def test_a_step_back_undoes_a_step(seed):
    rng = np.random.default_rng(seed)
    model = conservative(rng, 6)
    q, v = random_state(rng, model)
    p = la.mass_matrix(model, q) @ v
    back_q, back_p = la.variational_step(model, *la.variational_step(model, q, p, 0.01), -0.01)
    np.testing.assert_allclose(difference(model, q, back_q), 0, atol=1e-11)
    np.testing.assert_allclose(back_p, p, rtol=0, atol=1e-11 * np.abs(p).max())


def bracket(x, y):
    """Lie bracket of rotation vectors (3,), or of twists (6,)."""
    turn = np.cross(x[:3], y[:3])
    return turn if len(x) == 3 else np.concatenate([turn, np.cross(x[:3], y[3:]) + np.cross(x[3:], y[:3])])


def symplectic_form(model, p):
    """Ω(p) = [[B, 1], [−1, 0]], B_ab = ⟨p, [e_a, e_b]⟩ in the block of each ball or free joint."""
    B, one = np.zeros((model.nv, model.nv)), np.eye(model.nv)
    for body in model.bodies:
        at = model.v_slice(body.name)
        if isinstance(body.joint, la.Ball | la.Free):
            basis = np.eye(body.joint.nv)
            B[at, at] = [[p[at] @ bracket(a, b) for b in basis] for a in basis]
    return np.block([[B, one], [-one, 0 * one]])


def test_the_step_is_symplectic():
    """JᵀΩ(p1)J = Ω(p0) with body-frame variations, on a free root, a ball joint, a hinge and a spring."""
    rng = np.random.default_rng(3)
    inertia = la.Inertia(1.0, (0.1, 0.2, -0.3), np.diag([0.2, 0.3, 0.4]))
    model = la.Model()
    model.add_body("root", joint=la.Free(armature=0.1), inertia=inertia)
    model.add_body("arm", "root", la.Ball(stiffness=2.0, armature=0.05), (0.3, 0.1, 0.2), inertia=inertia)
    model.add_body("hand", "arm", la.Revolute((1, 2, 3), stiffness=1.0), (0.0, 0.5, 0.1), inertia=inertia)
    q0, v0 = random_state(rng, model)
    p0, h, eps, nv = la.mass_matrix(model, q0) @ (3 * v0), 0.05, 1e-5, model.nv
    q1, p1 = la.variational_step(model, q0, p0, h)
    columns = []
    for step in eps * np.eye(2 * nv):
        ends = [la.variational_step(model, la.increment(model, q0, s[:nv]), p0 + s[nv:], h) for s in (step, -step)]
        moved = [np.concatenate([difference(model, q1, q), p]) for q, p in ends]
        columns.append((moved[0] - moved[1]) / (2 * eps))
    J = np.transpose(columns)
    before, after = symplectic_form(model, p0), symplectic_form(model, p1)
    np.testing.assert_allclose(J.T @ after @ J, before, rtol=0, atol=1e-6)
    assert np.abs(after - before).max() > 1e-2  # the canonical Ω would not do


def energy_trend(traj):
    """Slope × duration of 20 block means of the energy, its standard error, and the rms of the energy."""
    energy = traj.energy[1:]
    means = energy[: len(energy) // 20 * 20].reshape(20, -1).mean(axis=1)
    x = np.linspace(-0.5, 0.5, 20)
    slope = x @ means / (x @ x)
    scatter = np.sqrt(np.sum((means - means.mean() - slope * x) ** 2) / 18 / (x @ x))
    return abs(slope), scatter, energy.std()


@pytest.mark.parametrize("steps", [100_000, pytest.param(1_000_000, marks=pytest.mark.soak)])
def test_energy_has_no_trend(steps):
    traj = la.simulate(la.library.paper_chain(10), dt=1e-3, steps=steps, record_every=10)
    slope, scatter, rms = energy_trend(traj)
    assert slope < max(3 * scatter, rms)
    assert traj.max_energy_error < 1e-3


def test_semi_implicit_euler_does_worse():
    """The other side of the demonstration: at the same step its energy error is larger by far."""
    ours, theirs = (la.simulate(la.library.paper_chain(10), dt=1e-3, duration=5.0, integrator=i).max_energy_error
                    for i in (la.Variational(), la.SemiImplicitEuler()))
    assert theirs > 20 * ours


@pytest.mark.parametrize("name", ["ragdoll", "paper_chain", "chain"])
def test_guesses_and_stopping_rules_reach_the_same_trajectory(name):
    model = la.library.by_name(name)
    reference = la.simulate(model, dt=1e-3, steps=200)
    for guess in get_args(Guess):
        for tol in (1e-12, la.peers.Absolute(1e-12)):
            integrator = la.Variational(guess=guess, root_finder=la.RIQN(tol=tol))
            traj = la.simulate(model, dt=1e-3, steps=200, integrator=integrator)
            np.testing.assert_allclose(traj.q, reference.q, rtol=0, atol=1e-9, err_msg=f"{guess}, {tol}")


@pytest.mark.parametrize("dt", [2e-3, 5e-3, 1e-2])
def test_no_step_jumps_to_a_spurious_root(dt):
    """A whip resolved by few steps has several roots; on the branch that continues the motion, det ∂f/∂q > 0."""
    model = la.library.chain(10)
    try:
        traj = la.simulate(model, dt=dt, duration=2.4)
    except la.StepError as error:
        traj = la.simulate(model, dt=dt, steps=error.step)
    whole = np.flatnonzero(traj.status != la.Status.SUBSTEPPED)
    signs = [np.linalg.slogdet(la.discrete_jacobian(model, traj.q[k], traj.q[k], traj.q[k + 1], dt))[0] for k in whole]
    assert whole[np.less(signs, 0)].tolist() == []
