"""Four links at a time or one after the other: the same numbers."""

import json
import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from leastaction.kernels.machine.simd import choose, in_lanes, less

SCRIPT = """
import json, sys
import leastaction as la

model = la.library.by_name(sys.argv[1])
one, many = (la.simulate(model, dt=1e-3, steps=k, progress=False) for k in (1, 1000))
print(json.dumps([one.q[-1].tolist(), many.q[-1].tolist()]))
"""


@pytest.mark.parametrize("model", ["paper_chain:10", "ragdoll"])
def test_vector_and_scalar_paths_agree(model):
    results = []
    for simd in ("1", "0"):
        environment = {**os.environ, "LEASTACTION_SIMD": simd}
        run = subprocess.run([sys.executable, "-c", SCRIPT, model], env=environment, capture_output=True, check=True)
        results.append([np.array(q) for q in json.loads(run.stdout)])
    (one, many), (one_scalar, many_scalar) = results
    np.testing.assert_allclose(one, one_scalar, rtol=0, atol=1e-13)
    np.testing.assert_allclose(many, many_scalar, rtol=0, atol=1e-9)


@numba.njit
def conditions(x, y, k):
    """All that judges numbers, also beside a plain one."""
    return (less(x, y), less(x, 0.5), less(0.5, x), choose(k, x, y), choose(k, 2, y), choose(k, x, -1), choose(k, 2, 3),
            min(x, y), max(x, y), min(x, 0.5), max(0.5, x))


@numba.njit
def conditions_of_four(x, y, k, out):
    found = conditions(in_lanes(x)[0], in_lanes(y)[0], in_lanes(k)[0])
    for j in range(len(found)):
        in_lanes(out)[j] = found[j]


def test_of_four_numbers_each_is_judged_by_itself():
    x, y, k = np.array([0.1, 0.7, np.nan, np.inf]), np.array([0.2, 0.7, 1.0, -np.inf]), np.array([1.0, 0.0, 1.0, 0.0])
    out = np.zeros((11, 4))
    conditions_of_four(x, y, k, out.reshape(-1))
    alone = np.transpose([conditions(*numbers) for numbers in zip(x, y, k, strict=True)])
    known = ~np.isnan(alone)  # of a number and NaN, either may be the less
    np.testing.assert_array_equal(out[:7], alone[:7])
    np.testing.assert_array_equal(out[known], alone[known])
    np.testing.assert_array_equal(out[:3], [[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 1]])
    np.testing.assert_array_equal(out[4], [2, 0.7, 2, -np.inf])
