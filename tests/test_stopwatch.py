"""A step's time is without that of compiling."""

import time

import numba
import numpy as np

from leastaction.stopwatch import Stopwatch


def test_compiling_does_not_count():
    @numba.njit
    def kernel(x):
        total = 0.0
        for value in x:
            total += np.sin(value)
        return total

    began = time.perf_counter()
    with Stopwatch() as watch:
        kernel(np.ones(10))
    whole = time.perf_counter() - began
    assert whole > 0.05   # compiled in there
    assert 0 <= watch.cpu_seconds < 0.2 * whole and 0 <= watch.seconds < 0.5 * whole


def test_work_counts():
    with Stopwatch() as watch:
        began = time.thread_time()
        while time.thread_time() - began < 0.02:
            pass
        time.sleep(0.03)
    assert 0.02 <= watch.cpu_seconds < 0.05
    assert watch.seconds >= 0.05
