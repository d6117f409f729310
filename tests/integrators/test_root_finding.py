"""The root finder on chains that are hard to follow: how fast it converges, at what cost, and that no step fails."""

from typing import get_args

import numpy as np
import pytest

import leastaction as la
from leastaction.integrators import Guess
from leastaction.integrators.composition import guess_weights, stages
from reference.trees import OTHERS, random_model, random_state

GUESSES = get_args(Guess)


def residuals(model, q, v, h, retraction="exp", **finder):
    """Scaled residuals of the iterates of one step, from the poorest guess; the first is of order one."""
    found = []
    for count in range(1, 30):
        newton = la.Newton(max_iterations=count, tol=1e-14, **finder)
        plain = la.Variational(root_finder=newton, guess="current", retraction=retraction, rescue=None)
        try:
            found.append(la.simulate(model, q, v, dt=h, steps=1, integrator=plain).residual[0])
            break
        except la.StepError as error:
            found.append(error.residual)
    return np.array(found)


@pytest.mark.parametrize("retraction", ["exp", "split"])
@pytest.mark.parametrize("seed", range(6))
def test_newton_converges_quadratically(seed, retraction):
    """Every residual is less than the square of the one before, down to round-off; the chord form is linear."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, 6, kinds=OTHERS)
    q, v = random_state(rng, model)
    full = residuals(model, q, v, 0.05, retraction, chord=False)
    assert full[0] > 0.5
    assert full[-1] <= 1e-14
    assert len(full) <= 5
    assert (full[1:] < full[:-1] ** 2 + 1e-14).all()
    # Where nothing moves yet, the scale is that of gravity alone; here the first residual in the scale of the others
    h, mass = 0.05, sum(body.inertia.mass for body in model.bodies)
    weight = h**2 * mass * model.gravity @ model.gravity
    seen = full[full > 1e-13]
    seen[0] *= np.sqrt(weight / (weight + 4 * la.kinetic_energy(model, q, v)))
    assert 1.5 < np.log(seen[-1] / seen[-2]) / np.log(seen[-2] / seen[-3]) < 2.5
    chord = residuals(model, q, v, 0.05, retraction)
    assert len(chord) > len(full) + 1
    middle = chord[2:-2]
    assert (middle[1:] > 1e-3 * middle[:-1]).all()


@pytest.mark.parametrize(("n", "riqn"), [(10, 5), (100, 4)])
def test_evaluations_on_the_hard_chain(n, riqn):
    """At 1 ms and a scaled tolerance of 1e-12, from the first to the fourth second, beside the paper's root finder."""
    def count(finder):
        traj = la.simulate(la.library.chain(n), dt=1e-3, duration=4.0, record_every=1000,
                           integrator=la.Variational(root_finder=finder))
        assert (traj.substeps == 1).all()
        return traj.iterations[1:].sum() / 3000

    assert la.Variational().root_finder == la.Newton(tol=1e-12)
    newton, full, paper = (count(finder) for finder in (la.Newton(), la.Newton(chord=False), la.RIQN()))
    print(f"n = {n}: Newton in its chord form {newton:.2f} evaluations a step, full {full:.2f}, RIQN {paper:.2f}")
    assert newton <= 3.5
    assert full <= newton
    assert paper > riqn > newton


def string(n, root=None):
    """A chain of n rods on ball joints, 10 cm each, in random motion."""
    length = 0.1
    rod = la.Inertia(1.0, (length / 2, 0, 0), np.diag([5e-5, length**2 / 12, length**2 / 12]))
    model = la.Model(name="string")
    for i in range(n):
        model.add_body(f"rod{i}", f"rod{i - 1}" if i else None, (root or la.Ball()) if i == 0 else la.Ball(),
                       (length if i else 0, 0, 0), inertia=rod)
    model.v0 = 0.3 * np.random.default_rng(0).normal(size=model.nv)
    return model


def check_run(model, dt, duration, guess, **options):
    """Every step was made, and what it took is told."""
    traj = la.simulate(model, dt=dt, duration=duration, record_every=10,
                       integrator=la.Variational(guess=guess, **options))
    assert traj.steps == round(duration / dt)
    assert traj.status.min() >= 0
    assert all(np.isfinite(x).all() for x in (traj.q, traj.v, traj.p, traj.energy))
    tally = traj.tally
    np.testing.assert_array_equal(traj.substeps > 1, traj.status == la.Status.SUBSTEPPED)
    assert tally.divided == tally.statuses.get(la.Status.SUBSTEPPED, 0)
    if tally.divided:
        assert f"{tally.divided:7d} steps    {la.Status.SUBSTEPPED.meaning}" in traj.report()
    print(f"{guess}: {tally.evaluations / tally.steps:.2f} evaluations a step, {tally.divided} of {tally.steps} steps "
          f"divided, energy within {traj.max_energy_error:.2g}")
    return traj


@pytest.mark.parametrize("finder", [la.Newton(), la.RIQN()], ids=["newton", "riqn"])
@pytest.mark.parametrize("guess", GUESSES)
def test_hard_chain_at_five_milliseconds(guess, finder):
    """Whips that some of these steps cannot follow whole: 30 s from rest."""
    traj = check_run(la.library.chain(10), 5e-3, 30.0, guess, root_finder=finder)
    assert traj.tally.divided < 0.25 * traj.steps
    assert traj.max_energy_error < 1


STIFF = [pytest.param(0.24, guess) for guess in GUESSES]
STIFF += [pytest.param(2.0, guess, marks=pytest.mark.soak) for guess in GUESSES]


@pytest.mark.parametrize(("duration", "guess"), STIFF)
def test_stiff_chain(duration, guess):
    """A thousand links of 1 cm from rest: from 0.23 s on, the end of it whips faster than 1 ms can follow."""
    traj = check_run(la.library.chain(1000, length=0.01), 1e-3, duration, guess)
    assert (traj.substeps > 1).any()
    assert traj.max_energy_error < 1e-2


@pytest.mark.parametrize("guess", GUESSES)
def test_chain_of_a_hundred_ball_joints(guess):
    traj = check_run(string(100), 1e-3, 2.0, guess)
    assert traj.max_energy_error < 1e-3


@pytest.mark.parametrize("guess", GUESSES)
def test_floating_chain_of_a_hundred_bodies(guess):
    """Falling freely; its momentum changes by the weight alone."""
    model = string(100, la.Free())
    traj = check_run(model, 1e-3, 2.0, guess)
    assert traj.max_energy_error < 1e-4
    impulse = np.array([0, 0, -9.81 * 100 * 2.0])
    change = traj.momentum[-1, 3:] - traj.momentum[0, 3:]
    np.testing.assert_allclose(change, impulse, rtol=0, atol=1e-9 * np.abs(impulse).max())


@pytest.mark.parametrize("root_finder", [la.Newton, la.RIQN])
@pytest.mark.parametrize("retraction", ["exp", "split"])
def test_a_residual_that_was_only_predicted_is_within_the_tolerance(root_finder, retraction):
    """Momenta after a step at the default tolerance against those at round-off, in the norm of the stopping rule."""
    model = la.library.chain(10)
    traj = la.simulate(model, dt=1e-3, duration=3.0, record_every=50)
    worst = 0.0
    for q, p in zip(traj.q[10:], traj.p[10:], strict=True):
        methods = [la.Variational(root_finder=root_finder(tol), retraction=retraction) for tol in (1e-12, 1e-16)]
        ends = [la.variational_step(model, q, p, 1e-3, method) for method in methods]
        M = la.mass_matrix(model, ends[1][0])
        error, whole = ends[0][1] - ends[1][1], ends[1][1]
        worst = max(worst, np.sqrt(error @ np.linalg.solve(M, error) / (whole @ np.linalg.solve(M, whole))))
    assert worst < 1e-12


def test_a_smooth_motion_is_foreseen():
    """The guess leaves a residual below the tolerance; a sixth past step would amplify round-off beyond it."""
    many = la.simulate(la.library.ragdoll(), dt=2.5e-4, steps=400).iterations[20:]
    assert many.mean() < 1.2


def test_guesses_repeat_polynomials_to_the_last_place():
    """Of equal steps exactly. What LAPACK makes of the same equations misses by 1e-12 on some processors."""
    weights = guess_weights(stages(2))[0]
    t = np.arange(6.0)
    for degree in range(1, 6):
        increments = np.diff(t**degree)[::-1]
        assert weights[degree] @ increments[:5] == 6.0**degree - 5.0**degree
    for order in (4, 6, 8):
        fractions = stages(order)
        ends = np.concatenate([[0.0], np.cumsum(np.tile(fractions, 8))])
        for stage, row in enumerate(guess_weights(fractions)):
            now = 6 * len(fractions) + stage
            for degree in (1, 2):  # stages that go back may end where others did: the third may not be to be had
                t = ends - ends[now]
                increments = t[now - np.arange(5)] ** degree - t[now - 1 - np.arange(5)] ** degree
                missed = row[degree] @ increments - t[now + 1] ** degree
                assert abs(missed) < 1e-15 * (abs(row[degree]) @ abs(increments) + 1)
