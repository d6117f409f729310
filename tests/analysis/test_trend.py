"""Trends are found where they are, and not where a series only remembers itself."""

import numpy as np
import pytest
from scipy.signal import lfilter

from leastaction.analysis import trend

T = np.arange(2000) * 1e-2
RNG = np.random.default_rng(0)


def remembering(memory):
    """Noise in which a value is forgotten after about ``memory`` samples."""
    return lfilter([1.0], [1.0, -(1.0 - 1.0 / memory)], RNG.normal(size=len(T) + 2000))[2000:]


SERIES = {
    "independent": (lambda: RNG.normal(size=len(T)), 0.08),
    "remembers a fifth of a block": (lambda: remembering(20), 0.08),
    "remembers a block": (lambda: remembering(100), 0.13),
    "remembers three blocks": (lambda: remembering(300), 0.18),
    "swings": (lambda: np.sin(2 * np.pi * (T * RNG.uniform(0.1, 3) + RNG.uniform())), 0.08),
}


@pytest.mark.parametrize("name", SERIES)
def test_false_alarms_are_about_as_rare_as_promised(name):
    draw, most = SERIES[name]
    assert np.mean([trend(T, draw()).found for _ in range(400)]) < most


def test_the_interval_covers_the_true_slope():
    hits = [(found := trend(T, 0.3 * T + remembering(20))).interval[0] < 0.3 < found.interval[1] for _ in range(400)]
    assert 0.9 < np.mean(hits) < 0.99


def test_a_line_is_found_exactly():
    found = trend(T, 1.0 - 0.25 * T)
    assert found.found
    assert found.slope == pytest.approx(-0.25) and found.uncertainty < 1e-12
    assert found.change == pytest.approx(-0.25 * T[-1])


def test_a_clear_drift_under_noise_is_found():
    assert np.mean([trend(T, 0.5 * T + remembering(20)).found for _ in range(100)]) > 0.95


def test_short_and_constant_series():
    assert trend(T[:39], T[:39]) is None
    still = trend(T, np.zeros(len(T)))
    assert not still.found and still.slope == 0.0
