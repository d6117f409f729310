"""SVI and its Jacobian against the midpoint action, on random trees of one-DoF joints."""

import numba
import numpy as np
from compiled import JIT
from hypothesis import given, settings

import leastaction as la
from leastaction.compiled import compile_model
from leastaction.kernels.machine.memory import system_as_views
from leastaction.kernels.peers.svi import paths_as_views, paths_of, svi, svi_jacobian
from reference import midpoint
from reference.trees import models, random_model, random_triplet

ONE_DOF = (la.Revolute, la.Prismatic, la.Helical, la.Universal, la.Planar, la.Fixed)
some = settings(max_examples=10 if JIT else 3)
H = 0.02


def _derivatives(system, q0, delta, h, paths, by_v, by_q, jacobian):
    system = system_as_views(system)
    view = paths_as_views(paths)
    twice = svi(system, q0, delta, h, view, (by_v, by_q))
    svi_jacobian(system.tree, system.gravity, h, view, jacobian)
    return twice


derivatives = numba.njit(_derivatives) if JIT else _derivatives


def evaluate(model, q0, q1, h):
    """dL/dv, dL/dq, the Jacobian and the kinetic energy that SVI finds for a step."""
    c = compile_model(model)
    by_v, by_q, J = np.zeros(c.nv), np.zeros(c.nv), np.zeros((c.nv, c.nv))
    paths = paths_of(c.tree.parent, c.workspace(), True)
    twice = derivatives(c.system, q0, q1 - q0, h, paths, by_v, by_q, J)
    return by_v, by_q, J, twice / 2


def check(model, rng):
    _, q0, q1 = random_triplet(rng, model, H)
    middle, rate = (q0 + q1) / 2, (q1 - q0) / H
    bare = without_passive(model)
    by_v, by_q, J, kinetic = evaluate(model, q0, q1, H)
    steps = 1j * 1e-30 * np.eye(model.nv)
    exact_v = np.array([midpoint.lagrangian(bare, middle, rate + s).imag for s in steps]) / 1e-30
    exact_q = np.array([midpoint.lagrangian(bare, middle + s, rate).imag for s in steps]) / 1e-30
    np.testing.assert_allclose(by_v, exact_v, rtol=0, atol=1e-12 * np.abs(exact_v).max())
    np.testing.assert_allclose(by_q, exact_q, rtol=0, atol=1e-12 * max(np.abs(exact_q).max(), np.abs(exact_v).max()))
    assert np.isclose(kinetic, la.kinetic_energy(bare, middle, rate), rtol=1e-12)
    # central differences of the exact momentum, which are good to about nine digits
    columns = []
    for step in 1e-5 * np.eye(model.nv):
        ahead, behind = (midpoint.momenta(model, q0, q1 + s, H, np.zeros(model.nv))[0] for s in (step, -step))
        columns.append((ahead - behind) / 2e-5)
    exact = np.array(columns).T
    np.testing.assert_allclose(J, exact, rtol=0, atol=1e-8 * np.abs(exact).max())


def without_passive(model):
    """The same bodies on joints without springs, damping or armature."""
    bare = la.Model(gravity=model.gravity)
    for body in model.bodies:
        kept = {name: getattr(body.joint, name) for name in ("axis", "axis1", "axis2", "pitch")
                if hasattr(body.joint, name)}
        bare.add_body(body.name, body.parent, type(body.joint)(**kept), body.position, body.quaternion, body.inertia)
    return bare


@some
@given(models(max_n=4, kinds=ONE_DOF))
def test_derivatives_of_the_lagrangian(drawn):
    model, rng = drawn
    check(model, rng)


def test_paths_longer_than_four_and_branching():
    check(random_model(np.random.default_rng(3), 8, kinds=(la.Revolute, la.Helical)), np.random.default_rng(4))


def test_paths_cover_every_link_once():
    parent = np.array([9, 0, 0, 1, 1, 2, 4, 9, 7])
    paths = paths_of(parent, np.zeros(0), False)
    seen = []
    for link in paths.first.tolist():
        while link >= 0:
            seen.append(link)
            link = int(paths.main[link])
    assert sorted(seen) == list(range(9))
    assert paths.width == 4
    assert set(paths.first) == {0, 1, 3, 7}
