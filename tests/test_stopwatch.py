"""A step's time is without that of compiling; the clock is the test's own, so no busy machine can fail it."""

import types

import numba
import numpy as np
import pytest
from numba.extending import overload

from leastaction import stopwatch
from leastaction.stopwatch import Stopwatch


@pytest.fixture
def clock(monkeypatch):
    clock = types.SimpleNamespace(now=100.0, perf_counter=lambda: clock.now, thread_time=lambda: clock.now / 2)
    monkeypatch.setattr(stopwatch, "time", clock)
    return clock


def test_compiling_does_not_count(clock):
    def slow_to_compile(x):
        return np.sin(x)

    @overload(slow_to_compile)
    def typed(x):
        clock.now += 10.0  # this function runs while Numba compiles, never while the kernel runs
        return slow_to_compile

    kernel = numba.njit(lambda x: slow_to_compile(x))
    with Stopwatch() as watch:
        clock.now += 1.0
        kernel(0.5)
        clock.now += 2.0
    assert clock.now >= 113.0
    assert (watch.seconds, watch.cpu_seconds) == (3.0, 1.5)


def test_work_counts(clock):
    with Stopwatch() as watch:
        clock.now += 4.0
    clock.now += 8.0
    assert (watch.seconds, watch.cpu_seconds) == (4.0, 2.0)
