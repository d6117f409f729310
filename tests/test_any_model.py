"""Any model, any state, any step: every step is made or refused, and no NaN reaches a result."""

from typing import get_args

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st

import leastaction as la
from leastaction.integrators import Guess
from reference.trees import random_inertia, random_model, random_state

FINDERS = [la.Newton(), la.Newton(chord=False), la.RIQN()]


def scaled(rng, model, decades):
    """The same tree with masses spread over so many decades."""
    tree = la.Model(gravity=model.gravity)
    for b in model.bodies:
        inertia = random_inertia(rng)
        factor = 10.0 ** rng.uniform(-decades / 2, decades / 2)
        inertia = la.Inertia(factor * inertia.mass, inertia.com, factor * inertia.matrix)
        tree.add_body(b.name, b.parent, b.joint, b.position, b.quaternion, inertia)
    return tree


@st.composite
def cases(draw):
    """A model of one to five bodies with masses from 1e-3 to 1e3 kg, a state up to very fast, an integrator, a step."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    model = scaled(rng, random_model(rng, draw(st.integers(1, 5)), passive=draw(st.booleans())), 6)
    q, v = random_state(rng, model)
    integrator = la.Variational(
        root_finder=draw(st.sampled_from(FINDERS)),
        guess=draw(st.sampled_from(get_args(Guess))),
        order=draw(st.sampled_from([2, 2, 4, 6])),
        retraction=draw(st.sampled_from(["exp", "split"])),
        rescue=draw(st.sampled_from([None, la.Rescue(max_substeps=1), la.Rescue()])),
    )
    return model, q, v * 10 ** rng.uniform(-1, 3), 10 ** rng.uniform(-5, -1), integrator


def finite(*arrays):
    return all(np.isfinite(a).all() for a in arrays)


@settings(max_examples=2000)
@given(cases())
def test_every_step_converges_or_raises(case):
    model, q, v, h, integrator = case
    try:
        traj = la.simulate(model, q, v, dt=h, steps=3, integrator=integrator, ignore="damping")
    except la.StepError as error:
        event(f"refused: {error.status}")
        assert finite(error.q, error.v, error.p)
        assert not np.isnan(error.residual)
        assert error.joint in model.names
        return
    except ValueError as error:
        assert integrator.order > 2 and "does not resolve the damping of the joint" in str(error)
        event("refused: damping")
        return
    event(f"made: {la.Status(traj.status.max()).meaning}")
    assert finite(traj.q, traj.v, traj.p, traj.energy, traj.momentum, traj.residual, traj.energy_range)
    assert traj.status.min() >= 0
    assert (traj.residual <= 1e-10).all()
    for at in model.layout.quaternions:
        np.testing.assert_allclose(np.linalg.norm(traj.q[:, at : at + 4], axis=1), 1, rtol=0, atol=1e-12)
    M = la.mass_matrix(model, traj.q[-1])
    p, lost = M @ traj.v[-1], 1e-15 * np.linalg.cond(M)  # bodies may fly far apart
    np.testing.assert_allclose(p, traj.p[-1], rtol=0, atol=max(1e-7, lost) * np.abs(p).max())


def test_hardly_a_case_is_refused_where_everything_is_allowed():
    """Of 200 cases at moderate speed, none."""
    refused = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        model = scaled(rng, random_model(rng, 1 + seed % 5), 6)
        q, v = random_state(rng, model)
        try:
            la.simulate(model, q, v, dt=10 ** rng.uniform(-5, -1.5), steps=3, ignore="damping")
        except la.StepError as error:
            refused.append((seed, str(error)))
    assert refused == []
