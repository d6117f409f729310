"""Four links at a time or one after the other: the same numbers."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

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
