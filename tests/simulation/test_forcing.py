"""Control, wrenches, springs, damping and armature inside the variational step, against closed forms."""

import numba
import numpy as np
import pytest

import leastaction as la
from reference.trees import random_model, random_state

Z = (0, 0, 1)
MASS, INERTIA = 2.0, 0.3


def oscillator(kind, **passive):
    """One body on one joint without gravity, and the place of the coordinate that swings."""
    joint = kind(**passive) if kind in (la.Ball, la.Free) else kind(axis=Z, **passive)
    model = la.Model(gravity=(0, 0, 0))
    model.add_body("body", joint=joint, inertia=la.Inertia(MASS, matrix=INERTIA * np.eye(3)))
    return model


def deflected(model, kind, x):
    """The configuration at deflection x along or about z."""
    epsilon = np.zeros(model.nv)
    epsilon[{la.Ball: 2, la.Free: 5}.get(kind, 0)] = x
    return la.increment(model, model.q0, epsilon)


def deflections(traj, kind):
    if kind is la.Ball:
        return 2 * np.arctan2(traj.q[:, 3], traj.q[:, 0])
    return traj.q[:, 2 if kind is la.Free else 0]


JOINTS = {la.Prismatic: MASS, la.Revolute: INERTIA, la.Ball: INERTIA, la.Free: MASS}


@pytest.mark.parametrize("stiffness", [4.0, 4e6])
@pytest.mark.parametrize(("kind", "inertia"), JOINTS.items())
def test_spring_has_the_exact_discrete_frequency(kind, inertia, stiffness):
    """The midpoint rule turns ω0 into ω with tan(ωh/2) = h ω0/2, at any stiffness; armature adds inertia."""
    h, x0, armature = 0.01, 0.4, 0.2
    model = oscillator(kind, stiffness=stiffness, armature=armature)
    traj = la.simulate(model, deflected(model, kind, x0), dt=h, steps=300)
    omega = 2 / h * np.arctan(h / 2 * np.sqrt(stiffness / (inertia + armature)))
    np.testing.assert_allclose(deflections(traj, kind), x0 * np.cos(omega * traj.t), rtol=0, atol=1e-9)
    assert np.isclose(la.energy(model, deflected(model, kind, x0)), 0.5 * stiffness * x0**2, rtol=1e-14)


@pytest.mark.parametrize("damping", [0.5, 50.0])
@pytest.mark.parametrize(("kind", "inertia"), JOINTS.items())
def test_damped_oscillator_follows_its_discrete_solution(kind, inertia, damping):
    """(a + c/2) x₊ − 2b x + (a − c/2) x₋ = 0, a = m/h + hk/4, b = m/h − hk/4, from rest: under- and overdamped. What
    the step does not resolve is seen a time s ahead: m + s c, c + s k, and a start with −s k x."""
    h, x0, k = 0.01, 0.4, 30.0
    model = oscillator(kind, stiffness=k, damping=damping)
    traj = la.simulate(model, deflected(model, kind, x0), dt=h, steps=300)
    y = min(1.0, 0.5 * inertia / (h * damping))
    s = h * (0.5 - 0.5 * y * y * (3 - 2 * y))
    a, b, c = (inertia + s * damping) / h + h * k / 4, (inertia + s * damping) / h - h * k / 4, (damping + s * k) / 2
    x = [x0, x0 * (b + c - s * k) / (a + c)]
    for _ in range(299):
        x.append((2 * b * x[-1] - (a - c) * x[-2]) / (a + c))
    np.testing.assert_allclose(deflections(traj, kind), x, rtol=0, atol=1e-11)
    assert (np.diff(traj.energy[::25]) < 0).all()


def test_damping_brings_a_tree_to_rest_and_the_energy_it_takes_is_accounted_for():
    model = la.Model()
    for k in range(3):
        model.add_body(f"rod{k}", f"rod{k - 1}" if k else None, la.Ball(damping=0.4), (0, 0, -0.5 * (k > 0)),
                       inertia=la.Inertia.capsule(1.0, 0.05, 0.5, com=(0, 0, -0.25)))
    model.v0 = np.tile([1.0, 2.0, 0.5], 3)
    lost = []
    for h in (5e-4, 2.5e-4):   # which resolve the twist about the axis of a rod
        traj = la.simulate(model, dt=h, duration=2.0)
        power = 0.4 * np.sum(traj.v**2, axis=1)
        taken = h * (power.sum() - 0.5 * (power[0] + power[-1]))
        lost.append(abs(traj.energy[0] - traj.energy[-1] - taken))
    assert traj.energy[-1] < traj.energy[0]
    np.testing.assert_allclose(np.log2(lost[0] / lost[1]), 2, atol=0.1)
    rest = la.simulate(model, dt=5e-3, duration=300.0, record_every=1000)
    assert np.abs(rest.v[-1]).max() < 1e-6


def controls():
    """The same forces as an array, a Python function and a compiled one."""
    def law(t, q, v):
        return np.array([0.5 - t, 2.0 * t * t, 0.25])

    return [np.array([law(k * 1e-3, None, None) for k in range(300)]), law, numba.njit(law)]


@pytest.mark.parametrize("integrator", [la.Variational, la.SemiImplicitEuler, la.RungeKutta4, la.DormandPrince8])
def test_array_python_and_compiled_control_agree_to_the_bit(integrator):
    model = la.library.paper_chain(3)
    runs = [la.simulate(model, dt=1e-3, steps=300, control=c, integrator=integrator()) for c in controls()]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.q, runs[0].q)
        np.testing.assert_array_equal(run.p, runs[0].p)
        np.testing.assert_array_equal(run.energy, runs[0].energy)


def test_python_and_compiled_feedback_agree_to_the_bit():
    def law(t, q, v):
        return -0.3 * v - 2.0 * q

    model = la.library.paper_chain(4)
    by_python, compiled = (la.simulate(model, dt=1e-3, steps=300, control=c, record_every=50)
                           for c in (law, numba.njit(law)))
    np.testing.assert_array_equal(compiled.q, by_python.q)
    np.testing.assert_array_equal(compiled.v, by_python.v)
    assert np.abs(by_python.q[-1] - la.simulate(model, dt=1e-3, steps=300).q[-1]).max() > 1e-3


def test_held_control_is_the_array_repeated():
    model, tau = la.library.paper_chain(3), np.array([1.0, -2.0, 0.5])
    held, repeated = (la.simulate(model, dt=1e-3, steps=100, control=c) for c in (tau, np.tile(tau, (100, 1))))
    np.testing.assert_array_equal(held.q, repeated.q)


def test_wrench_along_the_joint_is_the_joint_force():
    """A moment about a hinge, and any wrench on a free body, act exactly as the joint force."""
    hinge = la.library.pendulum()
    by_tau = la.simulate(hinge, dt=1e-2, steps=200, control=[0.7])
    by_wrench = la.simulate(hinge, dt=1e-2, steps=200, wrench=[[0, 0.7, 0, 0, 0, 0]])
    np.testing.assert_allclose(by_wrench.q, by_tau.q, rtol=0, atol=1e-11)
    body = la.Model()
    body.add_body("body", joint=la.Free(), position=(1, 2, 3), quaternion=(0.6, 0, 0.8, 0),
                  inertia=la.Inertia(1.0, (0.1, 0.2, 0.3), np.diag([1.0, 2.0, 2.5])))
    body.v0 = [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]
    W = np.array([0.3, -0.2, 0.5, 1.0, 2.0, -1.0])
    by_tau = la.simulate(body, dt=1e-2, steps=200, control=W)
    by_wrench = la.simulate(body, dt=1e-2, steps=200, wrench=W[None])
    np.testing.assert_allclose(by_wrench.q, by_tau.q, rtol=0, atol=1e-10)
    function = la.simulate(body, dt=1e-2, steps=200, wrench=lambda t, q, v: W[None])
    np.testing.assert_array_equal(function.q, by_wrench.q)


def test_forces_and_wrenches_are_second_order():
    """Constant joint forces and body wrenches on a tree with springs, damping and armature, against Runge–Kutta 4."""
    rng = np.random.default_rng(2)
    model = random_model(rng, 6, several_roots=False)
    q, v = random_state(rng, model)
    tau, wrench = rng.normal(size=model.nv), rng.normal(size=(model.nb, 6))

    def final(integrator, h):
        traj = la.simulate(model, q, v, dt=h, duration=0.4, control=tau, wrench=wrench, integrator=integrator)
        return la.poses(model, traj.q[-1])

    exact = final(la.RungeKutta4(), 5e-4)
    error = [np.abs(final(la.Variational(), h) - exact).max() for h in (4e-3, 2e-3, 1e-3)]
    np.testing.assert_allclose(np.log2(np.divide(error[:-1], error[1:])), 2, atol=0.05)


def test_work_of_the_control_is_the_energy_gained():
    """Constant joint forces on hinges do the work τ·Δq; what is missing falls with h²."""
    model, tau = la.library.paper_chain(4), np.array([3.0, -1.0, 2.0, 0.5])
    missing = []
    for h in (2e-3, 1e-3):
        traj = la.simulate(model, dt=h, duration=1.0, control=tau)
        missing.append(traj.energy[-1] - traj.energy[0] - tau @ (traj.q[-1] - traj.q[0]))
    np.testing.assert_allclose(np.log2(missing[0] / missing[1]), 2, atol=0.1)
    assert abs(traj.energy[-1] - traj.energy[0]) > 100 * abs(missing[1])


@pytest.mark.parametrize(("options", "word"), [
    ({}, "energy error"),
    ({"control": lambda t, q, v: [1.0, 0.0]}, "energy change"),
    ({"wrench": np.ones((2, 6))}, "energy change"),
], ids=["free", "control", "wrench"])
def test_work_is_not_reported_as_an_error(options, word):
    traj = la.simulate(la.library.double_pendulum(), steps=5, **options)
    assert traj.report().splitlines()[1].split("  ")[1] == word
    assert f"{word} within" in repr(traj)
