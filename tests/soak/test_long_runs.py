"""Runs of minutes: how the energy fares over a million steps. `make soak` prints the numbers with -s."""

import numpy as np
import pytest

import leastaction as la

pytestmark = pytest.mark.soak


def energy_errors(model, length, q=None, **options):
    """Energy error of a run, relative to m g l n²/2 with m = 1 kg; and the trajectory."""
    n = model.nb
    order = options.pop("order")
    traj = la.simulate(model, q, integrator=la.Variational(order=order), **options)
    assert traj.status.min() >= 0
    return (traj.energy - traj.energy[0]) / (9.81 * length * n**2 / 2), traj


def rms(x):
    return np.sqrt(np.mean(np.square(x)))


def describe(name, error, traj):
    print(f"{name}: energy error rms {rms(error):.2g}, most {np.abs(error).max():.2g}, at the end {error[-1]:+.2g}; "
          f"{traj.tally.evaluations / traj.steps:.2f} evaluations a step, {traj.tally.divided} steps divided")


def test_hard_chain_for_a_thousand_seconds_at_order_four():
    error, traj = energy_errors(la.library.chain(10), 0.1, order=4, dt=1e-3, duration=1000.0, record_every=10)
    describe("order 4", error, traj)
    assert rms(error) < 1e-3


def test_hard_chain_for_a_thousand_seconds_at_order_two():
    """Reported over eight starts, as the motion is chaotic; every whip that 1 ms does not resolve moves the energy."""
    found = []
    for seed in range(8):
        q = 1e-3 * np.random.default_rng(seed).normal(size=10)
        error, traj = energy_errors(la.library.chain(10), 0.1, q, order=2, dt=1e-3, duration=1000.0, record_every=10)
        describe(f"order 2, start {seed}", error, traj)
        found.append(rms(error))
    print(f"order 2: median {np.median(found):.2g}, from {min(found):.2g} to {max(found):.2g}")
    assert np.median(found) < 0.2


def test_round_off_of_the_papers_chain_grows_no_faster_than_a_random_walk():
    """A million steps of order 6, short enough for truncation to vanish: rms of E(t + τ) − E(t) against τ."""
    error, traj = energy_errors(la.library.paper_chain(10), 1.5, order=6, dt=5e-4, steps=1_000_000, record_every=100)
    describe("order 6", error, traj)
    lags = np.unique(np.geomspace(100, len(error) // 5, 15).astype(int))  # from 1e4 steps, past the swing itself
    spread = [rms(error[lag:] - error[:-lag]) for lag in lags]
    growth = np.polyfit(np.log(lags), np.log(spread), 1)[0]
    print(f"round-off grows as t^{growth:.2f}, from {spread[0]:.2g} over 1e4 steps to {spread[-1]:.2g} over 2e5")
    assert growth < 0.6
    assert np.abs(error).max() < 1e-12
