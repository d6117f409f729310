"""The same motion, told differently, is the same trajectory; the same call gives the same bits."""

import numpy as np
import pytest

import leastaction as la
from leastaction.reference import lie
from reference.trees import random_model, random_quaternion, random_state

INTEGRATORS = [la.Variational(), la.SemiImplicitEuler(), la.RungeKutta4(), la.DormandPrince8()]
each_integrator = pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda i: type(i).__name__)


def rebuilt(model, change):
    """A model of the bodies that `change` makes of each body, given as arguments of add_body."""
    made = la.Model(gravity=model.gravity)
    for b in model.bodies:
        for arguments in change(b):
            made.add_body(*arguments)
    return made


def moved_poses(model, q, v, integrator, names):
    """Poses of the named bodies after 50 steps."""
    traj = la.simulate(model, q, v, dt=2e-3, steps=50, integrator=integrator, record_every=50)
    T = la.poses(model, traj.q[-1])
    return T[[model.body_index(name) for name in names]]


def drawn(seed, **options):
    rng = np.random.default_rng(seed)
    model = random_model(rng, 7, **options)
    return rng, model, *random_state(rng, model)


@each_integrator
@pytest.mark.parametrize("seed", range(3))
def test_splitting_bodies_by_fixed_joints(seed, integrator):
    rng, model, q, v = drawn(seed)

    def halves(b):
        """Half of the body stays, the other half is welded on in a frame of its own."""
        half = la.Inertia(b.inertia.mass / 2, b.inertia.com, b.inertia.matrix / 2)
        position, quaternion = rng.normal(size=3), random_quaternion(rng)
        back = lie.inverse(lie.pose(lie.rotation(quaternion), position))
        yield b.name, b.parent, b.joint, b.position, b.quaternion, half
        yield f"{b.name}'", b.name, la.Fixed(), position, quaternion, half.moved(back[:3, 3], lie.quat_inv(quaternion))

    expected = moved_poses(model, q, v, integrator, model.names)
    got = moved_poses(rebuilt(model, halves), q, v, integrator, model.names)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-11)
    assert np.abs(expected - la.poses(model, q)).max() > 1e-3


@each_integrator
@pytest.mark.parametrize("seed", range(3))
def test_order_of_adding_bodies(seed, integrator):
    rng, model, q, v = drawn(seed)
    order = rng.permutation(model.nb)
    shuffled = la.Model(gravity=model.gravity)
    for b in (model.bodies[k] for k in order):
        shuffled.add_body(b.name, b.parent, b.joint, b.position, b.quaternion, b.inertia)
    q_there = np.concatenate([q[model.q_slice(model.names[k])] for k in order])
    v_there = np.concatenate([v[model.v_slice(model.names[k])] for k in order])
    expected = moved_poses(model, q, v, integrator, model.names)
    got = moved_poses(shuffled, q_there, v_there, integrator, model.names)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-11)


@each_integrator
@pytest.mark.parametrize("seed", range(3))
def test_turning_the_world(seed, integrator):
    """All roots and gravity turned and shifted: every pose turns and shifts with them."""
    rng, model, q, v = drawn(seed)
    quaternion, position = random_quaternion(rng, 3.0), rng.normal(size=3)
    world = lie.pose(lie.rotation(quaternion), position)

    def turned(b):
        if b.parent is not None:
            yield b.name, b.parent, b.joint, b.position, b.quaternion, b.inertia
        else:
            place = world[:3, :3] @ b.position + position
            yield b.name, None, b.joint, place, lie.quat_mul(quaternion, b.quaternion), b.inertia

    other = rebuilt(model, turned)
    other.gravity = world[:3, :3] @ model.gravity
    expected = world @ moved_poses(model, q, v, integrator, model.names)
    np.testing.assert_allclose(moved_poses(other, q, v, integrator, model.names), expected, rtol=0, atol=1e-11)


@each_integrator
def test_repeating_a_run_gives_the_same_bits(integrator):
    runs = [la.simulate(la.library.ragdoll(), dt=1e-3, steps=200, integrator=integrator) for _ in range(2)]
    for name in ("t", "q", "v", "p", "energy", "momentum", "iterations", "residual", "status"):
        np.testing.assert_array_equal(getattr(runs[0], name), getattr(runs[1], name), err_msg=name)


@each_integrator
@pytest.mark.parametrize("every", [7, 200, 1000])
def test_recording_does_not_change_the_numbers(integrator, every):
    model = la.library.ragdoll()
    whole, sparse = (la.simulate(model, dt=1e-3, steps=200, integrator=integrator, record_every=e) for e in (1, every))
    for name in ("t", "q", "v", "p", "energy", "momentum"):
        np.testing.assert_array_equal(getattr(sparse, name), getattr(whole, name)[::every], err_msg=name)
    starts = np.arange(0, 200, every)
    np.testing.assert_array_equal(sparse.iterations, np.add.reduceat(whole.iterations, starts))
    for name in ("residual", "status", "substeps"):
        np.testing.assert_array_equal(getattr(sparse, name), np.maximum.reduceat(getattr(whole, name), starts), name)
    np.testing.assert_allclose(whole.energy_range, (whole.energy.min(), whole.energy.max()), rtol=1e-14)
    np.testing.assert_allclose(
        whole.momentum_range, (whole.momentum.min(axis=0), whole.momentum.max(axis=0)), rtol=1e-14)
    for name in ("energy_range", "momentum_range"):
        (low, high), (least, most) = getattr(sparse, name), getattr(whole, name)
        assert np.all(low >= least) and np.all(high <= most), name
        np.testing.assert_allclose(high - low, most - least, rtol=0.02, atol=1e-12, err_msg=name)
    assert sparse.peak_kinetic_energy == whole.peak_kinetic_energy


@pytest.mark.parametrize("every", [50, 2000])
def test_peaks_between_kept_nodes_are_not_overlooked(every):
    """The hard chain, whose energy errs in short peaks."""
    model = la.library.chain(5)
    whole, sparse = (la.simulate(model, dt=1e-3, steps=2000, record_every=e) for e in (1, every))
    np.testing.assert_array_equal(sparse.q[-1], whole.q[-1])
    assert 0.8 * whole.max_energy_error < sparse.max_energy_error <= 1.001 * whole.max_energy_error


@each_integrator
def test_simulator_makes_the_steps_of_simulate(integrator):
    model, tau = la.library.tree(2, 2, joint="revolute"), np.array([0.1, -0.2, 0.3])
    wrench = np.random.default_rng(0).normal(size=(3, 6))
    traj = la.simulate(model, dt=1e-3, steps=100, control=tau, wrench=wrench, integrator=integrator)
    sim = la.Simulator(model, dt=1e-3, integrator=integrator)
    for n in (1, 2, 0, 30, 67):
        sim.step(n, tau, wrench)
        at = sim.steps
        for name in ("t", "q", "v", "p", "energy"):
            np.testing.assert_array_equal(getattr(sim, name), getattr(traj, name)[at], err_msg=name)
    assert sim.status == la.Status.CONVERGED
    assert sim.t == 0.1


def test_forces_of_an_earlier_call_are_gone():
    """A wrench or joint force of one call to step() does not linger in the next."""
    model = la.library.paper_chain(3)
    sim = la.Simulator(model, dt=1e-3)
    sim.step(10, tau=[1.0, 2.0, 3.0], wrench=np.ones((3, 6)))
    fresh = la.Simulator(model, sim.q, sim.v, dt=1e-3)
    sim.step(10)
    fresh.step(10)
    np.testing.assert_allclose(sim.q, fresh.q, rtol=0, atol=1e-12)
