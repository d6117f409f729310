"""Batches: each member is its own simulation, whatever runs beside it."""

import numpy as np
import pytest

import leastaction as la

FIELDS = ("q", "v", "p", "energy", "momentum", "iterations", "residual", "status")


def starts(model, count):
    rng = np.random.default_rng(0)
    return model.q0 + 0.1 * rng.normal(size=(count, model.nq)), rng.normal(size=(count, model.nv))


def same(a, b):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_members_are_bit_identical_to_single_runs(threads):
    model = la.library.chain(4)
    q, v = starts(model, 7)
    many = la.simulate_many(model, q, v, dt=1e-3, steps=50, threads=threads)
    assert len(many) == 7
    for b, member in enumerate(many):
        same(member, la.simulate(model, q[b], v[b], dt=1e-3, steps=50))


def test_a_failed_member_does_not_stop_the_others():
    model = la.library.chain(3)
    q, v = starts(model, 4)
    v[2] = 1e5  # several turns a step
    options = {"dt": 1e-3, "steps": 20, "integrator": la.Variational(rescue=False, max_substeps=1)}
    many = la.simulate_many(model, q, v, **options)
    assert [member.failure is not None for member in many] == [False, False, True, False]
    assert len(many[2]) < 21
    assert all(len(many[b]) == 21 for b in (0, 1, 3))
    assert np.isfinite(many[2].q).all()


def test_gravity_mass_and_control_of_each_member():
    model = la.library.chain(2)
    gravity, mass = [[0, 0, -9.81], [0, 0, -1.62]], [[1.0, 1.0], [1.0, 3.0]]
    control = [None, lambda t, q, v: -v]
    many = la.simulate_many(model, gravity=gravity, mass=mass, control=control, dt=1e-3, steps=30)
    for member, g, m, law in zip(many, gravity, mass, control, strict=True):
        alone = la.Model(g)
        for body, own in zip(model.bodies, m, strict=True):
            inertia = la.Inertia(own, body.inertia.com, body.inertia.matrix * own / body.inertia.mass)
            alone.add_body(body.name, body.parent, body.joint, body.position, body.quaternion, inertia)
        same(member, la.simulate(alone, model.q0, model.v0, dt=1e-3, steps=30, control=law))


@pytest.mark.parametrize(("arguments", "said"), [
    ({}, "give at least one of"),
    ({"q": np.zeros((3, 2)), "v": np.zeros((4, 2))}, "q has 3, v has 4"),
    ({"q": np.zeros((3, 2)), "threads": 0}, "threads"),
    ({"q": np.zeros((3, 2)), "on_failure": "raise"}, "on_failure"),
    ({"gravity": np.zeros((2, 2))}, "broadcast"),
])
def test_bad_input(arguments, said):
    with pytest.raises(ValueError, match=said):
        la.simulate_many(la.library.chain(2), dt=1e-3, steps=1, **arguments)
