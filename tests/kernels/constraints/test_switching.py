"""Rows that a kernel switches off and on."""

import numba
import numpy as np
from mechanisms import four_bar, moving_four_bar

import leastaction as la
from leastaction.kernels.constraints.closed import closed_as_views
from leastaction.kernels.constraints.switching import switch
from leastaction.kernels.machine.compilers import ENTRY


@numba.njit(**ENTRY)
def switch_all(closed, on):
    c = closed_as_views(closed)
    for r in range(c.places.rows):
        switch(c, r, on)


def test_a_loop_that_is_switched_off_is_open_and_one_that_is_switched_on_closes():
    model = four_bar()
    q, v = moving_four_bar(model)
    tree = la.Model(gravity=model.gravity)
    for body in model.bodies:
        tree.add_body(body.name, body.parent, body.joint, position=body.position, inertia=body.inertia)
    sim, free = (la.Simulator(one, q, v, dt=2e-3) for one in (model, tree))
    whole = la.Simulator(model, q, v, dt=2e-3)
    switch_all(sim._engine.base.closed, False)
    sim.step(200)
    free.step(200)
    np.testing.assert_allclose(sim.q, free.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(sim.v, free.v, rtol=0, atol=1e-12)
    assert la.closure(model, sim.q).max() > 0.1
    sim = la.Simulator(model, q, v, dt=2e-3)
    switch_all(sim._engine.base.closed, False)
    sim.step(2)
    assert la.closure(model, sim.q).max() > 1e-6
    switch_all(sim._engine.base.closed, True)
    sim.step(100)
    whole.step(102)
    assert la.closure(model, sim.q).max() < 1e-13
    assert np.abs(la.constraint_jacobian(model, sim.q) @ sim.v).max() < 1e-12
    assert np.abs(sim.q - whole.q).max() < 1e-2


def test_switching_on_what_was_on_changes_no_bit():
    model = four_bar()
    q, v = moving_four_bar(model)
    one, other = (la.Simulator(model, q, v, dt=2e-3) for _ in range(2))
    one.step(20)
    other.step(10)
    switch_all(other._engine.base.closed, True)
    other.step(10)
    np.testing.assert_array_equal(one.q, other.q)
